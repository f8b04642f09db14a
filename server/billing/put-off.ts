/**
 * The staff puts the next step of an unpaid renewal off: its suspension, or its deletion once it is
 * suspended (decision 149).
 */
import { mostDaysPutOff } from '../../contract/operator-work-acts.ts'
import type { RegionCode } from '../../contract/money.ts'
import { zoneOfReader } from '../catalog/index.ts'
import { days, later } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { BillingContext } from './context.ts'
import { writeLetter } from './dunning-letters.ts'
import { countsFrom, dunningDates, dunningStep, remindedBy } from './dunning.ts'
import { subscriptionEvent } from './events.ts'
import { lockInvoice, lockSubscription } from './payment.ts'
import { dayIn, endOfDayAfter, midnightOf } from './period.ts'

/** Days where the customer reads them: 2026-12-31. A suspended one has no suspension before it. */
export interface DunningPlan {
  readonly suspendsOn: string | null
  readonly deletesOn: string
}

const unpaidStates = ['past_due', 'suspended'] as const

const refuse = (code: 'conflict' | 'invalid_input', field: string, said: Sentence): never => {
  throw new Refusal(code, { fields: { [field]: said } })
}

/**
 * Moves the days of a subscription's dunning so that its next step comes with the end of `day`
 * (2026-12-31, in the customer's time zone), and tells the customer. A payment ends it. Refuses
 * with conflict a subscription that is not overdue, and a day on which the step would come anyway;
 * with invalid_input one that is too far ahead, or on which a running service's unpaid month is
 * over.
 */
export async function putOff(
  context: BillingContext,
  tx: Tx,
  subscriptionId: string,
  day: string,
): Promise<{ readonly before: DunningPlan; readonly after: DunningPlan }> {
  const known = await lockSubscription(tx, subscriptionId)
  const locked = known?.invoice_id ? await lockInvoice(tx, known.invoice_id) : undefined
  const row = locked?.subscription
  const status = row && unpaidStates.find((one) => one === row.status)
  if (locked?.invoice.status !== 'open' || !status)
    return refuse('conflict', 'server', {
      en: 'Nothing is overdue for this server.',
      vi: 'Máy chủ này không có hoá đơn quá hạn.',
    })
  const { clock, catalog } = context
  const [now, rule] = [clock.now(), catalog.billing]
  const customer = (await context.customers(tx, [row.customer_id])).get(row.customer_id)
  // The zone in which the customer reads the day, in letters and on the screens.
  const timeZone = zoneOfReader(catalog, customer ?? { regionCode: row.region_code as RegionCode })
  const planOf = (dates: ReturnType<typeof dunningDates>): DunningPlan => ({
    suspendsOn: status === 'past_due' ? dayIn(timeZone, dates.suspendsAt) : null,
    deletesOn: dayIn(timeZone, dates.deletesAt),
  })
  const of = { dueAt: countsFrom(clock, row, locked.invoice), status, reminded: row.reminded }
  const present = dunningDates({ ...of, nextAt: row.next_at }, rule)
  const step = status === 'past_due' ? present.suspendsAt : present.deletesAt
  const begins = midnightOf(timeZone, day)
  const until = endOfDayAfter(timeZone, begins, 0)
  if (begins > later(now, days(mostDaysPutOff)))
    refuse('invalid_input', 'until', {
      en: `Choose a day within ${mostDaysPutOff} days.`,
      vi: `Hãy chọn một ngày trong vòng ${mostDaysPutOff} ngày tới.`,
    })
  if (until <= now || dayIn(timeZone, until) <= dayIn(timeZone, step))
    refuse('conflict', 'until', {
      en: `Its next step comes on ${dayIn(timeZone, step)}: choose a later day.`,
      vi: `Bước tiếp theo đã định vào ngày ${dayIn(timeZone, step)}: hãy chọn ngày muộn hơn.`,
    })
  // A service that runs past its unpaid month would have days that nobody is billed for.
  const monthEnds = locked.invoice.period_end
  if (status === 'past_due' && monthEnds !== null && until > monthEnds)
    refuse('invalid_input', 'until', {
      en: `Its unpaid month ends on ${dayIn(timeZone, monthEnds)}: choose a day before that.`,
      vi:
        `Tháng chưa thanh toán kết thúc vào ngày ${dayIn(timeZone, monthEnds)}: ` +
        'hãy chọn một ngày trước đó.',
    })
  const stepDay = status === 'past_due' ? rule.suspendDays : rule.deleteDays
  const dueAt = later(until, -days(stepDay))
  // Letters whose day has passed are not sent again beside this one; later ones are.
  const moved = { ...of, dueAt, reminded: remindedBy({ ...of, dueAt }, now, rule) }
  const { nextAt } = dunningStep(moved, now, rule, clock)
  const changed = await tx
    .updateTable('subscription')
    .set({ dunning_from: dueAt, reminded: moved.reminded, next_at: nextAt })
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  const dates = dunningDates({ ...moved, nextAt }, rule)
  await writeLetter(context, tx, status === 'past_due' ? 'moreTime' : 'keptLonger', {
    invoice: locked.invoice,
    subscription: changed,
    ...dates,
  })
  await context.outbox.publishEvents(tx, [
    subscriptionEvent(context, 'subscription.updated', changed),
  ])
  return { before: planOf(present), after: planOf(dates) }
}
