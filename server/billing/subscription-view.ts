/** A subscription as the API shows it. */
import type { Subscription } from '../../contract/billing.ts'
import { currency as currencySchema } from '../../contract/money.ts'
import { days, later } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import { countsFrom, dunningDates } from './dunning.ts'
import { renewsAt } from './events.ts'
import { firstRenewalFrom } from './announcements.ts'
import { shownFully } from './product.ts'
import { renewalPricesOf, renewalOffer } from './prospects.ts'
import { paidOfPeriod } from './store.ts'
import { unusedOf } from './subscriptions.ts'

export type { Subscription }

export async function subscriptionOf(
  context: BillingContext,
  db: Queryable,
  id: string,
): Promise<Subscription | undefined> {
  const row = await db
    .selectFrom('subscription')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return undefined
  const prospect = (await renewalPricesOf(context, db, [row])).get(row.id)
  const rise = prospect?.rise?.announced ? prospect.rise : null
  const unpaid =
    row.status === 'past_due' || row.status === 'suspended'
      ? await db
          .selectFrom('invoice')
          .selectAll()
          .where('id', '=', row.invoice_id)
          .where('status', '=', 'open')
          .executeTakeFirst()
      : undefined
  // A payment by a former owner is credited to them.
  const paidByAnother = await paidOfPeriod(db)
    .select('i.id')
    .where('s.id', '=', row.id)
    .whereRef('i.customer_id', '<>', 's.customer_id')
    .executeTakeFirst()
  const dates =
    unpaid &&
    dunningDates(
      {
        dueAt: countsFrom(context.clock, row, unpaid),
        status: row.status === 'suspended' ? 'suspended' : 'past_due',
        reminded: row.reminded,
        nextAt: row.next_at,
      },
      context.catalog.billing,
    )
  return {
    id: row.id,
    status: row.status as Subscription['status'],
    price: Number(row.price),
    currency: currencySchema.parse(row.currency),
    periodStart: row.period_start.toISOString(),
    periodEnd: row.period_end.toISOString(),
    renewsAt: renewsAt(row),
    renewalPrice: Number(prospect ? renewalOffer(prospect, row.period_end).price : row.price),
    priceRise: rise && {
      price: Number(rise.offer.price),
      actsAt: firstRenewalFrom(context, row, rise.actsAt).toISOString(),
    },
    planned: row.planned !== null,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    unused: paidByAnother ? 0 : Number(await unusedOf(db, row, context.clock.now())),
    unpaid:
      unpaid && dates
        ? {
            // A renewal has its number from the moment it falls due.
            number: unpaid.number ?? '',
            amount_due: Number(unpaid.total - unpaid.amount_paid),
            hosted_invoice_url: context.links.hosted(unpaid.id),
            dueAt: row.period_end.toISOString(),
            suspendsAt: (row.status === 'suspended' && dates.suspendsAt > context.clock.now()
              ? later(row.period_end, days(context.catalog.billing.suspendDays))
              : dates.suspendsAt
            ).toISOString(),
            deletesAt: dates.deletesAt.toISOString(),
          }
        : null,
    ...shownFully(context.products, row),
  }
}
