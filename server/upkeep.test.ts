/** The portal's automatic deletions; each finds its rows without reading the others. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../test/portal.ts'
import { days } from './platform/clock.ts'
import { transaction } from './platform/db.ts'
import { eachByItself } from './upkeep.ts'

const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock })
})
afterAll(() => portal.close())

const tidy = (): Promise<void> =>
  transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, 'tidy', {}))

/** PostgreSQL counts late, when the connection has nothing to do. */
const isUsed = (index: string) =>
  eventually(`a look into ${index}`, async () => {
    const { rows } = await sql`select from pg_stat_user_indexes where indexrelname = ${index}
        and idx_scan > 0`.execute(portal.app.db)
    return rows.length > 0
  })

interface Bell {
  data: { id: string; title: string }[]
  unread: number
}
/** Read in a new session: half a day without a call ends one. */
async function bell({ email, password }: TestCustomer): Promise<Bell> {
  const { body } = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    { body: { email, password } },
  )
  return (
    await portal.call<Bell>('GET', '/api/notifications', { token: body.result.token.accessToken })
  ).body.result
}

test('forged webhooks and limits that ran out go in batches, genuine ones stay', async () => {
  const { db } = portal.app
  const old = new Date(clock.now().getTime() - days(31))
  await sql`
    insert into payment_notice (driver, raw, outcome, received_at)
    select 'vnpay', '{}', case when n <= 6000 then 'forged' else 'recorded' end, ${old}
    from generate_series(1, 12000) n`.execute(db)
  await sql`
    insert into rate_limit (key, points, expire)
    select 'old' || n, 1, case when n <= 6000 then 1 else 99999999999999 end
    from generate_series(1, 12000) n`.execute(db)
  await sql`analyze payment_notice, rate_limit`.execute(db)
  await tidy()
  await eventually('the forged ones gone', async () => {
    const { rows } = await sql<{ forged: number; genuine: number; limits: number }>`
      select count(*) filter (where outcome = 'forged')::int as forged,
        count(*) filter (where outcome = 'recorded')::int as genuine,
        (select count(*)::int from rate_limit where key like 'old%') as limits
      from payment_notice`.execute(db)
    const [row] = rows
    return row?.forged === 0 && row.genuine === 6000 && row.limits === 6000
  })
  await isUsed('payment_notice_forged')
})

test('what owners typed on consoles goes after 90 days, of quiet servers too', async () => {
  const { db } = portal.app
  const add = (age: number) => ({
    id: randomUUID(),
    site_id: randomUUID(),
    customer_id: randomUUID(),
    address: '203.0.113.7',
    command: 'plugin list',
    began_at: new Date(clock.now().getTime() - days(age)),
  })
  const [older, newer] = [add(91), add(89)]
  await db.insertInto('site_command').values([older, newer]).execute()
  await tidy()
  const left = await eventually('the older one gone', async () => {
    const rows = await db.selectFrom('site_command').select('site_id').execute()
    return !rows.some((row) => row.site_id === older.site_id) && rows
  })
  expect(left).toEqual([{ site_id: newer.site_id }])
})

test('the bell forgets after 90 days, read or not', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 100_000)
  const first = await eventually('the first event', async () => (await bell(an)).data.at(0))
  clock.advance(days(60))
  const { email, password } = an
  const { body } = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    { body: { email, password } },
  )
  await portal.topUp({ ...an, token: body.result.token.accessToken }, 200_000)
  const second = await eventually('the second event', async () =>
    (await bell(an)).data.find(({ id }) => id !== first.id),
  )
  clock.advance(days(30) + 1)
  await tidy()
  await eventually('the first one gone', async () =>
    (await bell(an)).data.every(({ id }) => id !== first.id),
  )
  expect(await bell(an)).toMatchObject({ data: [{ id: second.id }], unread: 1 })
})

test('many events at once, and however many there are that stay', async () => {
  const { db } = portal.app
  const an = await portal.customer()
  await sql`
    insert into notification (seq, customer_id, event, payload, created_at)
    select nextval('notification_seq'), ${an.id}, 'wallet.credited', '{}',
    ${clock.now()}::timestamptz - make_interval(days => case when n <= 12000 then 91 else 1 end)
    from generate_series(1, 40000) n
  `.execute(db)
  await sql`analyze notification`.execute(db)
  await tidy()
  await eventually(
    'old ones gone, in several pieces',
    async () => (await bell(an)).unread === 28_000,
  )
  await isUsed('notification_created')
})

test('forged webhooks after a month; what gateways really said stays unread', async () => {
  const { db } = portal.app
  const forge = async (): Promise<void> => {
    await portal.call('POST', '/api/webhooks/stripe', {
      body: { id: 'evt_forged' },
      headers: { 'stripe-signature': 't=1,v1=00' },
    })
  }
  const kept = async (): Promise<unknown> =>
    (
      await sql`select outcome, count(*)::int as n from payment_notice where driver = 'stripe'
        group by outcome order by outcome`.execute(db)
    ).rows
  await forge()
  await sql`
    insert into payment_notice (driver, raw, outcome, received_at)
    select 'stripe', '{}', 'settled', ${clock.now()}::timestamptz - interval '1 year'
    from generate_series(1, 30000)
  `.execute(db)
  clock.advance(days(20))
  await forge()
  expect(await kept()).toEqual([
    { outcome: 'forged', n: 2 },
    { outcome: 'settled', n: 30_000 },
  ])
  await sql`analyze payment_notice`.execute(db)
  clock.advance(days(10) + 1)
  await tidy()
  await expect.poll(kept).toEqual([
    { outcome: 'forged', n: 1 },
    { outcome: 'settled', n: 30_000 },
  ])
  await isUsed('payment_notice_forged')
})

test('receivers are forgotten after 90 days; those never reached lose the text', async () => {
  const { db } = portal.app
  const an = await portal.customer()
  const sent = () =>
    db
      .selectFrom('message')
      .select('id')
      .where('recipient', '=', an.email)
      .where('sent_at', 'is not', null)
      .execute()
  await portal.call('POST', '/api/v1/auth/recover', { body: { email: an.email } })
  await eventually('the code being sent', async () => (await sent()).length === 1)
  await sql`
    insert into message (id, channel, recipient, sealed_text, created_at)
    values (gen_random_uuid(), 'sms', ${an.email}, '\\x00', ${clock.now()})
  `.execute(db)
  clock.advance(days(90) + 1)
  await tidy()
  await eventually('the sent one gone', async () => (await sent()).length === 0)
  const kept = () =>
    db
      .selectFrom('message')
      .select(['sent_at', 'sealed_text'])
      .where('recipient', '=', an.email)
      .execute()
  await expect.poll(kept).toEqual([{ sent_at: null, sealed_text: null }])
})

test('a step that fails stops none of the others, and is named', async () => {
  const done: string[] = []
  const steps = {
    first: async () => void done.push('first'),
    broken: async () => {
      throw new Error('the table is locked')
    },
    last: async () => void done.push('last'),
  }
  await expect(eachByItself(steps)).rejects.toThrow('tidying failed: broken: the table is locked')
  expect(done).toEqual(['first', 'last'])
})

test('while one table cannot be tidied the others are, and large ones go in batches', async () => {
  const { db } = portal.app
  const an = await portal.customer()
  const old = clock.now()
  await sql`
    insert into sign_in (customer_id, at, ip, user_agent, outcome)
    select ${an.id}, ${old}, '192.0.2.1', '', 'failed' from generate_series(1, 12000)
  `.execute(db)
  await sql`
    insert into idempotency (scope, key, fingerprint, status_code, body, created_at)
    select 'anonymous:192.0.2.1', n::text, '\\x00', 200, '\\x00', ${old}
    from generate_series(1, 12000) n
  `.execute(db)
  // Longer than a batch takes, and far shorter than the whole.
  await sql`create table deleted_at_once (n bigint)`.execute(db)
  await sql`
    create function note_deleted() returns trigger language plpgsql as
    'begin insert into deleted_at_once select count(*) from gone; return null; end'
  `.execute(db)
  await sql`
    create trigger note_deleted after delete on sign_in
    referencing old table as gone for each statement execute function note_deleted()
  `.execute(db)
  await sql`
    create function refuse_all() returns trigger language plpgsql as
    'begin raise exception ''this table cannot be tidied''; end'
  `.execute(db)
  await sql`
    create trigger refuse_all before delete on idempotency for each row execute function
    refuse_all()
  `.execute(db)
  clock.advance(days(91))
  await tidy()
  const left = async (table: 'sign_in' | 'idempotency') =>
    (await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}`.execute(db))
      .rows[0]?.n
  await eventually('the tidying', async () => (await left('sign_in')) === 0)
  expect(await left('idempotency')).toBeGreaterThanOrEqual(12_000)
  const { rows } = await sql<{ n: bigint }>`select n from deleted_at_once order by n`.execute(db)
  expect(Math.max(...rows.map(({ n }) => Number(n)))).toBe(5000)
  await sql`drop trigger refuse_all on idempotency`.execute(db)
  await tidy()
  await eventually('the rest', async () => (await left('idempotency')) === 0)
})
