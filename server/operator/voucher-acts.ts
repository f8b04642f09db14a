/**
 * Acts on vouchers. The most that all uses together may cost decides whether a second member is
 * needed.
 */
import { makeVoucher, stopVoucher } from '../payments/index.ts'
import { plainCode } from '../platform/codes.ts'
import type { RegistryOf } from './acts.ts'
import { endOf } from './last-day.ts'
import { givesTooMuch } from './second-member.ts'
import { keptCode, masked } from './kept.ts'

export const voucherActs: RegistryOf<'voucher'> = {
  'voucher.make': {
    repeatNeedsKey: true,
    kept: ({ code, ...rest }) => ({
      ...rest,
      ...(code !== undefined && keptCode(plainCode(code))),
    }),
    needsSecond(tx, needs, { amount, uses, currency, expiresOn }, actor) {
      endOf(expiresOn, needs.clock)
      return givesTooMuch(tx, needs, actor, { currency, amount: BigInt(amount) * BigInt(uses) })
    },
    async run(tx, { clock }, _actor, { code, amount, currency, uses, expiresOn }) {
      const expiresAt = endOf(expiresOn, clock)
      const made = await makeVoucher(tx, clock, {
        code,
        amount: BigInt(amount),
        currency,
        uses,
        expiresAt,
      })
      return {
        subject: { kind: 'voucher', id: made.id },
        before: null,
        told: { code: made.code },
        after: { code: masked(made.code), amount, currency, uses, expiresOn: expiresOn ?? null },
      }
    },
  },
  'voucher.stop': {
    kept({ voucher, ...rest }) {
      const { code, ...hash } = keptCode(plainCode(voucher))
      return { ...rest, voucher: code, ...hash }
    },
    async run(tx, { clock }, _actor, { voucher }) {
      const { id, uses } = await stopVoucher(tx, clock, voucher)
      return {
        subject: { kind: 'voucher', id },
        before: { code: masked(plainCode(voucher)), stopped: false },
        after: { stopped: true, uses },
      }
    },
  },
}
