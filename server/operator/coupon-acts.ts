/**
 * Acts on coupons. The most that all uses together may cost decides whether a second member is
 * needed.
 */
import { makeCoupon, stopCoupon } from '../billing/index.ts'
import { plainCode } from '../platform/codes.ts'
import { dayInVietnam } from '../platform/vietnam-time.ts'
import type { RegistryOf } from './acts.ts'
import { endOf } from './last-day.ts'
import { givesTooMuch } from './second-member.ts'
import { keptCode, masked } from './kept.ts'

export const couponActs: RegistryOf<'coupon'> = {
  'coupon.make': {
    repeatNeedsKey: true,
    kept: ({ code, ...rest }) => ({
      ...rest,
      ...(code !== undefined && keptCode(plainCode(code))),
    }),
    needsSecond(tx, needs, { amount, uses, currency, expiresOn }, actor) {
      endOf(expiresOn, needs.clock)
      return givesTooMuch(tx, needs, actor, { currency, amount: BigInt(amount) * BigInt(uses) })
    },
    async run(tx, { clock }, _actor, input) {
      const { code, percent, amount, currency, uses, perCustomer = 1 } = input
      const { plans, startsOn, expiresOn } = input
      const made = await makeCoupon(tx, clock, {
        code,
        percent: percent ?? null,
        amount: BigInt(amount),
        currency,
        uses,
        perCustomer,
        plans: plans === undefined || plans.length === 0 ? null : plans,
        startsAt: startsOn === undefined ? clock.now() : dayInVietnam(startsOn),
        expiresAt: endOf(expiresOn, clock),
      })
      return {
        subject: { kind: 'coupon', id: made.id },
        before: null,
        told: { code: made.code },
        after: {
          code: masked(made.code),
          percent: percent ?? null,
          amount,
          currency,
          uses,
          perCustomer,
          plans: plans ?? null,
          startsOn: startsOn ?? null,
          expiresOn: expiresOn ?? null,
        },
      }
    },
  },
  'coupon.stop': {
    kept({ coupon, ...rest }) {
      const { code, ...hash } = keptCode(plainCode(coupon))
      return { ...rest, coupon: code, ...hash }
    },
    async run(tx, { clock }, _actor, { coupon }) {
      const { id, uses } = await stopCoupon(tx, clock, coupon)
      return {
        subject: { kind: 'coupon', id },
        before: { code: masked(plainCode(coupon)), stopped: false },
        after: { stopped: true, uses },
      }
    },
  },
}
