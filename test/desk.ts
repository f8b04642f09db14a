/** What the staff reads at the desk, and money acts there. */
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

/**
 * `reader` is called for each read, because sessions end after eight hours and another member may
 * take over.
 */
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
