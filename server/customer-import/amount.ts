/** Amounts as people and other panels write them. */
import { exponents, toMinor, withoutGroups, type Currency } from '../../contract/money.ts'

/** How a currency may be named beside its amount. */
const marks: Readonly<Record<Currency, readonly string[]>> = {
  VND: ['vnd', 'vnđ', 'đ', '₫'],
  AUD: ['aud', 'a$', 'au$', '$'],
  USD: ['usd', 'us$', '$'],
  EUR: ['eur', '€'],
}

/** Without the currency's marks before and behind. */
function unmarked(text: string, currency: Currency): string {
  let left = text
  for (const place of ['front', 'back'] as const) {
    const mark = marks[currency].find((each) =>
      place === 'front' ? left.startsWith(each) : left.endsWith(each),
    )
    if (mark !== undefined)
      left = (place === 'front' ? left.slice(mark.length) : left.slice(0, -mark.length)).trim()
  }
  return left
}

/** The notation of this portal: decimals behind a point, thousands without a separator. */
function plain(text: string, currency: Currency): string {
  // Decimals of one or two digits behind either sign; before them groups by the other one.
  const [, whole, fraction] =
    /^(\d+|\d{1,3}(?:\.\d{3})+(?=,)|\d{1,3}(?:,\d{3})+(?=\.))[.,](\d{1,2})$/.exec(text) ?? []
  if (whole === undefined || fraction === undefined) return withoutGroups(text, currency)
  // Other panels print two decimals, đồng as well.
  const isWhole = exponents[currency] === 0 && /^0+$/.test(fraction)
  return whole.replaceAll(/[.,]/g, '') + (isWhole ? '' : `.${fraction}`)
}

/**
 * Minor units, not below zero. Undefined: the text is no amount of this currency, or reads as two
 * different ones.
 */
export function readAmount(text: string, currency: Currency): bigint | undefined {
  const typed = unmarked(text.trim().toLowerCase().replaceAll('\u00a0', ' '), currency)
  const minor = toMinor(plain(typed, currency), currency)
  return minor === undefined ? undefined : BigInt(minor)
}
