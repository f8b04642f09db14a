/** One change in what is sold, in words. */
import { formatMoney, toMinor, type Currency } from '../../../contract/money.ts'
import type { SellingChange } from '../../../contract/operator-catalog.ts'
import type { OperatorTexts } from '../../i18n/en-operator.ts'
import type { DeskLanguage } from '../language.ts'

export interface Reader {
  readonly t: OperatorTexts
  readonly language: DeskLanguage
}

/** A typed amount, formatted for reading. */
export function money(text: string, currency: Currency, language: DeskLanguage): string {
  const minor = toMinor(text, currency)
  return minor === undefined ? text : formatMoney(minor, currency, language)
}
const value = (
  text: string | null,
  { field, currency }: SellingChange,
  { t, language }: Reader,
): string => {
  if (text === null) return '–'
  if (field === 'sold') return text === 'true' ? t.yes : t.no
  return currency === null ? text : money(text, currency, language)
}

/** The subject of a change, its field, and the values before and after. */
export function lineOf(change: SellingChange, reader: Reader) {
  const words = reader.t.catalog
  const { of, name, field, currency, before, after } = change
  const what = of === 'disk' ? words[name === 'ssdPerGb' ? 'ssdPerGb' : 'mariadbPerGb'] : name
  const label = words.fields[field] ?? field
  const isWhole = field === 'new' || field === 'gone'
  return {
    what: [what, words.of[of]].filter(Boolean).join(' · '),
    field: currency === null ? label : `${label} ${currency}`,
    before: isWhole ? '' : value(before, change, reader),
    after: isWhole ? '' : value(after, change, reader),
  }
}
