/** A letter for every paid invoice, with the link to its PDF. */
import { formatMoney, type Currency } from '../../contract/money.ts'
import type { Tx } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import type { Lent } from './credit-lines.ts'
import type { Customer } from './issue.ts'
import type { Text } from './product.ts'

export interface Receipt {
  readonly customer: Pick<Customer, 'email' | 'language'>
  readonly number: string
  /** Minor units. */
  readonly amount: bigint
  readonly currency: Currency
  /** The purchase. */
  readonly what: Text
  readonly invoiceId: string
  /** The part that was lent; null: the wallet held the whole amount. */
  readonly lent: Lent | null
}

/** The receipt's sentences about the lent part and the debt. */
function lentWords(context: BillingContext, { lent, currency, customer }: Receipt): string {
  if (!lent) return ''
  const { language } = customer
  const [amount, owed] = [lent.amount, lent.owed].map((sum) =>
    formatMoney(Number(sum), currency, language),
  )
  const url = `${context.portalUrl}/payment`
  return language === 'vi'
    ? ` Trong đó ${amount} được ghi nợ theo hạn mức công nợ. Bạn đang nợ tổng cộng ${owed}; ` +
        `khoản đầu tiên đến hạn ngày ${lent.day}. Nạp tiền tại: ${url}`
    : ` Your credit line lent ${amount} of it. You owe ${owed} in total, and the first of it is ` +
        `due by ${lent.day}. Top up here: ${url}`
}

/** Writes the letter in the transaction of the payment. */
export async function receipt(context: BillingContext, tx: Tx, of: Receipt): Promise<void> {
  const { language, email } = of.customer
  const amount = formatMoney(Number(of.amount), of.currency, language)
  const what = of.what[language]
  const lent = lentWords(context, of)
  const [pdf, url] = [context.links.pdf(of.invoiceId, language), context.links.hosted(of.invoiceId)]
  if (language === 'vi')
    return await context.mail(
      tx,
      email,
      lent
        ? `Đã thanh toán hoá đơn ${of.number} theo hạn mức công nợ`
        : `Đã thanh toán hoá đơn ${of.number}`,
      `${amount} đã được thanh toán từ ví của bạn cho ${what}.${lent} Hoá đơn dạng PDF: ${pdf} ` +
        `Xem trên web: ${url}`,
    )
  await context.mail(
    tx,
    email,
    lent ? `Invoice ${of.number} is paid by your credit line` : `Invoice ${of.number} is paid`,
    `${amount} was paid from your wallet for ${what}.${lent} The invoice as a PDF: ${pdf} On the ` +
      `web: ${url}`,
  )
}
