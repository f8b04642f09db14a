/** What the staff reads at the desk, and the money that it moves there. */
import type { ActOutcome } from '../contract/operator-acts.ts'
import type { CustomerStory } from '../contract/operator-desk.ts'
import type { TestCustomer } from './portal.ts'
import type { TestMember } from './staff.ts'

export const reason = 'asked for by phone'
export const told = 'Goodwill for the outage'

const moving =
  (act: string) =>
  (by: TestMember, customer: TestCustomer, amount: number, more: object = {}) =>
    by.act<ActOutcome>(act, {
      customer: customer.id,
      amount,
      currency: 'VND',
      told,
      reason,
      ...more,
    })
export const credit = moving('money.credit')
export const debit = moving('money.debit')

/** Read by a member who may be another one later: sessions of eight hours end. */
export function deskOf(reader: () => TestMember) {
  const storyOf = async (id: string): Promise<CustomerStory> =>
    (await reader().call<CustomerStory>('GET', `/api/operator/customers/${id}`)).body.result
  const balanceOf = async (id: string): Promise<number> => (await storyOf(id)).wallets[0]!.balance
  const verification = async () =>
    (
      await reader().call<{ acts: number; findings: { seq: number; fault: string }[] }>(
        'GET',
        '/api/operator/trail/verification',
      )
    ).body.result
  return { storyOf, balanceOf, verification }
}
