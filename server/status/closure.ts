/**
 * Whether the portal is closed for maintenance, known to each process without a query a call: read
 * when a notice changes, and every half minute in case that one was not heard.
 */
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { Notices } from '../platform/notices.ts'
import { closings, statusChannel, type Closing } from './notices.ts'

const lookMs = 30_000

export interface Closure {
  /** The maintenance that goes on now; undefined while the portal is open. */
  now(): { readonly leftSeconds: number | null } | undefined
  /** Read anew, after a change. */
  read(): Promise<void>
  start(): Promise<void>
  stop(): void
}

export function createClosure(deps: {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly notices: Notices
}): Closure {
  const { db, clock, log, notices } = deps
  let known: readonly Closing[] = []
  let timer: NodeJS.Timeout | undefined

  const read = async (): Promise<void> => {
    known = await closings(db, clock.now())
  }
  const look = (): Promise<void> =>
    read().catch((error: unknown) => log.warn({ err: error }, 'maintenance cannot be read'))
  notices.on(statusChannel, { onNotice: () => void look(), onConnect: look })

  return {
    now() {
      const at = clock.now()
      const closing = known.find(({ from, until }) => from <= at && (until === null || until > at))
      if (!closing) return undefined
      const { until } = closing
      return { leftSeconds: until && (until.getTime() - at.getTime()) / 1000 }
    },
    read,
    async start() {
      await look()
      timer = setInterval(() => void look(), lookMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}
