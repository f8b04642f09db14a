/**
 * Updates of several customers at once: sites that answer slowly have nobody but their owner wait,
 * and no writes are held of a server whose update waits.
 */
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Update } from '../../contract/wordpress-updates.ts'
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
