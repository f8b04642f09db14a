/** Money in suspense at the bank that is a pay-out of a gateway, said by a person. */
import type { Currency } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { Sentence } from '../platform/errors.ts'
import type { Ledger } from '../wallet/index.ts'
import type { PaymentDriver } from './driver.ts'
import { resolveSuspense } from './suspense-rows.ts'
import { NotAssignable } from './suspense.ts'

/**
 * Matches money in suspense with a posted pay-out. Throws NotAssignable if no money of the bank
 * waits under the number, no such pay-out is unmatched, or their amounts differ.
 */
export async function matchPayout(
  tx: Tx,
  deps: {
    readonly clock: Clock
    readonly ledger: Ledger
    readonly drivers: ReadonlyMap<string, PaymentDriver>
  },
  suspense: bigint,
  reference: string,
): Promise<{ payoutId: string; amount: bigint; currency: Currency }> {
  const refuse = (text: Sentence): never => {
    throw new NotAssignable(text)
  }
  const parked = await tx
    .selectFrom('payment_suspense')
    .selectAll()
    .where('id', '=', suspense)
    .forUpdate()
    .executeTakeFirst()
  // A gateway whose customers type the amount is the bank itself.
  if (parked?.resolved_at !== null || deps.drivers.get(parked.driver)?.credits !== 'received')
    return refuse({
      en: `Nothing of the bank's own waits under the number ${suspense}.`,
      vi: `Không có khoản nào của ngân hàng đang chờ với số ${suspense}.`,
    })
  const payout = await tx
    .selectFrom('gateway_payout')
    .selectAll()
    .where('reference', '=', reference)
    .where('posted_at', 'is not', null)
    .where('undone_at', 'is', null)
    .where('matched_suspense', 'is', null)
    // Two gateways may have given the same name.
    .orderBy((eb) => eb.and({ amount: parked.amount, currency: parked.currency }), 'desc')
    .limit(1)
    .forUpdate()
    .executeTakeFirst()
  if (!payout)
    return refuse({
      en: `There is no posted pay-out ${reference} that is not matched yet.`,
      vi: `Không có đợt chi trả ${reference} đã ghi sổ và chưa đối soát.`,
    })
  if (payout.amount !== parked.amount || payout.currency !== parked.currency)
    return refuse({
      en: `The pay-out is ${payout.amount} ${payout.currency}, and not what waits.`,
      vi: `Đợt chi trả là ${payout.amount} ${payout.currency}, không khớp với khoản đang chờ.`,
    })
  const currency = payout.currency as Currency
  await deps.ledger.matchPayout(tx, {
    key: `suspense:${suspense}:payout`,
    driver: parked.driver,
    currency,
    amount: payout.amount,
    details: { code: payout.reference },
  })
  await resolveSuspense(tx, deps.clock, suspense)
  await tx
    .updateTable('gateway_payout')
    .set({ matched_suspense: suspense })
    .where('id', '=', payout.id)
    .execute()
  return { payoutId: payout.id, amount: payout.amount, currency }
}
