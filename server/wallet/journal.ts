/**
 * The ledger as an accountant reads it: every entry of a span, and the sales. The times of an
 * account's entries never decrease, so the entries of a span are a range of its versions, found by
 * binary search. Every transfer touches an account of the house, so the house's ranges contain
 * every transfer.
 */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import { days, later } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { productOfRevenue } from './accounts.ts'

/** `from` belongs to it, `to` does not. */
export interface Span {
  readonly from: Date
  readonly to: Date
}
export interface JournalEntry {
  readonly transfer: bigint
  readonly at: Date
  readonly kind: string
  readonly account: string
  readonly customerId: string | null
  /** Minor units; above zero in the account's favour (credit). */
  readonly amount: bigint
  readonly currency: Currency
  /**
   * `document`: the number of an invoice, or a transaction code; `subject`: the thing sold;
   * `reason`: why.
   */
  readonly document: string | null
  readonly subject: string | null
  readonly reason: string | null
}

/** A day at a time, so that no answer of the database is larger than a day of business. */
function* daysOf({ from, to }: Span): Iterable<Span> {
  for (let begin = from; begin < to;) {
    const end = later(begin, days(1))
    yield { from: begin, to: end < to ? end : to }
    begin = end
  }
}

/**
 * All accounts that are no customer's wallet: some dozens, beside up to a million wallets. Read
 * once.
 */
const houseOf = (db: Queryable) =>
  db.selectFrom('ledger_account').select(['id', 'code']).where('customer_id', 'is', null).execute()

/** Entries in the order of their transfers. */
export async function* journalEntries(db: Queryable, span: Span): AsyncIterable<JournalEntry[]> {
  const house = (await houseOf(db)).map(({ id }) => String(id))
  for (const { from, to } of daysOf(span)) {
    const { rows } = await sql<JournalEntry>`
      with house as (
        select id, ledger_version_before(id, ${from}) as before,
          ledger_version_before(id, ${to}) as last
        from ledger_account where id = any (${house}::bigint[]) and last_at >= ${from}
        -- So that the versions are looked for once, and not for every row.
        offset 0
      ), moved as (
        select distinct e.transfer_id as id from house h
        join ledger_entry e on e.account_id = h.id and e.version > h.before and e.version <= h.last
      )
      select t.id as transfer, t.created_at as at, t.kind, a.code as account,
        a.customer_id as "customerId", e.amount, a.currency,
        coalesce(t.details ->> 'invoice', t.details ->> 'code') as document,
        t.details ->> 'subject' as subject,
        coalesce(t.details ->> 'reason', t.details ->> 'provider') as reason
      from moved m
      join ledger_transfer t on t.id = m.id
      join ledger_entry e on e.transfer_id = t.id
      join ledger_account a on a.id = e.account_id
      order by t.id, e.id`.execute(db)
    yield rows
  }
}

/** A revenue entry: minor units, negative where money was refunded. */
export interface RevenueEntry {
  readonly at: Date
  readonly product: string
  readonly currency: Currency
  readonly amount: bigint
  /** Number of the invoice or credit note. */
  readonly document: string | null
}
/** Revenue accounts, including those of products that are no longer sold. */
async function revenueAccounts(db: Queryable) {
  return (await houseOf(db)).flatMap(({ id, code }) => {
    const of = productOfRevenue(code)
    return of ? [{ ...of, id }] : []
  })
}

/** Oldest first within each account. */
export async function* revenueEntries(db: Queryable, span: Span): AsyncIterable<RevenueEntry[]> {
  for (const { product, currency, id } of await revenueAccounts(db))
    for (const { from, to } of daysOf(span)) {
      const { rows } = await sql<{ at: Date; amount: bigint; document: string | null }>`
        select t.created_at as at, e.amount, t.details ->> 'invoice' as document
        from (
          select id, ledger_version_before(id, ${from}) as before,
            ledger_version_before(id, ${to}) as last
          from ledger_account where id = ${id} and last_at >= ${from}
          offset 0
        ) a
        join ledger_entry e on e.account_id = a.id and e.version > a.before and e.version <= a.last
        join ledger_transfer t on t.id = e.transfer_id
        order by e.version`.execute(db)
      if (rows.length > 0) yield rows.map((row) => ({ ...row, product, currency }))
    }
}

/** The balances of the revenue accounts at a moment, minor units. */
export async function revenueAt(
  db: Queryable,
  moment: Date,
): Promise<{ product: string; currency: Currency; balance: bigint }[]> {
  const accounts = await revenueAccounts(db)
  const { rows } = await sql<{ id: bigint; balance: bigint }>`
    select a.id, e.ending_balance as balance
    from (
      select id, ledger_version_before(id, ${moment}) as last from ledger_account
      where id = any (${accounts.map(({ id }) => String(id))}::bigint[])
      offset 0
    ) a join ledger_entry e on e.account_id = a.id and e.version = a.last`.execute(db)
  const balances = new Map(rows.map(({ id, balance }) => [id, balance]))
  return accounts.flatMap(({ id, ...of }) => {
    const balance = balances.get(id)
    return balance === undefined ? [] : [{ ...of, balance }]
  })
}
