/** Acts on vouchers. What all uses together may cost decides whether a second member is needed. */
import { makeVoucher, stopVoucher } from '../payments/index.ts'
import { days, later } from '../platform/clock.ts'
import type { RegistryOf } from './acts.ts'

/** A code is worth money, and the trail is read by all of the staff. */
const masked = (code: string): string => `…${code.slice(-4)}`

export const voucherActs: RegistryOf<'voucher'> = {
  'voucher.make': {
    needsSecond: async (_tx, { secondPersonAbove }, { amount, uses, currency }) =>
      BigInt(amount) * BigInt(uses) > secondPersonAbove[currency],
    async run(tx, { clock }, _actor, { code, amount, currency, uses, expiresOn }) {
      const expiresAt =
        expiresOn === undefined ? null : later(new Date(`${expiresOn}T00:00:00Z`), days(1))
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
    async run(tx, { clock }, _actor, { voucher }) {
      const { id, uses } = await stopVoucher(tx, clock, voucher)
      return {
        subject: { kind: 'voucher', id },
        before: { code: masked(voucher), stopped: false },
        after: { stopped: true, uses },
      }
    },
  },
}
