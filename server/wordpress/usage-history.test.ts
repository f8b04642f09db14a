/** A server's visits and use of resources, read from its machine and summed up. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { UsageHistory } from '../../contract/wordpress-usage.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'
import { createTraffic } from '../edge/index.ts'
import { createSiteUsage, spanMs } from '../site-usage.ts'
import { defineUsage, sumUpUsage, usageOf } from './usage-history.ts'

let portal: TestPortal
let owner: TestCustomer
let id: string
beforeAll(async () => {
  portal = await openTestPortal()
  owner = await portal.customer()
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  }
  id = (await portal.call<{ id: string }>('POST', '/api/wp', { token: owner.token, body: order }))
    .body.result.id
})
afterAll(() => portal.close())

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The day before yesterday, UTC. */
const day = Math.floor(Date.now() / dayMs) * dayMs - dayMs

/** A machine whose spans begin at `from`; `visit` records visits in the open span. */
function machine(from: number) {
  const traffic = createTraffic()
  const usage = createSiteUsage(traffic, () => [])
  usage.close()
  usage.look(from)
  let at = from
  const edge = { usage: async (last: never, limit: number) => usage.after(last, limit) }
  /** A reader as another process has it, which has read nothing yet. */
  const reader = () =>
    defineUsage({
      db: portal.app.db,
      jobs: { define: () => undefined } as never,
      log: { warn: (detail: object) => expect(detail).toBeUndefined() } as never,
      edges: () => [{ node: 'here', edge: edge as never }],
    })
  const read = reader()
  return {
    reader,
    visit: (site: string, status: number, tookMs: number, isCached = false) =>
      traffic.note(site, status, tookMs, isCached),
    async over() {
      at += spanMs
      usage.look(at)
      await read()
    },
  }
}
const history = async (range?: string, token = owner.token) =>
  await portal.call<UsageHistory>(
    'GET',
    `/api/wp/${id}/usage/history${range === undefined ? '' : `?range=${range}`}`,
    { token },
  )

test('nothing is known of a new server', async () => {
  const { body } = await history()
  expect(body.result).toMatchObject({ minutes: 5, points: [] })
})

test('spans are written once, hours and days are their sums', async () => {
  const one = machine(day)
  // Twelve spans an hour, for two hours; a site that the database does not know is left out.
  for (let span = 0; span < 24; span++) {
    for (let visit = 0; visit < 10; visit++) one.visit(id, visit === 9 ? 500 : 200, 90, visit < 4)
    one.visit(randomUUID(), 200, 1)
    await one.over()
  }
  const { db } = portal.app
  const sizes = async () =>
    (await db.selectFrom('site_usage').select(['minutes', 'requests']).execute()).map(
      ({ minutes, requests }) => [minutes, requests],
    )
  expect(await sizes()).toEqual(Array.from({ length: 24 }, () => [5, 10]))
  await one.reader()()
  expect(await sizes()).toHaveLength(24)
  await sumUpUsage(db, new Date(day + 2 * hourMs + 1))
  await sumUpUsage(db, new Date(day + 2 * hourMs + 2))
  expect((await sizes()).filter(([minutes]) => minutes === 60)).toEqual([
    [60, 120],
    [60, 120],
  ])
  const week = await usageOf(db, id, 'week', new Date(day + 3 * hourMs))
  expect(week.points).toEqual([
    {
      at: new Date(day).toISOString(),
      requests: 120,
      clientErrors: 0,
      serverErrors: 12,
      cached: 48,
      medianMs: 75,
      p95Ms: 98,
      memory: 0,
      cpu: 0,
      disk: 0,
      mariadb_disk_size: 0,
    },
    expect.objectContaining({ at: new Date(day + hourMs).toISOString(), requests: 120 }),
  ])
  // A day that is not over is shown as far as it is known.
  const open = await usageOf(db, id, 'quarter', new Date(day + 3 * hourMs))
  expect(open.points).toMatchObject([{ at: new Date(day).toISOString(), requests: 240 }])
  await sumUpUsage(db, new Date(day + dayMs + 1))
  expect((await history('quarter')).body.result.points).toMatchObject([
    { requests: 240, serverErrors: 24, cached: 96 },
  ])
})

test('what is old is forgotten: spans after two days, hours after two weeks', async () => {
  const { db } = portal.app
  const left = async (): Promise<number[]> =>
    (
      await db.selectFrom('site_usage').select('minutes').distinct().orderBy('minutes').execute()
    ).map(({ minutes }) => minutes)
  await sumUpUsage(db, new Date(day + 3 * dayMs))
  expect(await left()).toEqual([60, 1_440])
  await sumUpUsage(db, new Date(day + 17 * dayMs))
  expect(await left()).toEqual([1_440])
  await sumUpUsage(db, new Date(day + 93 * dayMs))
  expect(await left()).toEqual([])
})

test('what an end in between or a late machine left out is summed up later', async () => {
  const { db } = portal.app
  const begin = day - 10 * dayMs
  const servers = ['00000000', 'ffffffff'].map(
    (first) => `${first}-0000-4000-8000-${randomUUID().slice(-12)}`,
  )
  const [low = '', high = ''] = servers
  const span = async (site: string, at: number) =>
    await sql`
      insert into site_usage (site_id, minutes, at, requests, client_errors, server_errors, cached,
        total_ms, times, memory_mb, cpu_ms, files_mb, database_mb)
      values (${site}, 5, ${new Date(at)}, 7, 0, 0, 0, 7, '{7}', 0, 0, 0, 0)`.execute(db)
  const hoursOf = async (site: string) =>
    (
      await sql<{ requests: number }>`select requests from site_usage
        where site_id = ${site} and minutes = 60 order by at`.execute(db)
    ).rows.map(({ requests }) => requests)
  await span(low, begin)
  await span(high, begin)
  // As if the process had ended after the first part.
  const first = new Date(begin + hourMs + 480_000)
  await sumUpUsage(db, first)
  await sql`delete from site_usage where site_id = ${high} and minutes = 60`.execute(db)
  // One machine was away at the end of the hour.
  await span(low, begin + 55 * 60_000)
  await sumUpUsage(db, new Date(first.getTime() + hourMs))
  expect([await hoursOf(low), await hoursOf(high)]).toEqual([[14], [7]])
  // The rest of a span of which rows were deleted is not summed up.
  await sql`delete from site_usage where site_id = ${low} and minutes = 5
    and at = ${new Date(begin)}`.execute(db)
  await sumUpUsage(db, new Date(begin + 2 * dayMs + 30 * 60_000))
  expect(await hoursOf(low)).toEqual([14])
  await sql`delete from site_usage where site_id = any(${servers}::uuid[])`.execute(db)
})

test('it is shown to the owner, over the ranges that there are', async () => {
  expect((await history('year')).status).toBe(422)
  expect((await history('day', (await portal.customer()).token)).status).toBe(404)
})
