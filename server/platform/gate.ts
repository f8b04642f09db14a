/**
 * A bounded place for costly work: so many at a time, so many who wait, and a refusal for the rest.
 */
import { Refusal } from './errors.ts'

export interface Gate {
  /** Runs `work` when its turn comes. Refuses with unavailable when too many wait already. */
  run<T>(work: () => Promise<T>): Promise<T>
}

const retryAfterSeconds = 2

/** `atOnce` run, at most `waiting` wait for their turn, in the order in which they came. */
export function createGate({ atOnce, waiting }: { atOnce: number; waiting: number }): Gate {
  let running = 0
  const queue: (() => void)[] = []
  return {
    async run(work) {
      if (running >= atOnce) {
        if (queue.length >= waiting) throw new Refusal('unavailable', { retryAfterSeconds })
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
  /** Runs `work`. Refuses with rate_limited while as many of this key run. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>
}

/** At most `atOnce` run under one key in this process; nobody waits. */
export function createKeyedGate(atOnce: number): KeyedGate {
  const running = new Map<string, number>()
  return {
    async run(key, work) {
      const now = running.get(key) ?? 0
      if (now >= atOnce) throw new Refusal('rate_limited', { retryAfterSeconds: 1 })
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
