/** The desk's lists of webhooks, upkeep and capacity; none reads a whole table. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DeskCustomer } from '../../contract/operator-customers.ts'
import type { GatewayNotice, NoticeDetail } from '../../contract/operator-notices.ts'
import { reason } from '../../test/desk.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import { eventually, manualClock, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { balancesAt } from '../../test/wallets.ts'
import { days } from '../platform/clock.ts'

const clock = manualClock()
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
  portal = await openTestPortal({ clock })
  await signInAnew()
})
afterAll(() => portal.close())

const balanceOf = balancesAt(() => portal)

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

describe('the list of customers', () => {
  const page = async (query: string) =>
    (await reader.call<DeskCustomer[]>('GET', `/api/operator/customers?${query}`)).body

  test('says of each balance, servers, state and since when, and filters by state', async () => {
    const [rich, blocked] = [await portal.customer(), await portal.customer()]
    await portal.topUp(rich, 500_000)
    await orderServer(portal, rich)
    const { status } = await support.act('customer.block', { customer: blocked.id, reason })
    expect(status).toBe(200)
    const { result } = await page('limit=100')
    const of = (id: string) => result.find((one) => one.id === id)
    expect(of(rich.id)).toMatchObject({
      email: rich.email,
      region: 'VN',
      state: 'active',
      wallet: { currency: 'VND', balance: Number(await balanceOf(rich)) },
      servers: 1,
    })
    expect(of(blocked.id)).toMatchObject({ state: 'blocked', servers: 0 })
    const ids = (await page('state=blocked')).result.map(({ id }) => id)
    expect(ids).toContain(blocked.id)
    expect(ids).not.toContain(rich.id)
    expect((await page('state=closed')).result).toEqual([])
  })

  test('comes page by page, newest first, everybody once, also of one moment', async () => {
    const { db } = portal.app
    await sql`
      insert into customer (id, email, phone, name, password_hash, region_code, active, created_at)
      select gen_random_uuid(), 'same' || n || '@bulk.example', '+8490000000' || n, 'Same ' || n,
        'none', 'VN', n > 2, '2020-01-01'
      from generate_series(0, 6) n`.execute(db)
    const seen: DeskCustomer[] = []
    let cursor = ''
    do {
      const { result, page: after } = await page(`limit=3${cursor && `&cursor=${cursor}`}`)
      seen.push(...result)
      cursor = after?.next ?? ''
    } while (cursor !== '')
    const { rows } = await sql<{ id: string }>`select id from customer`.execute(db)
    expect(seen.map(({ id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort())
    const ages = seen.map(({ createdAt }) => createdAt)
    expect(ages).toEqual(ages.toSorted().reverse())
    expect(seen.slice(-7).map(({ wallet }) => wallet)).toEqual(Array(7).fill(null))
    expect((await page('state=not_activated')).result).toHaveLength(3)
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
  await sql`
    insert into customer (id, email, phone, name, password_hash, region_code, active, created_at)
    select gen_random_uuid(), 'bulk' || n || '@bulk.example', '+1555' || n, 'Bulk ' || n, 'none',
      'USD', true, now() - n * interval '1 minute'
    from generate_series(1, 100000) n`.execute(db)
  for (const table of ['message', 'payment_notice', 'site', 'customer'])
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
    `select id from (select *, case when closed_at is not null then 'closed' else 'open' end
        as state from customer
        where (created_at, id) < ('2026-11-01', '7a3c1e52-0000-4000-8000-000000000000')) c
      order by created_at desc, id desc limit 51`,
    `select id from site s where (case
        when s.deleted_at is not null
        then case when s.running_at is null then 'lapsed' else 'gone' end
        when s.status = 'running' and s.down_since is not null then 'down'
        else s.status end) = 'failed' order by s.seq desc limit 51`,
  ]
  await db.transaction().execute(async (tx) => {
    for (const query of queries) {
      // Small tables are read whole unless that is forbidden.
      const isLarge =
        /from (?:message|payment_notice|customer|site s|\(select \* from payment_notice)/.test(
          query,
        )
      await sql`set local enable_seqscan = ${sql.raw(isLarge ? 'on' : 'off')}`.execute(tx)
      const { rows } = await sql.raw<{ 'QUERY PLAN': string }>(`explain ${query}`).execute(tx)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    }
  })
  for (const plan of plans) expect(plan).not.toContain('Seq Scan')
  // Large tables are not sorted either: the index has the order.
  for (const plan of [...plans.slice(0, 4), ...plans.slice(-2)]) expect(plan).not.toContain('Sort')
  expect(plans[0]).toContain('message_desk')
  expect(plans.at(-1)).toContain('site_desk')
  expect(plans.at(-2)).toContain('customer_newest')
  const took = performance.now()
  expect((await reader.call('GET', '/api/operator/letters?state=failed')).status).toBe(200)
  expect((await reader.call('GET', '/api/operator/webhooks?show=trouble')).status).toBe(200)
  expect((await reader.call('GET', '/api/operator/servers?state=suspended')).status).toBe(200)
  expect((await reader.call('GET', '/api/operator/capacity')).status).toBe(200)
  // No customer is closed: the whole index is scanned.
  expect((await reader.call('GET', '/api/operator/customers?state=closed')).status).toBe(200)
  expect((await reader.call('GET', '/api/operator/customers?limit=100')).status).toBe(200)
  expect(performance.now() - took).toBeLessThan(3_000)
})
