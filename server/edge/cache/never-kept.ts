/** Pages that were not kept a moment ago: nobody waits for another one’s request for them. */
import { createHash } from 'node:crypto'

/**
 * Keys hold a visitor's whole path, 16 KB of it, and stand outside of the cache's budget: of each
 * only the hash is remembered.
 */
const hashOf = (key: string): string => createHash('sha256').update(key).digest('base64url')

export class NeverKept {
  readonly #lifeMs: number
  readonly #most: number
  /** Until when, by performance.now(); what ends first stands first. */
  readonly #until = new Map<string, number>()

  /**
   * @param lifeMs how long each is remembered, ms
   * @param most so many are remembered; the oldest is forgotten for one more
   */
  constructor(lifeMs: number, most: number) {
    this.#lifeMs = lifeMs
    this.#most = most
  }

  get size(): number {
    return this.#until.size
  }

  has(key: string): boolean {
    return (this.#until.get(hashOf(key)) ?? 0) > performance.now()
  }

  add(key: string): void {
    const hash = hashOf(key)
    const now = performance.now()
    // What is set again stands last.
    this.#until.delete(hash)
    for (const [old, until] of this.#until) {
      if (until > now && this.#until.size < this.#most) break
      this.#until.delete(old)
    }
    this.#until.set(hash, now + this.#lifeMs)
  }

  delete(key: string): void {
    this.#until.delete(hashOf(key))
  }
}
