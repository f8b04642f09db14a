/**
 * A primary of PostgreSQL is killed under load and its replica promoted. The portal, whose URL
 * names both, continues without a restart, and nothing that it acknowledged is lost or posted
 * twice.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, transaction } from '../server/platform/db.ts'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from './portal.ts'
import { openPostgresServer, type PostgresServer } from './postgres-server.ts'

let primary: PostgresServer
let replica: PostgresServer
let portal: TestPortal
let customers: TestCustomer[] = []
let url: string

beforeAll(async () => {
  primary = await openPostgresServer()
  replica = await primary.replica()
  url =
    primary.url.replace(/@[^/]+/, `@127.0.0.1:${primary.port},127.0.0.1:${replica.port}`) +
    '?target_session_attrs=read-write'
  portal = await openTestPortal({ database: { url, drop: () => Promise.resolve() } })
  customers = await Promise.all(Array.from({ length: 4 }, () => portal.customer()))
}, 180_000)
afterAll(async () => {
  await portal.close()
  await replica.close()
  await primary.close()
})

/**
 * Posts with new idempotency keys until `until` resolves, repeating each until it is acknowledged.
 */
async function postUntil(
  until: Promise<unknown>,
  { id }: TestCustomer,
): Promise<{ acknowledged: string[]; lastAt: number; failures: string[] }> {
  const acknowledged: string[] = []
  const failures: string[] = []
  let over = false
  void until.then(() => (over = true))
  let lastAt = 0
  while (!over) {
    const key = `failover:${randomUUID()}`
    for (;;) {
      try {
        await transaction(portal.app.db, (tx) =>
          portal.app.ledger.credit(tx, {
            key,
            customerId: id,
            driver: 'vnpay',
            amount: 1000n,
            currency: 'VND',
            details: {},
          }),
        )
        acknowledged.push(key)
        lastAt = performance.now()
        break
      } catch (error) {
        failures.push((error as Error).message)
        await pause(50)
      }
    }
  }
  return { acknowledged, lastAt, failures }
}

/** What customers see meanwhile: how often each status occurred, and when it was 200 again. */
async function readUntil(until: Promise<unknown>, { token }: TestCustomer) {
  const statuses = new Map<number, number>()
  let over = false
  void until.then(() => (over = true))
  while (!over) {
    const { status, body } = await portal.call('GET', '/api/payments/stripe', { token })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status !== 200) expect(body).toMatchObject({ error: { code: 'unavailable' } })
    await pause(20)
  }
  return statuses
}

test('the replica is promoted, and everything goes on', async () => {
  const over = Promise.withResolvers<void>()
  const posting = Promise.all(customers.map((customer) => postUntil(over.promise, customer)))
  const reading = Promise.all(customers.map((customer) => readUntil(over.promise, customer)))
  const posted = async (): Promise<number> => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from ledger_transfer where key like 'failover:%'`.execute(
      portal.app.db,
    )
    return rows[0]?.n ?? 0
  }
  await eventually('postings', async () => (await posted()) > 50)

  await primary.kill()
  await eventually('calls that are refused', async () => {
    const { status } = await portal.call('GET', '/api/payments/stripe', {
      token: customers[0]!.token,
    })
    return status === 503
  })
  const promotedAt = performance.now()
  await replica.promote()
  await eventually('postings on the replica', async () => {
    const now = await posted().catch(() => 0)
    return (
      now > 0 &&
      (await portal.call('GET', '/api/payments/stripe', { token: customers[0]!.token })).status ===
        200
    )
  })
  const backMs = performance.now() - promotedAt
  const before = await posted()
  await eventually('more postings', async () => (await posted()) > before + 50)
  over.resolve()
  const outcomes = await posting
  const statuses = await reading

  const keys = outcomes.flatMap(({ acknowledged }) => acknowledged)
  const { rows } = await sql<{ key: string }>`
    select key from ledger_transfer where key like 'failover:%'`.execute(portal.app.db)
  const there = rows.map(({ key }) => key)
  // Every key was repeated until it was acknowledged.
  expect(there.toSorted()).toEqual(keys.toSorted())
  for (const [index, { acknowledged }] of outcomes.entries())
    expect(await portal.app.ledger.balanceOf(portal.app.db, customers[index]!.id)).toMatchObject({
      balance: BigInt(acknowledged.length) * 1000n,
    })
  await portal.ledgerHolds()
  // A reader whose single call waited throughout saw no refusal.
  const seen = new Set(statuses.flatMap((of) => [...of.keys()]))
  expect([...seen].toSorted((a, b) => a - b)).toEqual([200, 503])
  expect(backMs).toBeLessThan(10_000)
  const tries = outcomes.flatMap(({ failures }) => failures).length
  console.log(
    `the portal answered again ${Math.round(backMs)} ms after the promotion began; ` +
      `${keys.length} postings, ${tries} failed tries`,
  )
})

test('jobs, realtime and locks are on the new primary', async () => {
  await eventually('the portal on the database', async () => {
    const { body } = await portal.call('GET', '/readyz')
    const { notReady = {} } = body as unknown as { notReady?: Record<string, string> }
    return ['database', 'jobs', 'realtime'].every((check) => notReady[check] === undefined)
  })
  const [customer] = customers
  const balance = async (): Promise<bigint> =>
    (await portal.app.ledger.balanceOf(portal.app.db, customer!.id)).balance
  const before = await balance()
  await portal.topUp(customer!, 500_000)
  await eventually('the top-up', async () => (await balance()) === before + 500_000n)
  const names = await replica.admin<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity
     where datname = 'portal' and usename = 'portal' order by 1`,
  )
  expect(names.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['portal', 'portal-jobs', 'portal-listen', 'portal-presence']),
  )
})

test('the former primary comes back as it was, and nobody writes there', async () => {
  await primary.start()
  // Like a process that starts only now.
  const { db, close } = connect(`${url}&application_name=later`, 1, () => undefined)
  try {
    const { rows } = await sql<{ port: number }>`select inet_server_port() as port`.execute(db)
    expect(rows).toEqual([{ port: replica.port }])
  } finally {
    await close()
  }
  await Promise.all(
    Array.from({ length: 30 }, () => sql`select pg_sleep(0.02)`.execute(portal.app.db)),
  )
  const [row] = await primary.admin<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where usename = 'portal'`,
  )
  expect(row?.n).toBe(0)
  // Only the old primary answers now: no database is better than one that lacks the last hours.
  await replica.stop()
  const { db: next, close: closeNext } = connect(url, 1, () => undefined)
  try {
    await eventually('the reason', () =>
      sql`select 1`.execute(next).then(
        () => {
          throw new Error('the former primary was taken')
        },
        (error: Error) => error.message.includes('is a former primary'),
      ),
    )
  } finally {
    await closeNext()
  }
  expect(
    (await portal.call('GET', '/api/payments/stripe', { token: customers[0]!.token })).status,
  ).toBe(503)
  await replica.start()
})
