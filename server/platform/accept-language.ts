/** The one reader of Accept-Language, used by the API, the invoices and the edge's own pages. */
import type { Language } from '../../contract/errors.ts'

/**
 * `vi` when Vietnamese is preferred to English, by the header's weights (RFC 9110, 12.5.4); `*`
 * stands for English. English otherwise.
 */
export function acceptedLanguage(header: string | undefined): Language {
  let best: Language = 'en'
  let weight = 0
  for (const part of (header ?? '').split(',')) {
    const [tag = '', ...parameters] = part.trim().split(';')
    const weights = parameters
      .map((parameter) => /^\s*q\s*=\s*(.*)$/i.exec(parameter)?.[1])
      .filter((text) => text !== undefined)
    const q = Number(weights[0] ?? 1)
    let language: Language | undefined
    if (/^vi(?![a-z])/i.test(tag)) language = 'vi'
    else if (/^(en(?![a-z])|\*)/i.test(tag)) language = 'en'
    else language = undefined

    if (language && q > weight) [best, weight] = [language, q]
  }
  return best
}
