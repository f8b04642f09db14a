/**
 * Writing stored addresses, where the site answers what its owner has put into wp-config.php, and
 * beside the other things that exchange a server's content.
 */
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Rewrite } from '../../contract/wordpress-domains.ts'
import { pluginSlug } from '../../sandbox/wordpress/releases.ts'
import { installRelease } from '../../test/installed-software.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { hours, minutes } from '../platform/clock.ts'
import type { AddressStep } from './driver.ts'

const clock = manualClock()
/** What a server's own code answers to the step of this number, from 1, by the server's id. */
const answers = new Map<string, (step: number) => AddressStep>()
const steps = new Map<string, number>()
let portal: TestPortal
let owner: TestCustomer
const ids: string[] = []

beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    env: { SITES_DOMAIN: 'sites.example.net' },
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: {
        ...drivers.wordpress,
        get capabilities() {
          return drivers.wordpress.capabilities
        },
        async replaceAddresses(id, ...of) {
          const step = (steps.get(id) ?? 0) + 1
          steps.set(id, step)
          const answer = answers.get(id)
          return answer ? answer(step) : await drivers.wordpress.replaceAddresses(id, ...of)
        },
      },
    }),
  })
  owner = await portal.customer()
  await portal.topUp(owner, 10_000_000)
  for (let count = 0; count < 3; count++) ids.push((await orderServer(portal, owner)).id)
  // Each has a former name, which is what is written anew.
  for (const [index, id] of ids.entries()) {
    const renamed = await portal.call('PUT', `/api/wp/${id}`, {
      token: owner.token,
      body: { name: `renamed-${index}` },
    })
    expect(renamed.status, renamed.text).toBe(200)
  }
}, 120_000)
afterAll(() => portal.close())

const call = <T>(method: string, id: string, way = '') =>
  portal.call<T>(method, `/api/wp/${id}/domain/rewrite${way}`, {
    token: owner.token,
    headers: { 'accept-language': 'vi' },
  })
const newest = async (id: string): Promise<Rewrite | null> =>
  (await call<Rewrite | null>('GET', id)).body.result
const ended = (id: string, state: Rewrite['state']): Promise<Rewrite> =>
  eventually(`the writing of ${id} is ${state}`, async () => {
    const found = await newest(id)
    return found?.state === state && found
  })
/** A site whose own code answers so. */
function isAt(id: string, answer: (step: number) => AddressStep): void {
  answers.set(id, answer)
  steps.delete(id)
  onTestFinished(() => void answers.delete(id))
}
const hasten = () =>
  sql`update pgboss.job set start_after = now()
    where name in ('rewrite-addresses', 'update-site') and state = 'created'`.execute(portal.app.db)

const step = (of: Partial<AddressStep>): AddressStep => ({
  after: null,
  tables: {},
  samples: [],
  skipped: [],
  ...of,
})
const fill = (first: number, count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_one, at) => [`t${first + at}`, 1]))

test.each([
  ['never gets on', () => step({ after: { table: 'x', key: 0 } })],
  [
    'names ever more tables',
    (count: number) => step({ after: { table: 'x', key: count }, tables: fill(count * 800, 800) }),
  ],
])('a site that %s ends the writing, and its owner reads why', async (_what, answer) => {
  const [id = ''] = ids
  isAt(id, answer)
  expect((await call('POST', id)).status).toBe(201)
  expect((await ended(id, 'failed')).problem).toBe(
    'Trang web không trả lời như WordPress. Hãy kiểm tra mã chạy trong wp-config.php.',
  )
  expect(steps.get(id)).toBeLessThan(5)
  expect((await call('POST', id, '/preview')).status).toBeGreaterThanOrEqual(500)
})

test('two that go on and on give others their turn, and have failed after an hour', async () => {
  const [one = '', two = '', third = ''] = ids
  for (const id of [one, two])
    isAt(id, (count) => step({ after: { table: 'x', key: count }, tables: { x: 1 } }))
  for (const id of [one, two, third]) expect((await call('POST', id)).status).toBe(201)
  await ended(third, 'done')
  // What answers at once takes no more steps for that.
  await eventually('their turn being over', async () => {
    const { rows } = await sql`select from pgboss.job
      where name = 'rewrite-addresses' and state = 'created'`.execute(portal.app.db)
    return rows.length === 2
  })
  expect([one, two].map((id) => steps.get(id))).toEqual([12, 12])
  clock.advance(hours(1) + minutes(1))
  owner = await portal.signIn(owner)
  await hasten()
  for (const id of [one, two]) {
    const failed = await ended(id, 'failed')
    expect(failed).toMatchObject({ values: 12 })
    expect(failed.problem).toContain('một giờ')
  }
})

test('neither begins beside the other: a writing, and a copy or update of content', async () => {
  const [id = ''] = ids
  const wp = <T>(method: string, way: string, body?: unknown) =>
    portal.call<T>(method, `/api/wp/${id}${way}`, { token: owner.token, body })
  const { db } = portal.app
  const backup = (await wp<{ id: string }>('POST', '/backups')).body.result.id
  const backups = db.updateTable('site_backup').where('id', '=', backup)
  await eventually('the backup', async () => {
    const all = (await wp<{ state: string }[]>('GET', '/backups')).body.result
    return all[0]?.state === 'proven'
  })
  await backups.set({ state: 'making' }).execute()
  expect((await call('POST', id)).body.error?.code).toBe('backup_in_progress')
  await backups.set({ state: 'proven' }).execute()

  installRelease(path.join(portal.dataDir, 'sites', id), pluginSlug, '1.0.0')
  await fetch(`${portal.sandboxUrl}/wordpress/state.json`, {
    method: 'POST',
    body: JSON.stringify({ newest: { [pluginSlug]: '1.0.1' } }),
  })
  expect((await wp('POST', '/updates/look')).status).toBe(200)
  isAt(id, (count) => step(count > 12 ? {} : { after: { table: 'x', key: count } }))
  expect((await call('POST', id)).status).toBe(201)
  for (const way of ['/backups', `/backups/${backup}/restore`])
    expect((await wp('POST', way)).body.error?.code, way).toBe('rewrite_in_progress')
  // An update waits for its end, and another writing may not begin before that.
  const update = (await wp<{ id: string }>('POST', '/updates', {})).body.result.id
  const isPut = async () =>
    (
      await sql`select from pgboss.job where name = 'update-site' and state = 'created'
        and start_after > now()`.execute(db)
    ).rows.length === 1
  await eventually('the update being put off', isPut)
  const stateOf = async () =>
    (await wp<{ id: string; state: string }[]>('GET', '/updates/history')).body.result.find(
      (one) => one.id === update,
    )?.state
  expect(await stateOf()).toBe('waiting')
  expect((await call('POST', id)).body.error?.code).toBe('update_in_progress')
  await hasten()
  await ended(id, 'done')
  await eventually('the update', async () => {
    await hasten()
    return (await stateOf()) === 'done'
  })
})
