/** The slots of TCP connections: limits in all and per network, and which connection ends next. */
import { networkOf } from '../../../platform/network.ts'

export interface PlaceLimits {
  readonly connections: number
  /** An IPv6 network is a /64, because one line has all of its addresses. */
  readonly connectionsPerNetwork: number
}

export interface Place {
  readonly network: string
  /** When the last complete query came, or a response was taken: single bytes do not count. */
  busyAt: number
  /** Ends the connection. */
  readonly end: () => void
}

/**
 * A new connection is always admitted: if all slots are taken, the connection that has been idle
 * longest ends.
 */
export class Places {
  readonly #limits: PlaceLimits
  readonly #taken = new Set<Place>()

  constructor(limits: PlaceLimits) {
    this.#limits = limits
  }

  /** Takes a slot for a connection from this address. */
  take(address: string, nowMs: number, end: () => void): Place {
    const place: Place = { network: networkOf(address), busyAt: nowMs, end }
    const beside = [...this.#taken].filter(({ network }) => network === place.network)
    if (beside.length >= this.#limits.connectionsPerNetwork) this.#endIdlest(beside)
    else if (this.#taken.size >= this.#limits.connections) this.#endIdlest([...this.#taken])
    this.#taken.add(place)
    return place
  }

  #endIdlest(places: readonly Place[]): void {
    const [idlest] = places.toSorted((one, other) => one.busyAt - other.busyAt)
    if (!idlest) return
    this.leave(idlest)
    idlest.end()
  }

  leave(place: Place): void {
    this.#taken.delete(place)
  }

  /** Ends all connections. */
  endAll(): void {
    for (const place of this.#taken) place.end()
  }
}
