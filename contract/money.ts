/**
 * Money: an integer in the currency's minor unit (ISO 4217), and its code. No arithmetic here uses
 * floating point.
 */
import * as z from 'zod/mini'

/** Decimal places of each currency (ISO 4217). */
export const exponents = { VND: 0, AUD: 2, USD: 2, EUR: 2 } as const
export type Currency = keyof typeof exponents
export const currencies = Object.keys(exponents) as Currency[]

export const currency = z.enum(['VND', 'AUD', 'USD', 'EUR'])
/** An amount in minor units as it travels in JSON. */
export const minor = z.int()

export const regionCodes = ['VN', 'USD', 'EURO', 'AUD'] as const
export type RegionCode = (typeof regionCodes)[number]
export const regionCode = z.enum(regionCodes)

/**
 * Reads an amount typed in major units ("12.50") into minor units. Returns undefined when the text
 * is no plain number or has more decimals than the currency.
 */
export function toMinor(text: string, of: Currency): number | undefined {
  const digits = exponents[of]
  const match = /^(\d{1,13})(?:\.(\d+))?$/.exec(text.trim())
  if (!match?.[1]) return undefined
  const fraction = match[2] ?? ''
  if (fraction.length > digits) return undefined
  const value = Number(match[1] + fraction.padEnd(digits, '0'))
  return Number.isSafeInteger(value) ? value : undefined
}

/**
 * Removes the grouping from an amount that is grouped as this portal prints it: "50.000" and
 * "50,000" in đồng, "1,234.50" in other currencies. Any other text is returned unchanged.
 */
export function withoutGroups(text: string, of: Currency): string {
  const typed = text.trim()
  const grouped = exponents[of] === 0 ? /^\d{1,3}(?:[.,]\d{3})+$/ : /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/
  if (!grouped.test(typed)) return typed
  return exponents[of] === 0 ? typed.replace(/[.,]/g, '') : typed.replaceAll(',', '')
}

/** Major units as plain text without grouping: 1250 AUD minor units give "12.50". */
export function toMajor(amount: number, of: Currency): string {
  const digits = exponents[of]
  const sign = amount < 0 ? '-' : ''
  const text = String(Math.abs(amount)).padStart(digits + 1, '0')
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

const group = (digits: string, separator: string): string =>
  digits.replace(/\B(?=(\d{3})+$)/g, separator)

/**
 * A whole number that is not money, grouped as amounts in the language: 1.672 in Vietnamese, 1,672
 * in English.
 */
export const formatCount = (count: number, language: 'en' | 'vi' | 'aud'): string =>
  group(String(count), language === 'vi' ? '.' : ',')

/**
 * The amount as a screen prints it. Đồng is always grouped the Vietnamese way, and so is every
 * currency in Vietnamese. In English AUD, USD and EUR are written 1,234.50. U+00A0 stands before
 * the currency.
 */
export function formatMoney(amount: number, of: Currency, language: 'en' | 'vi' | 'aud'): string {
  const vietnamese = of === 'VND' || language === 'vi'
  const [whole = '0', fraction] = toMajor(Math.abs(amount), of).split('.')
  const grouped = group(whole, vietnamese ? '.' : ',')
  const number = fraction === undefined ? grouped : `${grouped}${vietnamese ? ',' : '.'}${fraction}`
  return `${amount < 0 ? '\u2212' : ''}${number}\u00a0${of === 'VND' ? 'đ' : of}`
}
