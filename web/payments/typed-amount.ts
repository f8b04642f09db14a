/** Text typed into an amount field, and how it is shown while typing. */
import type { Currency } from '../../contract/money.ts'
import type { Language } from '../i18n/index.ts'

/**
 * Digits grouped as in the language, without a currency: the content of an amount field while
 * typing.
 */
export function groupTyped(text: string, currency: Currency, language: Language): string {
  const vietnamese = currency === 'VND' || language === 'vi'
  const [whole = '', fraction] = text.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, vietnamese ? '.' : ',')
  return fraction === undefined ? grouped : `${grouped}${vietnamese ? ',' : '.'}${fraction}`
}

/** A minus sign or a power of ten: such text is no amount and must not be read as another one. */
const strange = /^\s*[-−]|\d\s*e/i

/**
 * "100,000.00" or "100000.0", as a bank writes a whole amount. "100.00" does not match, because it
 * is "100.000" after its last digit was deleted.
 */
const decimals = /^(\D*(?:\d{1,3}(?:,\d{3})+(?=\.)|\d{1,3}(?:\.\d{3})+(?=,)|\d{4,}))[.,]\d{1,2}\D*$/

/** Correct groups with a fraction, in English and in Vietnamese: these are unambiguous. */
const englishGroups = /^\D*\d{1,3}(?:,\d{3})+\.\d{1,2}\D*$/
const vietnameseGroups = /^\D*\d{1,3}(?:\.\d{3})+,\d{1,2}\D*$/

/**
 * The reverse of `groupTyped`: "1.000.000" or "12,50" in that grouping become plain "1000000" or
 * "12.50".
 */
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
