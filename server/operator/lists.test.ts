/** The desk's lists of work: orders that are stuck, letters, webhooks, upkeep, capacity. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { GatewayNotice, NoticeDetail } from '../../contract/operator-notices.ts'
import type { DeskLetter, DeskLetterState, DeskServer } from '../../contract/operator-work.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days } from '../platform/clock.ts'
import { DriverFailure } from '../platform/errors.ts'

const clock = manualClock()
/** Letters do not go out while this is set. */
let mailIsAway = false
/** Letters are handed over once it resolves. */
let mailWaits: Promise<unknown> = Promise.resolve()
/** Servers do not come up while it is `away`; while it `waits`, each is being installed. */
let runtime: 'well' | 'away' | 'waits' = 'well'
let release = Promise.withResolvers<void>()
let portal: TestPortal
let operations: TestMember
let finance: TestMember
let support: TestMember
let reader: TestMember
/** Sessions of eight hours have ended. */
async function signInAnew(): Promise<void> {
  operations = await newMember(portal, 'operations', { clock })
  finance = await newMember(portal, 'finance', { clock })
  support = await newMember(portal, 'support', { clock })
  reader = await newMember(portal, 'read_only', { clock })
}
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    changeDrivers: (drivers) => ({
      ...drivers,
      mailer: {
        ...drivers.mailer,
        async send(letter) {
          await mailWaits
          if (mailIsAway) throw new DriverFailure('unavailable', 'the mail server is away')
          await drivers.mailer.send(letter)
        },
      },
      wordpress: {
        ...drivers.wordpress,
        async install(site, admin) {
          if (runtime === 'away') throw new DriverFailure('unavailable', 'no disk answers')
          if (runtime === 'waits') await release.promise
          await drivers.wordpress.install(site, admin)
        },
      },
    }),
  })
  await signInAnew()
})
afterAll(() => portal.close())
beforeEach(() => {
  mailIsAway = false
  runtime = 'well'
  release = Promise.withResolvers<void>()
})

const reason = 'asked for by phone'
const form = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const order = async ({ token }: TestCustomer): Promise<string> =>
  (await portal.call<{ id: string }>('POST', '/api/wp', { token, body: form })).body.result.id
const listed = async (state: string, id: string): Promise<DeskServer | undefined> => {
  const answer = await reader.call<DeskServer[]>('GET', `/api/operator/servers?state=${state}`)
  return answer.body.result.find((one) => one.id === id)
}
const inState = (state: string, id: string) =>
  eventually(`${id} is ${state}`, () => listed(state, id), 60)
const balanceOf = async ({ id }: TestCustomer): Promise<bigint> =>
  (await portal.app.ledger.balanceOf(portal.app.db, id)).balance

describe('an order', () => {
  test('that is paid and does not come up is shown with why, and tried again', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 1_000_000)
    runtime = 'away'
    const id = await order(an)
    const stuck = await eventually('why', async () => {
      const one = await listed('setting_up', id)
      return one?.why === null ? undefined : one
    })
    expect(stuck).toMatchObject({
      customer: { id: an.id },
      why: 'no disk answers',
      givingUp: false,
      order: { status: 'paid', currency: 'VND' },
    })
    expect(stuck?.attempts).toBeGreaterThan(0)
    const wish = { server: id, reason }
    expect((await support.act('work.retry_server', wish)).status).toBe(403)
    runtime = 'well'
    expect((await operations.act('work.retry_server', wish)).status).toBe(200)
    const runs = await inState('running', id)
    expect(runs.why).toBeNull()
    const { attempts } = await portal.app.db
      .selectFrom('site')
      .select('attempts')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(attempts).toBe(0)
  })

  test('is given up once: credit note, money back, letter, and nothing is left of it', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 1_000_000)
    // It is given up while it is being installed.
    runtime = 'waits'
    const id = await order(an)
    await inState('setting_up', id)
    const wish = { server: id, reason, told: 'The disks of Hà Nội are full' }
    const both = await Promise.all([
      operations.act<ActOutcome>('work.give_up_order', wish),
      operations.act<ActOutcome>('work.give_up_order', wish),
    ])
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409'])
    const failed = await inState('failed', id)
    release.resolve()
    expect(failed).toMatchObject({ why: wish.told, order: { status: 'refunded' } })
    expect(await balanceOf(an)).toBe(1_000_000n)
    const invoices = await portal.call<{ kind: string; total: number }[]>(
      'GET',
      '/api/payments/stripe/invoices',
      { token: an.token },
    )
    const totals = invoices.body.result.map(({ kind, total }) => [kind, total])
    expect(totals).toEqual([
      ['credit', -(failed.order?.total ?? 0)],
      ['order', failed.order?.total],
    ])
    await eventually('the letter', async () =>
      (await portal.inbox(an.email)).some(({ text }) => text.includes(wish.told)),
    )
    // A try now only cleans away what is left; it sells nothing again.
    expect((await operations.act('work.retry_server', { server: id, reason })).status).toBe(200)
    expect((await listed('failed', id))?.why).toBe(wish.told)
    expect((await operations.act('work.give_up_order', wish)).status).toBe(409)
    await portal.ledgerHolds()
  })

  test('that is not paid is given up without money, and a later top-up buys nothing', async () => {
    const an = await portal.customer()
    const id = await order(an)
    expect(await inState('unpaid', id)).toMatchObject({ order: { status: 'open' } })
    const wish = { server: id, reason, told: 'This plan is no longer sold' }
    const done = await operations.act<ActOutcome>('work.give_up_order', wish)
    expect(done.body.result.after).toMatchObject({ amount: 0 })
    expect(await inState('failed', id)).toMatchObject({ order: { status: 'void' } })
    await portal.topUp(an, 1_000_000)
    await eventually('the top-up', async () => (await balanceOf(an)) === 1_000_000n)
    await portal.ledgerHolds()
  })

  test('that lapses is listed as lapsed, and one that runs is not given up', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 1_000_000)
    const { id } = await orderServer(portal, an)
    const unpaid = await order(await portal.customer())
    clock.advance(days(8))
    await signInAnew()
    await portal.app.bills.sweep()
    expect(await inState('lapsed', unpaid)).toMatchObject({ order: { status: 'void' } })
    const wish = { server: id, reason, told: 'We change our mind' }
    expect((await operations.act('work.give_up_order', wish)).status).toBe(409)
    const nothing = { ...wish, server: randomUUID() }
    expect((await operations.act('work.give_up_order', nothing)).status).toBe(404)
    expect((await operations.act('work.retry_server', { server: 'x', reason })).status).toBe(404)
  })

  test('of much money needs a second member to be given up', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 200_000_000)
    runtime = 'waits'
    const { body } = await portal.call<{ id: string }>('POST', '/api/wp', {
      token: an.token,
      body: { ...form, size: 5, replicate: 8 },
    })
    const { id } = body.result
    const shown = await inState('setting_up', id)
    expect(shown.order?.total).toBeGreaterThan(5_000_000)
    const wish = { server: id, reason, told: 'No room is left' }
    const proposed = await operations.act<ActOutcome>('work.give_up_order', wish)
    expect(proposed.body.result.state).toBe('proposed')
    const other = await newMember(portal, 'operations', { clock })
    const approval = `/api/operator/proposals/${proposed.body.result.proposal}/approve`
    expect((await other.call('POST', approval)).status).toBe(200)
    await inState('failed', id)
    release.resolve()
    expect(await balanceOf(an)).toBe(200_000_000n)
    await portal.ledgerHolds()
  })
})

describe('a letter', () => {
  const letters = async (state: DeskLetterState, to: string): Promise<DeskLetter[]> => {
    const answer = await reader.call<DeskLetter[]>('GET', `/api/operator/letters?state=${state}`)
    return answer.body.result.filter((one) => one.to === to)
  }
  const resend = (letter: string, more: object = {}) =>
    support.act<ActOutcome>('letter.resend', { letter, ...more })
  const changePassword = ({ token, password }: TestCustomer) =>
    portal.call('PUT', '/api/v1/account/password', {
      token,
      body: { current: password, password: 'Another-horse-7' },
    })
  const arrived = async ({ email }: TestCustomer): Promise<number> =>
    (await portal.inbox(email)).length

  test('that was sent goes out again, once a press, and its text is never shown', async () => {
    const an = await portal.customer()
    await changePassword(an)
    const [sent] = await eventually('it is sent', async () => {
      const found = await letters('sent', an.email)
      return found.length > 0 && found
    })
    const key = randomUUID()
    const both = await Promise.all([resend(sent!.id, { key }), resend(sent!.id, { key })])
    expect(both.filter(({ body }) => body.result.repeated)).toHaveLength(1)
    await eventually('it comes twice', async () => (await arrived(an)) === 2)
    const again = await eventually('both are sent', async () => {
      const found = await letters('sent', an.email)
      return found.length === 2 && found
    })
    expect(again.filter(({ again: isAgain }) => isAgain)).toHaveLength(1)
    expect(again.every(({ sendable }) => sendable)).toBe(true)
    const [first, second] = await portal.inbox(an.email)
    expect(first?.text).toBe(second?.text)
    expect((await reader.act('letter.resend', { letter: sent!.id })).status).toBe(403)
    expect((await resend('x')).status).toBe(404)
    const read = await reader.call('GET', '/api/operator/letters?state=sent')
    expect(read.text).not.toContain(first?.text.slice(-20))
  })

  test('that waits says why, and is tried now', async () => {
    const an = await portal.customer()
    mailIsAway = true
    await changePassword(an)
    const waiting = await eventually('why it waits', async () => {
      const [one] = await letters('waiting', an.email)
      return one?.why === null ? undefined : one
    })
    expect(waiting.why).toBe('the mail server is away')
    mailIsAway = false
    // The next try is some seconds away by itself, later ones up to half an hour.
    await sql`update pgboss.job set start_after = now() + interval '1 hour'
      where name = 'send-message' and state = 'retry'`.execute(portal.app.db)
    expect((await resend(waiting.id)).body.result.after).toMatchObject({ state: 'waiting' })
    await eventually('it comes', async () => (await arrived(an)) === 1)
  })

  test('that was given up is sent again from what is kept', async () => {
    const an = await portal.customer()
    mailIsAway = true
    await changePassword(an)
    await eventually('it waits', async () => (await letters('waiting', an.email)).length === 1)
    clock.advance(days(6))
    await signInAnew()
    const [waiting] = await letters('waiting', an.email)
    if (waiting) await resend(waiting.id)
    const failed = await eventually('it is given up', async () => {
      const [one] = await letters('failed', an.email)
      return one
    })
    expect(failed).toMatchObject({ sendable: true, why: 'the mail server is away' })
    // Else a press could find that the one before it has failed already.
    const served = Promise.withResolvers<void>()
    mailWaits = served.promise
    const both = await Promise.all([resend(failed.id), resend(failed.id)])
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409'])
    mailIsAway = false
    served.resolve()
    const [again] = await letters('waiting', an.email)
    if (again) await resend(again.id)
    await eventually('it comes', async () => (await arrived(an)) === 1)
  })

  test('is not sent again when it was a code, or after seven days', async () => {
    const an = await portal.customer()
    await portal.call('POST', '/api/v1/auth/recover', { body: { email: an.email } })
    await changePassword(an)
    const sent = await eventually('both are sent', async () => {
      const found = await letters('sent', an.email)
      return found.length === 2 && found
    })
    const code = sent.find(({ until }) => until !== null)
    const letter = sent.find(({ until }) => until === null)
    expect([code?.sendable, letter?.sendable]).toEqual([false, true])
    expect((await resend(code?.id ?? '')).status).toBe(409)
    const kept = () =>
      portal.app.db
        .selectFrom('message_kept')
        .selectAll()
        .where('message_id', '=', letter?.id ?? '')
        .execute()
    expect(await kept()).toHaveLength(1)
    clock.advance(days(7) + 1)
    await portal.app.messages.dropOld()
    expect(await kept()).toEqual([])
    await signInAnew()
    expect((await resend(letter?.id ?? '')).status).toBe(409)
  })

  test('lists go on by pages, and equal times lose none', async () => {
    await sql`
      insert into message (id, channel, recipient, created_at, sent_at)
      select gen_random_uuid(), 'mail', 'pages' || n || '@bulk.example', ${clock.now()},
        ${clock.now()}
      from generate_series(1, 25) n`.execute(portal.app.db)
    const seen: string[] = []
    let cursor: string | null | undefined = ''
    while (typeof cursor === 'string') {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`
      const answer = await reader.call<DeskLetter[]>(
        'GET',
        `/api/operator/letters?state=sent&limit=10${more}`,
      )
      seen.push(...answer.body.result.map(({ id }) => id))
      cursor = answer.body.page?.next
    }
    expect(new Set(seen).size).toBe(seen.length)
    const { n } = await portal.app.db
      .selectFrom('message')
      .select((eb) => eb.fn.countAll<bigint>().as('n'))
      .where('sent_at', 'is not', null)
      .executeTakeFirstOrThrow()
    expect(BigInt(seen.length)).toBe(n)
    const wrong = await reader.call('GET', '/api/operator/letters?state=sent&cursor=abc')
    expect(wrong.status).toBe(422)
  })
})

describe('a webhook', () => {
  const notices = async (show: 'all' | 'trouble'): Promise<GatewayNotice[]> =>
    (await reader.call<GatewayNotice[]>('GET', `/api/operator/webhooks?show=${show}`)).body.result
  const notice = async (id: number): Promise<NoticeDetail> =>
    (await finance.call<NoticeDetail>('GET', `/api/operator/webhooks/${id}`)).body.result
  const replay = (id: number) => finance.act('webhook.replay', { notice: id, reason })
  const replayed = (id: number) =>
    eventually('it was handled again', async () => {
      const found = await notice(id)
      return found.replayedAt !== null && found
    })

  test('is shown without secrets, and handled again without effect', async () => {
    const an = await portal.customer()
    const { transactionCode } = await portal.topUp(an, 300_000)
    const posted = await eventually('it is posted', async () =>
      (await notices('all')).find(({ payment }) => payment === transactionCode),
    )
    expect(posted).toMatchObject({ outcome: 'posted', gateway: 'VNPay' })
    expect((await reader.call('GET', `/api/operator/webhooks/${posted.id}`)).status).toBe(403)
    const detail = await notice(posted.id)
    expect(detail.says).toMatchObject({ status: 'succeeded', amount: 300_000, currency: 'VND' })
    const values = new Map(detail.query.map(({ name, value }) => [name, value]))
    expect(values.get('vnp_SecureHash')).toBe('…')
    expect(values.get('vnp_TxnRef')).toBe(transactionCode)
    expect((await support.act('webhook.replay', { notice: posted.id, reason })).status).toBe(403)
    expect((await replay(posted.id)).status).toBe(200)
    expect(await replayed(posted.id)).toMatchObject({
      outcome: 'posted',
      replayOutcome: 'duplicate',
    })
    expect(await balanceOf(an)).toBe(300_000n)
    await portal.ledgerHolds()
  })

  test('whose handling was killed is posted when it is handled again, once', async () => {
    const an = await portal.customer()
    const begun = await portal.call<{ transactionCode: string }>('POST', '/api/payments/checkout', {
      token: an.token,
      body: { amount: 150_000, type: 1, method: 'QRPAY' },
    })
    const { transactionCode } = begun.body.result
    const event = {
      eventId: `killed-${transactionCode}`,
      reference: transactionCode,
      providerTransactionId: `K${transactionCode.slice(0, 12)}`,
      status: 'succeeded',
      amount: '150000',
      currency: 'VND',
      occurredAt: null,
      detail: '00',
    }
    const { id } = await portal.app.db
      .insertInto('payment_notice')
      .values({
        driver: 'vnpay',
        raw: JSON.stringify({ method: 'GET', query: '', body: '' }),
        event: JSON.stringify(event),
        received_at: clock.now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const found = (await notices('trouble')).find((one) => one.id === Number(id))
    expect(found?.outcome).toBe('unfinished')
    await Promise.all([replay(Number(id)), replay(Number(id))])
    await eventually('the wallet', async () => (await balanceOf(an)) === 150_000n)
    await replayed(Number(id))
    expect((await notices('trouble')).some((one) => one.id === Number(id))).toBe(false)
    expect(await balanceOf(an)).toBe(150_000n)
    await portal.ledgerHolds()
  })

  test('of money in suspense is named there, and has the text of the transfer', async () => {
    const account = portal.keysOf('bank')['accountNumber'] ?? ''
    await fetch(`${portal.sandboxUrl}/bank/app`, {
      method: 'POST',
      body: new URLSearchParams({ account, amount: '77000', content: 'tien thue web thang 11' }),
    })
    const waiting = await eventually('the money', async () => {
      const { body } = await reader.call<{ amount: number; notice: number | null }[]>(
        'GET',
        '/api/operator/suspense',
      )
      return body.result.find(({ amount }) => amount === 77_000)
    })
    const told = await notice(waiting.notice ?? 0)
    expect(told).toMatchObject({ outcome: 'suspense', says: { amount: 77_000 } })
    expect(told.body).toContain('tien thue web thang 11')
  })

  test('that is forged is listed as trouble and never handled again', async () => {
    const card = '4242 4242 4242 4242'
    const forged = new URLSearchParams({ vnp_TxnRef: card, vnp_SecureHash: 'abc' })
    await portal.call('GET', `/api/webhooks/vnpay?${forged}`)
    const [newest] = await notices('trouble')
    expect(newest?.outcome).toBe('forged')
    const detail = await notice(newest?.id ?? 0)
    expect(detail.query).toEqual([
      { name: 'vnp_TxnRef', value: '…' },
      { name: 'vnp_SecureHash', value: '…' },
    ])
    expect(detail).toMatchObject({ replayable: false, says: null })
    expect((await replay(newest?.id ?? 0)).status).toBe(409)
    expect((await replay(999_999_999)).status).toBe(404)
    expect((await finance.call('GET', '/api/operator/webhooks/x')).status).toBe(404)
  })
})

describe('upkeep and capacity', () => {
  test('name what failed, with whose it is', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 1_000_000)
    const { id, name } = await orderServer(portal, an)
    const { token } = an
    await portal.call('POST', '/api/dns', { token, body: { name: 'waits-here.vn' } })
    const { db } = portal.app
    await sql`
      insert into site_backup (id, site_id, kind, state, reason, created_at)
      values (gen_random_uuid(), ${id}, 'nightly', 'failed', 'no space is left',
        ${clock.now()})`.execute(db)
    await db
      .insertInto('certificate')
      .values({
        name: 'broken.example.vn',
        customer_id: an.id,
        created_at: clock.now(),
        next_at: clock.now(),
        attempts: 3,
        problem: 'dns',
        problem_detail: 'it points elsewhere',
      })
      .execute()
    type Upkeep = {
      certificates: { name: string; detail: string; customer: { id: string } | null }[]
      backups: { server: string; why: string; provenSince: string | null }[]
      domains: { name: string; state: string; expected: string[] }[]
    }
    const read = (await reader.call<Upkeep>('GET', '/api/operator/upkeep')).body.result
    expect(read.certificates).toContainEqual(
      expect.objectContaining({
        name: 'broken.example.vn',
        detail: 'it points elsewhere',
        customer: expect.objectContaining({ id: an.id }) as unknown,
      }),
    )
    expect(read.backups).toContainEqual(
      expect.objectContaining({ server: name, why: 'no space is left', provenSince: null }),
    )
    const domain = read.domains.find((one) => one.name === 'waits-here.vn')
    expect(domain).toMatchObject({ state: 'waiting' })
    expect(domain?.expected).toHaveLength(2)
  })

  test('count what 30 days have sold, and not what is gone or older', async () => {
    type Capacity = {
      nodes: { id: string; room: number; reserved: number; free: number; state: string }[]
      dataCentres: { name: string; free: number; ordered: number; sharedWith: string[] }[]
    }
    const read = async () =>
      (await reader.call<Capacity>('GET', '/api/operator/capacity')).body.result
    const orderedIn = ({ dataCentres }: Capacity): number =>
      dataCentres.reduce((sum, { ordered }) => sum + ordered, 0)
    const before = await read()
    const [node] = before.nodes
    expect(node).toMatchObject({ state: 'active' })
    expect(node?.free).toBe(Math.max(0, (node?.room ?? 0) - (node?.reserved ?? 0)))
    for (const { free, sharedWith } of before.dataCentres) {
      expect(free).toBe(node?.free)
      expect(sharedWith).toHaveLength(before.dataCentres.length - 1)
    }
    const an = await portal.customer()
    await portal.topUp(an, 2_000_000)
    const { id } = await orderServer(portal, an, { replicate: 2 })
    expect(orderedIn(await read())).toBe(orderedIn(before) + 2)
    await portal.call('DELETE', `/api/wp/${id}`, { token: an.token })
    await eventually('it is gone', async () => orderedIn(await read()) === orderedIn(before))
    clock.advance(days(31))
    await signInAnew()
    expect(orderedIn(await read())).toBe(0)
  })
})

test('no list reads a whole table, whatever its size', { timeout: 120_000 }, async () => {
  const { db } = portal.app
  await sql`
    insert into message (id, channel, recipient, created_at, sent_at, sealed_text)
    select gen_random_uuid(), 'mail', 'bulk' || n || '@bulk.example',
      now() - n * interval '1 second', case when n % 500 > 1 then now() end,
      case when n % 500 = 1 then '\\x00'::bytea end
    from generate_series(1, 100000) n`.execute(db)
  await sql`
    insert into payment_notice (driver, raw, outcome, received_at)
    select 'vnpay', '{}', case when n % 1000 = 0 then 'error' else 'recorded' end, now()
    from generate_series(1, 100000) n`.execute(db)
  const { id: someone } = await portal.customer()
  await sql`
    insert into site (id, customer_id, name, status, plan_id, plan_name, cpu, ram_mb, disk_mb,
      mariadb_disk_mb, containers, region_id, region_name, language, price, currency, admin_user,
      created_at)
    select gen_random_uuid(), ${someone}, 'bulk-' || n, case when n % 3000 = 0 then 'failed'
      else 'suspended' end, 1, 'BASIC-1', 1, 1000, 10240, 10240, 1, 1, 'Hà Nội', 'vi', 218000,
      'VND', 'an', now()
    from generate_series(1, 30000) n`.execute(db)
  for (const table of ['message', 'payment_notice', 'site'])
    await sql`analyze ${sql.table(table)}`.execute(db)
  const state = (text: string) => `(case when sent_at is not null then 'sent'
    when sealed_text is not null then 'waiting' else 'failed' end) = '${text}'`
  const plans: string[] = []
  const queries = [
    ...['sent', 'waiting', 'failed'].map(
      (one) => `select id from message where ${state(one)}
        order by created_at desc, id desc limit 51`,
    ),
    `select id from (select * from payment_notice where id < 90000 order by id desc limit 5000) n
      where coalesce(replay_outcome, outcome, '') not in ('recorded', 'already')`,
    `select id from site_backup where state = 'failed' order by seq desc limit 50`,
    `select name from certificate where problem is not null order by id desc limit 50`,
    `select id from (select * from dns_zone order by seq desc limit 2000) z
      where deleted_at is null limit 50`,
    `select sum(1) from operator_act where staff_id = '${operations.id}' and at > now()`,
    `select id from site s where (case
        when s.deleted_at is not null
        then case when s.running_at is null then 'lapsed' else 'gone' end
        when s.status = 'running' and s.down_since is not null then 'down'
        else s.status end) = 'failed' order by s.seq desc limit 51`,
  ]
  await db.transaction().execute(async (tx) => {
    for (const query of queries) {
      // Small tables are read whole unless that is forbidden.
      const isLarge = /from (?:message|payment_notice|site s|\(select \* from payment_notice)/.test(
        query,
      )
      await sql`set local enable_seqscan = ${sql.raw(isLarge ? 'on' : 'off')}`.execute(tx)
      const { rows } = await sql.raw<{ 'QUERY PLAN': string }>(`explain ${query}`).execute(tx)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    }
  })
  for (const plan of plans) expect(plan).not.toContain('Seq Scan')
  // What is large is not sorted either: the index has the order.
  for (const plan of [...plans.slice(0, 4), plans.at(-1)]) expect(plan).not.toContain('Sort')
  expect(plans[0]).toContain('message_desk')
  expect(plans.at(-1)).toContain('site_desk')
  const took = performance.now()
  expect((await reader.call('GET', '/api/operator/letters?state=failed')).status).toBe(200)
  expect((await reader.call('GET', '/api/operator/webhooks?show=trouble')).status).toBe(200)
  expect((await reader.call('GET', '/api/operator/servers?state=suspended')).status).toBe(200)
  expect((await reader.call('GET', '/api/operator/capacity')).status).toBe(200)
  expect(performance.now() - took).toBeLessThan(3_000)
})
