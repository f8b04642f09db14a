import type { CertificateEdge } from './feed.ts'
import type { ChallengePlaces } from './order.ts'

/** Rejects with the first failure where none did it: a node may be lost at this moment. */
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
