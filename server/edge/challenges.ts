/**
 * HTTP challenges of certificate authorities (RFC 8555, 8.3): an authority requests a path of its
 * own choice over plain HTTP, and the edge answers before the site.
 */

export interface Challenge {
  readonly token: string
  readonly host: string
  readonly answer: string
}

export interface Challenges {
  put(challenge: Challenge): void
  drop(token: string): void
  /** Undefined when the challenge is not ours: the site may have one of its own. */
  answerTo(host: string, path: string): string | undefined
}

const prefix = '/.well-known/acme-challenge/'
/** Longer than any authority's check; a challenge whose end was not reported is forgotten then. */
const keptMs = 3_600_000
const mostAtOnce = 10_000

export const isChallenge = (path: string): boolean => path.startsWith(prefix)

export function createChallenges(): Challenges {
  const waiting = new Map<string, Challenge & { readonly until: number }>()
  return {
    put(challenge) {
      const now = Date.now()
      for (const [token, { until }] of waiting)
        if (until < now || waiting.size >= mostAtOnce) waiting.delete(token)
      waiting.set(challenge.token, { ...challenge, until: now + keptMs })
    },
    drop: (token) => void waiting.delete(token),
    answerTo(host, path) {
      if (!isChallenge(path)) return undefined
      const challenge = waiting.get(path.slice(prefix.length))
      return challenge?.host === host ? challenge.answer : undefined
    },
  }
}
