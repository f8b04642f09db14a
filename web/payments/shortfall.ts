/** A wallet's shortfall, as the amount for the top-up screen. Pure. */
import { toMajor, type Currency } from '../../contract/money.ts'

/**
 * `short` in minor units. The amount is at least the minimum of a top-up; without a shortfall there
 * is none.
 */
export const topUpOf = (short: number, currency: Currency, min: number): { amount?: string } =>
  short > 0 ? { amount: toMajor(Math.max(short, min), currency).replace(/\.00$/, '') } : {}
