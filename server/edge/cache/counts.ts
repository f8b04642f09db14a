/** How often the cache of one site could answer: since a moment, and in the last 24 hours. */
export interface CacheFigures {
  /** ms since 1970, from when on it was counted. */
  readonly since: number
  readonly hits: number
  readonly misses: number
  /** Requests for pages that are never cached: signed-in visitors, carts, forms. */
  readonly bypassed: number
  readonly day: { readonly hits: number; readonly misses: number; readonly bypassed: number }
  readonly entries: number
  readonly bytes: number
}
export type CacheEvent = 'hits' | 'misses' | 'bypassed'

const hourMs = 3_600_000
const hours = 24

interface Hour {
  at: number
  hits: number
  misses: number
  bypassed: number
}
const emptyHour = (at: number): Hour => ({ at, hits: 0, misses: 0, bypassed: 0 })

export class SiteCounts {
  readonly since = Date.now()
  readonly #all = emptyHour(0)
  readonly #hours: Hour[] = Array.from({ length: hours }, () => emptyHour(0))

  add(event: CacheEvent, now = Date.now()): void {
    this.#all[event]++
    const at = Math.floor(now / hourMs)
    let hour = this.#hours[at % hours]!
    if (hour.at !== at) {
      hour = emptyHour(at)
      this.#hours[at % hours] = hour
    }
    hour[event]++
  }

  read(now = Date.now()): Omit<CacheFigures, 'entries' | 'bytes'> {
    const oldest = Math.floor(now / hourMs) - hours
    const day = { hits: 0, misses: 0, bypassed: 0 }
    for (const hour of this.#hours)
      if (hour.at > oldest) {
        day.hits += hour.hits
        day.misses += hour.misses
        day.bypassed += hour.bypassed
      }
    const { hits, misses, bypassed } = this.#all
    return { since: this.since, hits, misses, bypassed, day }
  }
}
