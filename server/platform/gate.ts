/**
 * A bounded place for costly work: so many at a time, so many who wait, and a refusal for the rest.
 */
import { Refusal } from './errors.ts'

export interface Gate {
  /** Runs `work` when its turn comes. Refuses with unavailable when too many wait already. */
  run<T>(work: () => Promise<T>): Promise<T>
}

const tooBusy = () => new Refusal('unavailable', { retryAfterSeconds: 2 })
const tooMany = () => new Refusal('rate_limited', { retryAfterSeconds: 1 })

interface GateLimits {
  readonly atOnce: number
  readonly waiting: number
}

/** `atOnce` run, at most `waiting` wait for their turn, in the order in which they came. */
export function createGate({ atOnce, waiting }: GateLimits, refusal = tooBusy): Gate {
  let running = 0
  const queue: (() => void)[] = []
  return {
    async run(work) {
      if (running >= atOnce) {
        if (queue.length >= waiting) throw refusal()
        // Who is called takes over the place of who leaves, so nobody slips in between.
        await new Promise<void>((resolve) => queue.push(resolve))
      } else running += 1
      try {
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
  /** Runs `work`. Refuses with rate_limited when there are too many of this key. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>
}

/** At most `atOnce` run under one key in this process; nobody waits. */
export function createKeyedGate(atOnce: number): KeyedGate {
  const running = new Map<string, number>()
  return {
    async run(key, work) {
      const now = running.get(key) ?? 0
      if (now >= atOnce) throw tooMany()
      running.set(key, now + 1)
      try {
        return await work()
      } finally {
        const left = (running.get(key) ?? 1) - 1
        if (left === 0) running.delete(key)
        else running.set(key, left)
      }
    },
  }
}

/** A gate for each key, in this process: so many of one key run, so many wait. */
export function createKeyedQueue(limits: GateLimits): KeyedGate {
  const gates = new Map<string, { readonly gate: Gate; users: number }>()
  return {
    async run(key, work) {
      const own = gates.get(key) ?? { gate: createGate(limits, tooMany), users: 0 }
      gates.set(key, own)
      own.users += 1
      try {
        return await own.gate.run(work)
      } finally {
        own.users -= 1
        if (own.users === 0) gates.delete(key)
      }
    },
  }
}
