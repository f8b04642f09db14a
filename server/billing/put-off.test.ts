/** The staff gives more time to pay: the suspension of a server is put off, and its deletion. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Subscription } from '../../contract/billing.ts'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { Server } from '../../contract/wordpress.ts'
import type { OverdueInvoice } from '../../contract/operator-overview.ts'
import { deskOf, reason } from '../../test/desk.ts'
import { runCommand } from '../../test/operator.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember } from '../../test/staff.ts'
import { days, hours, later, minutes } from '../platform/clock.ts'
import { dayIn } from './period.ts'

const zone = 'Asia/Ho_Chi_Minh'
const dayOf = (at: string | Date): string => dayIn(zone, new Date(at))
const plus = (at: string, count: number): Date => later(new Date(at), days(count))

describe.each([{ travels: true }, { travels: false }])('a clock that travels: $travels', (kind) => {
  const clock = manualClock(new Date(), kind)
  let portal: TestPortal
  beforeAll(async () => {
    portal = await openTestPortal({ clock })
  })
  afterAll(() => portal.close())

  async function passTo(at: Date): Promise<void> {
    clock.advance(at.getTime() - clock.now().getTime())
    await portal.app.bills.sweep()
  }
  /** Signs in again, because sessions end while the clock is moved. */
  async function signedIn(customer: TestCustomer): Promise<TestCustomer> {
    const { email, password } = customer
    const { body } = await portal.call<{ token: { accessToken: string } }>(
      'POST',
      '/api/v1/auth/login',
      { body: { email, password } },
    )
    return { ...customer, token: body.result.token.accessToken }
  }
  const act = async (role: 'finance' | 'operations', wish: object) =>
    (await newMember(portal, role, { clock })).act<ActOutcome>('work.put_off', { reason, ...wish })

  /** A customer whose renewal has fallen due a minute ago. */
  async function overdue() {
    const an = await portal.customer()
    await portal.topUp(await signedIn(an), 218_000)
    const { id } = await orderServer(portal, await signedIn(an))
    const get = async <T>(path: string): Promise<T> =>
      (await portal.call<T>('GET', path, { token: (await signedIn(an)).token })).body.result
    const { subscriptionId } = await get<Server>(`/api/wp/${id}`)
    const stands = () => get<Subscription>(`/api/subscriptions/${subscriptionId}`)
    await passTo(later(new Date((await stands()).periodEnd), minutes(1)))
    const { status, unpaid } = await stands()
    expect(status).toBe('past_due')
    return { an, id, stands, first: unpaid! }
  }
  const letters = async ({ email }: TestCustomer, words: string) =>
    (await portal.inbox(email)).filter(({ text }) => text.includes(words))

  test('it is suspended on the new day, and deleted on the new day', async () => {
    const { an, id, stands, first } = await overdue()
    const until = dayOf(plus(first.dueAt, 12))
    const reader = await newMember(portal, 'read_only', { clock })
    const listed = await reader.call<OverdueInvoice[]>('GET', '/api/operator/overdue-invoices')
    expect(listed.body.result).toMatchObject([{ server: id, suspended: false }])
    expect((await deskOf(() => reader).storyOf(an.id)).servers).toMatchObject([{ overdue: true }])
    expect((await act('operations', { server: id, until })).status).toBe(403)
    const soon = await act('finance', { server: id, until: dayOf(first.suspendsAt) })
    expect([soon.status, soon.body.error?.fields?.['until']]).toEqual([
      409,
      expect.stringContaining(dayOf(first.suspendsAt)),
    ])
    const far = await act('finance', { server: id, until: dayOf(plus(first.dueAt, 40)) })
    expect(far.status).toBe(422)
    const put = await act('finance', { server: id, until, key: 'on-tuesday' })
    expect([put.status, put.body.result.after]).toEqual([
      200,
      expect.objectContaining({ suspendsOn: until, deletesOn: dayOf(plus(first.dueAt, 35)) }),
    ])
    const again = await act('finance', { server: id, until, key: 'on-tuesday' })
    expect(again.body.result.repeated).toBe(true)
    expect((await act('finance', { server: id, until })).status).toBe(409)
    const told = (await stands()).unpaid!
    expect([told.suspendsAt, told.deletesAt].map(dayOf)).toEqual([
      until,
      dayOf(plus(first.dueAt, 35)),
    ])
    await eventually('the letter', async () => {
      const [letter, ...more] = await letters(an, 'Bạn có thêm thời gian')
      return letter?.text.includes(`tạm ngưng ngày ${until}`) && more.length === 0
    })

    await passTo(later(new Date(first.suspendsAt), hours(1)))
    expect((await stands()).status).toBe('past_due')
    // Once more, before the new day.
    const later2 = dayOf(plus(first.dueAt, 14))
    expect((await act('finance', { server: id, until: later2 })).status).toBe(200)
    await passTo(later(new Date(told.suspendsAt), hours(1)))
    expect((await stands()).status).toBe('past_due')
    const last = (await stands()).unpaid!
    expect(dayOf(last.suspendsAt)).toBe(later2)
    await passTo(later(new Date(last.suspendsAt), minutes(1)))
    const suspended = await stands()
    expect(suspended.status).toBe('suspended')
    expect(Date.parse(suspended.unpaid!.suspendsAt)).toBeLessThanOrEqual(clock.now().getTime())

    // Its deletion as well, after the last letter.
    const deletes = suspended.unpaid!.deletesAt
    await passTo(later(plus(deletes, -3), minutes(1)))
    const warned = 'vẫn chưa được thanh toán'
    await eventually('the last letter', async () => (await letters(an, warned)).length === 1)
    const kept = dayOf(plus(deletes, 6))
    expect((await act('finance', { server: id, until: kept })).status).toBe(200)
    expect(dayOf((await stands()).unpaid!.deletesAt)).toBe(kept)
    await eventually('the letter', async () => (await letters(an, `đến ngày ${kept}`)).length > 0)
    await passTo(later(new Date(deletes), hours(1)))
    expect((await stands()).status).toBe('suspended')
    const end = new Date((await stands()).unpaid!.deletesAt)
    // The last letter goes out once more, three days before the new day.
    await passTo(later(end, -days(3) + minutes(1)))
    await eventually('a letter', async () => (await letters(an, warned)).length === 2)
    await passTo(later(end, -minutes(1)))
    expect((await stands()).status).toBe('suspended')
    await passTo(later(end, minutes(1)))
    expect((await stands()).status).toBe('ended')
  })

  test('paid in between, nothing of it remains', async () => {
    const { an, id, stands, first } = await overdue()
    const until = dayOf(plus(first.dueAt, 20))
    expect((await act('finance', { server: id, until })).status).toBe(200)
    await passTo(later(new Date(first.suspendsAt), hours(1)))
    await portal.topUp(await signedIn(an), 218_000)
    const paid = await eventually('it is paid', async () => {
      const now = await stands()
      return now.status === 'active' && now
    })
    expect((await act('finance', { server: id, until })).status).toBe(409)
    await passTo(later(new Date(paid.periodEnd), minutes(1)))
    const { unpaid } = await stands()
    expect(unpaid?.suspendsAt).toBe(plus(paid.periodEnd, 7).toISOString())
    expect(unpaid?.deletesAt).toBe(plus(paid.periodEnd, 30).toISOString())
  })
})

test('a command does the same, by the catalogue in use and not by its own file', async () => {
  const catalogText = readFileSync(path.resolve('catalog.yaml'), 'utf8')
  const portal = await openTestPortal({ catalogText })
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-catalog-'))
  try {
    const an = await portal.customer()
    await portal.topUp(an, 218_000)
    const { id } = await orderServer(portal, an)
    const CATALOG = path.join(folder, 'catalog.yaml')
    writeFileSync(CATALOG, catalogText.replace('suspendDays: 7', 'suspendDays: 20'))
    const put = (inDays: number) => {
      const until = dayOf(later(new Date(), days(inDays)))
      const said = ['--server', id, '--until', until, '--reason', reason]
      return runCommand(portal, { CATALOG }, 'act', 'work.put_off', ...said)
    }
    const early = await put(2)
    expect([early.code, early.said]).toEqual([1, expect.stringContaining('Nothing is overdue')])
    // A month has gone by: a command reads the wall's clock.
    await sql`update subscription set anchor_at = anchor_at - interval '31 days',
      period_start = period_start - interval '31 days', period_end = now() - interval '1 minute',
      next_at = now() - interval '1 minute' where customer_id = ${an.id}`.execute(portal.app.db)
    await portal.app.bills.sweep()
    const late = await put(10)
    expect(late.code, late.said).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
    await portal.close()
  }
})
