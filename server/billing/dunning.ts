/**
 * Dunning: reminders, suspension and deletion after an unpaid renewal, on the days that the
 * catalogue sets. Each step first tries to charge the wallet.
 */
import { formatMoney, type Currency, type RegionCode } from '../../contract/money.ts'
import { days, later } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { fillIn } from '../platform/fill-in.ts'
import type { BillingContext } from './context.ts'
import { invoiceEvent, subscriptionEvent } from './events.ts'
import { lockInvoice, payLocked, type LockedInvoice, type SubscriptionRow } from './payment.ts'
import { dayIn } from './period.ts'
import { end } from './subscriptions.ts'

export interface DunningDays {
  readonly reminderDays: readonly number[]
  readonly suspendDays: number
  readonly deleteDays: number
}
/** The last letter is sent this many days before the deletion. */
const lastWordDays = 3

type Step =
  | { readonly act: 'remind' | 'warn'; readonly day: number }
  | { readonly act: 'suspend' | 'delete' | 'wait' }

/**
 * The step that is due, and the time of the next check. One step at a time: a subscription is
 * suspended before it is deleted, however long the sweep did not run. A missed reminder is not sent
 * together with a later one.
 */
export function dunningStep(
  of: { dueAt: Date; status: 'past_due' | 'suspended'; reminded: number | null },
  now: Date,
  rule: DunningDays,
): Step & { readonly nextAt: Date } {
  const at = (day: number): Date => later(of.dueAt, days(day))
  const last = rule.deleteDays - lastWordDays
  const isWarned = last <= rule.suspendDays || (of.reminded ?? -1) >= last
  if (of.status === 'suspended') {
    if (at(rule.deleteDays) <= now) return { act: 'delete', nextAt: at(rule.deleteDays) }
    if (!isWarned && at(last) <= now) return { act: 'warn', day: last, nextAt: at(rule.deleteDays) }
    return { act: 'wait', nextAt: at(isWarned ? rule.deleteDays : last) }
  }
  if (at(rule.suspendDays) <= now)
    return { act: 'suspend', nextAt: at(isWarned ? rule.deleteDays : last) }
  const day = rule.reminderDays.findLast((each) => at(each) <= now)
  const nextAt = at(rule.reminderDays.find((each) => at(each) > now) ?? rule.suspendDays)
  return day !== undefined && day > (of.reminded ?? -1)
    ? { act: 'remind', day, nextAt }
    : { act: 'wait', nextAt }
}

const letters = {
  remind: {
    en: {
      subject: 'Invoice {number} is unpaid',
      text:
        '{amount} is due for {what}. It is suspended on {suspend} and deleted on {delete} ' +
        'unless the invoice is paid. Top up your wallet and we pay it automatically, or pay ' +
        'here: {url}',
    },
    vi: {
      subject: 'Hoá đơn {number} chưa được thanh toán',
      text:
        '{what} còn {amount} chưa thanh toán. Dịch vụ sẽ bị tạm ngưng ngày {suspend} và bị ' +
        'xoá ngày {delete} nếu hoá đơn chưa được trả. Hãy nạp tiền vào ví, hoá đơn sẽ được ' +
        'thanh toán tự động; hoặc thanh toán tại đây: {url}',
    },
  },
  suspend: {
    en: {
      subject: '{what} is suspended',
      text:
        'Invoice {number} ({amount}) is unpaid, so {what} is suspended. Its data is kept ' +
        'until {delete} and then deleted. Top up your wallet and we restore it ' +
        'automatically, or pay here: {url}',
    },
    vi: {
      subject: '{what} đã bị tạm ngưng',
      text:
        'Hoá đơn {number} ({amount}) chưa được thanh toán nên {what} đã bị tạm ngưng. Dữ liệu ' +
        'được giữ đến ngày {delete} rồi sẽ bị xoá. Hãy nạp tiền vào ví, dịch vụ sẽ tự hoạt động ' +
        'lại; hoặc thanh toán tại đây: {url}',
    },
  },
  warn: {
    en: {
      subject: '{what} is deleted on {delete}',
      text:
        'Invoice {number} ({amount}) is still unpaid. On {delete} we delete {what} and its data. ' +
        'Top up your wallet before that day and we restore it automatically, or pay here: {url}',
    },
    vi: {
      subject: '{what} sẽ bị xoá ngày {delete}',
      text:
        'Hoá đơn {number} ({amount}) vẫn chưa được thanh toán. Ngày {delete}, {what} và dữ liệu ' +
        'sẽ bị xoá. Hãy nạp tiền vào ví trước ngày đó, dịch vụ sẽ tự hoạt động lại; hoặc thanh ' +
        'toán tại đây: {url}',
    },
  },
  delete: {
    en: {
      subject: '{what} is deleted',
      text:
        'Invoice {number} ({amount}) was still unpaid on {delete}. We deleted {what} and ' +
        'its data. Nothing more is due.',
    },
    vi: {
      subject: '{what} đã bị xoá',
      text:
        'Hoá đơn {number} ({amount}) không được thanh toán đến ngày {delete}. {what} và dữ liệu ' +
        'đã bị xoá; bạn không còn nợ khoản nào.',
    },
  },
} as const

async function write(
  context: BillingContext,
  tx: Tx,
  letter: keyof typeof letters,
  { invoice, subscription: row }: Required<LockedInvoice>,
): Promise<void> {
  if (!row) return
  const customer = (await context.customers(tx, [row.customer_id])).get(row.customer_id)
  if (!customer) return
  const region = row.region_code as RegionCode
  const { language } = customer
  const { timeZone } = context.catalog.regions[region]
  const { suspendDays, deleteDays } = context.catalog.billing
  const dated = (day: number): string => dayIn(timeZone, later(row.period_end, days(day)))
  const words: Record<string, string> = {
    number: invoice.number ?? '',
    amount: formatMoney(
      Number(invoice.total - invoice.amount_paid),
      row.currency as Currency,
      language,
    ),
    what: (row.description as Record<'en' | 'vi', string>)[language],
    suspend: dated(suspendDays),
    delete: dated(deleteDays),
    url: context.links.hosted(invoice.id),
  }
  const { subject, text } = letters[letter][language]
  await context.mail(tx, customer.email, fillIn(subject, words), fillIn(text, words))
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
    const status = row.status === 'suspended' ? 'suspended' : 'past_due'
    const step = dunningStep(
      { dueAt: row.period_end, status, reminded: row.reminded },
      context.clock.now(),
      context.catalog.billing,
    )
    const { subscription = row } = locked
    if (step.act !== 'wait')
      await write(context, tx, step.act, { invoice: locked.invoice, subscription })
    if (step.act === 'delete') {
      await end(context, tx, row)
      continue
    }
    const next = {
      next_at: step.nextAt,
      ...((step.act === 'remind' || step.act === 'warn') && { reminded: step.day }),
      ...(step.act === 'suspend' && { status: 'suspended' }),
    }
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
