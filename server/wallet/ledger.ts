/**
 * The rules of a posting: at least two lines, one currency, sum zero, no overdraft of a wallet, one
 * key once. SQL constraints enforce the same rules (migration 0004). The SQL function ledger_post
 * (its latest version: migration 0009) writes the posting; post.ts calls it.
 */
import { sql } from 'kysely'
import type { Currency } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import {
  adjustmentOf,
  gatewayOf,
  houseAccounts,
  openingOf,
  payableOf,
  receivableOf,
  revenueOf,
  suspenseOf,
  voucherOf,
  walletOf,
} from './accounts.ts'
import { createCharges } from './charges.ts'
import { creditLinesOf, setCreditLine } from './credit-lines.ts'
import { receivables, settleDebt } from './debts.ts'
import { matchedPosting, payoutPosting, undonePosting } from './payouts.ts'
import { createPoster } from './post.ts'
import type { Ledger, Movement, Outcome } from './posting.ts'
import { postedUnder, toppedUpFor } from './postings.ts'
import { createSetOff } from './set-off.ts'

export function createLedger(clock: Clock): Ledger {
  const poster = createPoster(clock)
  const { post, postIf, between, lock } = poster
  const { setOff, incoming, creditFrom } = createSetOff(poster)
  const { charge, chargeAll } = createCharges(poster)

  /** Out of the wallet as far as it holds any, and out of the gateway; the rest is owed. */
  async function takeOut(
    tx: Tx,
    of: Movement & { readonly atMost: bigint },
    kind: 'chargeback' | 'withdrawal',
  ): Promise<Outcome & { readonly owed: bigint }> {
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
      kind,
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
          kind: kind === 'chargeback' ? kind : 'refund',
          created_at: clock.now(),
        })
        .execute()
    return { ...outcome, owed: of.amount - fromWallet }
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
      const closed = await tx
        .deleteFrom('ledger_account')
        .where('customer_id', 'in', customerIds)
        .where('version', '=', 0n)
        .returning('customer_id')
        .execute()
      return closed.flatMap(({ customer_id }) => customer_id ?? [])
    },
    credit: (tx, of) => creditFrom(tx, gatewayOf(of.driver, of.currency), of),
    creditVoucher: (tx, of) => creditFrom(tx, voucherOf(of.currency), of),
    charge,
    chargeAll,
    async refund(tx, { key, customerId, product, amount, currency, details, reverses, paidAt }) {
      const [wallet, revenue] = [walletOf(customerId), revenueOf(product, currency)]
      // Locks all accounts that may be touched at once. A chargeback that comes now waits, or its
      // debt is seen.
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
      // The next credit in this transaction may settle a debt: lock all accounts at once, in one
      // order.
      await lock(tx, [
        gateway,
        suspense,
        walletOf(of.customerId),
        ...(await receivables(tx, of.currency)),
      ])
      return await between(tx, 'unpark', of, suspense, gateway)
    },
    async returnFromSuspense(tx, { key, driver, amount, currency, details }) {
      return await post(tx, {
        key,
        kind: 'suspense_returned',
        details,
        lines: [
          { account: suspenseOf(driver, currency), amount: -amount },
          { account: gatewayOf(driver, currency), amount },
        ],
      })
    },
    assign: (tx, of) => creditFrom(tx, suspenseOf(of.driver, of.currency), of),
    posted: postedUnder,
    toppedUpFor,
    withhold: (tx, of) =>
      between(tx, 'withdrawal', of, walletOf(of.customerId), payableOf(of.driver, of.currency)),
    async release(tx, of) {
      const payable = payableOf(of.driver, of.currency)
      const put = () => between(tx, 'withdrawal_undone', of, payable, walletOf(of.customerId))
      return await incoming(tx, payable, of, put, of.withheldAt)
    },
    payOut: (tx, of) =>
      between(
        tx,
        'paid_out',
        of,
        payableOf(of.driver, of.currency),
        gatewayOf(of.driver, of.currency),
      ),
    chargeback: (tx, of) => takeOut(tx, of, 'chargeback'),
    sendBack: (tx, of) => takeOut(tx, { ...of, atMost: of.amount }, 'withdrawal'),
    async reverseChargeback(tx, of) {
      const [gateway, receivable] = [
        gatewayOf(of.driver, of.currency),
        receivableOf(of.driver, of.currency),
      ]
      const to = of.isClosed ? suspenseOf(of.driver, of.currency) : walletOf(of.customerId)
      await lock(tx, [gateway, to, receivable, ...(await receivables(tx, of.currency))])
      const debt = await tx
        .selectFrom('wallet_debt')
        .select(['amount', 'settled'])
        .where('key', '=', of.undoes)
        .executeTakeFirst()
      const owed = debt ? debt.amount - debt.settled : 0n
      const settled = owed < of.amount ? owed : of.amount
      const amount = of.amount - settled
      const lines = [
        { account: gateway, amount: -of.amount },
        { account: receivable, amount: settled },
        { account: to, amount },
      ]
      const outcome = await post(tx, {
        key: of.key,
        kind: 'chargeback_won',
        details: of.details,
        lines: lines.filter((line) => line.amount !== 0n),
      })
      const isNew = outcome.outcome === 'posted'
      if (isNew) {
        if (settled > 0n) await settleDebt(tx, of.undoes, settled)
        if (!of.isClosed) await setOff(tx, { ...of, amount }, of.withheldAt ?? null)
      }
      return { ...outcome, parked: of.isClosed && isNew ? amount : 0n }
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
    bringOver: (tx, of) =>
      between(
        tx,
        'opening',
        { ...of, details: {} },
        openingOf(of.currency),
        walletOf(of.customerId),
      ),
    settlePayout: (tx, payout) => postIf(tx, payoutPosting(payout)),
    undoPayout: (tx, payout) => postIf(tx, undonePosting(payout)),
    matchPayout: (tx, payout) => postIf(tx, matchedPosting(payout)),
    setCreditLine: (tx, of) => setCreditLine(tx, clock.now(), of),
    creditLineOf: async (db, customerId) =>
      (await creditLinesOf(db, [customerId], clock.now())).get(customerId),
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
