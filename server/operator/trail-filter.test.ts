/** The trail at the desk: by whom, which act, about whom or what, from when to when. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TrailAct } from '../../contract/operator-desk.ts'
import { manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days } from '../platform/clock.ts'
import { inVietnam } from '../platform/vietnam-time.ts'

const clock = manualClock()
let portal: TestPortal
let support: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  support = await newMember(portal, 'support', { clock })
})
afterAll(() => portal.close())

const read = async (query: Record<string, string>) => {
  const answer = await support.call<TrailAct[]>(
    'GET',
    `/api/operator/trail?${new URLSearchParams(query)}`,
  )
  expect(answer.status, answer.text).toBe(200)
  return { acts: answer.body.result, next: answer.body.page?.next ?? null }
}
const shown = async (query: Record<string, string>) =>
  (await read(query)).acts.map(({ act, customerId }) => `${act} ${customerId}`)

test('the trail is found by who acted, the act, whom it is about, and the days', async () => {
  const [an, binh] = [await portal.customer(), await portal.customer()]
  const other = await newMember(portal, 'support', { clock })
  const day = inVietnam(clock.now()).slice(0, 10)
  const note = { text: 'Called about the invoice' }
  expect((await support.act('customer.note', { ...note, customer: an.id })).status).toBe(200)
  expect((await support.act('customer.note', { ...note, customer: binh.id })).status).toBe(200)
  expect((await other.act('customer.label', { customer: an.id, label: 'vip_100%' })).status).toBe(
    200,
  )
  clock.advance(days(3))
  support = await newMember(portal, 'support', { clock })
  expect((await support.act('customer.note', { ...note, customer: an.id })).status).toBe(200)
  const later = inVietnam(clock.now()).slice(0, 10)

  const noted = (of: { id: string }) => `customer.note ${of.id}`
  expect(await shown({ act: 'customer.note' })).toEqual([noted(an), noted(binh), noted(an)])
  const aboutAn = [noted(an), `customer.label ${an.id}`, noted(an)]
  expect(await shown({ about: an.id })).toEqual(aboutAn)
  expect(await shown({ about: an.email.toUpperCase() })).toEqual(aboutAn)
  expect(await shown({ about: 'nobody@example.vn' })).toEqual([])
  expect(await shown({ about: an.id, from: later })).toEqual([noted(an)])
  expect(await shown({ act: 'customer.note', to: day, from: day })).toEqual([
    noted(binh),
    noted(an),
  ])
  const [label] = (await read({ act: 'customer.label' })).acts
  const byOther = await read({ actor: (label?.actor ?? '').slice(1).toUpperCase() })
  expect(byOther.acts.length).toBeGreaterThan(0)
  expect(byOther.acts.every(({ actor }) => actor === label?.actor)).toBe(true)
  // A sign of a pattern is a sign.
  expect(await shown({ actor: '%' })).toEqual([])

  const first = await read({ about: an.id, limit: '2' })
  const second = await read({ about: an.id, limit: '2', cursor: first.next ?? '' })
  expect([...first.acts, ...second.acts].map(({ act }) => act)).toEqual([
    'customer.note',
    'customer.label',
    'customer.note',
  ])
  expect(second.next).toBeNull()
  const wrong = await support.call('GET', '/api/operator/trail?from=yesterday')
  expect(wrong.status).toBe(422)
})
