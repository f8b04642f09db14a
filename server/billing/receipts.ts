/** A letter for every invoice that is paid, with the way to its PDF. */
import { formatMoney, type Currency } from '../../contract/money.ts'
import type { Tx } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import type { Customer } from './issue.ts'
import type { Text } from './product.ts'

export interface Receipt {
  readonly customer: Pick<Customer, 'email' | 'language'>
  readonly number: string
  /** Minor units. */
  readonly amount: bigint
  readonly currency: Currency
  /** What was bought. */
  readonly what: Text
  readonly invoiceId: string
}

/** Writes the letter, in the transaction of the payment. */
export async function receipt(context: BillingContext, tx: Tx, of: Receipt): Promise<void> {
  const { language, email } = of.customer
  const amount = formatMoney(Number(of.amount), of.currency, language)
  const what = of.what[language]
  const [pdf, url] = [context.links.pdf(of.invoiceId, language), context.links.hosted(of.invoiceId)]
  if (language === 'vi')
    return await context.mail(
      tx,
      email,
      `Đã thanh toán hoá đơn ${of.number}`,
      `${amount} đã được thanh toán từ ví của bạn cho ${what}. Hoá đơn dạng PDF: ${pdf} Xem ` +
        `trên web: ${url}`,
    )
  await context.mail(
    tx,
    email,
    `Invoice ${of.number} is paid`,
    `${amount} was paid from your wallet for ${what}. The invoice as a PDF: ${pdf} On the ` +
      `web: ${url}`,
  )
}
