/**
 * The number of database connections that a process of the portal opens, by purpose. It is compared
 * with the server's limit at the start.
 */
import { sql } from 'kysely'
import { ConfigFault } from './config-fault.ts'
import type { Queryable } from './db.ts'
import type { Log } from './log.ts'

/** Maximum per purpose while the process runs; the operator sets the number for calls. */
export const connections = {
  /** Counters of attempts (limits.ts). */
  limits: 2,
  /** The job queue's own: fetching, completing, upkeep (jobs.ts). */
  jobs: 4,
  /** The lease of a process with a job worker (worker-lease.ts). */
  workerLease: 1,
  /** Idempotency-Keys of calls that reach third parties (session-locks.ts). */
  sessionLocks: 1,
  /** LISTEN for events (realtime/listener.ts). */
  events: 1,
  /** The third parties that are stood in for (sandbox/database.ts). */
  sandbox: 3,
} as const
/** Temporary connections: at the start and during the nightly backup, never both at once. */
const forAWhile = { migrations: 1, nightlyBackup: 2 } as const

type Purpose = keyof typeof connections

export interface BudgetOf {
  /** Connections for calls and jobs. */
  readonly calls: number
  /**
   * Whether calls and jobs go through a pooler: the pooler's own connections are its operator's to
   * count.
   */
  readonly throughPooler: boolean
  readonly sandbox: boolean
}
interface Budget {
  readonly text: string
  readonly total: number
  /** The part of the total that is not for calls. */
  readonly withoutCalls: number
}

export function budgetOf({ calls, throughPooler, sandbox }: BudgetOf): Budget {
  const own = (Object.keys(connections) as Purpose[]).filter(
    (purpose) => sandbox || purpose !== 'sandbox',
  )
  const atNight = Math.max(...Object.values(forAWhile))
  const withoutCalls = own.reduce((sum, purpose) => sum + connections[purpose], atNight)
  const parts = [
    `calls and jobs ${calls}${throughPooler ? ' (through the pooler, not counted)' : ''}`,
    ...own.map((purpose) => `${purpose} ${connections[purpose]}`),
    `migrations or nightly backup ${atNight}`,
  ]
  return {
    text: parts.join(', '),
    total: withoutCalls + (throughPooler ? 0 : calls),
    withoutCalls,
  }
}

interface Given {
  readonly allowed: number
  /** Which of its limits is the lowest. */
  readonly by: string
  /** Connections that are open now, ours among them. */
  readonly used: number
  readonly ours: number
}

/**
 * The connections that the server allows this connection's role, without those reserved for
 * superusers.
 */
async function given(db: Queryable): Promise<Given> {
  const { rows } = await sql<{
    server: number
    role: number
    database: number
    used: number
    ours: number
  }>`
    select
      current_setting('max_connections')::int
        - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0) as server,
      (select rolconnlimit from pg_roles where rolname = current_user) as role,
      (select datconnlimit from pg_database where datname = current_database()) as database,
      (select count(*)::int from pg_stat_activity where usesysid is not null) as used,
      (select count(*)::int from pg_stat_activity
        where datname = current_database() and usename = current_user) as ours`.execute(db)
  const [row] = rows
  if (!row) throw new Error('PostgreSQL tells no limits')
  const limits = (
    [
      ['max_connections of the server, less what it reserves', row.server],
      ['the connection limit of the role', row.role],
      ['the connection limit of the database', row.database],
    ] as const
  ).filter(([, limit]) => limit >= 0)
  const [by, allowed] = limits.reduce((lowest, limit) => (limit[1] < lowest[1] ? limit : lowest))
  return { allowed, by, used: row.used, ours: row.ours }
}

/**
 * Compares the budget of one process with what the server gives, and notes it at level debug; warns
 * where two processes, as during a restart, or what others use leave too few.
 * @throws ConfigFault where not even one process has what it needs
 */
export async function judgeConnections(db: Queryable, of: BudgetOf, log: Log): Promise<void> {
  const { text, total, withoutCalls } = budgetOf(of)
  const { allowed, by, used, ours } = await given(db)
  const figures = { perProcess: total, allowed, used }
  log.debug(figures, `connections of this process: ${text}; ${total} in all`)
  const room = allowed - withoutCalls
  const lower = (most: number): string =>
    most < 4 ? '' : `, or lower DATABASE_CONNECTION_POOL_MAX to ${most}`
  if (total > allowed)
    throw new ConfigFault([
      `The database gives ${allowed} connections (${by}), and a process of the portal needs ` +
        `${total}: ${text}. Raise that limit${of.throughPooler ? '' : lower(room)}.`,
    ])
  const short = (why: string, most: number): void =>
    log.warn(
      figures,
      `the database gives ${allowed} connections (${by}), ${why}. Raise that limit` +
        `${of.throughPooler ? '' : lower(most)}. A process opens: ${text}`,
    )
  const strangers = Math.max(0, used - ours)
  if (2 * total > allowed - strangers)
    short(
      `others use ${strangers} of them, and two processes of the portal, as during a restart, ` +
        `need ${2 * total}`,
      Math.floor((allowed - strangers) / 2) - withoutCalls,
    )
}
