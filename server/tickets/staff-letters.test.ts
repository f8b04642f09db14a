/** Letters to the staff about tickets that wait for an answer. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import {
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { ticketsOf } from '../../test/ticket-world.ts'
import { hours, later } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
let an: TestCustomer
let support: TestMember
let other: TestMember
let finance: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  an = await portal.customer()
  support = await newMember(portal, 'support', { clock })
  other = await newMember(portal, 'support', { clock })
  finance = await newMember(portal, 'finance', { clock })
})
afterAll(() => portal.close())
const { call, opened, done } = ticketsOf(
  () => portal,
  () => support,
)

/** How many letters about a ticket each of the three has. */
async function letters(number: number): Promise<number[]> {
  await jobsIdle(portal.app.db)
  return await Promise.all(
    [support, other, finance].map(
      async ({ email }) =>
        (await portal.inbox(email)).filter(({ text }) => text.includes(`Ticket #${number} waits`))
          .length,
    ),
  )
}
const wrote = async (id: string): Promise<void> => {
  expect((await call(an, 'POST', `/${id}/messages`, { text: 'And now?' })).status).toBe(201)
}

test('one about a new ticket to all who answer, then to the assignee, once an answer', async () => {
  const { id, number } = await opened(an, { text: 'My secret question' })
  expect(await letters(number)).toEqual([1, 1, 0])
  const [letter] = await portal.inbox(support.email)
  expect(letter?.text).toContain(`/operator/tickets/${id}`)
  expect(letter?.text).not.toContain('secret')
  await wrote(id)
  await wrote(id)
  expect(await letters(number)).toEqual([1, 1, 0])
  await done('ticket.answer', { ticket: id, text: 'We look into it.' })
  await wrote(id)
  await wrote(id)
  expect(await letters(number)).toEqual([2, 1, 0])
  // Closing and opening it again, by its customer, is no answer.
  for (const state of ['closed', 'open'])
    expect((await call(an, 'PUT', `/${id}/state`, { state })).status).toBe(200)
  expect(await letters(number)).toEqual([2, 1, 0])
  // After a day it is told again that somebody writes and waits.
  await portal.app.db
    .updateTable('ticket')
    .set({ staff_told_at: later(clock.now(), -hours(24)) })
    .where('id', '=', id)
    .execute()
  await wrote(id)
  expect(await letters(number)).toEqual([3, 1, 0])
  await done('ticket.close', { ticket: id })
  expect((await call(an, 'PUT', `/${id}/state`, { state: 'open' })).status).toBe(200)
  expect(await letters(number)).toEqual([4, 1, 0])
})

test('none to who switched them off, and to all when the assignee may not answer', async () => {
  const switched = await other.call('PUT', '/api/operator/letters-wanted', { getsLetters: false })
  expect(switched.status).toBe(200)
  const session = await other.call('GET', '/api/operator/session')
  expect(session.body.result).toMatchObject({ getsLetters: false })
  const { id, number } = await opened(an)
  expect(await letters(number)).toEqual([1, 0, 0])
  await done('ticket.answer', { ticket: id, text: 'It is done.' }, other)
  await wrote(id)
  // It is another's work, who wants no letters.
  expect(await letters(number)).toEqual([1, 0, 0])
  await done('ticket.answer', { ticket: id, text: 'Again.' }, other)
  const owner = await newMember(portal, 'owner', { clock })
  await owner.act('staff.disable', { member: other.id, reason: 'Left us' })
  await wrote(id)
  expect(await letters(number)).toEqual([2, 0, 0])
})

test('the oldest open ticket has an age that is watched', async () => {
  await opened(an)
  clock.advance(hours(30))
  const { text } = await portal.call('GET', '/metrics')
  const [, age] = /^portal_tickets_oldest_seconds (\S+)$/m.exec(text) ?? []
  expect(Number(age)).toBeGreaterThanOrEqual(30 * 3600)
})
