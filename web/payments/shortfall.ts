/** What a wallet lacks, as the top-up screen is asked for it. Pure. */
import { toMajor, type Currency } from '../../contract/money.ts'

/**
 * `short` in minor units; the least that can be topped up where less is missing, nothing where
 * nothing is.
 */
export const topUpOf = (short: number, currency: Currency, min: number): { amount?: string } =>
  short > 0 ? { amount: toMajor(Math.max(short, min), currency).replace(/\.00$/, '') } : {}
