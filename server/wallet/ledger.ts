/**
 * The rules of a posting: at least two lines, one currency, sum zero, no overdraft of a wallet, one
 * key once. The same rules stand as constraints in SQL (migration 0004); the posting itself is the
 * SQL function ledger_post (its latest version: migration 0009), one round trip.
 */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import {
  adjustmentOf,
  gatewayOf,
  houseAccounts,
  payableOf,
  receivableOf,
  revenueOf,
  suspenseOf,
  voucherOf,
  walletOf,
} from './accounts.ts'
import { debtsSince, receivables, settleDebt } from './debts.ts'
import { matchedPosting, payoutPosting, undonePosting } from './payouts.ts'
import { postedUnder } from './postings.ts'
import {
  assertBalanced,
  type Credited,
  type Ledger,
  type Movement,
  type Outcome,
  type Posting,
  type PostingKind,
} from './posting.ts'

export function createLedger(clock: Clock): Ledger {
  /** `amount` from one account to another. */
  const between = (
    tx: Tx,
    kind: PostingKind,
    { key, details, amount }: Omit<Movement, 'driver'>,
    from: string,
    to: string,
  ): Promise<Outcome> =>
    post(tx, {
      key,
      kind,
      details,
      lines: [
        { account: from, amount: -amount },
        { account: to, amount },
      ],
    })

  /**
   * Locks accounts in the order of their ids, as every posting does, so that nobody waits for
   * another in a ring; answers their balances by code.
   */
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
      select outcome, transfer_id from ledger_post(
        ${posting.key}, ${posting.kind}, ${JSON.stringify(posting.details)}::jsonb,
        ${clock.now()}, ${codes}::text[], ${amounts}::bigint[], ${posting.reverses ?? null})
    `.execute(tx)
    const row = rows[0]
    if (!row) throw new Error('ledger_post answered nothing')
    return outcomeOf(row, posting.key)
  }

  /** What moves nothing is posted as nothing. */
  const postIf = async (tx: Tx, posting: Posting | null): Promise<Outcome> =>
    posting ? await post(tx, posting) : { outcome: 'replayed', transferId: 0n }

  function outcomeOf(row: { outcome: string; transfer_id: bigint | null }, key: string): Outcome {
    if (row.outcome === 'short') return { outcome: 'short' }
    if ((row.outcome === 'posted' || row.outcome === 'replayed') && row.transfer_id !== null)
      return { outcome: row.outcome, transferId: row.transfer_id }
    throw new Error(`ledger key ${key} was used for another posting`)
  }

  /**
   * Takes out of a wallet what a chargeback since then has left owed, the oldest first and at most
   * `amount`; answers how much. The accounts are locked by the caller.
   */
  async function setOff(
    tx: Tx,
    of: Pick<Movement, 'key' | 'customerId' | 'currency' | 'amount' | 'details'>,
    since?: Date,
  ): Promise<bigint> {
    let left = of.amount
    for (const debt of await debtsSince(tx, of.customerId, of.currency, since)) {
      const owed = debt.amount - debt.settled
      const taken = owed < left ? owed : left
      if (taken === 0n) break
      left -= taken
      await post(tx, {
        key: `${of.key}:settles:${debt.key}`,
        kind: 'set_off',
        details: of.details,
        lines: [
          { account: walletOf(of.customerId), amount: -taken },
          { account: debt.account, amount: taken },
        ],
      })
      await settleDebt(tx, debt.key, taken)
    }
    return of.amount - left
  }

  /**
   * Puts money into a wallet, and takes what is owed out of it. Mostly nobody owes: one question.
   */
  async function creditFrom(
    tx: Tx,
    account: string,
    of: Omit<Movement, 'driver'>,
    kind: PostingKind = 'topup',
  ): Promise<Credited> {
    const [wallet, { customerId, currency }] = [walletOf(of.customerId), of]
    const put = (): Promise<Outcome> =>
      post(tx, {
        key: of.key,
        kind,
        details: of.details,
        lines: [
          { account: wallet, amount: of.amount },
          { account, amount: -of.amount },
        ],
      })
    if ((await debtsSince(tx, customerId, currency)).length === 0) {
      await sql`savepoint crediting`.execute(tx)
      const outcome = await put()
      // The wallet is locked now: a chargeback that came meanwhile is seen, one that comes waits.
      if ((await debtsSince(tx, customerId, currency)).length === 0) {
        await sql`release savepoint crediting`.execute(tx)
        return { ...outcome, setOff: 0n }
      }
      await sql`rollback to savepoint crediting`.execute(tx)
    }
    // All that may be touched, at once, in the order of every posting.
    await lock(tx, [wallet, account, ...(await receivables(tx, currency))])
    const outcome = await put()
    return { ...outcome, setOff: outcome.outcome === 'posted' ? await setOff(tx, of) : 0n }
  }

  return {
    async prepare(db, of) {
      await db
        .insertInto('ledger_account')
        .values(houseAccounts(of).map((account) => ({ ...account, may_be_negative: true })))
        .onConflict((conflict) => conflict.column('code').doNothing())
        .execute()
    },
    async openWallet(tx, customerId, currency) {
      await tx
        .insertInto('ledger_account')
        .values({
          code: walletOf(customerId),
          customer_id: customerId,
          currency,
          may_be_negative: false,
        })
        .execute()
    },
    async closeWallets(tx, customerIds) {
      await tx.deleteFrom('ledger_account').where('customer_id', 'in', customerIds).execute()
    },
    credit: (tx, of) => creditFrom(tx, gatewayOf(of.driver, of.currency), of),
    creditVoucher: (tx, of) => creditFrom(tx, voucherOf(of.currency), of),
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
      const legs = sales.map((sale) => ({
        wallet: walletOf(sale.customerId),
        revenue: revenueOf(sale.product, sale.currency),
      }))
      for (const [index, { amount }] of sales.entries()) {
        const { wallet = '', revenue = '' } = legs[index] ?? {}
        assertBalanced([
          { account: wallet, amount: -amount },
          { account: revenue, amount },
        ])
      }
      // All of them in the order of their ids, as every posting takes its own: nobody waits for
      // another in a ring.
      const codes = [...new Set(legs.flatMap(({ wallet, revenue }) => [wallet, revenue]))]
      await sql`
        select from ledger_account where code = any (${codes}::text[]) order by id for update
      `.execute(tx)
      const { rows } = await sql<{ outcome: string; transfer_id: bigint | null }>`
        select p.outcome, p.transfer_id
        from unnest(
          ${sales.map(({ key }) => key)}::text[],
          ${sales.map(({ details }) => JSON.stringify(details))}::text[],
          ${legs.map(({ wallet }) => wallet)}::text[],
          ${legs.map(({ revenue }) => revenue)}::text[],
          ${sales.map(({ amount }) => String(amount))}::bigint[]
        ) with ordinality as s (key, details, wallet, revenue, amount, place)
        cross join lateral ledger_post(s.key, 'charge', s.details::jsonb, ${clock.now()},
          array[s.wallet, s.revenue], array[-s.amount, s.amount]) p
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
      if (paidAt && outcome.outcome === 'posted')
        await setOff(tx, { key, customerId, currency, amount, details }, paidAt)
      return outcome
    },
    async holdInSuspense(tx, { key, driver, amount, currency, details }) {
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
    async releaseFromSuspense(tx, of) {
      const [gateway, suspense] = [
        gatewayOf(of.driver, of.currency),
        suspenseOf(of.driver, of.currency),
      ]
      // What is credited next in this transaction may set off a debt: all at once, in one order.
      await lock(tx, [
        gateway,
        suspense,
        walletOf(of.customerId),
        ...(await receivables(tx, of.currency)),
      ])
      return await between(tx, 'unpark', of, suspense, gateway)
    },
    assign: (tx, of) => creditFrom(tx, suspenseOf(of.driver, of.currency), of),
    posted: postedUnder,
    withhold: (tx, of) =>
      between(tx, 'withdrawal', of, walletOf(of.customerId), payableOf(of.driver, of.currency)),
    release: (tx, of) =>
      between(
        tx,
        'withdrawal_undone',
        of,
        payableOf(of.driver, of.currency),
        walletOf(of.customerId),
      ),
    payOut: (tx, of) =>
      between(
        tx,
        'paid_out',
        of,
        payableOf(of.driver, of.currency),
        gatewayOf(of.driver, of.currency),
      ),
    async chargeback(tx, of) {
      const wallet = walletOf(of.customerId)
      const [gateway, receivable] = [
        gatewayOf(of.driver, of.currency),
        receivableOf(of.driver, of.currency),
      ]
      // Locked, so that nothing is spent between the reading and the posting.
      const balance = (await lock(tx, [gateway, wallet, receivable])).get(wallet) ?? 0n
      const fromWallet = [balance, of.atMost].reduce(
        (least, each) => (each < least ? each : least),
        of.amount,
      )
      const lines = [
        { account: gateway, amount: of.amount },
        { account: wallet, amount: -fromWallet },
        { account: receivable, amount: fromWallet - of.amount },
      ]
      const posting = {
        key: of.key,
        kind: 'chargeback',
        details: of.details,
        lines: lines.filter(({ amount }) => amount !== 0n),
      } as const
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
      return { ...outcome, owed: of.amount - fromWallet }
    },
    async reverseChargeback(tx, of) {
      const [gateway, receivable] = [
        gatewayOf(of.driver, of.currency),
        receivableOf(of.driver, of.currency),
      ]
      await lock(tx, [gateway, walletOf(of.customerId), receivable])
      const debt = await tx
        .selectFrom('wallet_debt')
        .select(['amount', 'settled'])
        .where('key', '=', of.undoes)
        .executeTakeFirst()
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
    async adjust(tx, of) {
      const house = adjustmentOf(of.currency)
      if (of.amount > 0n) return await creditFrom(tx, house, of, 'adjustment')
      const outcome = await between(
        tx,
        'adjustment',
        { ...of, amount: -of.amount },
        walletOf(of.customerId),
        house,
      )
      return { ...outcome, setOff: 0n }
    },
    settlePayout: (tx, payout) => postIf(tx, payoutPosting(payout)),
    undoPayout: (tx, payout) => postIf(tx, undonePosting(payout)),
    matchPayout: (tx, payout) => postIf(tx, matchedPosting(payout)),
    async balanceOf(db, customerId) {
      const row = await db
        .selectFrom('ledger_account')
        .select(['balance', 'currency'])
        .where('customer_id', '=', customerId)
        .executeTakeFirstOrThrow()
      return { balance: row.balance, currency: row.currency as Currency }
    },
    async balancesOf(db, customerIds) {
      const rows = await db
        .selectFrom('ledger_account')
        .select(['customer_id', 'balance', 'currency'])
        .where('customer_id', '=', sql<string>`any (${[...customerIds]}::uuid[])`)
        .execute()
      return new Map(
        rows.map((row) => [
          row.customer_id ?? '',
          { balance: row.balance, currency: row.currency as Currency },
        ]),
      )
    },
  }
}
