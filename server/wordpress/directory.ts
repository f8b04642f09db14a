/**
 * The edge's host table: which host name belongs to which site, and in what state. It is read from
 * the database, whole, after a transaction that changed it (migration 0053); a change of this
 * process is published at once, one of another within seconds.
 */
import { sql } from 'kysely'
import { deleteInBatches } from '../platform/batches.ts'
import { days, later, minutes } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { hostRows, type SiteAddressing } from './store.ts'

/** A host name as the edge gets it: lower case, no port. */
export interface HostTarget {
  readonly host: string
  readonly site: string
  /** `live`: shown as soon as a container answers. */
  readonly state: 'live' | 'starting' | 'suspended' | 'failed'
}

/** The edge, wherever it runs. */
export interface EdgeControl {
  /** All host names that there are from now on. */
  publish(targets: readonly HostTarget[]): Promise<void>
}

export interface Directory {
  /** Something changed: the edge is updated soon. */
  refresh(): void
  /** Resolves when the edge has the table for the first time. */
  start(): Promise<void>
  stop(): void
  /** Resolves when nothing that was refreshed is still to be told. */
  idle(): Promise<void>
}

/** Between two questions whether anything changed. Each reads a few rows of an index. */
const roundMs = 5000
/**
 * The table is read so often although nothing changed, in case that a change was missed. With
 * 200,000 names this is 20 MB, every five seconds it would be 4 MB a second.
 */
const wholeMs = minutes(10)
const changesKeptMs = days(1)

/** Forgets old notes of changes; whoever reads the table looks at them every few seconds. */
export const dropOldHostChanges = (db: Database): Promise<void> =>
  deleteInBatches(db, 'host_change', 'at', later(new Date(), -changesKeptMs))

/**
 * The present snapshot, and whether a transaction has changed the table that was not over in the
 * snapshot `since`.
 */
async function changesSince(
  db: Database,
  since: string,
): Promise<{ snapshot: string; changed: boolean }> {
  const { rows } = await sql<{ snapshot: string; changed: boolean }>`
    select pg_current_snapshot()::text as snapshot, exists (
      select 1 from host_change where xid >= pg_snapshot_xmin(${since}::pg_snapshot)
        and not pg_visible_in_snapshot(xid, ${since}::pg_snapshot)) as changed`.execute(db)
  const [row] = rows
  if (!row) throw new Error('PostgreSQL tells no snapshot')
  return row
}

function stateOf(status: string): HostTarget['state'] | undefined {
  switch (status) {
    // A site that is being set up is shown as soon as it responds: its owner need not wait for our
    // own check.
    case 'provisioning':
    case 'running':
      return 'live'
    case 'pending_payment':
      return 'starting'
    case 'suspended':
    case 'failed':
      return status
    default:
      return undefined
  }
}

export function createDirectory(
  db: Database,
  edge: EdgeControl,
  addressing: SiteAddressing,
  log: Log,
): Directory {
  let published: string | undefined
  /** What the edge has was read in this snapshot, or later. */
  let seen: string | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let publishing: Promise<void> | undefined
  let again = false
  let timer: NodeJS.Timeout | undefined

  async function publish(): Promise<void> {
    const now = performance.now()
    // Nothing lies before the first snapshot that there is.
    const { snapshot, changed } = await changesSince(db, seen ?? '1:1:')
    if (seen !== undefined && !changed && now - readAt < wholeMs) {
      seen = snapshot
      return
    }
    const rows = await hostRows(db, addressing.host)
    const targets = rows
      .flatMap(({ id, host, status }): HostTarget[] => {
        const state = stateOf(status)
        return state ? [{ host, site: id, state }] : []
      })
      .toSorted((a, b) => (a.host < b.host ? -1 : 1))
    const text = JSON.stringify(targets)
    if (text !== published) await edge.publish(targets)
    published = text
    seen = snapshot
    readAt = now
  }
  /** Publishes one table at a time: an older table must not be sent after a newer one. */
  function refresh(): void {
    if (publishing) {
      again = true
      return
    }
    publishing = publish()
      .catch((error: unknown) => log.warn({ err: error }, 'telling the edge of host names'))
      .finally(() => {
        publishing = undefined
        if (!again) return
        again = false
        refresh()
      })
  }

  return {
    refresh,
    async start() {
      await publish()
      timer = setInterval(refresh, roundMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
    async idle() {
      while (publishing) await publishing
    },
  }
}
