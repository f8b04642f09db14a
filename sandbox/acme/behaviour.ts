/** How an authority behaves; set by a test, or by a person on its page. */

export const modes = ['well', 'down', 'slow', 'refuses', 'stuck'] as const

export interface Behaviour {
  readonly mode: (typeof modes)[number]
  /** Delay before each answer in the mode `slow`, ms. */
  readonly slowMs: number
  /** How long a certificate is valid, seconds. */
  readonly lifeSeconds: number
  /** Certificates per registrable domain and week; more are refused. */
  readonly perDomain: number
  /** The share of valid nonces that it refuses, 0 to 1. */
  readonly badNonces: number
}

export const well: Behaviour = {
  mode: 'well',
  slowMs: 30_000,
  lifeSeconds: 90 * 86_400,
  perDomain: 50,
  badNonces: 0,
}

/** The present behaviour with the given changes, or an error message. */
export function readBehaviour(now: Behaviour, given: unknown): Behaviour | { error: string } {
  if (typeof given !== 'object' || given === null) return { error: 'an object is wanted' }
  const { mode, ...numbers } = { ...now, ...given }
  if (!modes.includes(mode)) return { error: `mode: one of ${modes.join(', ')}` }
  for (const [name, value] of Object.entries(numbers))
    if (!(name in now) || typeof value !== 'number' || !(value >= 0))
      return { error: `${name}: a number of 0 or more` }
  return { mode, ...numbers }
}
