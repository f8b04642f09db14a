/** Acts on vouchers. What all uses together may cost decides whether a second member is needed. */
import { makeVoucher, stopVoucher } from '../payments/index.ts'
import { days, later } from '../platform/clock.ts'
import { plainCode } from '../platform/codes.ts'
import { dayInVietnam } from '../platform/vietnam-time.ts'
import type { RegistryOf } from './acts.ts'
import { givesTooMuch } from './second-member.ts'
import { keptCode, masked } from './kept.ts'

export const voucherActs: RegistryOf<'voucher'> = {
  'voucher.make': {
    kept: ({ code, ...rest }) => ({
      ...rest,
      ...(code !== undefined && keptCode(plainCode(code))),
    }),
    needsSecond: (tx, needs, { amount, uses, currency }, actor) =>
      givesTooMuch(tx, needs, actor, { currency, amount: BigInt(amount) * BigInt(uses) }),
    async run(tx, { clock }, _actor, { code, amount, currency, uses, expiresOn }) {
      const expiresAt = expiresOn === undefined ? null : later(dayInVietnam(expiresOn), days(1))
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
