/**
 * All money that is not explained, of every kind, and how a person closes an item. An item is named
 * by its kind and what it is about: `found:12`, `line:7`, `payout:<id>`, `refund:<id>`,
 * `suspense:3`, `reversal:<gateway>:<kind>:<movement>`.
 */
import { sql } from 'kysely'
import type * as z from 'zod/mini'
import { currency as currencySchema, type Currency } from '../../contract/money.ts'
import type { reconciliation } from '../../contract/operator-money.ts'
import { days, later } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { isUuid } from '../platform/db.ts'
import type { PaymentDriver } from './driver.ts'
import { refundLimitMs } from './refunds.ts'

type Page = z.output<typeof reconciliation.result>
type Item = Page['items'][number]

/** Limit per kind; the oldest come first. */
const shownOfEach = 100

interface Needs {
  readonly db: Queryable
  readonly drivers: ReadonlyMap<string, PaymentDriver>
}

interface Row {
  readonly id: string
  readonly kind: Item['kind']
  readonly driver: string
  readonly about: string
  readonly here: bigint | null
  readonly there: bigint | null
  readonly currency: string
  readonly at: Date
  readonly file: string | null
  readonly detail: string | null
}

/** Each part uses the partial index of its open rows. */
const open = (now: Date) => sql<Row>`
  (select 'found:' || id as id, kind, driver, about, here, there, currency, at,
      null as file, null as detail
    from payment_difference where agreed_at is null and closed_at is null
    order by at limit ${shownOfEach})
  union all
  (select 'suspense:' || id, 'suspense', driver, coalesce(code, provider_transaction_id), amount,
      null, currency, created_at, null, reason
    from payment_suspense where resolved_at is null order by id limit ${shownOfEach})
  union all
  (select 'refund:' || r.id, 'refund', p.driver, p.code, r.amount, null, p.currency, r.created_at,
      null, r.detail
    from payment_refund r join payment p on p.id = r.payment_id
    where r.status in ('requested', 'unclear')
      and (r.status = 'unclear' or r.created_at < ${later(now, -refundLimitMs)})
    order by r.created_at limit ${shownOfEach})
  union all
  (select 'reversal:' || driver || ':' || kind || ':' || movement, 'reversal', driver,
      coalesce(reference, movement), null, amount, currency, created_at, null, kind
    from payment_reversal_unmatched where closed_at is null
    order by created_at limit ${shownOfEach})
  union all
  (select 'line:' || l.id, 'line', l.driver, coalesce(l.code, l.movement, l.reference), l.expected,
      l.amount, o.currency, o.arrives_at, o.file_name, o.reference
    from gateway_payout_line l join gateway_payout o on o.id = l.payout_id
    where l.fault is not null and l.closed_at is null order by l.id limit ${shownOfEach})
  union all
  (select 'payout:' || id, 'payout', driver, reference, line_sum, amount, currency, arrives_at,
      file_name, null
    from gateway_payout where line_sum <> amount and closed_at is null
    order by number limit ${shownOfEach})
  union all
  (select 'payout:' || id, 'payout_not_posted', driver, reference, null, amount, currency,
      arrives_at, file_name, null
    from gateway_payout where posted_at is null and status = 'paid' and closed_at is null
    order by number limit ${shownOfEach})`

/** How old it is, in the steps that reports of receivables have. */
export function ageOf(at: Date, now: Date): Item['age'] {
  const old = now.getTime() - at.getTime()
  if (old < days(2)) return 'fresh'
  if (old < days(8)) return 'week'
  return old < days(31) ? 'month' : 'older'
}

/** The oldest first. */
export async function openQuestions({ db, drivers }: Needs, now: Date): Promise<Page> {
  const { rows } = await open(now).execute(db)
  const runs = await db.selectFrom('payment_comparison').selectAll().orderBy('driver').execute()
  const nameOf = (driver: string): string => drivers.get(driver)?.displayName ?? driver
  const items = rows
    .map((row) => ({
      id: row.id,
      kind: row.kind,
      gateway: nameOf(row.driver),
      about: row.about,
      here: row.here === null ? null : Number(row.here),
      there: row.there === null ? null : Number(row.there),
      currency: currencySchema.parse(row.currency),
      at: row.at.toISOString(),
      age: ageOf(row.at, now),
      file: row.file,
      detail: row.detail,
    }))
    .toSorted((a, b) => a.at.localeCompare(b.at))
  return {
    items,
    gateways: [...drivers.keys()],
    comparisons: runs.map((run) => ({
      gateway: nameOf(run.driver),
      name: run.driver,
      at: run.at.toISOString(),
      reached: run.reached,
      payments: run.payments,
      queried: run.queried,
    })),
  }
}

/** The subject of an item. Undefined: the item is not open. */
export async function questionOf(
  db: Queryable,
  id: string,
  now: Date,
): Promise<{ driver: string; about: string; amount: bigint; currency: Currency } | undefined> {
  const { rows } = await sql<Row>`select * from (${open(now)}) o where id = ${id}`.execute(db)
  const [row] = rows
  if (!row) return undefined
  const [here, there] = [row.here ?? 0n, row.there ?? 0n]
  const off = here > there ? here - there : there - here
  return {
    driver: row.driver,
    about: row.about,
    amount: off,
    currency: currencySchema.parse(row.currency),
  }
}

/**
 * Closes an item that somebody has explained. False: the id names no kind of item that can be
 * closed.
 */
export async function closeQuestion(tx: Tx, id: string, now: Date): Promise<boolean> {
  const colon = id.indexOf(':')
  const [kind, rest] = [id.slice(0, colon), id.slice(colon + 1)]
  const closed = { closed_at: now }
  if (kind === 'found' && /^\d{1,18}$/.test(rest))
    await tx.updateTable('payment_difference').set(closed).where('id', '=', BigInt(rest)).execute()
  else if (kind === 'line' && /^\d{1,18}$/.test(rest))
    await tx.updateTable('gateway_payout_line').set(closed).where('id', '=', BigInt(rest)).execute()
  else if (kind === 'payout' && isUuid(rest))
    await tx.updateTable('gateway_payout').set(closed).where('id', '=', rest).execute()
  else if (kind === 'reversal') {
    const [driver = '', what = '', ...movement] = rest.split(':')
    await tx
      .updateTable('payment_reversal_unmatched')
      .set(closed)
      .where('driver', '=', driver)
      .where('kind', '=', what)
      .where('movement', '=', movement.join(':'))
      .execute()
  } else return false
  return true
}
