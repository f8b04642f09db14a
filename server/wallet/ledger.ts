/**
 * The rules of a posting: at least two lines, one currency, sum zero, no overdraft of a wallet, one key once. The same rules stand as constraints
 * in SQL (migration 0004); the posting itself is the SQL function ledger_post, one round trip.
 */
import { sql } from 'kysely'
import { currencies, type Currency } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { gatewayOf, payableOf, receivableOf, revenueOf, suspenseOf, walletOf } from './accounts.ts'
import { debtsSince, receivables, settleDebt } from './debts.ts'

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
export type PostingKind =
  | 'topup'
  | 'charge'
  | 'refund'
  | 'suspense'
  /** Out of suspense again: the gateway told more of it, and it is credited as what it is. */
  | 'unpark'
  /** To the source: out of the wallet, and back into it when the gateway refuses. */
  | 'withdrawal'
  | 'withdrawal_undone'
  | 'paid_out'
  /** Taken back by the gateway or the bank, and given again. */
  | 'chargeback'
  | 'chargeback_won'
  /** Out of the wallet, for what a chargeback left owed. */
  | 'set_off'
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

/** Money between one customer's wallet and a gateway. */
export interface Movement {
  readonly key: string
  readonly customerId: string
  readonly driver: string
  /** Minor units, above zero. */
  readonly amount: bigint
  readonly currency: Currency
  readonly details: Details
}

/** What a customer pays for. */
export interface Sale {
  readonly key: string
  readonly customerId: string
  readonly product: string
  /** Minor units, above zero. */
  readonly amount: bigint
  readonly currency: Currency
  readonly details: Details
}

export interface Ledger {
  /** Opens the house's accounts for these gateways and products, in every currency. Called once, at the start. */
  prepare(db: Queryable, house: { drivers: readonly string[]; products: readonly string[] }): Promise<void>
  openWallet(tx: Tx, customerId: string, currency: Currency): Promise<void>
  /** Takes away wallets in which nothing was ever entered; throws where something was. */
  closeWallets(tx: Tx, customerIds: readonly string[]): Promise<void>
  /** Money arrived through a gateway for a customer. */
  credit(
    tx: Tx,
    topup: { key: string; customerId: string; driver: string; amount: bigint; currency: Currency; details: Details },
  ): Promise<Outcome>
  /** A customer pays for something. `short` when the wallet does not hold enough. */
  charge(tx: Tx, sale: Sale): Promise<Outcome>
  /** Many customers pay, in one round trip; a wallet that is short stops nobody else. Answers as many words, in the same order. */
  chargeAll(tx: Tx, sales: readonly Sale[]): Promise<readonly Outcome['outcome'][]>
  /**
   * Gives back what was charged, as a new entry; the first one stays. With `paidAt`, as far as money that had come until then has been taken back
   * since and is owed to us, the refund settles that: an entry of its own takes it out of the wallet again.
   */
  refund(tx: Tx, refund: Sale & { readonly reverses?: bigint; readonly paidAt?: Date }): Promise<Outcome>
  /** Money that matches nothing waits in the gateway's suspense account. */
  park(tx: Tx, parked: { key: string; driver: string; amount: bigint; currency: Currency; details: Details }): Promise<Outcome>
  /** What was parked is the gateway's again, because the customer's wallet is credited with it next. */
  unpark(tx: Tx, parked: Movement): Promise<Outcome>
  /** Parked money is given to a customer. */
  assign(tx: Tx, parked: Movement): Promise<Outcome>
  /** What was posted under a key: minor units, and the transaction code that it names. Undefined: nothing. */
  posted(tx: Tx, key: string): Promise<{ readonly amount: bigint; readonly code: string | undefined } | undefined>
  /** Takes money out of a wallet that is to go back to its source. `short` when the wallet does not hold it. */
  withhold(tx: Tx, withdrawal: Movement): Promise<Outcome>
  /** The gateway refused: the withheld money is the customer's again. */
  release(tx: Tx, withdrawal: Movement): Promise<Outcome>
  /** The gateway gave the withheld money back to its source. */
  payOut(tx: Tx, withdrawal: Movement): Promise<Outcome>
  /**
   * The gateway took money back by itself: from the wallet as far as it holds any, and never more than `atMost` (minor units, not below zero);
   * the rest is owed to us.
   */
  takeBack(tx: Tx, chargeback: Movement & { readonly atMost: bigint }): Promise<Outcome>
  /**
   * A chargeback was decided for us: what was taken from the wallet is there again, and what is still owed because of it is owed no more.
   * `undoes` is the key of the posting that took it.
   */
  giveAgain(tx: Tx, chargeback: Movement & { readonly undoes: string }): Promise<Outcome>
  /** Minor units. */
  balanceOf(db: Queryable, customerId: string): Promise<{ balance: bigint; currency: Currency }>
}

export function createLedger(clock: Clock): Ledger {
  /** `amount` from one account to another. */
  const between = (tx: Tx, kind: PostingKind, { key, details, amount }: Movement, from: string, to: string): Promise<Outcome> =>
    post(tx, {
      key,
      kind,
      details,
      lines: [
        { account: from, amount: -amount },
        { account: to, amount },
      ],
    })

  /** Locks accounts in the order of their ids, as every posting does, so that nobody waits for another in a ring; answers their balances by code. */
  async function lock(tx: Tx, codes: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const rows = await tx
      .selectFrom('ledger_account')
      .select(['code', 'balance'])
      .where('code', 'in', codes)
      .orderBy('id')
      .forUpdate()
      .execute()
    return new Map(rows.map(({ code, balance }) => [code, balance]))
  }

  async function post(tx: Tx, posting: Posting): Promise<Outcome> {
    assertBalanced(posting.lines)
    const codes = posting.lines.map((line) => line.account)
    const amounts = posting.lines.map((line) => String(line.amount))
    const { rows } = await sql<{ outcome: string; transfer_id: bigint | null }>`
      select outcome, transfer_id from ledger_post(${posting.key}, ${posting.kind}, ${JSON.stringify(posting.details)}::jsonb, ${clock.now()}, ${codes}::text[], ${amounts}::bigint[], ${posting.reverses ?? null})
    `.execute(tx)
    const row = rows[0]
    if (!row) throw new Error('ledger_post answered nothing')
    return outcomeOf(row, posting.key)
  }

  function outcomeOf(row: { outcome: string; transfer_id: bigint | null }, key: string): Outcome {
    if (row.outcome === 'short') return { outcome: 'short' }
    if ((row.outcome === 'posted' || row.outcome === 'replayed') && row.transfer_id !== null)
      return { outcome: row.outcome, transferId: row.transfer_id }
    throw new Error(`ledger key ${key} was used for another posting`)
  }

  return {
    async prepare(db, house) {
      const codes = currencies.flatMap((currency) => [
        ...house.drivers.flatMap((driver) =>
          [gatewayOf, suspenseOf, payableOf, receivableOf].map((name) => ({ code: name(driver, currency), currency })),
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
    async closeWallets(tx, customerIds) {
      await tx.deleteFrom('ledger_account').where('customer_id', 'in', customerIds).execute()
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
    async chargeAll(tx, sales) {
      if (sales.length === 0) return []
      const legs = sales.map((sale) => ({ wallet: walletOf(sale.customerId), revenue: revenueOf(sale.product, sale.currency) }))
      for (const [index, { amount }] of sales.entries()) {
        const { wallet = '', revenue = '' } = legs[index] ?? {}
        assertBalanced([
          { account: wallet, amount: -amount },
          { account: revenue, amount },
        ])
      }
      // All of them in the order of their ids, as every posting takes its own: nobody waits for another in a ring.
      const codes = [...new Set(legs.flatMap(({ wallet, revenue }) => [wallet, revenue]))]
      await sql`select from ledger_account where code = any (${codes}::text[]) order by id for update`.execute(tx)
      const { rows } = await sql<{ outcome: string; transfer_id: bigint | null }>`
        select p.outcome, p.transfer_id
        from unnest(
          ${sales.map(({ key }) => key)}::text[], ${sales.map(({ details }) => JSON.stringify(details))}::text[],
          ${legs.map(({ wallet }) => wallet)}::text[], ${legs.map(({ revenue }) => revenue)}::text[],
          ${sales.map(({ amount }) => String(amount))}::bigint[]
        ) with ordinality as s (key, details, wallet, revenue, amount, place)
        cross join lateral ledger_post(s.key, 'charge', s.details::jsonb, ${clock.now()}, array[s.wallet, s.revenue], array[-s.amount, s.amount]) p
        order by s.place
      `.execute(tx)
      return sales.map(({ key }, index) => {
        const row = rows[index]
        if (!row) throw new Error('ledger_post answered too little')
        return outcomeOf(row, key).outcome
      })
    },
    async refund(tx, { key, customerId, product, amount, currency, details, reverses, paidAt }) {
      const [wallet, revenue] = [walletOf(customerId), revenueOf(product, currency)]
      // All that may be touched, at once; and a chargeback that comes now waits, or is seen.
      if (paidAt) await lock(tx, [wallet, revenue, ...(await receivables(tx, currency))])
      const outcome = await post(tx, {
        key,
        kind: 'refund',
        details,
        lines: [
          { account: wallet, amount },
          { account: revenue, amount: -amount },
        ],
        ...(reverses !== undefined && { reverses }),
      })
      if (!paidAt || outcome.outcome !== 'posted') return outcome
      let left = amount
      for (const debt of await debtsSince(tx, customerId, currency, paidAt)) {
        const owed = debt.amount - debt.settled
        const taken = owed < left ? owed : left
        if (taken === 0n) break
        left -= taken
        await post(tx, {
          key: `${key}:settles:${debt.key}`,
          kind: 'set_off',
          details,
          lines: [
            { account: wallet, amount: -taken },
            { account: debt.account, amount: taken },
          ],
        })
        await settleDebt(tx, debt.key, taken)
      }
      return outcome
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
    async unpark(tx, of) {
      const [gateway, suspense] = [gatewayOf(of.driver, of.currency), suspenseOf(of.driver, of.currency)]
      await lock(tx, [gateway, suspense, walletOf(of.customerId)])
      return await between(tx, 'unpark', of, suspense, gateway)
    },
    assign: (tx, of) => between(tx, 'topup', of, suspenseOf(of.driver, of.currency), walletOf(of.customerId)),
    async posted(tx, key) {
      const row = await tx
        .selectFrom('ledger_transfer as t')
        .innerJoin('ledger_entry as e', 'e.transfer_id', 't.id')
        .select(['t.details', (eb) => eb.fn.sum<bigint>('e.amount').as('amount')])
        .where('t.key', '=', key)
        .where('e.amount', '>', 0n)
        .groupBy('t.id')
        .executeTakeFirst()
      return row && { amount: BigInt(row.amount), code: (row.details as Details).code }
    },
    withhold: (tx, of) => between(tx, 'withdrawal', of, walletOf(of.customerId), payableOf(of.driver, of.currency)),
    release: (tx, of) => between(tx, 'withdrawal_undone', of, payableOf(of.driver, of.currency), walletOf(of.customerId)),
    payOut: (tx, of) => between(tx, 'paid_out', of, payableOf(of.driver, of.currency), gatewayOf(of.driver, of.currency)),
    async takeBack(tx, of) {
      const wallet = walletOf(of.customerId)
      const [gateway, receivable] = [gatewayOf(of.driver, of.currency), receivableOf(of.driver, of.currency)]
      // Locked, so that nothing is spent between the reading and the posting.
      const balance = (await lock(tx, [gateway, wallet, receivable])).get(wallet) ?? 0n
      const fromWallet = [balance, of.atMost].reduce((least, each) => (each < least ? each : least), of.amount)
      const lines = [
        { account: gateway, amount: of.amount },
        { account: wallet, amount: -fromWallet },
        { account: receivable, amount: fromWallet - of.amount },
      ]
      const posting = { key: of.key, kind: 'chargeback', details: of.details, lines: lines.filter(({ amount }) => amount !== 0n) } as const
      const outcome = await post(tx, posting)
      if (outcome.outcome === 'posted' && of.amount > fromWallet)
        await tx
          .insertInto('wallet_debt')
          .values({
            key: of.key,
            customer_id: of.customerId,
            account: receivable,
            currency: of.currency,
            amount: of.amount - fromWallet,
            created_at: clock.now(),
          })
          .execute()
      return outcome
    },
    async giveAgain(tx, of) {
      const [gateway, receivable] = [gatewayOf(of.driver, of.currency), receivableOf(of.driver, of.currency)]
      await lock(tx, [gateway, walletOf(of.customerId), receivable])
      const debt = await tx.selectFrom('wallet_debt').select(['amount', 'settled']).where('key', '=', of.undoes).executeTakeFirst()
      const owed = debt ? debt.amount - debt.settled : 0n
      const settled = owed < of.amount ? owed : of.amount
      const lines = [
        { account: gateway, amount: -of.amount },
        { account: receivable, amount: settled },
        { account: walletOf(of.customerId), amount: of.amount - settled },
      ]
      const outcome = await post(tx, {
        key: of.key,
        kind: 'chargeback_won',
        details: of.details,
        lines: lines.filter(({ amount }) => amount !== 0n),
      })
      if (outcome.outcome === 'posted' && settled > 0n) await settleDebt(tx, of.undoes, settled)
      return outcome
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
