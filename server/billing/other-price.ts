/**
 * Refuses a confirmed price that differs from the present one, because the catalogue may change
 * while a page is open: the customer pays the shown price or nothing.
 */
import type { Language } from '../../contract/errors.ts'
import { formatMoney, type Currency } from '../../contract/money.ts'
import { Refusal } from '../platform/errors.ts'

/**
 * Refuses with conflict if the shown price is not the present one.
 * @param shown minor units a month; undefined: the caller was shown nothing
 */
export function holdToPrice(shown: number | undefined, price: bigint, currency: Currency): void {
  if (shown === undefined || BigInt(shown) === price) return
  const amount = (language: Language): string => formatMoney(Number(price), currency, language)
  throw new Refusal('conflict', {
    said: {
      en:
        `Prices have changed: it now costs ${amount('en')} a month. Nothing was done. ` +
        'Check it and confirm again.',
      vi:
        `Giá đã thay đổi: hiện là ${amount('vi')} mỗi tháng. Chưa có gì được thực hiện. ` +
        'Vui lòng kiểm tra và xác nhận lại.',
    },
  })
}
