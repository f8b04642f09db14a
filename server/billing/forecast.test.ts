/** The runway's arithmetic against the simplest way to compute it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { days, later } from '../platform/clock.ts'
import { noSubject } from '../../contract/billing.ts'
import { emptyAt, type Renewing } from './forecast.ts'
import { monthsAfter } from './period.ts'

/** One renewal after the other, soonest first: slow, but correct. */
function oneByOne(balance: bigint, renewing: readonly Renewing[]): Date | null {
  const most = renewing.reduce(
    (sum, { amount, rise }) => sum + (rise && rise.amount > amount ? rise.amount : amount),
    0n,
  )
  if (balance >= most * 60n) return null
  const waiting = renewing.map((one) => ({ one, at: one.at, count: 0 }))
  for (let left = balance; ;) {
    const [next] = waiting.toSorted(
      (one, other) => one.at.getTime() - other.at.getTime() || (one.one.id < other.one.id ? -1 : 1),
    )
    if (!next) return null
    const { rise, amount } = next.one
    left -= rise && rise.from <= next.at ? rise.amount : amount
    if (left < 0n) return next.at
    next.count += 1
    next.at = next.one.after(next.count)
  }
}

const now = new Date('2027-02-14T09:30:00Z')
const zones = ['UTC', 'Asia/Ho_Chi_Minh', 'Australia/Sydney'] as const
const renewingAt = (
  id: string,
  of: { anchor: Date; amount: bigint; zone: string; rise: Renewing['rise'] },
): Renewing => {
  let first = 0
  while (monthsAfter(of.anchor, first, of.zone) <= now) first += 1
  const after = (n: number): Date => monthsAfter(of.anchor, first + n, of.zone)
  return {
    id,
    at: after(0),
    amount: of.amount,
    rise: of.rise,
    unpaid: false,
    after,
    shown: noSubject,
  }
}

test('says the same as renewing one after the other, for any wallet and any subscriptions', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.array(
        fc.record({
          back: fc.integer({ min: 0, max: days(400) }),
          amount: fc.bigInt(1n, 500_000n),
          rise: fc.option(
            fc.record({
              more: fc.bigInt(1n, 100_000n),
              inMs: fc.integer({ min: -days(5), max: days(30) }),
            }),
          ),
        }),
        { minLength: 1, maxLength: 6 },
      ),
      fc.integer({ min: 0, max: 6200 }),
      (zone, wanted, hundredths) => {
        const renewing = wanted.map(({ back, amount, rise }, index) =>
          renewingAt(`s${index}`, {
            anchor: later(now, -back),
            amount,
            zone,
            rise: rise && { from: later(now, rise.inMs), amount: amount + rise.more },
          }),
        )
        const monthly = renewing.reduce((sum, { amount }) => sum + amount, 0n)
        const balance = (monthly * BigInt(hundredths)) / 100n
        expect(emptyAt(balance, renewing, now)).toEqual(oneByOne(balance, renewing))
      },
    ),
    { numRuns: 500 },
  )
})

test('reckons a thousand servers in less than 50 ms', () => {
  const renewing = Array.from({ length: 1000 }, (_, index) =>
    renewingAt(`s${String(index).padStart(4, '0')}`, {
      anchor: later(now, -index * 3_601_000),
      amount: 218_000n + BigInt(index),
      zone: 'Australia/Sydney',
      rise: null,
    }),
  )
  const monthly = renewing.reduce((sum, { amount }) => sum + amount, 0n)
  const times = Array.from({ length: 5 }, () => {
    const began = performance.now()
    expect(emptyAt(monthly * 59n, renewing, now)).not.toBeNull()
    return performance.now() - began
  })
  // The fastest of five runs, because the machine may be busy.
  expect(Math.min(...times)).toBeLessThan(50)
})
