/**
 * Alepay's codes and their meaning here. Source: the guide's appendix, which calls itself
 * incomplete.
 */
import type { DriverFailureKind } from '../../../platform/errors.ts'
import type { DeclineReason } from '../../../../contract/payments.ts'
import type { ProviderStatus } from '../../driver.ts'

/** Known codes only, for the log and the customer's support. */
export const texts: Readonly<Record<string, string>> = {
  '000': 'done',
  '101': 'wrong checksum',
  '102': 'wrong encryption',
  '103': 'this address may not call',
  '104': 'wrong data',
  '105': 'unknown token key',
  '107': 'being processed',
  '108': 'not found',
  '109': 'order not found',
  '111': 'failed',
  '120': 'the amount must be above zero',
  '121': 'wrong currency',
  '124': 'wrong URL',
  '131': 'wrong payment hours',
  '134': 'over the limit',
  '135': 'declined by the issuer',
  '136': 'transaction not found',
  '139': 'the merchant is not active',
  '150': 'card under review',
  '151': 'bank not supported',
  '154': 'over the limit of the card',
  '155': 'instalments wait for confirmation',
  '156': 'wrong amount',
}

const reasons: Readonly<Record<string, DeclineReason>> = {
  '134': 'limit',
  '135': 'declined',
  '151': 'not_enrolled',
  '154': 'limit',
}
/** A payment update's detail is `status <code> …`. */
export const declineReason = (detail: string): DeclineReason | undefined =>
  reasons[/^status (\d+)/.exec(detail)?.[1] ?? '']

/** "There is no such thing", as an answer about a transaction or a refund. */
export const unknown: ReadonlySet<string> = new Set(['108', '109', '136'])

/**
 * The status of a transaction. Under review (150), waiting (155), processed (107), and what we do
 * not know is not decided.
 */
export function statusOf(code: string): ProviderStatus {
  if (code === '000') return 'succeeded'
  return ['111', '134', '135', '151', '154'].includes(code) ? 'failed' : 'pending'
}

/** The meaning of a refused call: only "being processed" (107) is worth another try. */
export const kindOf = (code: string): DriverFailureKind =>
  code === '107' ? 'unavailable' : 'rejected'
