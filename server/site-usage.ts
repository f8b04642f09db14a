/**
 * Visits and resources of each site per five minutes, stored beside the sites until a portal has
 * read them (wordpress/usage-history.ts). The five minutes in which this process ends are lost.
 */
import { noVisits, type Traffic, type Visits } from './edge/index.ts'
import type { SiteFigures } from './wordpress/driver.ts'

/** One site in one span of five minutes. */
export interface UsageRow extends Visits {
  readonly site: string
  /** When the span began, ms since 1970. */
  readonly at: number
  /** The most that its containers took together, MB. */
  memoryMb: number
  /** CPU time of all its processes, ms. */
  cpuMs: number
  filesMb: number
  databaseMb: number
}

export interface SiteUsage {
  /** Spans that are over, after this one of this site, in the order of spans and sites. */
  after(last: { readonly at: number; readonly site: string } | null, limit: number): UsageRow[]
  /** Looks at visits and containers now. */
  look(now?: number): void
  close(): void
}

export const spanMs = 300_000
const hourMs = 3_600_000
const lookMs = 30_000
/** A portal that is away longer misses the earlier spans. */
const spansKept = 6

/** @param figures of the sites that run now */
export function createSiteUsage(
  traffic: Traffic,
  figures: () => readonly SiteFigures[],
): SiteUsage {
  let at = Math.floor(Date.now() / spanMs) * spanMs
  let open = new Map<string, UsageRow>()
  const closed: { readonly at: number; readonly rows: readonly UsageRow[] }[] = []
  /** Processor time that was counted already. */
  let counted = new Map<string, number>()

  function rowOf(site: string): UsageRow {
    let row = open.get(site)
    if (!row) {
      row = { site, at, ...noVisits(), memoryMb: 0, cpuMs: 0, filesMb: 0, databaseMb: 0 }
      open.set(site, row)
    }
    return row
  }
  function addVisits(): void {
    for (const [site, visits] of traffic.take()) {
      const row = rowOf(site)
      row.requests += visits.requests
      row.clientErrors += visits.clientErrors
      row.serverErrors += visits.serverErrors
      row.cached += visits.cached
      row.totalMs += visits.totalMs
      for (const [index, count] of visits.times.entries()) row.times[index]! += count
    }
  }
  function addFigures(): void {
    const next = new Map<string, number>()
    for (const one of figures()) {
      const row = rowOf(one.site)
      row.memoryMb = Math.max(row.memoryMb, one.memoryMb)
      row.filesMb = one.filesMb
      row.databaseMb = one.databaseMb
      // The first reading of a site is the baseline: its CPU time was used earlier.
      row.cpuMs += Math.max(0, one.cpuMs - (counted.get(one.site) ?? one.cpuMs))
      next.set(one.site, one.cpuMs)
    }
    counted = next
  }
  function look(now = Date.now()): void {
    addVisits()
    addFigures()
    const span = Math.floor(now / spanMs) * spanMs
    if (span === at) return
    // A site without visits is reported once an hour.
    const rows = [...open.values()]
      .filter((row) => row.requests > 0 || at % hourMs === 0)
      .toSorted((one, other) => (one.site < other.site ? -1 : 1))
    if (rows.length > 0) closed.push({ at, rows })
    open = new Map()
    at = span
    while (closed[0] && closed[0].at < at - spansKept * spanMs) closed.shift()
  }
  const timer = setInterval(() => look(), lookMs)
  timer.unref()
  return {
    look,
    close: () => clearInterval(timer),
    after(last, limit) {
      const rows: UsageRow[] = []
      for (const span of closed) {
        if (last && span.at < last.at) continue
        for (const row of span.rows) {
          if (last && span.at === last.at && row.site <= last.site) continue
          rows.push(row)
          if (rows.length >= limit) return rows
        }
      }
      return rows
    },
  }
}
