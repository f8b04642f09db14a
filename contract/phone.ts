/**
 * Mobile numbers: read as people write them in their region, stored in E.164. The national forms
 * follow each country's numbering plan as the ITU lists them (E.164, national numbering plans).
 * Numbers that are not mobile cannot receive an SMS and are rejected.
 */
import type { RegionCode } from './money.ts'

interface Country {
  readonly callingCode: string
  /** The prefix that is dialled within the country and is not part of the number. */
  readonly trunk: '' | '0'
  /** A mobile number without calling code and trunk prefix. */
  readonly mobile: RegExp
}

/** Area codes of +1 that are not American or Canadian: islands, and premium numbers. */
const elsewhereInOne =
  '242|246|264|268|284|345|441|473|649|658|664|721|758|767|784|809|829|849|868|869|876|900|976'

export const countries = {
  AT: { callingCode: '43', trunk: '0', mobile: /^6\d{7,12}$/ },
  AU: { callingCode: '61', trunk: '0', mobile: /^4\d{8}$/ },
  BE: { callingCode: '32', trunk: '0', mobile: /^4\d{8}$/ },
  CH: { callingCode: '41', trunk: '0', mobile: /^7[5-9]\d{7}$/ },
  CZ: { callingCode: '420', trunk: '', mobile: /^[67]\d{8}$/ },
  DE: { callingCode: '49', trunk: '0', mobile: /^1[5-7]\d{8,9}$/ },
  DK: { callingCode: '45', trunk: '', mobile: /^[2-9]\d{7}$/ },
  ES: { callingCode: '34', trunk: '', mobile: /^[67]\d{8}$/ },
  FI: { callingCode: '358', trunk: '0', mobile: /^(4\d|50)\d{4,8}$/ },
  FR: { callingCode: '33', trunk: '0', mobile: /^[67]\d{8}$/ },
  GB: { callingCode: '44', trunk: '0', mobile: /^7[1-57-9]\d{8}$/ },
  GR: { callingCode: '30', trunk: '', mobile: /^69\d{8}$/ },
  HK: { callingCode: '852', trunk: '', mobile: /^[4-9]\d{7}$/ },
  IE: { callingCode: '353', trunk: '0', mobile: /^8[35-9]\d{7}$/ },
  IT: { callingCode: '39', trunk: '', mobile: /^3\d{8,9}$/ },
  JP: { callingCode: '81', trunk: '0', mobile: /^[789]0\d{8}$/ },
  KR: { callingCode: '82', trunk: '0', mobile: /^1\d{8,9}$/ },
  LU: { callingCode: '352', trunk: '', mobile: /^6\d{8}$/ },
  NL: { callingCode: '31', trunk: '0', mobile: /^6\d{8}$/ },
  NZ: { callingCode: '64', trunk: '0', mobile: /^2\d{7,9}$/ },
  PL: { callingCode: '48', trunk: '', mobile: /^[4-8]\d{8}$/ },
  PT: { callingCode: '351', trunk: '', mobile: /^9[1236]\d{7}$/ },
  SE: { callingCode: '46', trunk: '0', mobile: /^7[02369]\d{7}$/ },
  SG: { callingCode: '65', trunk: '', mobile: /^[89]\d{7}$/ },
  /** Includes Canada, which shares the numbering plan. */
  US: {
    callingCode: '1',
    trunk: '',
    mobile: new RegExp(`^(?!${elsewhereInOne})[2-9]\\d{2}[2-9]\\d{6}$`),
  },
  VN: { callingCode: '84', trunk: '0', mobile: /^[35789]\d{8}$/ },
} as const satisfies Record<string, Country>

export type CountryCode = keyof typeof countries
export const countryCodes = Object.keys(countries) as CountryCode[]

/** The country whose numbers may be written without a calling code, by region. */
const home: Record<RegionCode, CountryCode | undefined> = {
  VN: 'VN',
  AUD: 'AU',
  USD: 'US',
  EURO: undefined,
}

/** `digits` as a number of this country, with or without calling code or trunk prefix. */
function local(of: CountryCode, digits: string): string | undefined {
  const { callingCode, trunk, mobile }: Country = countries[of]
  const forms = [
    ...(digits.startsWith(trunk) ? [digits.slice(trunk.length)] : []),
    ...(digits.startsWith(callingCode) ? [digits.slice(callingCode.length)] : []),
  ]
  const national = forms.find((form) => mobile.test(form))
  return national === undefined ? undefined : `+${callingCode}${national}`
}

/**
 * The country of an E.164 number; undefined for a country that is not in the list, or a number that
 * is not mobile.
 */
export function countryOf(e164: string): CountryCode | undefined {
  return countryCodes.find((code) => {
    const { callingCode, mobile } = countries[code]
    return e164.startsWith(`+${callingCode}`) && mobile.test(e164.slice(callingCode.length + 1))
  })
}

/**
 * E.164 from any accepted form, or undefined. With `+`, a number of any country; without it, one of
 * the region's country or a Vietnamese one.
 */
export function normalisePhone(text: string, region?: RegionCode): string | undefined {
  const digits = text.replace(/[\s().-]/g, '')
  if (digits.startsWith('+')) {
    if (!/^\+[1-9]\d{7,14}$/.test(digits)) return undefined
    const listed = countryCodes.some((code) => digits.startsWith(`+${countries[code].callingCode}`))
    return !listed || countryOf(digits) !== undefined ? digits : undefined
  }
  if (!/^\d+$/.test(digits)) return undefined
  const own = region === undefined ? undefined : home[region]
  return (own && local(own, digits)) ?? local('VN', digits)
}
