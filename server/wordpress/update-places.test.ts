/**
 * Updates of several customers at once: sites that answer slowly have nobody but their owner wait,
 * and no writes are held of a server whose update waits.
 */
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Update } from '../../contract/wordpress-updates.ts'
import { later, minutes } from '../platform/clock.ts'
import { pluginSlug } from '../../sandbox/wordpress/releases.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { installRelease } from '../../test/installed-software.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

const clock = manualClock()
/** Sites that answer no page until they are let, by their ids. */
const slow = new Map<string, PromiseWithResolvers<void>>()
/** Sites whose writes were held. */
const held = new Set<string>()
let portal: TestPortal
let an: TestCustomer
let binh: TestCustomer
let chi: TestCustomer
let [an1, an2, binh1, chi1] = ['', '', '', '']

beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: {
        ...drivers.wordpress,
        get capabilities() {
          return drivers.wordpress.capabilities
        },
        async page(id, question) {
          await slow.get(id)?.promise
          return await drivers.wordpress.page(id, question)
        },
        async holdWrites(id, ms) {
          if (ms > 0) held.add(id)
          return await drivers.wordpress.holdWrites(id, ms)
        },
      },
    }),
  })
  ;[an, binh, chi] = [await portal.customer(), await portal.customer(), await portal.customer()]
  for (const one of [an, binh, chi]) await portal.topUp(one, 5_000_000)
  an1 = (await orderServer(portal, an)).id
  an2 = (await orderServer(portal, an)).id
  binh1 = (await orderServer(portal, binh)).id
  chi1 = (await orderServer(portal, chi)).id
}, 120_000)
afterAll(() => portal.close())

const call = <T>(of: TestCustomer, method: string, id: string, way = '', body?: object) =>
  portal.call<T>(method, `/api/wp/${id}/updates${way}`, { token: of.token, body })
/** Each has something to install, and nothing is held. */
async function ready(...all: readonly [TestCustomer, string][]): Promise<void> {
  await fetch(`${portal.sandboxUrl}/wordpress/state.json`, {
    method: 'POST',
    body: JSON.stringify({ newest: { [pluginSlug]: '1.0.2' } }),
  })
  for (const [of, id] of all) {
    installRelease(path.join(portal.dataDir, 'sites', id), pluginSlug, '1.0.0')
    expect((await call(of, 'POST', id, '/look')).status).toBe(200)
  }
  held.clear()
}
async function begin(of: TestCustomer, id: string): Promise<void> {
  const begun = await call(of, 'POST', id, '', {})
  expect(begun.status, begun.text).toBe(201)
}
const stateOf = async (id: string): Promise<string | undefined> =>
  (
    await portal.app.db
      .selectFrom('site_update')
      .select('state')
      .where('site_id', '=', id)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst()
  )?.state
const is = (id: string, state: Update['state']): Promise<boolean> =>
  eventually(`${id} is ${state}`, async () => (await stateOf(id)) === state)
function slowDown(...ids: string[]): void {
  for (const id of ids) slow.set(id, Promise.withResolvers())
}
function letGo(id: string): void {
  slow.get(id)?.resolve()
  slow.delete(id)
}
const isHeld = (id: string): Promise<boolean> =>
  eventually(`the writes of ${id} being held`, async () => held.has(id))

test('one at a time of a customer, two of all; who waits for a place takes writes', async () => {
  await ready([an, an1], [an, an2], [binh, binh1], [chi, chi1])
  slowDown(an1, binh1)
  await begin(an, an1)
  await isHeld(an1)
  await begin(an, an2)
  // Another customer's goes past that of one who has a place.
  await begin(binh, binh1)
  await isHeld(binh1)
  await begin(chi, chi1)
  // Both were looked at, and are looked at again later.
  await eventually('two being put off', async () => {
    const { rows } = await sql`select from pgboss.job
      where name = 'update-site' and state = 'created' and start_after > now()`.execute(
      portal.app.db,
    )
    return rows.length === 2
  })
  expect([await stateOf(an2), await stateOf(chi1)]).toEqual(['waiting', 'waiting'])
  expect([...held].toSorted()).toEqual([an1, binh1].toSorted())
  letGo(binh1)
  await is(binh1, 'done')
  await is(chi1, 'done')
  expect(await stateOf(an2)).toBe('waiting')
  expect(held.has(an2)).toBe(false)
  letGo(an1)
  await is(an1, 'done')
  await is(an2, 'done')
})

test('at night the next server of a customer follows when the first one is done', async () => {
  await jobsIdle(portal.app.db)
  await ready([an, an1], [an, an2], [binh, binh1])
  const { db } = portal.app
  const due = async () =>
    (
      await db
        .selectFrom('site_software')
        .select('site_id')
        .where('automatic_at', '<=', clock.now())
        .execute()
    ).map(({ site_id: id }) => id)
  await db.updateTable('site_software').set({ automatic_at: clock.now() }).execute()
  slowDown(an1, an2, binh1)
  await portal.app.updateRounds.beginDue()
  const left = (await due())[0] ?? ''
  expect(await due()).toEqual([left])
  expect([an1, an2]).toContain(left)
  const first = left === an1 ? an2 : an1
  await isHeld(first)
  await isHeld(binh1)
  await portal.app.updateRounds.beginDue()
  expect(await due()).toEqual([left])
  for (const id of [an1, an2, binh1]) letGo(id)
  await is(first, 'done')
  await portal.app.updateRounds.beginDue()
  expect(await due()).toEqual([])
  await is(left, 'done')
})

/** Servers of one more customer that stand in the database only, with nothing to install. */
async function crowd(count: number, status: 'running' | 'deleting'): Promise<string[]> {
  const { db } = portal.app
  const { id: owner } = await portal.customer()
  const { rows } = await sql<{ id: string }>`
    insert into site (id, customer_id, name, status, plan_id, plan_name, cpu, ram_mb, disk_mb,
      mariadb_disk_mb, containers, region_id, region_name, language, price, currency, admin_user,
      created_at, deleted_at)
    select gen_random_uuid(), ${owner}, ${`crowd-${owner.slice(0, 8)}-`} || n, ${status}, 1,
      'BASIC-1', 1, 512, 10240, 10240, 1, 1, 'Hà Nội', 'vi', 218000, 'VND', 'an', ${clock.now()},
      ${status === 'deleting' ? clock.now() : null}
    from generate_series(1, ${count}) n returning id`.execute(db)
  const ids = rows.map(({ id }) => id)
  const found = { wordpress: '9.9.9', php: '8.3.0', plugins: [], themes: [] }
  await sql`
    insert into site_software (site_id, found, looked_at, tried_at)
    select id, ${JSON.stringify(found)}::jsonb, ${clock.now()}, ${clock.now()}
    from unnest(${ids}::uuid[]) as id`.execute(db)
  return ids
}
/** Gives servers their moment of the night, so many minutes ago. */
const fallsDue = async (minutesAgo: number, ...ids: string[]): Promise<void> =>
  void (await portal.app.db
    .updateTable('site_software')
    .set({ automatic_at: later(clock.now(), -minutes(minutesAgo)) })
    .where('site_id', 'in', ids)
    .execute())
const updatesBegun = async (id: string): Promise<number> =>
  (
    await portal.app.db
      .selectFrom('site_update')
      .select('id')
      .where('site_id', '=', id)
      .where('cause', '=', 'automatic')
      .execute()
  ).length

test('servers with nothing to install, and deleted ones, take no place of others', async () => {
  await jobsIdle(portal.app.db)
  await ready([chi, chi1])
  const before = await updatesBegun(chi1)
  const gone = await crowd(30, 'deleting')
  const idle = await crowd(130, 'running')
  await fallsDue(20, ...gone)
  await fallsDue(10, ...idle)
  await fallsDue(1, chi1)
  await portal.app.updateRounds.beginDue()
  expect(await updatesBegun(chi1)).toBe(before + 1)
  await is(chi1, 'done')
  // The night of a deleted server does not come again.
  const { db } = portal.app
  const nights = async (ids: string[]) =>
    await db
      .selectFrom('site_software')
      .select('site_id')
      .where('site_id', 'in', ids)
      .where('automatic_at', '>', clock.now())
      .execute()
  expect(await nights(gone)).toEqual([])
  expect((await nights(idle)).length).toBe(130)
})

test('who missed a night comes first in the next one', async () => {
  await jobsIdle(portal.app.db)
  await ready([binh, binh1], [chi, chi1])
  // Room for one more: these began long ago, so that they keep no worker's place.
  clock.advance(minutes(2))
  const busy = await crowd(19, 'running')
  const long = later(clock.now(), -minutes(90))
  await sql`
    insert into site_update (id, site_id, cause, state, packages, created_at, begun_at)
    select gen_random_uuid(), id, 'automatic', 'saving', '[]', ${long}, ${long}
    from unnest(${busy}::uuid[]) as id`.execute(portal.app.db)
  const begun = async () => [await updatesBegun(binh1), await updatesBegun(chi1)]
  const [ofBinh = 0, ofChi = 0] = await begun()
  // The night of one is over before there was room for it; the other had its night.
  await fallsDue(1, binh1)
  await fallsDue(200, chi1)
  await portal.app.updateRounds.beginDue()
  expect(await begun()).toEqual([ofBinh + 1, ofChi])
  await is(binh1, 'done')
  // In the next night the first one's minute comes first as well.
  await ready([binh, binh1], [chi, chi1])
  await fallsDue(20, binh1)
  await fallsDue(10, chi1)
  await portal.app.updateRounds.beginDue()
  expect(await begun()).toEqual([ofBinh + 1, ofChi + 1])
  await is(chi1, 'done')
})

test('a server that is deleted has no night any more', async () => {
  await jobsIdle(portal.app.db)
  await fallsDue(-60, an2)
  const asked = await portal.call('DELETE', `/api/wp/${an2}`, { token: an.token })
  expect(asked.status, asked.text).toBe(200)
  const row = await eventually('the server being deleted', async () => {
    const site = await portal.app.db
      .selectFrom('site as s')
      .innerJoin('site_software as w', 'w.site_id', 's.id')
      .select(['s.deleted_at', 'w.automatic_at'])
      .where('s.id', '=', an2)
      .executeTakeFirstOrThrow()
    return site.deleted_at !== null && site
  })
  expect(row.automatic_at).toBeNull()
})
