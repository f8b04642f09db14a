/** Proposals that end without approval: who made one is told, by letter and once. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { credit } from '../../test/desk.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { hours, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'

const clock = manualClock()
let portal: TestPortal
let owner: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  owner = await newMember(portal, 'owner', { clock })
  const added = await owner.act('outgoing_webhook.add', {
    url: `${portal.sandboxUrl}/hooks/books`,
    events: ['proposal.decided'],
    reason: 'The approvals are counted',
  })
  expect(added.status, added.text).toBe(200)
})
afterAll(() => portal.close())

const lettersTo = async ({ email }: TestMember, words: string): Promise<number> =>
  (await portal.inbox(email)).filter(({ text }) => text.includes(words)).length
const oneLetter = (to: TestMember, words: string) =>
  eventually('the letter', async () => (await lettersTo(to, words)) === 1)
/** Bodies of the webhooks about the end of a proposal. */
async function eventsOf(proposal: string): Promise<string[]> {
  const rows = await portal.app.db
    .selectFrom('webhook_delivery')
    .select('payload')
    .where('event', '=', 'proposal.decided')
    .execute()
  return rows.map(({ payload }) => JSON.stringify(payload)).filter((one) => one.includes(proposal))
}
async function swept(): Promise<void> {
  await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tell-ended-proposals', {}))
  await jobsIdle(portal.app.db)
}

test('one that is rejected: its proposer reads why, and the same press proposes anew', async () => {
  const an = await portal.customer()
  const proposer = await newMember(portal, 'finance', { clock })
  const key = 'rejected-and-again'
  const pressed = async () => (await credit(proposer, an, 6_000_000, { key })).body.result
  const first = await pressed()
  expect(await pressed()).toMatchObject({ proposal: first.proposal, repeated: true })
  const reject = `/api/operator/proposals/${first.proposal}/reject`
  expect((await owner.call('POST', reject, { reason: 'Ask me first' })).status).toBe(200)
  await oneLetter(proposer, `${owner.name} rejected it: “Ask me first”`)
  const again = await pressed()
  expect(again).toMatchObject({ state: 'proposed', repeated: false })
  expect(again.proposal).not.toBe(first.proposal)
  // Who withdraws it knows it.
  const withdraw = `/api/operator/proposals/${again.proposal}/reject`
  expect((await proposer.call('POST', withdraw, { reason: 'Not any more' })).status).toBe(200)
  await swept()
  expect(await lettersTo(proposer, 'Not any more')).toBe(0)
})

test('one that nobody approves, or whose customer leaves, is told of once', async () => {
  const [an, gone] = [await portal.customer(), await portal.customer()]
  const proposer = await newMember(portal, 'finance', { clock })
  const disabled = await newMember(portal, 'finance', { clock })
  const key = 'nobody-approved'
  const proposed = async (by: TestMember, of = an, more = {}): Promise<string> =>
    (await credit(by, of, 6_000_000, more)).body.result.proposal ?? ''
  const voided = await proposed(proposer, an, { key })
  const left = await proposed(proposer, gone)
  await proposed(disabled)
  await owner.act('staff.disable', { member: disabled.id, reason: 'Left us' })
  const closed = await portal.call('POST', '/api/v1/account/close', {
    token: gone.token,
    body: { password: gone.password },
  })
  expect(closed.status, closed.text).toBe(200)
  await swept()
  await oneLetter(proposer, 'Its customer has closed the account')
  clock.advance(hours(24) + minutes(1))
  await swept()
  await oneLetter(proposer, 'Nobody approved it within 24 hours')
  await swept()
  expect(await lettersTo(proposer, 'You proposed money.credit')).toBe(2)
  expect(await lettersTo(disabled, 'You proposed')).toBe(0)
  for (const id of [voided, left]) {
    await eventually('the event', async () => (await eventsOf(id)).length > 0)
    expect(await eventsOf(id)).toEqual([expect.stringMatching(/"approved":false/)])
  }
  const again = await newMember(portal, 'finance', { clock })
  expect((await credit(again, an, 6_000_000, { key })).body.result).toMatchObject({
    state: 'proposed',
    repeated: false,
  })
})
