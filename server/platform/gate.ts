/**
 * A bounded queue for expensive work: a limit on how many run, a limit on how many wait, and a
 * refusal for the rest.
 */
import { Refusal } from './errors.ts'

export interface Gate {
  /**
   * Runs `work` when its turn comes. Refuses when too many wait already, with `full` if given, or
   * it waited too long.
   */
  run<T>(work: () => Promise<T>, full?: () => Error): Promise<T>
}

const tooBusy = () => new Refusal('unavailable', { retryAfterSeconds: 2 })
export const tooMany = () => new Refusal('rate_limited', { retryAfterSeconds: 1 })

interface GateLimits {
  readonly atOnce: number
  readonly waiting: number
  /** Work that waited longer is refused with unavailable: its caller has given up by then. */
  readonly longestWaitMs?: number
}

/** `atOnce` run, at most `waiting` wait for their turn, in the order in which they came. */
export function createGate(
  { atOnce, waiting, longestWaitMs = Infinity }: GateLimits,
  refusal: () => Error = tooBusy,
): Gate {
  let running = 0
  const queue: (() => void)[] = []
  return {
    async run(work, full = refusal) {
      const queuedAt = performance.now()
      if (running >= atOnce) {
        if (queue.length >= waiting) throw full()
        // The next waiter inherits the slot of the one that finished, so a newcomer cannot overtake
        // it.
        await new Promise<void>((resolve) => queue.push(resolve))
      } else running += 1
      try {
        if (performance.now() - queuedAt > longestWaitMs) throw tooBusy()
        return await work()
      } finally {
        const next = queue.shift()
        if (next) next()
        else running -= 1
      }
    },
  }
}

export interface KeyedGate {
  /**
   * Runs `work` when its turn comes. Refuses with rate_limited when too many of this key wait
   * already, or with what `full` says.
   */
  run<T>(key: string, work: () => Promise<T>, full?: () => Error): Promise<T>
}

/** A gate per key, in this process: for each key `atOnce` run and at most `waiting` wait. */
export function createKeyedGate(limits: GateLimits): KeyedGate {
  const gates = new Map<string, { readonly gate: Gate; users: number }>()
  return {
    async run(key, work, full) {
      const own = gates.get(key) ?? { gate: createGate(limits, tooMany), users: 0 }
      gates.set(key, own)
      own.users += 1
      try {
        return await own.gate.run(work, full)
      } finally {
        own.users -= 1
        if (own.users === 0) gates.delete(key)
      }
    },
  }
}
