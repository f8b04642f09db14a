/** Acts on what gateways, payments and ledger do not agree on. */
import {
  closeQuestion,
  compareJob,
  customerOfPayment,
  NotRefundable,
  questionOf,
  refundOf,
  settleDifferenceJob,
} from '../payments/index.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { ActNeeds, RegistryOf } from './acts.ts'
import { isAbove } from './second-member.ts'
import { gatewayNamed } from './payout-acts.ts'

const refuseItem = (): never => {
  throw new Refusal('conflict', {
    fields: {
      item: {
        en: 'This difference is not open, or it is decided by an act of its own.',
        vi: 'Chênh lệch này không còn mở, hoặc phải xử lý bằng thao tác riêng.',
      },
    },
  })
}
async function openItem(tx: Tx, { clock }: ActNeeds, item: string) {
  const found = await questionOf(tx, item, clock.now())
  return found ?? refuseItem()
}

export const reconcileActs: RegistryOf<'reconcile'> & RegistryOf<'refund'> = {
  'reconcile.compare': {
    async run(tx, needs, _actor, { gateway }) {
      const driver = gatewayNamed(needs, gateway)
      await needs.jobs.add(tx, compareJob(driver.name), {})
      return { subject: { kind: 'gateway', id: driver.name }, before: null, after: { gateway } }
    },
  },
  'reconcile.ask': {
    async run(tx, needs, _actor, { item }) {
      if (!item.startsWith('found:')) return refuseItem()
      const { driver, about } = await openItem(tx, needs, item)
      gatewayNamed(needs, driver)
      await needs.jobs.add(tx, settleDifferenceJob(driver), { about })
      return {
        subject: { kind: 'difference', id: item },
        customerId: await customerOfPayment(tx, { code: about }),
        before: null,
        after: { about },
      }
    },
  },
  'reconcile.close': {
    async customer(tx, { item }, needs) {
      const { about } = await openItem(tx, needs, item)
      return await customerOfPayment(tx, { code: about })
    },
    async needsSecond(tx, needs, { item }) {
      const { amount, currency } = await openItem(tx, needs, item)
      return isAbove(needs, currency, amount)
    },
    async run(tx, needs, _actor, { item }) {
      const { about, amount, currency } = await openItem(tx, needs, item)
      if (!(await closeQuestion(tx, item, needs.clock.now()))) return refuseItem()
      return {
        subject: { kind: 'difference', id: item },
        customerId: await customerOfPayment(tx, { code: about }),
        before: { about, amount: Number(amount), currency },
        after: { closed: true },
      }
    },
  },
  'refund.decide': {
    customer: async (tx, { refund }) => (await refundOf(tx, refund))?.customerId ?? null,
    async needsSecond(tx, needs, { refund }) {
      const found = await refundOf(tx, refund)
      if (!found) throw new Refusal('not_found')
      return isAbove(needs, found.currency, found.amount)
    },
    async run(tx, { refunds }, _actor, { refund, outcome }) {
      try {
        const { customerId, amount, currency } = await refunds.decideIn(tx, refund, outcome)
        return {
          subject: { kind: 'refund', id: refund },
          customerId,
          before: null,
          after: { outcome, amount: Number(amount), currency },
        }
      } catch (error) {
        if (!(error instanceof NotRefundable)) throw error
        throw new Refusal('conflict', { fields: { refund: error.text } })
      }
    },
  },
}
