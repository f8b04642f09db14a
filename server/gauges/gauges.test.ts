/** The metrics that an operator's monitor sees, of a portal in use and of one with parts away. */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dig } from '../../test/dig.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { runCommand } from '../../test/operator.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { hours } from '../platform/clock.ts'
import { DriverFailure } from '../platform/errors.ts'
import { transaction } from '../platform/db.ts'
import { thisRelease } from '../platform/migrations.ts'

const clock = manualClock()
let portal: TestPortal
let owner: TestCustomer
let id: string
let host: string
/** The name server's behaviour when its figures are read. */
let nameServer: 'answers' | 'is away' | 'hangs' = 'answers'

beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    timing: { metrics: { costlyEveryMs: 0 } },
    changeDrivers: (drivers) => ({
      ...drivers,
      processes: {
        ...drivers.processes,
        async nameServer() {
          if (nameServer === 'is away') throw new DriverFailure('unavailable', 'not there')
          if (nameServer === 'hangs') await new Promise(() => undefined)
          return await drivers.processes.nameServer!()
        },
      },
    }),
  })
  owner = await portal.customer()
}, 60_000)
afterAll(() => portal.close())

/** `name{label="value"}` to its value, as Prometheus reads it. */
async function scrape(): Promise<Map<string, number>> {
  const { status, text } = await portal.call('GET', '/metrics')
  expect(status).toBe(200)
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    samples.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}
const read = async (...names: string[]): Promise<(number | undefined)[]> => {
  const all = await scrape()
  return names.map((name) => all.get(name))
}

const visit = (): Promise<number> =>
  new Promise((resolve, reject) => {
    http
      .get(
        {
          host: '127.0.0.1',
          port: portal.config.SITES_PORT,
          headers: { host },
          agent: false,
        },
        (answer) => {
          answer.resume()
          resolve(answer.statusCode ?? 0)
        },
      )
      .on('error', reject)
  })

test('each metric has a help text, and every one of them can be read', async () => {
  const { text } = await portal.call('GET', '/metrics')
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  const helped = [...text.matchAll(/^# HELP (\S+) \S+/gm)].map(([, name]) => name)
  expect(helped).toEqual(names)
  const unread = [...text.matchAll(/^portal_metric_unread\{metric="(\w+)"\} 1$/gm)]
  expect(unread.map(([, name]) => name)).toEqual([])
  expect(text).not.toMatch(/ Nan$/m)
})

test('versions, processes, pool and queue', async () => {
  const all = await scrape()
  for (const process of ['portal', 'parent', 'name_server']) {
    expect(all.get(`portal_process_up{process="${process}"}`)).toBe(1)
    const began = all.get(`portal_process_start_time_seconds{process="${process}"}`) ?? 0
    expect(Math.abs(began - (Date.now() / 1000 - globalThis.process.uptime()))).toBeLessThan(5)
    expect(all.get(`portal_process_resident_memory_bytes{process="${process}"}`)).toBeGreaterThan(
      20e6,
    )
  }
  const { migrations } = await thisRelease()
  expect(all.get('portal_schema_version')).toBe(Number(migrations.at(-1)?.name.slice(0, 4)))
  expect(all.get('portal_database_connections_limit')).toBe(20)
  expect(all.get('portal_database_connections')).toBeGreaterThan(0)
  expect(all.get('portal_database_waiting')).toBe(0)
  expect(all.get('portal_containers_room')).toBeGreaterThan(0)
  expect(all.get('portal_jobs_oldest_due_seconds')).toBeLessThan(60)
  expect(all.get('portal_jobs{queue="tidy",state="ready"}')).toBeDefined()
})

test('a job that is due and not begun ages, and is counted', async () => {
  const { db } = portal.app
  await sql`
    insert into pgboss.queue
    select (jsonb_populate_record(q, '{"name": "nobody-works"}')).* from pgboss.queue q
    where name = 'tidy'`.execute(db)
  await sql`
    insert into pgboss.job (name, data, start_after)
    values ('nobody-works', '{}', now() - interval '2 hours')`.execute(db)
  expect((await read('portal_jobs_oldest_due_seconds'))[0]).toBeGreaterThan(7_199)
  const ready = 'portal_jobs{queue="nobody-works",state="ready"}'
  await eventually('pg-boss counting it', async () => (await read(ready))[0] === 1)
  await sql`delete from pgboss.job where name = 'nobody-works'`.execute(db)
  expect((await read('portal_jobs_oldest_due_seconds'))[0]).toBeLessThan(60)
})

test('payments by gateway, webhooks and how late they were', async () => {
  await portal.topUp(owner, 2_000_000)
  await portal.topUp(owner, 100_000, 'declined').catch(() => undefined)
  await jobsIdle(portal.app.db)
  const all = await scrape()
  expect(all.get('portal_payments_recent{gateway="vnpay",status="succeeded"}')).toBe(1)
  expect(all.get('portal_payments_recent{gateway="stripe",status="succeeded"}')).toBe(0)
  expect(all.get('portal_webhooks_total{gateway="vnpay",outcome="recorded"}')).toBeGreaterThan(0)
  expect(all.get('portal_webhooks_total{gateway="vnpay",outcome="forged"}')).toBe(0)
  expect(all.get('portal_webhook_lag_seconds_count{gateway="vnpay"}')).toBeGreaterThan(0)
  await portal.call('POST', '/api/webhooks/stripe', {
    body: { id: 'evt_forged' },
    headers: { 'stripe-signature': 't=1,v1=00' },
  })
  expect(await read('portal_webhooks_total{gateway="stripe",outcome="forged"}')).toEqual([1])
})

test('money that matches no payment, and refunds that nobody has decided', async () => {
  const names = [
    'portal_suspense_payments{currency="VND"}',
    'portal_suspense_minor_units{currency="VND"}',
    'portal_refunds_undecided{currency="VND"}',
    'portal_refunds_undecided_minor_units{currency="VND"}',
  ]
  expect(await read(...names)).toEqual([0, 0, 0, 0])
  await portal.app.topUps.settlement.settle(
    { name: 'vnpay', displayName: 'VNPay', credits: 'exact' },
    {
      eventId: 'lost',
      reference: null,
      providerTransactionId: 'lost',
      status: 'succeeded',
      amount: 70_000n,
      currency: 'VND',
      occurredAt: null,
      detail: '00',
    },
  )
  const { id: payment } = await portal.app.db
    .selectFrom('payment')
    .select('id')
    .where('status', '=', 'succeeded')
    .executeTakeFirstOrThrow()
  await portal.app.db
    .insertInto('payment_refund')
    .values({
      id: randomUUID(),
      payment_id: payment,
      amount: 30_000n,
      reason: 'a test',
      status: 'unclear',
      created_at: clock.now(),
    })
    .execute()
  expect(await read(...names)).toEqual([1, 70_000, 1, 30_000])
  await portal.app.db.deleteFrom('payment_refund').execute()
})

test('a server is set up, visited, ends and comes back', async () => {
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  }
  const ordered = await portal.call<{ id: string }>('POST', '/api/wp', {
    token: owner.token,
    body: order,
  })
  id = ordered.body.result.id
  host = await eventually(
    'the server running',
    async () => {
      const { result } = (
        await portal.call<{ status: string; domain: string }>('GET', `/api/wp/${id}`, {
          token: owner.token,
        })
      ).body
      return result.status === 'running' && result.domain
    },
    90,
  )
  await jobsIdle(portal.app.db)
  const before = await scrape()
  expect(before.get('portal_provisioning_runs_total{outcome="running"}')).toBe(1)
  expect(before.get('portal_provisioning_runs_total{outcome="given_up"}')).toBe(0)
  expect(before.get('portal_provisioning_duration_seconds_count')).toBe(1)
  expect(before.get('portal_sites{state="running"}')).toBe(1)
  expect(before.get('portal_sites_answering')).toBe(1)
  expect(before.get('portal_containers{node="main"}')).toBe(1)
  expect(await visit()).toBe(200)
  const ok = 'portal_edge_requests_total{status="2xx",node="main"}'
  expect(await read(ok)).toEqual([(before.get(ok) ?? 0) + 1])

  const pids = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(`--site ${id}`))
    .map((line) => Number.parseInt(line, 10))
  expect(pids).toHaveLength(1)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await eventually(
    'the container being counted as started again',
    async () => (await read('portal_container_restarts_total{node="main"}'))[0] === 1,
  )
  await eventually('the site', async () => (await visit()) === 200)
  host = 'nobody.localhost'
  const none = 'portal_edge_requests_total{status="4xx",node="main"}'
  const [missed = 0] = await read(none)
  expect(await visit()).toBe(404)
  expect(await read(none)).toEqual([missed + 1])
}, 120_000)

test('a backup that fails, and one that is missing for too long', async () => {
  const { db } = portal.app
  const failed = 'portal_backups_failed'
  const age = 'portal_backups_proven_age_seconds'
  expect((await read(failed))[0]).toBe(0)
  clock.advance(hours(50))
  expect((await read(age))[0]).toBeGreaterThan(hours(49) / 1000)
  const insert = (state: string) =>
    db
      .insertInto('site_backup')
      .values({
        id: randomUUID(),
        site_id: id,
        kind: 'nightly',
        state,
        created_at: clock.now(),
        ...(state === 'proven' && {
          archive_bytes: 1n,
          figures: '{}',
          proven_at: clock.now(),
        }),
      })
      .execute()
  await insert('proven')
  clock.advance(hours(30))
  await insert('failed')
  expect(await read(failed, age)).toEqual([1, hours(30) / 1000])
  await insert('proven')
  expect(await read(failed, age)).toEqual([0, 0])
})

test('a server that was suspended for long has a night to be backed up in again', async () => {
  const age = 'portal_backups_proven_age_seconds'
  const act = async (name: string, until: string, ...more: string[]) => {
    const words = [name, '--server', id, '--reason', 'a test', ...more]
    const { code, said } = await runCommand(portal, {}, 'act', ...words)
    expect(code, said).toBe(0)
    await eventually(until, async () => (await read(`portal_sites{state="${until}"}`))[0] === 1)
  }
  await act('work.hold_server', 'suspended', '--told', 'We look into a complaint.')
  clock.advance(hours(24 * 9))
  expect(await read(age)).toEqual([0])
  await act('work.release_server', 'running')
  expect((await read(age))[0]).toBeLessThan(hours(1) / 1000)
  // The server runs, but its backups fail: the gauge shows it.
  clock.advance(hours(37))
  expect((await read(age))[0]).toBeGreaterThan(hours(36) / 1000)
})

test('a certificate that was not renewed is told of until a week after its end', async () => {
  const first = 'portal_certificate_first_end_seconds'
  const states = ['failed', 'expired', 'not_renewed'].map(
    (state) => `portal_certificates{state="${state}"}`,
  )
  const day = hours(24)
  const insert = (name: string, endsInMs: number, problem: string | null, ofSite = true) =>
    portal.app.db
      .insertInto('certificate')
      .values({
        name,
        site_id: ofSite ? id : null,
        created_at: clock.now(),
        not_before: new Date(clock.now().getTime() - 60 * day),
        not_after: new Date(clock.now().getTime() + endsInMs),
        chain: 'of a test',
        next_at: new Date(clock.now().getTime() + 365 * day),
        problem,
      })
      .execute()
  expect(await read(first)).toEqual([(30 * day) / 1000])
  // The domain leads elsewhere, before and after the end: it is not counted as the operator's
  // concern.
  await insert('left.vn', 2 * day, 'not_pointed')
  await insert('gone.vn', -day, 'not_pointed')
  expect(await read(first, ...states)).toEqual([(30 * day) / 1000, 1, 0, 1])
  await insert('refused.vn', 5 * day, 'refused')
  expect(await read(first, ...states)).toEqual([(5 * day) / 1000, 1, 0, 2])
  clock.advance(6 * day)
  expect(await read(first, ...states)).toEqual([-day / 1000, 2, 1, 0])
  clock.advance(7 * day)
  expect(await read(first, ...states)).toEqual([(30 * day) / 1000, 2, 1, 0])
  // The portal's own leads elsewhere by a mistake.
  await insert('portal.example.vn', 4 * day, 'not_pointed', false)
  // A certificate that no renewal has tried.
  await insert('forgotten.vn', -day, null)
  expect(await read(first, ...states)).toEqual([-day / 1000, 2, 2, 1])
  await portal.app.db.deleteFrom('certificate').execute()
})

test('the name server counts its responses', async () => {
  const refused = 'portal_dns_responses_total{rcode="REFUSED"}'
  const [before = 0] = await read(refused)
  expect((await dig(portal.config.DNS_PORT, { name: 'not-ours.vn', type: 'A' })).rcode).toBe(
    'REFUSED',
  )
  await dig(portal.config.DNS_PORT, { name: 'not-ours.vn', type: 'A', tcp: true })
  expect(await read(refused, 'portal_dns_limited_total{action="dropped"}')).toEqual([before + 2, 0])
})

test('a domain is counted by its state', async () => {
  const states = ['active', 'moved', 'foreign', 'waiting'].map(
    (state) => `portal_domains{state="${state}"}`,
  )
  const { token } = await portal.signIn(owner)
  const added = await portal.call('POST', '/api/dns', { token, body: { name: 'cho-doi.vn' } })
  expect(added.status).toBe(201)
  expect(await read(...states)).toEqual([0, 0, 0, 1])
})

test.each(['is away', 'hangs'] as const)('the name server %s', async (state) => {
  nameServer = state
  const from = performance.now()
  const all = await scrape()
  expect(performance.now() - from).toBeLessThan(2_000)
  expect(all.get('portal_process_up{process="name_server"}')).toBe(0)
  expect(all.get('portal_process_up{process="parent"}')).toBe(1)
  expect(all.get('portal_edge_requests_total{status="2xx",node="main"}')).toBeGreaterThan(0)
  expect([...all.keys()].filter((name) => name.startsWith('portal_dns_'))).toEqual([])
  nameServer = 'answers'
  expect(await read('portal_process_up{process="name_server"}')).toEqual([1])
})

test('a table that cannot be read takes its own gauge away and no other', async () => {
  await transaction(portal.app.db, async (tx) => {
    await sql`lock table dns_zone in access exclusive mode`.execute(tx)
    const all = await scrape()
    expect(all.get('portal_metric_unread{metric="portal_domains"}')).toBe(1)
    expect(all.get('portal_domains{state="waiting"}')).toBeUndefined()
    expect(all.get('portal_sites{state="running"}')).toBe(1)
    expect(all.get('portal_metric_unread{metric="portal_sites"}')).toBe(0)
  })
  await eventually(
    'the gauge again',
    async () => (await read('portal_domains{state="waiting"}'))[0] === 1,
  )
})
