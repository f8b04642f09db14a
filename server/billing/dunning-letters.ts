/** The letters of dunning: reminders, and what becomes of a service that is not paid for. */
import { formatMoney, type Currency } from '../../contract/money.ts'
import { zoneOfReader } from '../catalog/index.ts'
import type { Tx } from '../platform/db.ts'
import { fillIn } from '../platform/fill-in.ts'
import type { BillingContext } from './context.ts'
import type { SubscriptionRow } from './payment.ts'
import { dayIn } from './period.ts'
import { subjectOf } from './product.ts'
import type { InvoiceRow } from './store.ts'

/** The end of a letter about a service that the operator has suspended as well. */
const staysOff = {
  en: '\nWe have also suspended it for another reason: paid, it stays off until we release it.',
  vi:
    '\nNgoài ra, chúng tôi đang tạm ngưng dịch vụ này vì lý do khác: sau khi thanh toán, dịch ' +
    'vụ chỉ hoạt động lại khi được chúng tôi mở lại.',
}

/**
 * `byHand`: its text where the operator has suspended the service as well. A payment does not bring
 * that back.
 */
const letters = {
  remind: {
    en: {
      subject: 'Invoice {number} is unpaid',
      text:
        '{amount} is due for {what}. It is suspended on {suspend} and deleted on {delete} ' +
        'unless the invoice is paid. Top up your wallet and we pay it automatically, or pay ' +
        'here: {url}',
      byHand:
        '{amount} is due for {what}. It is deleted on {delete} unless the invoice is paid. Top ' +
        'up your wallet and we pay it automatically, or pay here: {url}' +
        staysOff.en,
    },
    vi: {
      subject: 'Hoá đơn {number} chưa được thanh toán',
      text:
        '{what} còn {amount} chưa thanh toán. Dịch vụ sẽ bị tạm ngưng ngày {suspend} và bị ' +
        'xoá ngày {delete} nếu hoá đơn chưa được trả. Hãy nạp tiền vào ví, hoá đơn sẽ được ' +
        'thanh toán tự động; hoặc thanh toán tại đây: {url}',
      byHand:
        '{what} còn {amount} chưa thanh toán. Dịch vụ sẽ bị xoá ngày {delete} nếu hoá đơn chưa ' +
        'được trả. Hãy nạp tiền vào ví, hoá đơn sẽ được thanh toán tự động; hoặc thanh toán tại ' +
        'đây: {url}' +
        staysOff.vi,
    },
  },
  suspend: {
    en: {
      subject: '{what} is suspended',
      text:
        'Invoice {number} ({amount}) is unpaid, so {what} is suspended. Its data is kept ' +
        'until {delete} and then deleted. Top up your wallet and we restore it ' +
        'automatically, or pay here: {url}',
      byHand:
        'Invoice {number} ({amount}) is unpaid. The data of {what} is kept until {delete} and ' +
        'then deleted. Top up your wallet and we pay the invoice automatically, or pay here: ' +
        '{url}' +
        staysOff.en,
    },
    vi: {
      subject: '{what} đã bị tạm ngưng',
      text:
        'Hoá đơn {number} ({amount}) chưa được thanh toán nên {what} đã bị tạm ngưng. Dữ liệu ' +
        'được giữ đến ngày {delete} rồi sẽ bị xoá. Hãy nạp tiền vào ví, dịch vụ sẽ tự hoạt động ' +
        'lại; hoặc thanh toán tại đây: {url}',
      byHand:
        'Hoá đơn {number} ({amount}) chưa được thanh toán. Dữ liệu của {what} được giữ đến ngày ' +
        '{delete} rồi sẽ bị xoá. Hãy nạp tiền vào ví, hoá đơn sẽ được thanh toán tự động; hoặc ' +
        'thanh toán tại đây: {url}' +
        staysOff.vi,
    },
  },
  warn: {
    en: {
      subject: '{what} is deleted on {delete}',
      text:
        'Invoice {number} ({amount}) is still unpaid. On {delete} we delete {what} and its data. ' +
        'Top up your wallet before that day and we restore it automatically, or pay here: {url}',
      byHand:
        'Invoice {number} ({amount}) is still unpaid. On {delete} we delete {what} and its data. ' +
        'Top up your wallet before that day and we pay the invoice automatically, or pay here: ' +
        '{url}' +
        staysOff.en,
    },
    vi: {
      subject: '{what} sẽ bị xoá ngày {delete}',
      text:
        'Hoá đơn {number} ({amount}) vẫn chưa được thanh toán. Ngày {delete}, {what} và dữ liệu ' +
        'sẽ bị xoá. Hãy nạp tiền vào ví trước ngày đó, dịch vụ sẽ tự hoạt động lại; hoặc thanh ' +
        'toán tại đây: {url}',
      byHand:
        'Hoá đơn {number} ({amount}) vẫn chưa được thanh toán. Ngày {delete}, {what} và dữ liệu ' +
        'sẽ bị xoá. Hãy nạp tiền vào ví trước ngày đó, hoá đơn sẽ được thanh toán tự động; hoặc ' +
        'thanh toán tại đây: {url}' +
        staysOff.vi,
    },
  },
  moreTime: {
    en: {
      subject: 'More time for invoice {number}',
      text:
        'You have more time to pay invoice {number} ({amount}): {what} is now suspended on ' +
        '{suspend} and deleted on {delete} unless it is paid. Top up your wallet and we pay it ' +
        'automatically, or pay here: {url}',
      byHand:
        'You have more time to pay invoice {number} ({amount}): {what} is now deleted on ' +
        '{delete} unless it is paid. Top up your wallet and we pay it automatically, or pay ' +
        'here: {url}' +
        staysOff.en,
    },
    vi: {
      subject: 'Hoá đơn {number} được gia hạn thanh toán',
      text:
        'Bạn có thêm thời gian để thanh toán hoá đơn {number} ({amount}): {what} sẽ bị tạm ngưng ' +
        'ngày {suspend} và bị xoá ngày {delete} nếu hoá đơn chưa được trả. Hãy nạp tiền vào ví, ' +
        'hoá đơn sẽ được thanh toán tự động; hoặc thanh toán tại đây: {url}',
      byHand:
        'Bạn có thêm thời gian để thanh toán hoá đơn {number} ({amount}): {what} sẽ bị xoá ngày ' +
        '{delete} nếu hoá đơn chưa được trả. Hãy nạp tiền vào ví, hoá đơn sẽ được thanh toán tự ' +
        'động; hoặc thanh toán tại đây: {url}' +
        staysOff.vi,
    },
  },
  keptLonger: {
    en: {
      subject: '{what} is kept until {delete}',
      text:
        'You have more time to pay invoice {number} ({amount}): the data of {what} is now kept ' +
        'until {delete} and then deleted. Top up your wallet and we restore it automatically, or ' +
        'pay here: {url}',
      byHand:
        'You have more time to pay invoice {number} ({amount}): the data of {what} is now kept ' +
        'until {delete} and then deleted. Top up your wallet and we pay the invoice ' +
        'automatically, or pay here: {url}' +
        staysOff.en,
    },
    vi: {
      subject: '{what} được giữ đến ngày {delete}',
      text:
        'Bạn có thêm thời gian để thanh toán hoá đơn {number} ({amount}): dữ liệu của {what} ' +
        'được giữ đến ngày {delete} rồi sẽ bị xoá. ' +
        'Hãy nạp tiền vào ví, dịch vụ sẽ tự hoạt động lại; ' +
        'hoặc thanh toán tại đây: {url}',
      byHand:
        'Bạn có thêm thời gian để thanh toán hoá đơn {number} ({amount}): dữ liệu của {what} ' +
        'được giữ đến ngày {delete} rồi sẽ bị xoá. ' +
        'Hãy nạp tiền vào ví, hoá đơn sẽ được thanh toán tự ' +
        'động; hoặc thanh toán tại đây: {url}' +
        staysOff.vi,
    },
  },
  delete: {
    en: {
      subject: '{what} is deleted',
      text:
        'Invoice {number} ({amount}) was still unpaid on {delete}. We deleted {what} and ' +
        'its data. Nothing more is due.',
      byHand: null,
    },
    vi: {
      subject: '{what} đã bị xoá',
      text:
        'Hoá đơn {number} ({amount}) không được thanh toán đến ngày {delete}. {what} và dữ liệu ' +
        'đã bị xoá; bạn không còn nợ khoản nào.',
      byHand: null,
    },
  },
} as const
export type DunningLetter = keyof typeof letters

/** Writes to the customer; the days that the letter names are those where the reader is. */
export async function writeLetter(
  context: BillingContext,
  tx: Tx,
  letter: DunningLetter,
  of: {
    readonly invoice: InvoiceRow
    readonly subscription: SubscriptionRow
    readonly suspendsAt: Date
    readonly deletesAt: Date
  },
): Promise<void> {
  const { invoice, subscription: row } = of
  const customer = (await context.customers(tx, [row.customer_id])).get(row.customer_id)
  if (!customer) return
  const { language } = customer
  const timeZone = zoneOfReader(context.catalog, customer)
  const words: Record<string, string> = {
    number: invoice.number ?? '',
    amount: formatMoney(
      Number(invoice.total - invoice.amount_paid),
      row.currency as Currency,
      language,
    ),
    what: (row.description as Record<'en' | 'vi', string>)[language],
    suspend: dayIn(timeZone, of.suspendsAt),
    delete: dayIn(timeZone, of.deletesAt),
    url: context.links.hosted(invoice.id),
  }
  const { subject, text, byHand } = letters[letter][language]
  const sold = subjectOf(row.subject)
  const isHeld = sold !== null && (await context.products.get(row.product)?.isHeld?.(tx, sold))
  const written = isHeld === true ? (byHand ?? text) : text
  await context.mail(tx, customer.email, fillIn(subject, words), fillIn(written, words))
}
