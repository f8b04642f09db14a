/**
 * Forecasts how long a wallet lasts, by simulating renewals in the order of the sweep. Whole rounds
 * of all renewals are skipped by arithmetic, and the last ones are taken from a heap, so that a
 * thousand subscriptions are computed in milliseconds. Amounts are minor units.
 */
import type { Runway, ShownSubject } from '../../contract/billing.ts'
import { days } from '../platform/clock.ts'

/** The horizon of the forecast in months; an end beyond it is not reported. */
const horizonMonths = 60
/** The number of listed renewals. */
const listed = 20
/** Shorter than the shortest month, even when the clocks go forward. */
const shortMonthMs = days(27)

export interface Renewing {
  readonly id: string
  /** The first renewal; in the past if it is unpaid. */
  readonly at: Date
  /** Minor units. */
  readonly amount: bigint
  /** The price from a moment on, minor units a month; null: it does not rise. */
  readonly rise: { readonly from: Date; readonly amount: bigint } | null
  readonly unpaid: boolean
  /**
   * The end of the period that the `n`th renewal from now begins, counted from 1; with 0 the first
   * renewal's time.
   */
  readonly after: (n: number) => Date
  readonly shown: ShownSubject
}

interface Next {
  readonly of: Renewing
  readonly at: Date
  /** The number of renewals before it. */
  readonly count: number
}

const byTime = (
  one: { at: Date; of: { id: string } },
  other: { at: Date; of: { id: string } },
): number => one.at.getTime() - other.at.getTime() || (one.of.id < other.of.id ? -1 : 1)

/** Restores a binary heap, the soonest on top. */
function pushDown(heap: Next[], from: number): void {
  for (let place = from; ;) {
    let least = place
    for (const child of [2 * place + 1, 2 * place + 2]) {
      const [one, other] = [heap[child], heap[least]]
      if (one && other && byTime(one, other) < 0) least = child
    }
    const [above, below] = [heap[place], heap[least]]
    if (least === place || !above || !below) return
    heap[place] = below
    heap[least] = above
    place = least
  }
}

/** The price of a renewal at a moment, minor units. */
export const amountAt = ({ amount, rise }: Renewing, at: Date): bigint =>
  rise && rise.from <= at ? rise.amount : amount
const highestPrice = ({ amount, rise }: Renewing): bigint =>
  rise && rise.amount > amount ? rise.amount : amount

/**
 * The number of renewals of every subscription that the wallet certainly covers, in any order. At
 * any moment the numbers of renewals of two subscriptions differ by at most the months between
 * their first renewals, plus one.
 */
function guaranteedRounds(balance: bigint, monthly: bigint, renewing: readonly Renewing[]): number {
  const times = renewing.map(({ at }) => at.getTime())
  const [first, last] = times.reduce(
    ([least, most], time) => [Math.min(least, time), Math.max(most, time)],
    [Number.POSITIVE_INFINITY, 0],
  )
  const apart = Math.ceil((last - first) / shortMonthMs) + 1
  return Math.max(0, Number(balance / monthly) - apart)
}

/** The cost of one subscription's first `rounds` renewals, minor units. */
function costOf(one: Renewing, rounds: number): bigint {
  let cheap = 0
  if (one.rise) while (cheap < rounds && one.after(cheap) < one.rise.from) cheap += 1
  const later = one.rise?.amount ?? one.amount
  return one.rise
    ? one.amount * BigInt(cheap) + later * BigInt(rounds - cheap)
    : one.amount * BigInt(rounds)
}

/**
 * The time at which the wallet is first short, if renewals come in the order of the sweep. Null:
 * beyond the horizon, or nothing renews.
 */
export function emptyAt(balance: bigint, renewing: readonly Renewing[], now: Date): Date | null {
  if (renewing.some(({ unpaid }) => unpaid)) return now
  const monthly = renewing.reduce((sum, one) => sum + highestPrice(one), 0n)
  if (balance >= monthly * BigInt(horizonMonths)) return null
  const rounds = guaranteedRounds(balance, monthly, renewing)
  let left = balance - renewing.reduce((sum, one) => sum + costOf(one, rounds), 0n)
  const heap = renewing.map((of): Next => ({ of, at: of.after(rounds), count: rounds }))
  for (let place = heap.length >> 1; place >= 0; place--) pushDown(heap, place)
  for (;;) {
    const next = heap[0]
    if (!next) return null
    left -= amountAt(next.of, next.at)
    if (left < 0n) return next.at
    const count = next.count + 1
    heap[0] = { of: next.of, at: next.of.after(count), count }
    pushDown(heap, 0)
  }
}

export function forecast(balance: bigint, renewing: readonly Renewing[], now: Date): Runway {
  const end = emptyAt(balance, renewing, now)
  return {
    emptyAt: end?.toISOString() ?? null,
    days: end && Math.max(0, Math.floor((end.getTime() - now.getTime()) / days(1))),
    monthly: Number(renewing.reduce((sum, one) => sum + amountAt(one, one.at), 0n)),
    next: renewing
      .map((of) => ({ of, at: of.at }))
      .toSorted(byTime)
      .slice(0, listed)
      .map(({ of, at }) => ({
        at: at.toISOString(),
        amount: Number(amountAt(of, at)),
        ...of.shown,
      })),
  }
}
