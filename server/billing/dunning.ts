/**
 * Dunning: reminders, suspension and deletion after an unpaid renewal, on the days that the
 * catalogue sets. Each step first tries to charge the wallet.
 */
import { days, hours, later, type Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import { writeLetter, type DunningLetter } from './dunning-letters.ts'
import { invoiceEvent, subscriptionEvent } from './events.ts'
import { lockInvoice, payLocked, type SubscriptionRow } from './payment.ts'
import type { InvoiceRow } from './store.ts'
import { end } from './subscriptions.ts'

export interface DunningDays {
  readonly reminderDays: readonly number[]
  readonly suspendDays: number
  readonly deleteDays: number
}
/** The last letter is sent this many days before the deletion. */
const lastWordDays = 3
/** What is handled within the hour was on time: the days that were told stay. */
const onTimeMs = hours(1)

/** `day`: what is noted as the last letter; a suspension begins anew, where it is not the last. */
type Step =
  | { readonly act: 'remind' | 'warn'; readonly day: number }
  | { readonly act: 'suspend'; readonly day: number | null }
  | { readonly act: 'delete' }
  | { readonly act: 'wait' }

interface Unpaid {
  /** From when the days count, see `countsFrom`. */
  readonly dueAt: Date
  readonly status: 'past_due' | 'suspended'
  readonly reminded: number | null
}

/** The planned moment, or an earliest one that is more than an hour after it. */
const notBefore = (planned: Date, earliest: Date): Date =>
  earliest.getTime() - planned.getTime() > onTimeMs ? earliest : planned

/**
 * From when the days of an unpaid renewal count: from the moment at which it was due, or from its
 * invoice where the sweep came late, for nobody was told before (decision 148); later where the
 * staff has put its next step off (decision 149).
 */
export const countsFrom = (
  { travels = false }: Pick<Clock, 'travels'>,
  row: Pick<SubscriptionRow, 'period_end' | 'dunning_from'>,
  invoice: Pick<InvoiceRow, 'created_at'>,
): Date => {
  const told = travels ? row.period_end : notBefore(row.period_end, invoice.created_at)
  return row.dunning_from !== null && row.dunning_from > told ? row.dunning_from : told
}

/** The day of the last letter, which is that of the suspension where little time follows it. */
const lastWordDay = ({ suspendDays, deleteDays }: DunningDays): number =>
  Math.max(suspendDays, deleteDays - lastWordDays)
const hasLastWord = ({ reminded }: Unpaid, rule: DunningDays): boolean =>
  (reminded ?? -1) >= lastWordDay(rule)

/** What counts as the last letter once the days are put off: those to come are sent again. */
export function remindedBy(of: Unpaid, now: Date, rule: DunningDays): number | null {
  const isOver = (day: number): boolean => later(of.dueAt, days(day)) <= now
  if (of.status === 'suspended') return isOver(lastWordDay(rule)) ? of.reminded : null
  return rule.reminderDays.findLast((day) => isOver(day)) ?? null
}

/**
 * The step that is due, and when to check again after it; asked for when the moment of the step
 * before has come. One step at a time: a subscription is suspended before it is deleted, however
 * long the sweep was not run. A missed reminder is not sent together with a later one. A late
 * suspension or last letter moves what follows it, so that the customer has the days that it
 * names; on a clock that `travels` nothing moves.
 */
export function dunningStep(
  of: Unpaid,
  now: Date,
  rule: DunningDays,
  { travels = false }: Pick<Clock, 'travels'> = {},
): Step & { readonly nextAt: Date } {
  const at = (day: number): Date => later(of.dueAt, days(day))
  const last = lastWordDay(rule)
  /** The deletion, so many days after this letter at least. */
  const deletionAfter = (count: number): Date =>
    travels ? at(rule.deleteDays) : notBefore(at(rule.deleteDays), later(now, days(count)))
  const isWarned = hasLastWord(of, rule)
  if (of.status === 'suspended') {
    if (at(rule.deleteDays) <= now && (isWarned || travels))
      return { act: 'delete', nextAt: at(rule.deleteDays) }
    if (!isWarned && at(last) <= now)
      return { act: 'warn', day: last, nextAt: deletionAfter(rule.deleteDays - last) }
    return { act: 'wait', nextAt: at(isWarned ? rule.deleteDays : last) }
  }
  if (at(rule.suspendDays) <= now) {
    const deletion = deletionAfter(rule.deleteDays - rule.suspendDays)
    return last === rule.suspendDays
      ? { act: 'suspend', day: last, nextAt: deletion }
      : { act: 'suspend', day: null, nextAt: later(deletion, -days(lastWordDays)) }
  }
  const day = rule.reminderDays.findLast((each) => at(each) <= now)
  const nextAt = at(rule.reminderDays.find((each) => at(each) > now) ?? rule.suspendDays)
  return day !== undefined && day > (of.reminded ?? -1)
    ? { act: 'remind', day, nextAt }
    : { act: 'wait', nextAt }
}

/** When it is suspended and deleted, as the customer is told: `nextAt` may have been put off. */
export function dunningDates(
  of: Unpaid & { readonly nextAt: Date },
  rule: DunningDays,
): { readonly suspendsAt: Date; readonly deletesAt: Date } {
  const deletesAt = later(of.dueAt, days(rule.deleteDays))
  const wordDays = hasLastWord(of, rule) ? 0 : rule.deleteDays - lastWordDay(rule)
  const putOff = later(of.nextAt, days(wordDays))
  return {
    suspendsAt: later(of.dueAt, days(rule.suspendDays)),
    deletesAt: of.status === 'suspended' && putOff > deletesAt ? putOff : deletesAt,
  }
}

/** Runs the dunning step that is due for each subscription; the caller has locked the rows. */
export async function runDunningStep(
  context: BillingContext,
  tx: Tx,
  rows: readonly SubscriptionRow[],
): Promise<void> {
  for (const row of rows) {
    const locked = row.invoice_id === null ? undefined : await lockInvoice(tx, row.invoice_id)
    if (locked?.invoice.status !== 'open')
      throw new Error(`subscription ${row.id} is ${row.status} without an open invoice`)
    // The wallet may have been credited without a top-up.
    if ((await payLocked(context, tx, locked, true)) === 'paid') continue
    const rule = context.catalog.billing
    const of = {
      dueAt: countsFrom(context.clock, row, locked.invoice),
      status: row.status === 'suspended' ? ('suspended' as const) : ('past_due' as const),
      reminded: row.reminded,
    }
    const step = dunningStep(of, context.clock.now(), rule, context.clock)
    const { invoice, subscription = row } = locked
    const write = (letter: DunningLetter, after: Parameters<typeof dunningDates>[0]) =>
      writeLetter(context, tx, letter, { invoice, subscription, ...dunningDates(after, rule) })
    if (step.act === 'delete') {
      await write('delete', { ...of, nextAt: row.next_at })
      await end(context, tx, row)
      continue
    }
    const next = {
      next_at: step.nextAt,
      status: step.act === 'suspend' ? 'suspended' : of.status,
      reminded: step.act === 'wait' ? of.reminded : step.day,
    } as const
    if (step.act !== 'wait') await write(step.act, { ...of, ...next, nextAt: step.nextAt })
    const changed = await tx
      .updateTable('subscription')
      .set(next)
      .where('id', '=', row.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    // The renewal itself has published the first failure.
    if (step.act === 'remind' && step.day > 0)
      await context.outbox.publishEvents(tx, [
        invoiceEvent(context, 'invoice.payment_failed', locked.invoice),
      ])
    if (step.act === 'suspend') {
      await context.outbox.publishEvents(tx, [
        subscriptionEvent(context, 'subscription.updated', changed),
      ])
      const product = context.products.get(row.product)
      if (product) await context.jobs.add(tx, product.jobs.suspend, { subscriptionId: row.id })
    }
  }
}
