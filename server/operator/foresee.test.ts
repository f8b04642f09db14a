/** Information about a proposal: that nobody may approve it, and what approving it would change. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Proposal } from '../../contract/operator-desk.ts'
import { credit, debit, deskOf, told } from '../../test/desk.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'

let portal: TestPortal
let finance: TestMember
let owner: TestMember
beforeAll(async () => {
  portal = await openTestPortal()
  finance = await newMember(portal, 'finance')
})
afterAll(() => portal.close())

const { balanceOf, verification } = deskOf(() => finance)
const proposalsOf = async (member: TestMember): Promise<Proposal[]> =>
  (await member.call<Proposal[]>('GET', '/api/operator/proposals')).body.result
interface Foreseen {
  before: object | null
  after: object | null
  refused: string | null
}
const preview = (member: TestMember, id: string) =>
  member.call<Foreseen>('GET', `/api/operator/proposals/${id}/preview`)

test('who is alone learns that nobody can approve, and what to do', async () => {
  const an = await portal.customer()
  const alone = (await credit(finance, an, 6_000_000)).body.result
  expect(alone).toMatchObject({ state: 'proposed', approvers: 0 })
  expect(alone.notice).toContain('Invite one under “Staff”')
  expect(await proposalsOf(finance)).toMatchObject([{ id: alone.proposal, approvers: 0 }])
  // A member of another role may not approve it.
  await newMember(portal, 'support')
  expect((await proposalsOf(finance))[0]?.approvers).toBe(0)
  owner = await newMember(portal, 'owner')
  expect((await proposalsOf(finance))[0]?.approvers).toBe(1)
  const { approvers, notice } = (await credit(finance, an, 7_000_000)).body.result
  expect([approvers, notice]).toEqual([1, undefined])
})

test('who approves sees what would change; looking changes nothing', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 300_000)
  const { proposal } = (await credit(finance, an, 6_000_000)).body.result as ActOutcome
  const { acts } = await verification()
  // Twice, because an effect of the first preview would change the second.
  await preview(owner, proposal ?? '')
  expect((await preview(owner, proposal ?? '')).body.result).toEqual({
    before: { balance: 300_000, currency: 'VND' },
    after: { balance: 6_300_000, currency: 'VND' },
    refused: null,
  })
  expect(await balanceOf(an.id)).toBe(300_000)
  expect(await verification()).toMatchObject({ acts, findings: [] })
  // A member who cannot approve it sees no preview.
  expect((await preview(finance, proposal ?? '')).status).toBe(403)

  expect((await owner.call('POST', `/api/operator/proposals/${proposal}/approve`)).status).toBe(200)
  expect((await preview(owner, proposal ?? '')).status).toBe(409)
  const debits = [await debit(finance, an, 6_300_000), await debit(finance, an, 6_300_000)]
  const [first, second] = debits.map(({ body }) => body.result.proposal ?? '')
  await owner.call('POST', `/api/operator/proposals/${first}/approve`)
  expect((await preview(owner, second ?? '')).body.result).toEqual({
    before: null,
    after: null,
    refused: 'The wallet does not hold that much.',
  })
  // One letter about the credit: the preview sent none.
  const ofCredit = await eventually('the letter', async () => {
    const letters = (await portal.inbox(an.email)).map((letter) => JSON.stringify(letter))
    const found = letters.filter((letter) => letter.includes(told) && letter.includes('6.000.000'))
    return found.length > 0 && found
  })
  expect(ofCredit).toHaveLength(1)
  await portal.ledgerHolds()
})
