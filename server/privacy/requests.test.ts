/** Requests about personal data: made or entered, due by a clock, decided, and answered. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mostOpenRequests, type DataRequest } from '../../contract/data-requests.ts'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { TrailAct } from '../../contract/operator-desk.ts'
import { byClosing, type DeskRequest } from '../../contract/operator-privacy.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days } from '../platform/clock.ts'
import { dropOldRequests, dueAt, overdueRequests } from './requests.ts'

const clock = manualClock()
let portal: TestPortal
let support: TestMember
beforeAll(async () => {
  portal = await openTestPortal({ clock })
  support = await newMember(portal, 'support', { clock })
})
afterAll(() => portal.close())

const path = '/api/v1/account/data-requests'
const ask = ({ token }: TestCustomer, kind: string, text = 'My name is spelt wrongly') =>
  portal.call<DataRequest>('POST', path, { token, body: { kind, text } })
const own = async ({ token }: TestCustomer): Promise<DataRequest[]> =>
  (await portal.call<DataRequest[]>('GET', path, { token })).body.result
const desk = async (show: 'open' | 'decided'): Promise<DeskRequest[]> =>
  (await support.call<DeskRequest[]>('GET', `/api/operator/data-requests?show=${show}`)).body.result
const letter = (to: TestCustomer, text: string) =>
  eventually(`a letter with ${text}`, async () =>
    (await portal.inbox(to.email)).some((one) => one.text.includes(text)),
  )

describe('the clock', () => {
  test.each([
    ['access', '2026-11-26', '2026-12-10'],
    ['correction', '2026-11-26', '2026-12-10'],
    ['objection', '2026-11-26', '2026-12-17'],
    ['erasure', '2026-11-26', '2026-12-24'],
    // Twenty working days over Tết would be more than thirty days.
    ['erasure', '2027-01-25', '2027-02-24'],
  ] as const)('of %s from %s ends with %s', (kind, from, until) => {
    expect(dueAt(kind, new Date(`${from}T03:00:00Z`))).toEqual(new Date(`${until}T16:59:59Z`))
  })
})

describe('a customer', () => {
  test('asks on the account page, is told by when, and then what was done', async () => {
    const an = await portal.customer()
    const made = await ask(an, 'correction')
    expect(made.status, made.text).toBe(201)
    const { id, dueAt: due } = made.body.result
    await letter(an, new Date(due).toISOString().slice(0, 10).split('-').toReversed().join('/'))
    expect(await desk('open')).toContainEqual(
      expect.objectContaining({
        id,
        overdue: false,
        customer: expect.objectContaining({ id: an.id }),
      }),
    )
    const done = await support.act<ActOutcome>('privacy.done', {
      request: id,
      told: 'Your name is now Nguyễn An',
    })
    expect(done.body.result.state, done.text).toBe('done')
    await letter(an, 'Your name is now Nguyễn An')
    expect(await own(an)).toMatchObject([
      { id, state: 'done', answer: 'Your name is now Nguyễn An' },
    ])
    const again = await support.act('privacy.refuse', { request: id, told: 'Another answer' })
    expect(again.status).toBe(409)
    // The texts of request and answer are in no trail.
    const trail = await support.call<TrailAct[]>('GET', '/api/operator/trail')
    expect(trail.text).toContain(id)
    for (const words of ['Nguyễn An', 'spelt wrongly']) expect(trail.text).not.toContain(words)
  })

  test('is refused with a reason', async () => {
    const an = await portal.customer()
    const { id } = (await ask(an, 'objection', 'Do not keep my invoices')).body.result
    const told = 'The law on accounting asks us to keep them'
    expect((await support.act('privacy.refuse', { request: id, told })).status).toBe(200)
    await letter(an, told)
    expect(await own(an)).toMatchObject([{ state: 'refused', answer: told }])
  })

  test('has so many open at once, and sees nobody else’s', async () => {
    const [an, binh] = [await portal.customer(), await portal.customer()]
    const asked = Array.from({ length: mostOpenRequests + 2 }, () => ask(an, 'access'))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(mostOpenRequests)
    expect(statuses.filter((status) => status === 409)).toHaveLength(2)
    expect(await own(binh)).toEqual([])
    expect((await portal.call('GET', path)).status).toBe(401)
  })

  test('who closes the account has erasure met, the rest ended, and no words left', async () => {
    const an = await portal.customer()
    const other = (await ask(an, 'access', 'What do you have of me?')).body.result.id
    const { id } = (await ask(an, 'erasure', 'Erase all of me')).body.result
    const early = await support.act('privacy.done', { request: id, told: 'It was erased' })
    expect(early.status).toBe(409)
    const { token, password } = an
    const closed = await portal.call('POST', '/api/v1/account/close', { token, body: { password } })
    expect(closed.status, closed.text).toBe(200)
    const rows = await desk('decided')
    const gone = { text: '', answer: null, overdue: false, decidedBy: byClosing }
    expect(rows.find((one) => one.id === id)).toMatchObject({ state: 'done', ...gone })
    expect(rows.find((one) => one.id === other)).toMatchObject({ state: 'ended', ...gone })
  })
})

describe('the staff', () => {
  test('enters what came by letter, with the day on which it came', async () => {
    const an = await portal.customer()
    const receivedOn = new Date(clock.now().getTime() - days(3)).toISOString().slice(0, 10)
    const act = await support.act<ActOutcome>('privacy.receive', {
      from: an.email.toUpperCase(),
      kind: 'access',
      text: 'What do you know of me?',
      receivedOn,
    })
    expect(act.status, act.text).toBe(200)
    const [mine] = await own(an)
    expect(mine).toMatchObject({ kind: 'access', state: 'open' })
    expect(mine?.dueAt).toBe(
      dueAt('access', new Date(`${receivedOn}T00:00:00+07:00`)).toISOString(),
    )
    const later = new Date(clock.now().getTime() + days(2)).toISOString().slice(0, 10)
    const body = { from: 'Somebody', kind: 'access', text: 'What do you know?' }
    const early = await support.act('privacy.receive', { ...body, receivedOn: later })
    expect(early.status).toBe(422)
    // A person without an account is named, and answered by hand.
    expect((await support.act('privacy.receive', body)).status).toBe(200)
    expect(await desk('open')).toContainEqual(
      expect.objectContaining({ customer: null, askedBy: 'Somebody', enteredBy: support.name }),
    )
  })

  test('sees what is due soonest first, and what is overdue; others only read', async () => {
    const readOnly = await newMember(portal, 'read_only', { clock })
    const told = 'Nothing is stored of you'
    const [first] = await desk('open')
    const no = await readOnly.act('privacy.done', { request: first?.id, told })
    expect(no.status).toBe(403)
    const { db } = portal.app
    expect(await overdueRequests(db, clock)).toBe(0)
    const soon = await desk('open')
    const dues = soon.map((one) => one.dueAt)
    expect(dues).toEqual(dues.toSorted())
    clock.advance(new Date(dues[0] ?? '').getTime() - clock.now().getTime() + 1000)
    const count = dues.filter((due) => due === dues[0]).length
    expect(await overdueRequests(db, clock)).toBe(count)
    const late = await newMember(portal, 'support', { clock })
    const list = await late.call<DeskRequest[]>('GET', '/api/operator/data-requests?show=open')
    expect(list.body.result.filter(({ overdue }) => overdue)).toHaveLength(count)
    for (const { id } of list.body.result.filter(({ kind }) => kind !== 'erasure'))
      expect((await late.act('privacy.done', { request: id, told })).status).toBe(200)
    expect(await overdueRequests(db, clock)).toBe(0)
    clock.advance(days(1095) + days(1))
    await dropOldRequests(db, clock)
    const left = await db.selectFrom('data_request').select('state').execute()
    expect(left.filter(({ state }) => state !== 'open')).toEqual([])
  })
})
