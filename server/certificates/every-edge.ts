import type { CertificateEdge } from './feed.ts'
import type { ChallengePlaces } from './order.ts'

/**
 * Succeeds if one edge did; otherwise rejects with the first failure, because a node may be away.
 */
async function atAnyEdge(all: readonly Promise<void>[]): Promise<void> {
  const [first, ...others] = await Promise.allSettled(all)
  if (first?.status === 'rejected' && others.every(({ status }) => status === 'rejected'))
    throw first.reason
}

/** An authority may query any edge: every reachable one has the answer. */
export const everyEdge = (edges: () => readonly CertificateEdge[]): ChallengePlaces['edge'] => ({
  challenge: (of) => atAnyEdge(edges().map((edge) => edge.challenge(of))),
  dropChallenge: (token) => atAnyEdge(edges().map((edge) => edge.dropChallenge(token))),
})
