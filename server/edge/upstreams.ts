// Which upstream takes the next request: the least busy of those that did not fail just now.

import { isIP } from 'node:net'

export interface EdgeAddress {
  /** An IP address. */
  readonly host: string
  readonly port: number
}

const restMs = 2_000

/** Whether it is an IP address and a port, and nothing that a URL would read in another way. */
export const isUpstream = ({ host, port }: EdgeAddress): boolean =>
  isIP(host) !== 0 && Number.isInteger(port) && port >= 1 && port <= 65_535

export class Upstreams {
  readonly #busy = new Map<string, number>()
  readonly #restUntil = new Map<string, number>()
  #turn = 0

  #key(address: EdgeAddress): string {
    return `${address.host}:${address.port}`
  }

  /** The best of `addresses` except those in `tried`; a resting one only if no other is left. */
  pick(addresses: readonly EdgeAddress[], tried: ReadonlySet<string>): EdgeAddress | null {
    let best: EdgeAddress | null = null
    let bestScore = Number.POSITIVE_INFINITY
    const now = Date.now()
    const offset = this.#turn++
    for (let index = 0; index < addresses.length; index++) {
      // Equals take turns.
      const address = addresses[(index + offset) % addresses.length]!
      if (!isUpstream(address)) continue
      const key = this.#key(address)
      if (tried.has(key)) continue
      const rests = (this.#restUntil.get(key) ?? 0) > now
      const score = (this.#busy.get(key) ?? 0) + (rests ? 1e6 : 0)
      if (score < bestScore) {
        best = address
        bestScore = score
      }
    }
    return best
  }

  /** Counts a request in; answers what counts it out, once. */
  take(address: EdgeAddress): () => void {
    const key = this.#key(address)
    this.#busy.set(key, (this.#busy.get(key) ?? 0) + 1)
    let open = true
    return () => {
      if (!open) return
      open = false
      const left = (this.#busy.get(key) ?? 1) - 1
      if (left > 0) this.#busy.set(key, left)
      else this.#busy.delete(key)
    }
  }

  /**
   * The upstream refused or broke off: others are preferred for a while. Ports are reused, so old
   * entries are deleted.
   */
  failed(address: EdgeAddress): string {
    const key = this.#key(address)
    const now = Date.now()
    if (this.#restUntil.size > 1_000)
      for (const [old, until] of this.#restUntil) if (until < now) this.#restUntil.delete(old)
    this.#restUntil.set(key, now + restMs)
    return key
  }

  worked(address: EdgeAddress): void {
    if (this.#restUntil.size > 0) this.#restUntil.delete(this.#key(address))
  }
}
