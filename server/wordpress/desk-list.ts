/** Orders and servers as the operator's desk lists them: by state, with why and since when. */
import { sql } from 'kysely'
import { currency as currencySchema } from '../../contract/money.ts'
import type { DeskServer, DeskServerState } from '../../contract/operator-work.ts'
import { firstOf, type PageRequest } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'
import { waitingJobs } from '../platform/job-inspection.ts'
import { provisionJob } from './order.ts'
import { alignJobs } from './product.ts'

/** The state's name in the column, where it differs from the API's. */
const stored: Readonly<Partial<Record<DeskServerState, string>>> = {
  setting_up: 'provisioning',
  unpaid: 'pending_payment',
}
/** The state expression of the index `site_desk` (migration 0123); it must stay the same text. */
const deskState = sql`(case
    when s.deleted_at is not null then case when s.running_at is null then 'lapsed' else 'gone' end
    when s.status = 'running' and s.down_since is not null then 'down'
    else s.status end)`

interface Row {
  readonly id: string
  readonly seq: bigint
  readonly name: string
  readonly customer_id: string
  readonly plan_name: string
  readonly region_name: string
  readonly containers: number
  readonly created_at: Date
  readonly deleted_at: Date | null
  readonly down_since: Date | null
  readonly down_reason: string | null
  readonly held_at: Date | null
  readonly giving_up: string | null
  readonly reason: string | null
  readonly attempts: number
  readonly subscription_id: string | null
  readonly running_at: Date | null
  readonly ended_at: Date | null
  readonly number: string | null
  readonly total: bigint | null
  readonly currency: string
  readonly invoice_status: string | null
  readonly paid_at: Date | null
  readonly lapses_at: Date | null
}
/** The customer is only an id here. */
type Listed = Omit<DeskServer, 'customer'> & { readonly customerId: string }

/** One page of the servers in one state, read by one index. */
export async function listServers(
  db: Queryable,
  state: DeskServerState,
  { limit, before }: PageRequest,
): Promise<{ rows: Listed[]; next: bigint | null }> {
  // The state is written into the statement: a prepared plan would not know which index fits.
  const { rows } = await sql<Row>`
    select s.id, s.seq, s.name, s.customer_id, s.plan_name, s.region_name, s.containers,
      s.created_at, s.deleted_at, s.down_since, s.down_reason, s.held_at, s.giving_up, s.reason,
      s.attempts, s.subscription_id, s.running_at, b.ended_at, i.number, i.total, s.currency,
      i.status as invoice_status, i.paid_at, i.lapses_at
    from site s
    left join subscription b on b.id = s.subscription_id
    left join invoice i on i.id = s.invoice_id
    where ${deskState} = ${sql.lit(stored[state] ?? state)}
      ${before === null ? sql`` : sql`and s.seq < ${before}`}
    order by s.seq desc limit ${limit + 1}`.execute(db)
  const page = firstOf(rows, limit, ({ seq }) => seq)
  const failures = await failuresOf(db, state, page.rows)
  return {
    rows: page.rows.map((row) => present(row, state, failures.get(row.id))),
    next: page.next,
  }
}

interface Failure {
  readonly attempts: number
  readonly reason: string | null
}
/** The error of the newest failed try of each server's job, by server id. */
async function failuresOf(
  db: Queryable,
  state: DeskServerState,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, Failure>> {
  if (state === 'setting_up' || state === 'failed') {
    const ids = rows.map(({ id }) => id)
    return await waitingJobs(db, provisionJob, 'siteId', ids)
  }
  if (state !== 'deleting') return new Map()
  const bySubscription = await waitingJobs(
    db,
    alignJobs.remove,
    'subscriptionId',
    rows.flatMap(({ subscription_id: id }) => id ?? []),
  )
  return new Map(
    rows.flatMap(({ id, subscription_id: of }) => {
      const failure = bySubscription.get(of ?? '')
      return failure ? [[id, failure] as const] : []
    }),
  )
}

function present(row: Row, state: DeskServerState, failure: Failure | undefined): Listed {
  const since = {
    setting_up: row.paid_at,
    down: row.down_since,
    failed: row.ended_at,
    unpaid: row.created_at,
    suspended: row.held_at,
    deleting: row.ended_at,
    lapsed: row.deleted_at,
    running: row.running_at,
  }[state]
  const told = state === 'down' ? row.down_reason : (row.giving_up ?? row.reason)
  return {
    id: row.id,
    name: row.name,
    state,
    customerId: row.customer_id,
    plan: row.plan_name,
    region: row.region_name,
    containers: row.containers,
    orderedAt: row.created_at.toISOString(),
    since: since?.toISOString() ?? null,
    why: state === 'running' ? null : (told ?? failure?.reason ?? null),
    suspendedFor: state === 'suspended' ? suspenderOf(row) : null,
    attempts: Math.max(row.attempts, failure?.attempts ?? 0),
    givingUp: row.giving_up !== null && state !== 'failed',
    order:
      row.total === null
        ? null
        : {
            number: row.number,
            total: Number(row.total),
            currency: currencySchema.parse(row.currency),
            status: row.invoice_status ?? '',
            lapsesAt: row.lapses_at?.toISOString() ?? null,
          },
  }
}
const suspenderOf = ({ held_at: heldAt }: Row) => (heldAt === null ? 'unpaid' : 'operator')
