/** Acts on money. They post through the ledger, whose rules decide. */
import { randomUUID } from 'node:crypto'
import type { ActInput } from '../../contract/operator-acts.ts'
import { jobNames } from '../billing/index.ts'
import {
  assignSuspenseIn,
  customerMeant,
  NotAssignable,
  NotRefundable,
  type BegunRefund,
  type RefundWay,
  paymentOf,
  returnSuspenseIn,
  suspenseOf,
} from '../payments/index.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { ActNeeds, Actor, Done, RegistryOf } from './acts.ts'
import { givesTooMuch, isAbove, movedAlone } from './second-member.ts'
import { refuseWithoutWallet, refuseOtherCurrency, refuseUnknown } from './customer-acts.ts'

type Adjustment = ActInput<'money.credit'>

/** `sign`: 1 into the wallet, -1 out of it. */
async function adjust(tx: Tx, needs: ActNeeds, input: Adjustment, sign: 1n | -1n): Promise<Done> {
  const { ledger, letters, jobs } = needs
  const { customer: customerId, currency, told } = input
  // The customer can no longer use that wallet. The operator may take the rest out.
  if (sign > 0n) await refuseWithoutWallet(tx, customerId)
  else await refuseUnknown(tx, customerId)
  const before = await ledger.balanceOf(tx, customerId)
  refuseOtherCurrency(before.currency, currency)
  const amount = BigInt(input.amount) * sign
  const { outcome, setOff } = await ledger.adjust(tx, {
    key: `adjustment:${randomUUID()}`,
    customerId,
    amount,
    currency,
    details: { reason: told },
  })
  if (outcome === 'short')
    throw new Refusal('conflict', {
      fields: { amount: { en: 'The wallet does not hold that much.', vi: 'Số dư ví không đủ.' } },
    })
  const { balance } = await ledger.balanceOf(tx, customerId)
  await letters.adjusted(tx, { customerId, amount, currency, told })
  if (amount > 0n) await jobs.add(tx, jobNames.payOpen, { customerId })
  return {
    subject: { kind: 'customer', id: customerId },
    customerId,
    // The balance at the time of the posting.
    before: { balance: Number(balance + setOff - amount), currency },
    after: { balance: Number(balance), currency, ...(setOff > 0n && { setOff: Number(setOff) }) },
  }
}

const ofAdjustment = (act: 'money.credit' | 'money.debit') => ({
  repeatNeedsKey: true as const,
  customer: async (_tx: Tx, { customer }: Adjustment) => customer,
  async needsSecond(tx: Tx, needs: ActNeeds, input: Adjustment, actor: Actor) {
    const { customer, currency } = input
    const amount = BigInt(input.amount)
    // Refuse before a second member is asked for something impossible.
    if (act === 'money.credit') await refuseWithoutWallet(tx, customer)
    else await refuseUnknown(tx, customer)
    const before = await movedAlone(tx, needs, act, customer)
    if (isAbove(needs, currency, before + amount)) return true
    return act === 'money.credit' && (await givesTooMuch(tx, needs, actor, { currency, amount }))
  },
})

const amountOf = (amount: number | undefined): bigint | undefined =>
  amount === undefined ? undefined : BigInt(amount)

type ToRefund = Pick<ActInput<'money.refund'>, 'payment' | 'amount'>

/** What both ways to give a top-up back have in common: their sums count together. */
const ofRefund = (way: RefundWay) => ({
  repeatNeedsKey: true as const,
  customer: async (tx: Tx, { payment }: ToRefund) =>
    (await paymentOf(tx, payment))?.customerId ?? null,
  async needsSecond(tx: Tx, needs: ActNeeds, { payment, amount }: ToRefund) {
    const found = await paymentOf(tx, payment)
    if (!found)
      throw new Refusal('not_found', {
        fields: {
          payment: {
            en: `There is no payment ${payment}.`,
            vi: `Không có giao dịch ${payment}.`,
          },
        },
      })
    // Refuse before a second member is asked for something impossible.
    const sum = await orRefused(needs.refunds.amountIn(tx, payment, amountOf(amount), way))
    const before =
      (await movedAlone(tx, needs, 'money.refund', found.customerId)) +
      (await movedAlone(tx, needs, 'money.refund_by_hand', found.customerId))
    return isAbove(needs, found.currency, before + sum)
  },
  async fixed<I extends ToRefund>(tx: Tx, needs: ActNeeds, input: I): Promise<I> {
    const { payment, amount } = input
    const sum = await orRefused(needs.refunds.amountIn(tx, payment, amountOf(amount), way))
    return { ...input, amount: Number(sum) }
  },
})

/** Refuses with conflict what cannot be given back. */
async function orRefused<T>(begun: Promise<T>): Promise<T> {
  try {
    return await begun
  } catch (error) {
    if (!(error instanceof NotRefundable)) throw error
    throw new Refusal('conflict', { fields: { payment: error.text } })
  }
}

async function refund(payment: string, begun: Promise<BegunRefund>): Promise<Done> {
  const { id, customerId, amount, currency } = await orRefused(begun)
  return {
    subject: { kind: 'payment', id: payment },
    customerId,
    before: null,
    after: { refund: id, amount: Number(amount), currency },
  }
}

/**
 * The customer meant. Refuses with conflict if `to` names nobody, and with not_found if no such
 * money waits.
 */
async function whoseIs(tx: Tx, suspense: number, to: string): Promise<string> {
  const { driver } = await waitingIn(tx, suspense)
  try {
    return (await customerMeant(tx, to, driver)).customerId
  } catch (error) {
    if (!(error instanceof NotAssignable)) throw error
    throw new Refusal('conflict', { fields: { to: error.text } })
  }
}

/** Refuses with not_found. */
async function waitingIn(tx: Tx, suspense: number) {
  const found = await suspenseOf(tx, BigInt(suspense))
  if (!found) throw new Refusal('not_found')
  return found
}

export const moneyActs: RegistryOf<'money'> = {
  'money.credit': {
    ...ofAdjustment('money.credit'),
    run: (tx, needs, _actor, input) => adjust(tx, needs, input, 1n),
  },
  'money.debit': {
    ...ofAdjustment('money.debit'),
    run: (tx, needs, _actor, input) => adjust(tx, needs, input, -1n),
  },
  'money.refund': {
    ...ofRefund('gateway'),
    run: (tx, { refunds }, _actor, { payment, amount }) =>
      refund(payment, refunds.beginIn(tx, payment, amountOf(amount), 'refund')),
  },
  'money.refund_by_hand': {
    ...ofRefund('hand'),
    run: (tx, { refunds }, _actor, { payment, amount, bankReference }) =>
      refund(payment, refunds.recordIn(tx, payment, amountOf(amount), bankReference)),
  },
  'money.assign': {
    customer: async (tx, { suspense, to }) => await whoseIs(tx, suspense, to),
    async needsSecond(tx, needs, { suspense, to }) {
      const { currency, amount } = await waitingIn(tx, suspense)
      await whoseIs(tx, suspense, to)
      return isAbove(needs, currency, amount)
    },
    async run(tx, needs, _actor, { suspense, to }) {
      try {
        const given = await assignSuspenseIn(tx, needs, BigInt(suspense), to)
        return {
          subject: { kind: 'suspense', id: String(suspense) },
          customerId: given.customerId,
          before: { waiting: true },
          after: { waiting: false, amount: Number(given.amount), currency: given.currency },
        }
      } catch (error) {
        if (!(error instanceof NotAssignable)) throw error
        throw new Refusal('conflict', { fields: { to: error.text } })
      }
    },
  },
  'money.return': {
    customer: async (tx, { suspense }) => (await waitingIn(tx, suspense)).customerId,
    async needsSecond(tx, needs, { suspense }) {
      const { currency, amount } = await waitingIn(tx, suspense)
      return isAbove(needs, currency, amount)
    },
    async run(tx, needs, _actor, { suspense }) {
      const { customerId } = await waitingIn(tx, suspense)
      try {
        const { amount, currency } = await returnSuspenseIn(tx, needs, BigInt(suspense))
        return {
          subject: { kind: 'suspense', id: String(suspense) },
          customerId,
          before: { waiting: true },
          after: { waiting: false, sentBack: true, amount: Number(amount), currency },
        }
      } catch (error) {
        if (!(error instanceof NotAssignable)) throw error
        throw new Refusal('conflict', { fields: { suspense: error.text } })
      }
    },
  },
}
