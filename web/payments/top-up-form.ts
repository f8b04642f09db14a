/** The top-up screen's rules for amounts. Pure. */
import { toMinor, type Currency } from '../../contract/money.ts'

export interface Limits {
  min: number
  max: number
}
export type AmountProblem = 'empty' | 'bad' | 'low' | 'high'

/** `text` in major units, as typed: "1000000" or "12.50". */
export function readAmount(
  text: string,
  currency: Currency,
  limits: Limits,
): { amount: number; problem?: AmountProblem } {
  if (text.trim() === '') return { amount: 0, problem: 'empty' }
  const amount = toMinor(text.endsWith('.') ? text.slice(0, -1) : text, currency)
  if (amount === undefined) return { amount: 0, problem: 'bad' }
  if (amount === 0) return { amount, problem: 'empty' }
  if (amount < limits.min) return { amount, problem: 'low' }
  if (amount > limits.max) return { amount, problem: 'high' }
  return { amount }
}

/**
 * The address of the gateway's page: https if the portal itself uses https. The sandbox on a laptop
 * is plain http.
 */
export const checkoutAddress = (url: string, portalProtocol: string): string =>
  portalProtocol === 'https:' ? url.replace(/^http:/, 'https:') : url

/**
 * The transaction code from the query. Each gateway names the parameter in its own way, but the
 * name always contains transId.
 */
export function transactionCode(search: string): string | undefined {
  for (const [name, value] of new URLSearchParams(search))
    if (/transid/i.test(name) && value !== '') return value
  return undefined
}

/** Numbers of payment types (portal.md section 9) that the screen handles specially. */
export const fastest = 3
export const cardTypeId = 7
