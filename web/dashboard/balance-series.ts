/** The wallet's balance over time, from its transactions alone. Pure. */
import { exponents, type Currency } from '../../contract/money.ts'
import type { Transaction } from '../../contract/wallet.ts'
import { axisSteps } from '../axis-steps.ts'

const daySeconds = 86_400

export interface Point {
  /** Unix seconds. */
  at: number
  balance: number
  /** True where money came in. */
  received: boolean
}
export interface Series {
  from: number
  to: number
  points: Point[]
  received: number
  spent: number
}

/**
 * `newestFirst` as the API returns it; `coversFrom`: where the list begins, if it does not reach
 * the first day.
 */
export function balanceSeries(
  newestFirst: readonly Transaction[],
  now: number,
  days: number,
  coversFrom: number | null,
): Series {
  const from = Math.max(now - days * daySeconds, coversFrom ?? 0)
  const inSpan = newestFirst.filter((entry) => entry.created >= from).reverse()
  const first = inSpan[0]
  // Before the span's first entry the balance is the one before that entry; without an entry it is
  // the last known balance.
  const before = first ? first.ending_balance - first.amount : (newestFirst[0]?.ending_balance ?? 0)
  return {
    from,
    to: now,
    points: [
      { at: from, balance: before, received: false },
      ...inSpan.map((entry) => ({
        at: entry.created,
        balance: entry.ending_balance,
        received: entry.amount > 0,
      })),
    ],
    received: inSpan.reduce((sum, entry) => sum + Math.max(0, entry.amount), 0),
    spent: inSpan.reduce((sum, entry) => sum - Math.min(0, entry.amount), 0),
  }
}

/** The steps of axis-steps.ts, none smaller than one unit of money. */
export const axisStepsOf = (
  highest: number,
  currency: Currency,
): { readonly step: number; readonly top: number } => axisSteps(highest, 10 ** exponents[currency])
