/** Sums of the ledger: equal figures mean equal books. */
import { sql } from 'kysely'
import type { Queryable } from '../platform/db.ts'

/**
 * The figures of one currency. Amounts are minor units as text, because they may be of any size.
 */
export interface LedgerFigures {
  readonly currency: string
  readonly accounts: number
  readonly entries: number
  /** The sum of all balances: zero in correct books. */
  readonly sum: string
  /** The sum of the customers' wallets. */
  readonly wallets: string
  /** SHA-256, hexadecimal, over every account's code, number of entries and last hash. */
  readonly heads: string
}

/** By currency, sorted by name. */
export async function ledgerFigures(db: Queryable): Promise<LedgerFigures[]> {
  // In two steps, so that no aggregated text grows with the number of accounts.
  const { rows } = await sql<LedgerFigures>`
    with batch as (
      select currency, id / 10000 as batch, count(*) as accounts, sum(version) as entries,
        sum(balance) as sum, coalesce(sum(balance) filter (where customer_id is not null), 0)
        as wallets,
        sha256(convert_to(string_agg(code || ' ' || version || ' ' || encode(head_hash, 'hex'),
        E'\n' order by id), 'UTF8')) as heads
      from ledger_account group by 1, 2)
    select currency, sum(accounts)::int as accounts, sum(entries)::float8 as entries,
      sum(sum)::text as sum, sum(wallets)::text as wallets,
      encode(sha256(string_agg(heads, '' order by batch)), 'hex') as heads
    from batch group by currency order by currency`.execute(db)
  return rows
}
