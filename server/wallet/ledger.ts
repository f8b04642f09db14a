/**
 * The rules of a posting: at least two lines, one currency, sum zero, no overdraft of a wallet, one key once. The same rules stand as constraints
 * in SQL (migration 0004); the posting itself is the SQL function ledger_post, one round trip.
 */
import { sql } from 'kysely'
import { currencies, type Currency } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { gatewayOf, revenueOf, suspenseOf, walletOf } from './accounts.ts'

/** Signed minor units: positive raises the account. */
export interface Line {
  readonly account: string
  readonly amount: bigint
}
export interface Posting {
  /** Idempotency key: the same key and content posts once; other content under it is a bug. */
  readonly key: string
  readonly kind: PostingKind
  /** What the transaction log says of it, in any language: names and numbers only. */
  readonly details: Details
  readonly lines: readonly Line[]
  readonly reverses?: bigint
}
export type PostingKind = 'topup' | 'charge' | 'refund' | 'suspense'
export interface Details {
  /** A gateway's or bank's name. */
  readonly provider?: string
  /** Our transaction code of a top-up. */
  readonly code?: string
  /** An invoice's number. */
  readonly invoice?: string
  /** What was sold: a server's name. */
  readonly subject?: string
  readonly reason?: string
}

/** `short`: a wallet would go below zero; nothing was written. */
export type Outcome = { readonly outcome: 'posted' | 'replayed'; readonly transferId: bigint } | { readonly outcome: 'short' }

/** Throws when the lines do not balance. */
export function assertBalanced(lines: readonly Line[]): void {
  if (lines.length < 2) throw new Error('a posting needs at least two lines')
  if (lines.some((line) => line.amount === 0n)) throw new Error('a line of a posting is zero')
  if (new Set(lines.map((line) => line.account)).size !== lines.length) throw new Error('an account stands twice in a posting')
  if (lines.reduce((sum, line) => sum + line.amount, 0n) !== 0n) throw new Error('a posting does not balance')
}

export interface Ledger {
  /** Opens the house's accounts for these gateways and products, in every currency. Called once, at the start. */
  prepare(db: Queryable, house: { drivers: readonly string[]; products: readonly string[] }): Promise<void>
  openWallet(tx: Tx, customerId: string, currency: Currency): Promise<void>
  /** Money arrived through a gateway for a customer. */
  credit(
    tx: Tx,
    topup: { key: string; customerId: string; driver: string; amount: bigint; currency: Currency; details: Details },
  ): Promise<Outcome>
  /** A customer pays for something. `short` when the wallet does not hold enough. */
  charge(
    tx: Tx,
    sale: { key: string; customerId: string; product: string; amount: bigint; currency: Currency; details: Details },
  ): Promise<Outcome>
  /** Gives back what was charged, as a new entry; the first one stays. */
  refund(
    tx: Tx,
    refund: { key: string; customerId: string; product: string; amount: bigint; currency: Currency; details: Details; reverses?: bigint },
  ): Promise<Outcome>
  /** Money that matches nothing waits in the gateway's suspense account. */
  park(tx: Tx, parked: { key: string; driver: string; amount: bigint; currency: Currency; details: Details }): Promise<Outcome>
  /** Minor units. */
  balanceOf(db: Queryable, customerId: string): Promise<{ balance: bigint; currency: Currency }>
}

export function createLedger(clock: Clock): Ledger {
  async function post(tx: Tx, posting: Posting): Promise<Outcome> {
    assertBalanced(posting.lines)
    const codes = posting.lines.map((line) => line.account)
    const amounts = posting.lines.map((line) => String(line.amount))
    const { rows } = await sql<{ outcome: string; transfer_id: bigint | null }>`
      select outcome, transfer_id from ledger_post(${posting.key}, ${posting.kind}, ${JSON.stringify(posting.details)}::jsonb, ${clock.now()}, ${codes}::text[], ${amounts}::bigint[], ${posting.reverses ?? null})
    `.execute(tx)
    const row = rows[0]
    if (!row) throw new Error('ledger_post answered nothing')
    if (row.outcome === 'short') return { outcome: 'short' }
    if ((row.outcome === 'posted' || row.outcome === 'replayed') && row.transfer_id !== null)
      return { outcome: row.outcome, transferId: row.transfer_id }
    throw new Error(`ledger key ${posting.key} was used for another posting`)
  }

  return {
    async prepare(db, house) {
      const codes = currencies.flatMap((currency) => [
        ...house.drivers.flatMap((driver) =>
          [gatewayOf(driver, currency), suspenseOf(driver, currency)].map((code) => ({ code, currency })),
        ),
        ...house.products.map((product) => ({ code: revenueOf(product, currency), currency })),
      ])
      await db
        .insertInto('ledger_account')
        .values(codes.map((account) => ({ ...account, may_be_negative: true })))
        .onConflict((conflict) => conflict.column('code').doNothing())
        .execute()
    },
    async openWallet(tx, customerId, currency) {
      await tx
        .insertInto('ledger_account')
        .values({ code: walletOf(customerId), customer_id: customerId, currency, may_be_negative: false })
        .execute()
    },
    async credit(tx, { key, customerId, driver, amount, currency, details }) {
      const gateway = gatewayOf(driver, currency)
      return await post(tx, {
        key,
        kind: 'topup',
        details,
        lines: [
          { account: walletOf(customerId), amount },
          { account: gateway, amount: -amount },
        ],
      })
    },
    async charge(tx, { key, customerId, product, amount, currency, details }) {
      const revenue = revenueOf(product, currency)
      return await post(tx, {
        key,
        kind: 'charge',
        details,
        lines: [
          { account: walletOf(customerId), amount: -amount },
          { account: revenue, amount },
        ],
      })
    },
    async refund(tx, { key, customerId, product, amount, currency, details, reverses }) {
      const revenue = revenueOf(product, currency)
      return await post(tx, {
        key,
        kind: 'refund',
        details,
        lines: [
          { account: walletOf(customerId), amount },
          { account: revenue, amount: -amount },
        ],
        ...(reverses !== undefined && { reverses }),
      })
    },
    async park(tx, { key, driver, amount, currency, details }) {
      const gateway = gatewayOf(driver, currency)
      const suspense = suspenseOf(driver, currency)
      return await post(tx, {
        key,
        kind: 'suspense',
        details,
        lines: [
          { account: suspense, amount },
          { account: gateway, amount: -amount },
        ],
      })
    },
    async balanceOf(db, customerId) {
      const row = await db
        .selectFrom('ledger_account')
        .select(['balance', 'currency'])
        .where('customer_id', '=', customerId)
        .executeTakeFirstOrThrow()
      return { balance: row.balance, currency: row.currency as Currency }
    },
  }
}
