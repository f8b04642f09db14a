/**
 * Letters of servers that wait, are refused or given up, and what protects a server's reputation.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deskOf } from '../../../test/desk.ts'
import type { TestDns } from '../../../test/dns-server.ts'
import { jobsIdle } from '../../../test/idle-jobs.ts'
import { mailServersOf, openMailPortal, type MailServer } from '../../../test/mail-world.ts'
import { eventually, manualClock, type TestPortal } from '../../../test/portal.ts'
import { newMember } from '../../../test/staff.ts'
import { days, hours, minutes } from '../../platform/clock.ts'
import { transaction } from '../../platform/db.ts'
import { provisionJob } from '../order.ts'
import { alignJobs } from '../product.ts'
import { sendMailJob } from './store.ts'

const clock = manualClock()
/** Hourly limit of letters, deliberately no multiple of the number that a worker claims. */
const limit = 23
let dns: TestDns
let portal: TestPortal
let an: MailServer
beforeAll(async () => {
  ;({ dns, portal } = await openMailPortal({
    clock,
    changeCatalog: (catalog) => ({
      ...catalog,
      plans: catalog.plans.map((plan) => ({ ...plan, mailAnHour: limit })),
    }),
  }))
  an = await server()
  await domainFor(an, 'coffee.com.vn')
})
afterAll(async () => {
  await portal.close()
  await dns.close()
})

const { call, server, send, state, log, became, rows, wake, domainFor } = mailServersOf(
  () => portal,
)
/** An operator's decision; answers its status. */
const decide = async (act: 'mail.suspend' | 'mail.resume', body: object): Promise<number> =>
  (await (await newMember(portal, 'operations', { clock })).act(act, { ...body, reason: 'asked' }))
    .status
/** The row of a recipient after this many tries, when no worker has it. */
const tried = (of: MailServer, to: string, times: number) =>
  eventually(`try ${times} of ${to}`, async () => {
    const [row] = await rows(of, to)
    return row?.attempts === times && row.leased_until === null && row
  })

describe('what may not be sent', () => {
  test('an address that is refused is noted with what the mail server said', async () => {
    expect(await send(an, { to: 'nobody@bounce.example, real@example.vn' })).toBe(true)
    expect(await became(an, 'nobody@bounce.example', 'bounced')).toMatchObject({
      said: expect.stringContaining('550 5.1.1 No such user here') as string,
      nextAt: null,
    })
    await became(an, 'real@example.vn', 'sent')
  })

  test('over the hour’s limit letters wait, and their owner is told once', async () => {
    const busy = await server()
    for (let at = 0; at < limit + 3; at++)
      expect(await send(busy, { to: `many${at}@example.vn` })).toBe(true)
    await eventually('the limit reached', async () => {
      const now = await state(busy)
      return now.hour.used === limit && now.waiting === 3
    })
    const waiting = (await log(busy)).filter((one) => one.state === 'waiting')
    await eventually(
      'why',
      async () => (await log(busy)).filter((one) => one.reason === 'hour_limit').length === 3,
    )
    expect(waiting).toHaveLength(3)
    const letters = async () =>
      (await portal.inbox(busy.owner.email)).filter(({ text }) => /hạn mức giờ/.test(text))
    await eventually('a letter', async () => (await letters()).length === 1)
    clock.advance(hours(1) + minutes(1))
    await eventually('the rest sent', async () => {
      await wake(busy)
      return (await state(busy)).waiting === 0
    })
    expect(await letters()).toHaveLength(1)
    const { body } = await portal.call<{ data: { event: string; title: string }[] }>(
      'GET',
      '/api/notifications',
      { token: busy.owner.token },
    )
    expect(
      body.result.data.filter(({ event }) => event === 'wordpress.mail').map(({ title }) => title),
    ).toEqual([`E-mails of ${busy.name} wait for the hourly limit`])
  })

  test('of far too many the rest waits at the node, where mail() says no in the end', async () => {
    const flood = await server()
    const many = (from: number): string =>
      Array.from({ length: 50 }, (_, at) => `m${from + at}@later.example`).join(',')
    for (let at = 0; at < 3; at++) expect(await send(flood, { to: many(at * 50) })).toBe(true)
    const taken = async (): Promise<number> =>
      (
        await portal.app.db
          .selectFrom('site_mail')
          .select('id')
          .where('site_id', '=', flood.id)
          .execute()
      ).length
    await eventually('all taken', async () => (await taken()) === 150)
    // Five times the plan's limit is reached: further letters stay on the node.
    expect(await send(flood, { to: 'late@example.vn' })).toBe(true)
    await portal.app.mailCollector.collect()
    expect(await rows(flood, 'late@example.vn')).toEqual([])
    clock.advance(hours(1) + minutes(1))
    await eventually(
      'the rest taken',
      async () => (await rows(flood, 'late@example.vn')).length > 0,
    )
  })

  test('a switch that is off says no to PHP, and drops what waits', async () => {
    expect(await send(an, { to: 'waits@later.example' })).toBe(true)
    await became(an, 'waits@later.example', 'waiting')
    expect((await call(an, 'PUT', '/mail', { enabled: false })).status).toBe(200)
    expect(await became(an, 'waits@later.example', 'refused')).toMatchObject({ reason: 'off' })
    await eventually('mail() says no', async () => !(await send(an, { to: 'late@example.vn' })))
    expect((await call(an, 'PUT', '/mail', { enabled: true })).status).toBe(200)
    await eventually('mail() says yes', () => send(an, { to: 'again@example.vn' }))
    await became(an, 'again@example.vn', 'sent')
  })

  test('a site whose letters bounce is suspended, told, and resumed by an operator', async () => {
    const bad = await server()
    for (let at = 0; at < 10; at++)
      expect(await send(bad, { to: `nobody${at}@bounce.example` })).toBe(true)
    await eventually('suspended', async () => (await state(bad)).suspended?.cause === 'bounces')
    await eventually('mail() says no', async () => !(await send(bad, { to: 'x@example.vn' })))
    const letter = await eventually('a letter', async () =>
      (await portal.inbox(bad.owner.email)).find(({ text }) => /tạm ngưng gửi email/.test(text)),
    )
    expect(letter.text).toContain(`/wordpress/${bad.id}?tab=mail`)
    expect(letter.text).toContain(`/support?about=server.${bad.id}`)
    const support = await newMember(portal, 'support', { clock })
    const { storyOf } = deskOf(() => support)
    const atDesk = async () =>
      (await storyOf(bad.owner.id)).servers.find(({ id }) => id === bad.id)?.mailSuspended
    expect(await atDesk()).toMatchObject({ cause: 'bounces', note: null })
    const metrics = await (await fetch(`${portal.url}/metrics`)).text()
    expect(metrics).toMatch(/^portal_site_mail_suspended 1$/m)
    // The operator resumes once the owner has found the form that caused it.
    expect(await decide('mail.resume', { server: bad.name })).toBe(200)
    expect(await decide('mail.resume', { server: bad.name })).toBe(409)
    expect(await decide('mail.resume', { server: 'no-such-server' })).toBe(404)
    expect((await state(bad)).suspended).toBeNull()
    expect(await atDesk()).toBeNull()
    await eventually('mail() says yes', () => send(bad, { to: 'better@example.vn' }))
    await became(bad, 'better@example.vn', 'sent')
    // Earlier bounces do not count any more.
    expect(await send(bad, { to: 'nobody@bounce.example' })).toBe(true)
    await became(bad, 'nobody@bounce.example', 'bounced')
    expect((await state(bad)).suspended).toBeNull()
    const note = 'Three people wrote to us.'
    expect(await decide('mail.suspend', { server: bad.id, cause: 'complaint', note })).toBe(200)
    expect((await state(bad)).suspended).toMatchObject({ cause: 'complaint', note })
  })

  test('whose server is deleted is gone with it', async () => {
    const gone = await server()
    expect(await send(gone, { to: 'left@later.example' })).toBe(true)
    await became(gone, 'left@later.example', 'waiting')
    expect((await call(gone, 'DELETE')).status).toBe(200)
    for (const table of ['site_letter', 'site_mail', 'site_mail_key'] as const)
      await eventually(`${table} empty`, async () => {
        const left = await portal.app.db
          .selectFrom(table)
          .select('id')
          .where('site_id', '=', gone.id)
          .execute()
        return left.length === 0
      })
  })

  describe('that was put off waits', () => {
    let poor: MailServer
    const put = (values: { status?: string; held_at?: Date | null }): Promise<unknown> =>
      portal.app.db.updateTable('site').set(values).where('id', '=', poor.id).execute()
    const add = (name: string, payload: object, startAfter?: Date): Promise<unknown> =>
      transaction(portal.app.db, (tx) =>
        portal.app.jobs.add(tx, name, payload, startAfter && { startAfter }),
      )
    const subscription = async () => {
      const { db } = portal.app
      const row = await db
        .selectFrom('site')
        .select(['status', 'subscription_id as subscriptionId'])
        .where('id', '=', poor.id)
        .executeTakeFirstOrThrow()
      return { status: row.status, payload: { subscriptionId: row.subscriptionId } }
    }
    /** The job that was planned for later runs now, and does nothing. */
    async function jobsDoNothing(): Promise<void> {
      await sql`update pgboss.job set start_after = now()
        where name = ${sendMailJob} and data ->> 'siteId' = ${poor.id}`.execute(portal.app.db)
      await wake(poor)
      await jobsIdle(portal.app.db)
      await tried(poor, 'patient@later.example', 1)
    }
    beforeEach(async () => {
      poor = await server()
      expect(await send(poor, { to: 'patient@later.example' })).toBe(true)
      await tried(poor, 'patient@later.example', 1)
      await jobsIdle(portal.app.db)
    })

    test('while its server is suspended, and goes on at once when it is back', async () => {
      await put({ held_at: clock.now() })
      await add(alignJobs.suspend, (await subscription()).payload)
      await eventually('held', async () => (await subscription()).status === 'suspended')
      clock.advance(minutes(5))
      await jobsDoNothing()
      await put({ held_at: null })
      await add(alignJobs.resume, (await subscription()).payload)
      await tried(poor, 'patient@later.example', 2)
    })

    test('while its server is set up, and goes on at once when it runs', async () => {
      // Without a job the sweep would take up the work.
      await add(provisionJob, { siteId: poor.id }, new Date(Date.now() + hours(1)))
      await put({ status: 'provisioning' })
      clock.advance(minutes(5))
      await jobsDoNothing()
      await add(provisionJob, { siteId: poor.id })
      await tried(poor, 'patient@later.example', 2)
    })
  })

  test('belongs to others: their server’s mail is unknown', async () => {
    const stranger = { ...an, owner: await portal.customer() }
    for (const [method, rest, body] of [
      ['GET', '/mail'],
      ['PUT', '/mail', { enabled: false }],
      ['GET', '/mail/records'],
      ['POST', '/mail/records', { domain: 'coffee.com.vn' }],
      ['GET', '/mail/messages'],
    ] as const)
      expect((await call(stranger, method, rest, body)).status, rest).toBe(404)
    expect((await state(an)).enabled).toBe(true)
    for (const body of [{ sender: 'x' }, { sender: 'a@b c' }, { other: 1 }, { enabled: 'yes' }])
      expect((await call(an, 'PUT', '/mail', body)).status).toBe(422)
  })

  test('one that is put off is tried for two days, and given up', async () => {
    expect(await send(an, { to: 'busy@later.example' })).toBe(true)
    const first = await became(an, 'busy@later.example', 'waiting')
    await tried(an, 'busy@later.example', 1)
    expect(first.nextAt).not.toBeNull()
    expect((await state(an)).waiting).toBe(1)
    for (let hour = 0; hour < 60; hour += 5) {
      clock.advance(hours(5))
      await wake(an)
      const row = await tried(an, 'busy@later.example', hour / 5 + 2)
      if (row.state === 'failed') break
    }
    // The session has ended by now.
    an = { ...an, owner: await portal.signIn(an.owner) }
    expect(await became(an, 'busy@later.example', 'failed')).toMatchObject({
      said: expect.stringContaining('451') as string,
    })
    const [row] = await rows(an, 'busy@later.example')
    expect(row!.settled_at!.getTime() - row!.created_at.getTime()).toBeGreaterThan(days(2) - 1)
    expect(row!.settled_at!.getTime() - row!.created_at.getTime()).toBeLessThan(days(2.5))
  })
})
