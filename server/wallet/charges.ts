/**
 * Customers' payments for what is sold. If the wallet is short and the customer has a credit line,
 * the missing part is lent by a separate posting in the same transaction (decision 127): a wallet
 * is never below zero.
 */
import { sql } from 'kysely'
import type { Tx } from '../platform/db.ts'
import { lentOf, revenueOf, walletOf } from './accounts.ts'
import { creditLinesOf, firstLetterAt, haveCreditLines } from './credit-lines.ts'
import { outcomeOf, type Poster } from './post.ts'
import { assertBalanced, type Charged, type Ledger, type Posting, type Sale } from './posting.ts'

const postingOf = ({ key, customerId, product, amount, currency, details }: Sale): Posting => ({
  key,
  kind: 'charge',
  details,
  lines: [
    { account: walletOf(customerId), amount: -amount },
    { account: revenueOf(product, currency), amount },
  ],
})

export function createCharges({
  clock,
  post,
  between,
  lock,
}: Poster): Pick<Ledger, 'charge' | 'chargeAll'> {
  /**
   * Lends what the wallet lacks, all of it or nothing; returns the amount in minor units. The
   * caller has locked the wallet.
   */
  async function lend(tx: Tx, sale: Sale): Promise<bigint> {
    const { key, customerId, currency, details, lendUntil } = sale
    const now = clock.now()
    const line = (await creditLinesOf(tx, [customerId], now)).get(customerId)
    if (!lendUntil || line?.currency !== currency || line.termDays === null) return 0n
    const { balance } = await tx
      .selectFrom('ledger_account')
      .select('balance')
      .where('code', '=', walletOf(customerId))
      .executeTakeFirstOrThrow()
    const amount = sale.amount - balance
    if (amount > line.available) return 0n
    const [lent, account] = [`${key}:lent`, lentOf(currency)]
    await between(tx, 'lent', { key: lent, details, amount }, account, walletOf(customerId))
    const dueAt = lendUntil(line.termDays)
    await tx
      .insertInto('wallet_debt')
      .values({
        key: lent,
        customer_id: customerId,
        account,
        currency,
        amount,
        created_at: now,
        kind: 'lent',
        due_at: dueAt,
        write_at: firstLetterAt(now, dueAt),
      })
      .execute()
    return amount
  }

  /** Called after a charge was short. */
  async function lendAndCharge(tx: Tx, sale: Sale): Promise<Charged> {
    const lent = await lend(tx, sale)
    return lent === 0n ? { outcome: 'short', lent } : { ...(await post(tx, postingOf(sale))), lent }
  }

  return {
    async charge(tx, sale) {
      const { customerId, product, currency, lendUntil } = sale
      const lends = lendUntil && (await haveCreditLines(tx, [customerId])).has(customerId)
      // All that may be touched, at once, in the order of every posting.
      if (lends)
        await lock(tx, [walletOf(customerId), revenueOf(product, currency), lentOf(currency)])
      const outcome = await post(tx, postingOf(sale))
      return lends && outcome.outcome === 'short'
        ? await lendAndCharge(tx, sale)
        : { ...outcome, lent: 0n }
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
      const borrowers = await haveCreditLines(
        tx,
        sales.flatMap(({ customerId, lendUntil }) => (lendUntil ? [customerId] : [])),
      )
      const lenders = sales.flatMap(({ customerId, currency }) =>
        borrowers.has(customerId) ? [lentOf(currency)] : [],
      )
      // Locks all of them in the order of their ids, as every posting does: no deadlock.
      const codes = [
        ...new Set([...legs.flatMap(({ wallet, revenue }) => [wallet, revenue]), ...lenders]),
      ]
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
      const outcomes: Charged[] = []
      for (const [index, sale] of sales.entries()) {
        const row = rows[index]
        if (!row) throw new Error('ledger_post answered too little')
        const outcome = outcomeOf(row, sale.key)
        outcomes.push(
          outcome.outcome === 'short' && borrowers.has(sale.customerId)
            ? await lendAndCharge(tx, sale)
            : { ...outcome, lent: 0n },
        )
      }
      return outcomes
    },
  }
}
