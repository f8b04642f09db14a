/** The ledger's records of incoming and returned money, for comparison with the gateways. */
import { sql, type RawBuilder } from 'kysely'
import { currencies } from '../../contract/money.ts'
import type { Queryable } from '../platform/db.ts'
import { bankOf, feeOf, gatewayOf } from './accounts.ts'
import type { Details } from './posting.ts'

/** A posting between a gateway and a wallet or suspense account. */
export interface GatewayPosting {
  readonly key: string
  readonly kind: string
  /** Our transaction code, when the posting names one. */
  readonly code: string | null
  /** Minor units that came from the gateway; negative when they went back to it. */
  readonly amount: bigint
  readonly currency: string
  readonly at: Date
}

/**
 * The query of `gatewayPostings`. An account's versions are in the order of their times, so the
 * span is found by halving, and only its own entries are read: a gateway's account may have
 * millions.
 */
export const postingsQuery = (
  driver: string,
  { from, to }: { from: Date; to: Date },
): RawBuilder<GatewayPosting> => sql<GatewayPosting>`
  select t.key, t.kind, t.details->>'code' as code, -e.amount as amount, a.currency,
    t.created_at as at
  from (
    select id, currency, ledger_version_before(id, ${from}) as before,
      ledger_version_before(id, ${to}) as last
    from ledger_account
    where code = any (${currencies.map((currency) => gatewayOf(driver, currency))})
    -- So that the versions are looked for once, and not for every row.
    offset 0
  ) a
  join ledger_entry e on e.account_id = a.id and e.version > a.before and e.version <= a.last
  join ledger_transfer t on t.id = e.transfer_id
  order by t.id`

/** All of a span of time (`to` is not in it), oldest first. */
export async function gatewayPostings(
  db: Queryable,
  driver: string,
  span: { from: Date; to: Date },
): Promise<GatewayPosting[]> {
  const { rows } = await postingsQuery(driver, span).execute(db)
  return rows
}

/** The posting of a chargeback or of its return: minor units, none below zero. */
export interface ReversalPosting {
  readonly at: Date
  readonly fromWallet: bigint
  /**
   * `owed`: the part that the wallet did not hold; `setOff`: the part of it that was settled since.
   */
  readonly owed: bigint
  readonly setOff: bigint
}

/** By the ledger's key. Null: there is no posting under it. */
export async function postingOf(db: Queryable, key: string): Promise<ReversalPosting | null> {
  const entries = await db
    .selectFrom('ledger_transfer as t')
    .innerJoin('ledger_entry as e', 'e.transfer_id', 't.id')
    .innerJoin('ledger_account as a', 'a.id', 'e.account_id')
    .select(['t.created_at', 'e.amount', 'a.customer_id'])
    .where('t.key', '=', key)
    .execute()
  const [first] = entries
  if (!first) return null
  const debt = await db
    .selectFrom('wallet_debt')
    .select(['amount', 'settled'])
    .where('key', '=', key)
    .executeTakeFirst()
  const inWallet = entries.find(({ customer_id: customer }) => customer !== null)?.amount ?? 0n
  return {
    at: first.created_at,
    fromWallet: inWallet < 0n ? -inWallet : inWallet,
    owed: debt?.amount ?? 0n,
    setOff: debt?.settled ?? 0n,
  }
}

/** The posting under a key, and its transaction code. Undefined: there is none. */
export async function postedUnder(
  db: Queryable,
  key: string,
): Promise<{ amount: bigint; code: string | undefined } | undefined> {
  const row = await db
    .selectFrom('ledger_transfer as t')
    .innerJoin('ledger_entry as e', 'e.transfer_id', 't.id')
    .select(['t.details', (eb) => eb.fn.sum<bigint>('e.amount').as('amount')])
    .where('t.key', '=', key)
    .where('e.amount', '>', 0n)
    .groupBy('t.id')
    .executeTakeFirst()
  return row && { amount: BigInt(row.amount), code: (row.details as Details).code }
}

/** Every top-up that names a transaction code, with the ledger's key and its minor units. */
export async function toppedUpFor(
  db: Queryable,
  code: string,
): Promise<{ key: string; amount: bigint }[]> {
  const rows = await db
    .selectFrom('ledger_transfer as t')
    .innerJoin('ledger_entry as e', 'e.transfer_id', 't.id')
    .select(['t.key', (eb) => eb.fn.sum<bigint>('e.amount').as('amount')])
    // The expression of the index on codes.
    .where(
      sql<string>`upper(coalesce(t.details ->> 'invoice', t.details ->> 'code'))`,
      '=',
      code.toUpperCase(),
    )
    .where('t.kind', '=', 'topup')
    .where('e.amount', '>', 0n)
    .groupBy('t.id')
    .execute()
  return rows.map(({ key, amount }) => ({ key, amount: BigInt(amount) }))
}

/** Balances that gateways hold for us, their fees, and the bank's balance, minor units. */
export interface Holdings {
  readonly gateways: readonly {
    readonly driver: string
    readonly currency: string
    readonly waiting: bigint
    readonly fees: bigint
  }[]
  readonly banks: readonly { readonly currency: string; readonly amount: bigint }[]
}

/** The balances of these gateways; accounts without entries are left out. */
export async function holdingsOf(db: Queryable, drivers: readonly string[]): Promise<Holdings> {
  const wanted = currencies.flatMap((currency) =>
    drivers.map((driver) => ({
      driver,
      currency,
      gateway: gatewayOf(driver, currency),
      fee: feeOf(driver, currency),
    })),
  )
  const codes = wanted.flatMap(({ gateway, fee }) => [gateway, fee])
  const rows = await db
    .selectFrom('ledger_account')
    .select(['code', 'currency', 'balance', 'version'])
    .where('code', 'in', [...codes, ...currencies.map(bankOf)])
    .where('version', '>', 0n)
    .execute()
  const balances = new Map(rows.map(({ code, balance }) => [code, balance]))
  const owed = (code: string): bigint => -(balances.get(code) ?? 0n)
  return {
    gateways: wanted
      .filter(({ gateway, fee }) => balances.has(gateway) || balances.has(fee))
      .map(({ driver, currency, gateway, fee }) => ({
        driver,
        currency,
        waiting: owed(gateway),
        fees: owed(fee),
      })),
    banks: currencies
      .filter((currency) => balances.has(bankOf(currency)))
      .map((currency) => ({ currency, amount: owed(bankOf(currency)) })),
  }
}
