/** The language in which we write to a customer. */
import type { Me } from '../../contract/auth.ts'
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'

/** The columns of a customer's row that decide it. */
export interface LanguageFields {
  readonly language: string | null
  readonly region_code: string
}

/** The customer's choice, or else the region's language. Customers of Australia read English. */
export const languageOfCustomer = (
  { language, region_code }: LanguageFields,
  languageOf: (region: RegionCode) => Me['language'],
): Language => ((language ?? languageOf(region_code as RegionCode)) === 'vi' ? 'vi' : 'en')
