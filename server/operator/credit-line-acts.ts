/** The act on credit lines: give one, change it, or end it with a limit of 0 (decision 127). */
import type { ActInput } from '../../contract/operator-acts.ts'
import { showCustomers } from '../auth/index.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { CreditLine } from '../wallet/index.ts'
import type { ActNeeds, RegistryOf } from './acts.ts'
import { givesTooMuch, isAbove } from './second-member.ts'
import { refuseWithoutWallet, refuseOtherCurrency } from './customer-acts.ts'

type Input = ActInput<'credit_line.set'>
const usualTermDays = 30
const termOf = ({ termDays }: Input): number => termDays ?? usualTermDays

const refuse = (field: string, en: string, vi: string): Refusal =>
  new Refusal('conflict', { fields: { [field]: { en, vi } } })

/** The line's present state; refuses input that can never succeed. */
async function standing(tx: Tx, { ledger }: ActNeeds, input: Input) {
  const { customer, currency } = input
  const limit = BigInt(input.limit)
  await refuseWithoutWallet(tx, customer)
  refuseOtherCurrency((await ledger.balanceOf(tx, customer)).currency, currency)
  const line = await ledger.creditLineOf(tx, customer)
  const had = line?.limit ?? 0n
  const hadTerm = had > 0n ? (line?.termDays ?? 0) : 0
  if (had === 0n && limit === 0n)
    throw refuse(
      'limit',
      'This customer has no credit line.',
      'Khách hàng này không có hạn mức công nợ.',
    )
  if (had === limit && (limit === 0n || hadTerm === termOf(input)))
    throw refuse(
      'limit',
      'The credit line is like this already.',
      'Hạn mức công nợ đã đúng như vậy.',
    )
  const isMore = limit > had || (limit > 0n && termOf(input) > hadTerm)
  const blocked = (await showCustomers(tx, [customer])).get(customer)?.blocked ?? false
  if (isMore && blocked)
    throw refuse(
      'customer',
      'The customer is blocked: a credit line can only be lowered or ended.',
      'Khách hàng đang bị chặn: chỉ có thể giảm hoặc kết thúc hạn mức công nợ.',
    )
  return { limit, raised: limit > had ? limit - had : 0n, isMore }
}

const facts = (line: CreditLine | undefined, currency: string) => ({
  limit: Number(line?.limit ?? 0n),
  termDays: line?.termDays ?? null,
  owed: Number(line?.owed ?? 0n),
  currency,
})

export const creditLineActs: RegistryOf<'credit_line'> = {
  'credit_line.set': {
    customer: async (_tx, { customer }) => customer,
    async needsSecond(tx, needs, input, actor) {
      const { limit, raised, isMore } = await standing(tx, needs, input)
      const { currency } = input
      // The whole limit counts: small steps come to a large one.
      if (isMore && isAbove(needs, currency, limit)) return true
      return raised > 0n && (await givesTooMuch(tx, needs, actor, { currency, amount: raised }))
    },
    async run(tx, needs, _actor, input) {
      const { raised, limit } = await standing(tx, needs, input)
      const { customer, currency } = input
      const { before, after } = await needs.changeCreditLine(tx, {
        customerId: customer,
        currency,
        limit,
        termDays: termOf(input),
      })
      return {
        subject: { kind: 'customer', id: customer },
        customerId: customer,
        before: facts(before, currency),
        // The raised amount counts towards the member's total (second-member.ts).
        after: { ...facts(after, currency), ...(raised > 0n && { amount: Number(raised) }) },
      }
    },
  },
}
