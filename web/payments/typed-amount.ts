/** What is typed into an amount field, and how it is shown there meanwhile. */
import type { Currency } from '../../contract/money.ts'
import type { Language } from '../i18n/index.ts'

/**
 * Digits grouped as the language groups them, without a currency: what an amount field shows while
 * one types.
 */
export function groupTyped(text: string, currency: Currency, language: Language): string {
  const vietnamese = currency === 'VND' || language === 'vi'
  const [whole = '', fraction] = text.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, vietnamese ? '.' : ',')
  return fraction === undefined ? grouped : `${grouped}${vietnamese ? ',' : '.'}${fraction}`
}

/** A sign, or a power of ten: what is no amount is not read as another one. */
const strange = /^\s*[-−]|\d\s*e/i

/**
 * "100,000.00" or "100000.0", as a bank writes a whole amount. "100.00" is not among them: it is
 * "100.000" of which the last digit was just deleted.
 */
const decimals = /^(\D*(?:\d{1,3}(?:,\d{3})+(?=\.)|\d{1,3}(?:\.\d{3})+(?=,)|\d{4,}))[.,]\d{1,2}\D*$/

/** Well grouped with a fraction, in English and in Vietnamese: nothing else can be meant by it. */
const englishGroups = /^\D*\d{1,3}(?:,\d{3})+\.\d{1,2}\D*$/
const vietnameseGroups = /^\D*\d{1,3}(?:\.\d{3})+,\d{1,2}\D*$/

/** The reverse: "1.000.000" or "12,50" typed in that grouping become plain "1000000" or "12.50". */
export function plainTyped(text: string, currency: Currency, language: Language): string {
  if (strange.test(text)) return ''
  if (currency === 'VND')
    return text
      .replace(decimals, '$1')
      .replace(/\D/g, '')
      .replace(/^0+(?=\d)/, '')
      .slice(0, 12)
  const vietnamese = language === 'vi' ? !englishGroups.test(text) : vietnameseGroups.test(text)
  const normal = vietnamese ? text.replaceAll('.', '').replace(',', '.') : text.replaceAll(',', '')
  const [, whole = '', fraction] = /^(\d*)(?:\.(\d*))?/.exec(normal.replace(/[^\d.]/g, '')) ?? []
  const trimmed = whole.replace(/^0+(?=\d)/, '').slice(0, 10)
  return fraction === undefined ? trimmed : `${trimmed || '0'}.${fraction.slice(0, 2)}`
}
