/**
 * Acts on pay-outs. Reading and importing them neither touches a customer's money nor gives
 * anything away: they book what a gateway and the bank have done. So no second member is needed.
 */
import {
  linesOfFile,
  matchPayout,
  NotAssignable,
  NotReadable,
  PaidOutBefore,
  readPayoutsJob,
  recordPayout,
  suspenseOf,
  type PaymentDriver,
} from '../payments/index.ts'
import { databaseError } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { ActNeeds, RegistryOf } from './acts.ts'
import { isAbove } from './second-member.ts'
import { without } from './kept.ts'

/** Refuses with conflict. */
export function gatewayNamed({ drivers }: ActNeeds, name: string): PaymentDriver {
  const driver = drivers.get(name)
  if (driver) return driver
  const names = [...drivers.keys()].join(', ')
  throw new Refusal('conflict', {
    fields: {
      gateway: {
        en: `There is no gateway of this name; there are: ${names}.`,
        vi: `Không có cổng thanh toán tên này; hiện có: ${names}.`,
      },
    },
  })
}

export const payoutActs: RegistryOf<'payout'> = {
  'payout.import': {
    kept: without('file'),
    async run(tx, needs, _actor, input) {
      const driver = gatewayNamed(needs, input.gateway)
      const refuse = (field: string, text: { en: string; vi: string }): never => {
        throw new Refusal('conflict', { fields: { [field]: text } })
      }
      // By call and by file, a pay-out would have two names and be posted twice.
      if (driver.payouts)
        refuse('gateway', {
          en: 'This gateway is asked for its pay-outs by a call: read them.',
          vi: 'Cổng này được tra cứu đợt chi trả qua API: hãy dùng lệnh đọc.',
        })
      try {
        const { id, outcome, fees, lineSum } = await recordPayout(
          tx,
          needs,
          driver,
          {
            id: input.reference,
            currency: input.currency,
            amount: BigInt(input.amount),
            status: 'paid',
            arrivesAt: new Date(`${input.arrivedOn}T00:00:00Z`),
            lines: linesOfFile(input.file, input.currency, input.reference),
          },
          { name: input.fileName, text: input.file },
        )
        if (outcome === 'already')
          refuse('reference', {
            en: 'A pay-out of this name was posted before.',
            vi: 'Đợt chi trả có tên này đã được ghi sổ.',
          })
        return {
          subject: { kind: 'payout', id },
          before: null,
          after: {
            gateway: driver.name,
            amount: input.amount,
            currency: input.currency,
            fees: Number(fees),
            lineSum: Number(lineSum),
            file: input.fileName,
          },
        }
      } catch (error) {
        if (error instanceof NotReadable) return refuse('file', error.text)
        if (error instanceof PaidOutBefore) {
          const shown = error.lines.slice(0, 5).join(', ')
          return refuse('file', {
            en: `These lines stand in another pay-out, or twice: ${shown}.`,
            vi: `Các dòng này đã có trong đợt chi trả khác hoặc bị lặp: ${shown}.`,
          })
        }
        if (databaseError(error)?.constraint === 'gateway_payout_file_hash_key')
          return refuse('file', {
            en: 'This file was imported before.',
            vi: 'Tệp này đã được nhập.',
          })
        throw error
      }
    },
  },
  'payout.match': {
    customer: async (tx, { suspense }) =>
      (await suspenseOf(tx, BigInt(suspense)))?.customerId ?? null,
    async needsSecond(tx, needs, { suspense }) {
      const found = await suspenseOf(tx, BigInt(suspense))
      if (!found) throw new Refusal('not_found')
      return isAbove(needs, found.currency, found.amount)
    },
    async run(tx, needs, _actor, { suspense, payout }) {
      try {
        const { payoutId, amount, currency } = await matchPayout(
          tx,
          needs,
          BigInt(suspense),
          payout,
        )
        return {
          subject: { kind: 'payout', id: payoutId },
          customerId: (await suspenseOf(tx, BigInt(suspense)))?.customerId ?? null,
          before: { waiting: true },
          after: { waiting: false, amount: Number(amount), currency },
        }
      } catch (error) {
        if (!(error instanceof NotAssignable)) throw error
        throw new Refusal('conflict', { fields: { payout: error.text } })
      }
    },
  },
  'payout.read': {
    async run(tx, needs, _actor, { gateway, since }) {
      const driver = gatewayNamed(needs, gateway)
      if (!driver.payouts)
        throw new Refusal('conflict', {
          fields: {
            gateway: {
              en: 'This gateway has no call for its pay-outs: import its file.',
              vi: 'Cổng này không cho tra cứu đợt chi trả: hãy nhập tệp của họ.',
            },
          },
        })
      await needs.jobs.add(tx, readPayoutsJob(driver.name), { since })
      return {
        subject: { kind: 'gateway', id: driver.name },
        before: null,
        after: { gateway: driver.name, since },
      }
    },
  },
}
