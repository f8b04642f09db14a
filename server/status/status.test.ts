/** The operator's public notices, and maintenance that closes the portal. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as contract from '../../contract/index.ts'
import type { Status } from '../../contract/status.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days, hours, later, minutes } from '../platform/clock.ts'

const clock = manualClock()
let portal: TestPortal
let an: TestCustomer
let member: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  an = await portal.customer()
  member = await newMember(portal, 'operations', { clock })
})
afterAll(() => portal.close())

const inWords = {
  titleEn: 'Slow disks in Hanoi',
  titleVi: 'Ổ đĩa tại Hà Nội chậm',
  textEn: 'We are looking into it.',
  textVi: 'Chúng tôi đang kiểm tra.',
  closes: 'no',
  reason: 'Seen by the monitor',
}
const read = async (language = 'en'): Promise<Status> => {
  const answer = await portal.call<Status>('GET', '/api/status', {
    headers: { 'accept-language': language },
  })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.result
}
const act = (name: string, body: object) => member.act<{ state: string }>(name, body)
const listCalls = () => portal.call('GET', '/api/wp', { token: an.token })

test('an incident is told to everybody in their language until it ends', async () => {
  expect(await read()).toEqual({ state: 'working', now: [], coming: [], past: [] })
  expect((await act('status.publish', { kind: 'incident', ...inWords })).status).toBe(200)
  const [incident] = (await read()).now
  expect(incident).toMatchObject({
    kind: 'incident',
    title: 'Slow disks in Hanoi',
    endsAt: null,
    closes: false,
    updates: [],
  })
  const { id } = incident!
  clock.advance(minutes(10))
  const update = { textEn: 'A disk is replaced.', textVi: 'Đang thay ổ đĩa.', reason: 'An update' }
  expect((await act('status.update', { notice: id, ...update })).status).toBe(200)
  expect(await read('vi')).toMatchObject({
    state: 'incident',
    now: [{ title: 'Ổ đĩa tại Hà Nội chậm', updates: [{ text: 'Đang thay ổ đĩa.' }] }],
  })
  clock.advance(minutes(20))
  expect((await act('status.end', { notice: id, reason: 'Replaced' })).status).toBe(200)
  const after = await read()
  expect(after).toMatchObject({ state: 'working', now: [], past: [{ id }] })
  const [past] = after.past
  expect(Date.parse(past!.endsAt!) - Date.parse(past!.startsAt)).toBe(minutes(30))
  // An ended notice does not change.
  const again = await act('status.end', { notice: id, reason: 'Once more' })
  expect(again.body.error?.code).toBe('conflict')
  expect((await act('status.update', { notice: id, ...update })).status).toBe(409)
})

test('who may act on work tells; all staff read; each act stands in the trail', async () => {
  const support = await newMember(portal, 'support', { clock })
  const refused = await support.act('status.publish', { kind: 'announcement', ...inWords })
  expect(refused.status).toBe(403)
  const shown = await support.call<{ title: { vi: string } }[]>('GET', '/api/operator/status')
  expect(shown.body.result[0]?.title.vi).toBe('Ổ đĩa tại Hà Nội chậm')
  const acts = await portal.app.db
    .selectFrom('operator_act')
    .select(['act', 'reason'])
    .where('act', 'like', 'status.%')
    .orderBy('seq')
    .execute()
  expect(acts).toEqual([
    { act: 'status.publish', reason: 'Seen by the monitor' },
    { act: 'status.update', reason: 'An update' },
    { act: 'status.end', reason: 'Replaced' },
  ])
})

test('what cannot be is refused with a sentence, and told to nobody', async () => {
  const at = (ms: number): string => later(clock.now(), ms).toISOString()
  for (const [wrong, field] of [
    [{ kind: 'maintenance', startsAt: at(hours(2)), endsAt: at(hours(1)) }, 'endsAt'],
    [{ kind: 'maintenance', startsAt: at(-hours(2)), endsAt: at(-hours(1)) }, 'endsAt'],
    [{ kind: 'incident', closes: 'yes' }, 'closes'],
    [{ kind: 'party' }, 'kind'],
    [{ kind: 'incident', titleVi: '' }, 'titleVi'],
    [{ kind: 'incident', startsAt: 'tomorrow' }, 'startsAt'],
  ] as const) {
    const { status, body } = await act('status.publish', { ...inWords, ...wrong })
    expect(status).toBe(422)
    expect(Object.keys(body.error?.fields ?? {})).toEqual([field])
  }
  expect((await act('status.end', { notice: 'no-such', reason: 'None' })).status).toBe(404)
  expect(await read()).toMatchObject({ state: 'working', now: [], coming: [] })
})

test('maintenance is announced, closes the portal for its time, and is over', async () => {
  const at = (ms: number): string => later(clock.now(), ms).toISOString()
  const published = await act('status.publish', {
    kind: 'maintenance',
    ...inWords,
    titleEn: 'New database',
    startsAt: at(hours(1)),
    endsAt: at(hours(2)),
    closes: 'yes',
  })
  expect(published.status).toBe(200)
  expect(await read()).toMatchObject({ state: 'working', coming: [{ title: 'New database' }] })
  expect((await listCalls()).status).toBe(200)

  clock.advance(hours(1))
  const closed = await eventually('a closed portal', async () => {
    const answer = await listCalls()
    return answer.status === 503 && answer
  })
  expect(closed.body.error?.code).toBe('maintenance')
  expect(closed.body.message).toBe('The portal is closed for maintenance. Sites and domains go on.')
  expect(Number(closed.headers.get('retry-after'))).toBe(3600)
  expect(await read()).toMatchObject({ state: 'maintenance', now: [{ closes: true }] })
  // The staff works on, and gateways are heard.
  expect((await member.call('GET', '/api/operator/work')).status).toBe(200)
  expect((await portal.call('GET', '/api/config')).status).toBe(200)
  const notice = await fetch(`${portal.url}/api/webhooks/vnpay`)
  expect(notice.status).not.toBe(503)

  clock.advance(hours(1))
  expect((await listCalls()).status).toBe(200)
  expect((await read()).past[0]).toMatchObject({ title: 'New database' })
})

test('a portal that is closed takes no call but what is meant for then', async () => {
  const another = await portal.customer()
  const body = { kind: 'maintenance', ...inWords, closes: 'yes' }
  expect((await act('status.publish', body)).status).toBe(200)
  await eventually('a closed portal', async () => (await listCalls()).status === 503)
  const open: string[] = []
  const endpoints = Object.values(contract).flatMap((group) =>
    typeof group === 'object' ? Object.values(group as Record<string, unknown>) : [],
  ) as Partial<contract.Endpoint>[]
  for (const { method, path, access } of endpoints) {
    if (method === undefined || path === undefined || access === 'staff') continue
    const address = path.replaceAll(/:\w+/g, 'none')
    const answer = await portal.call(method, address, {
      token: another.token,
      ...(method !== 'GET' && { body: {} }),
    })
    if (answer.status !== 503) open.push(`${method} ${path}`)
  }
  expect([...new Set(open)].toSorted()).toEqual([
    'GET /api/config',
    'GET /api/status',
    'GET /api/v1/auth/session',
    // A machine that the operator adds.
    'POST /api/nodes/join',
    'POST /api/operator/invitation',
    'POST /api/operator/invitation/accept',
    'POST /api/operator/sign-in',
    'POST /api/v1/auth/logout',
    'POST /api/v1/auth/not-me',
  ])
  const [{ id } = { id: '' }] = (await read()).now
  expect((await act('status.end', { notice: id, reason: 'Done' })).status).toBe(200)
  await eventually('an open portal', async () => (await listCalls()).status === 200)
})

test('one that has not begun is taken back; what is over is told for 90 days', async () => {
  const startsAt = later(clock.now(), days(2)).toISOString()
  await act('status.publish', { kind: 'maintenance', ...inWords, startsAt })
  const [coming] = (await read()).coming
  expect((await act('status.end', { notice: coming!.id, reason: 'Not needed' })).status).toBe(200)
  const { now, coming: left, past } = await read()
  expect([...now, ...left, ...past].map(({ id }) => id)).not.toContain(coming!.id)
  expect(past.length).toBeGreaterThan(1)
  clock.advance(days(91))
  expect((await read()).past).toEqual([])
})
