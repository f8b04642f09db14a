/** Which language we write to a customer in. */
import type { Me } from '../../contract/auth.ts'
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'

/** The part of a customer's row that says it. */
export interface LanguageFields {
  readonly language: string | null
  readonly region_code: string
}

/** Their choice, or else their region's. Australia reads English. */
export const languageOfCustomer = (
  { language, region_code }: LanguageFields,
  languageOf: (region: RegionCode) => Me['language'],
): Language => ((language ?? languageOf(region_code as RegionCode)) === 'vi' ? 'vi' : 'en')
