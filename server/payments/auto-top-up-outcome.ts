/**
 * Records the outcome of an automatic payment in the transaction that settles it: counts declines,
 * sets the next try, and switches automatic top-up off where it has to.
 */
import type { Selectable } from 'kysely'
import { declinesAllowed, type OffReason } from '../../contract/auto-top-up.ts'
import type { Currency } from '../../contract/money.ts'
import type { DeclineReason } from '../../contract/payments.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import type { DB } from '../platform/db-types.ts'
import type { Tx } from '../platform/db.ts'
import { automaticChannel, type Source } from './driver.ts'
import type { Letters } from './letters.ts'
import type { PaymentRow } from './orders.ts'

export type AutoTopUpRule = Selectable<DB['auto_top_up']>

/** Wait after the first decline and after the second, ms. */
const triedAgainAfterMs = [days(1), days(3)] as const

interface Needs {
  readonly clock: Clock
  readonly letters: Letters
}

/** Visa •••• 4242 */
export const cardName = ({ card_brand: brand, card_last4: last4 }: AutoTopUpRule): string =>
  `${brand.slice(0, 1).toUpperCase()}${brand.slice(1)} •••• ${last4}`

/** Locks what a customer wishes until the transaction ends. */
export const lockRule = (tx: Tx, customerId: string): Promise<AutoTopUpRule | undefined> =>
  tx
    .selectFrom('auto_top_up')
    .selectAll()
    .where('customer_id', '=', customerId)
    .forUpdate()
    .executeTakeFirst()

/** Switches it off and tells the customer. The caller has locked the row. */
export async function switchOff(
  { clock, letters }: Needs,
  tx: Tx,
  rule: AutoTopUpRule,
  why: OffReason,
  reason: DeclineReason | null = null,
): Promise<void> {
  await tx
    .updateTable('auto_top_up')
    .set({ off_at: clock.now(), off_reason: why, next_try_at: null })
    .where('customer_id', '=', rule.customer_id)
    .execute()
  await letters.autoTopUp(tx, {
    change: 'off',
    customerId: rule.customer_id,
    currency: rule.currency as Currency,
    amount: rule.amount,
    card: cardName(rule),
    why,
    reason,
  })
}

/** Switches automatic top-up off if it is on and `stands` holds for the customer's rule. */
export async function switchOffIf(
  needs: Needs,
  tx: Tx,
  customerId: string,
  why: OffReason,
  stands: (rule: AutoTopUpRule) => boolean = () => true,
): Promise<void> {
  const rule = await lockRule(tx, customerId)
  if (rule?.off_at === null && stands(rule)) await switchOff(needs, tx, rule, why)
}

/**
 * Records the end of an automatic payment, once; ignores every other payment. A failed payment may
 * still become paid. The caller has locked the payment's row.
 */
export async function noteOutcome(
  needs: Needs,
  tx: Tx,
  driver: Pick<Source, 'declineReason'>,
  payment: Pick<PaymentRow, 'id' | 'channel' | 'customer_id' | 'amount' | 'currency'>,
  of: { readonly status: 'succeeded' | 'failed'; readonly detail: string },
): Promise<void> {
  if (payment.channel !== automaticChannel) return
  const now = needs.clock.now()
  const paid = of.status === 'succeeded'
  const reason = paid ? null : (driver.declineReason?.(of.detail) ?? null)
  const refused = reason === 'needs_confirmation' ? 'needs_owner' : 'declined'
  // The payment, the wish, the charge: everybody locks them in this order.
  const rule = await lockRule(tx, payment.customer_id)
  const charge = await tx
    .updateTable('auto_top_up_charge')
    .set({ state: paid ? 'succeeded' : refused, decided_at: now, detail: of.detail })
    .where('payment_id', '=', payment.id)
    .where('state', paid ? '<>' : '=', paid ? 'succeeded' : 'under_way')
    .returning('card_id')
    .executeTakeFirst()
  if (!charge) return
  // The customer chose another card meanwhile: this card's outcome says nothing about the new one.
  if (rule?.off_at !== null || rule.card_id !== charge.card_id) return
  const set = (to: { declines: number; next_try_at: Date | null }) =>
    tx.updateTable('auto_top_up').set(to).where('customer_id', '=', rule.customer_id).execute()
  if (paid) {
    await set({ declines: 0, next_try_at: null })
    return
  }
  const declines = rule.declines + 1
  const waitMs = triedAgainAfterMs[declines - 1]
  const nextTryAt = waitMs === undefined ? null : later(now, waitMs)
  await set({ declines, next_try_at: nextTryAt })
  if (declines >= declinesAllowed || nextTryAt === null)
    return await switchOff(needs, tx, rule, 'declined', reason)
  await needs.letters.autoTopUp(tx, {
    change: refused,
    customerId: rule.customer_id,
    currency: payment.currency as Currency,
    amount: payment.amount,
    card: cardName(rule),
    reason,
    nextTryAt,
  })
}
