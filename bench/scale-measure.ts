/** One line of the table: the time of a round or a page, and PostgreSQL's plans for it. */
import { seqScansOf, statementsOf } from './scale-plans.ts'

export interface Measured {
  /** Rows that are due, or that a page shows. */
  readonly rows: number
  readonly periodMs: number
  readonly round: () => Promise<unknown>
  /** Tables that are read entirely, and must be. */
  readonly reads?: readonly string[]
}
export interface Asked {
  readonly times: number
  readonly limitMs: number
  readonly question: (n: number) => Promise<unknown>
}
export interface Table {
  measure(name: string, of: Measured): Promise<void>
  /**
   * Runs the same query for one item after another; 95 of 100 must be answered within `limitMs`.
   */
  ask(name: string, of: Asked): Promise<void>
  /** Prints a heading. */
  section(title: string): void
  /** Whether a line exceeded its period, or read a large table entirely. */
  failed(): boolean
}

/** `adminUrl`: a user who may explain every statement. */
export function openTable(adminUrl: string): Table {
  let failed = false
  return {
    failed: () => failed,
    section: (title) => console.log(`\n      ${title}`),
    async ask(name, { times, limitMs, question }) {
      const took: number[] = []
      for (let n = 0; n < times; n++) {
        const start = performance.now()
        await question(n)
        took.push(performance.now() - start)
      }
      took.sort((a, b) => a - b)
      const at = (share: number): number => took[Math.ceil(took.length * share) - 1] ?? 0
      const holds = at(0.95) < limitMs
      failed ||= !holds
      console.log(
        `${holds ? 'ok  ' : 'OVER'}  ${name.padEnd(48)} p50 ${at(0.5).toFixed(0).padStart(5)} ms ` +
          `p95 ${at(0.95).toFixed(0).padStart(5)} ms of ${limitMs} ms (${times} times)`,
      )
    },
    async measure(name, { rows, periodMs, round, reads = [] }) {
      let ms = 0
      const statements = await statementsOf(async () => {
        const start = performance.now()
        await round()
        ms = performance.now() - start
      })
      const scans = (await seqScansOf(adminUrl, statements)).filter((one) => !reads.includes(one))
      const holds = ms < periodMs && scans.length === 0
      failed ||= !holds
      const period = periodMs >= 60_000 ? `${periodMs / 60_000} min` : `${periodMs / 1000} s`
      console.log(
        `${holds ? 'ok  ' : 'OVER'}  ${name.padEnd(48)} ${String(rows).padStart(8)} rows ` +
          `${(ms / 1000).toFixed(3).padStart(9)} s of ${period.padEnd(7)}` +
          (reads.length > 0 ? ` reads all of ${reads.join(', ')}` : '') +
          (scans.length > 0 ? ` !! SEQ SCAN !! of ${scans.join(', ')}` : ''),
      )
    },
  }
}
