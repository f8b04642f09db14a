/** What the top-up screen knows about an amount. Pure. */
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
 * The gateway's page is opened over https wherever the portal itself is; a laptop's sandbox is
 * plain http.
 */
export const checkoutAddress = (url: string, portalProtocol: string): string =>
  portalProtocol === 'https:' ? url.replace(/^http:/, 'https:') : url

/**
 * The transaction's code: gateways name the parameter in their own way, but always with transId in
 * it.
 */
export function transactionCode(search: string): string | undefined {
  for (const [name, value] of new URLSearchParams(search))
    if (/transid/i.test(name) && value !== '') return value
  return undefined
}

/** The payment types' numbers (portal.md section 9) that the screen treats apart. */
export const fastest = 3
export const cardTypeId = 7
