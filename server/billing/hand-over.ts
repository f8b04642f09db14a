/**
 * Hands a subscription over to another customer. Payments so far stay as they are; the new owner
 * pays the renewal.
 */
import type { Currency, RegionCode } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { lockSubscription, type SubscriptionRow } from './payment.ts'

const refuse = (said: Sentence): Refusal => new Refusal('conflict', { said })

const texts = {
  unpaid: {
    en: 'Not everything of this server is paid. Pay its open invoice first.',
    vi: 'Máy chủ này còn khoản chưa trả. Hãy trả hoá đơn đang chờ trước.',
  },
  ending: {
    en: 'The renewal of this server is cancelled. Have it renewed again first.',
    vi: 'Máy chủ này đã bị huỷ gia hạn. Hãy bật lại gia hạn trước.',
  },
  rising: {
    en: 'The price of this server changes at its next renewal. Hand it over after that.',
    vi: 'Giá của máy chủ này thay đổi ở kỳ gia hạn tới. Hãy chuyển giao sau đó.',
  },
  region: {
    en: 'This server is billed in another region or currency than that of the account.',
    vi: 'Máy chủ này được tính tiền ở vùng hoặc loại tiền khác với tài khoản.',
  },
} satisfies Record<string, Sentence>

/** The next owner's price and renewal date. */
export interface Terms {
  readonly price: bigint
  readonly currency: Currency
  readonly regionCode: RegionCode
  readonly renewsAt: Date
}

/** Locks the subscription until the transaction ends. Refuses with conflict and a sentence. */
export async function holdForHandOver(tx: Tx, clock: Clock, id: string): Promise<Terms> {
  const row: SubscriptionRow | undefined = await lockSubscription(tx, id)
  if (row?.status !== 'active' || row.period_end <= clock.now()) throw refuse(texts.unpaid)
  const open = await tx
    .selectFrom('invoice')
    .select('id')
    .where('subscription_id', '=', id)
    .where('status', '=', 'open')
    .executeTakeFirst()
  if (open) throw refuse(texts.unpaid)
  if (row.cancel_at_period_end) throw refuse(texts.ending)
  // A rise was announced to, and a change agreed by, the present owner only.
  if (row.rise !== null || row.planned !== null) throw refuse(texts.rising)
  return {
    price: row.price,
    currency: row.currency as Currency,
    regionCode: row.region_code as RegionCode,
    renewsAt: row.period_end,
  }
}

/**
 * Transfers a subscription that the caller has locked. Refuses with conflict a customer with
 * another currency or region.
 */
export async function giveSubscription(
  tx: Tx,
  of: { readonly id: string; readonly terms: Terms; readonly toId: string },
  account: { readonly currency: Currency; readonly regionCode: RegionCode },
): Promise<void> {
  const { terms } = of
  if (terms.currency !== account.currency || terms.regionCode !== account.regionCode)
    throw refuse(texts.region)
  await tx
    .updateTable('subscription')
    .set({ customer_id: of.toId })
    .where('id', '=', of.id)
    .execute()
}
