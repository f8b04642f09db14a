/**
 * The portal is killed during an update, at each of its steps, with the sites or without: the
 * update ends well or is rolled back, and nothing of it is left.
 */
import fs from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Update } from '../../contract/wordpress-updates.ts'
import { pluginMain, pluginSlug } from '../../sandbox/wordpress/releases.ts'
import { installRelease } from '../../test/installed-software.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import type { WordpressDriver } from './driver.ts'

type Act = 'backup' | 'applyPackage' | 'upgradeDatabase' | 'restore' | 'settleUpdate'

/** The act at which the portal is stopped next, and whether before or after it is done. */
let stopAt: { readonly act: Act; readonly when: 'before' | 'after' } | undefined
let onStop: () => void = () => undefined
/** The duration of the last hold, ms. */
let heldMs = 0

/** Does nothing more once the stop is reached, as if the portal's process were gone. */
function stopping(driver: WordpressDriver): WordpressDriver {
  const until = async <T>(act: Act, work: () => Promise<T>): Promise<T> => {
    const stop = stopAt
    if (stop?.act !== act) return await work()
    if (stop.when === 'after') await work()
    onStop()
    return await new Promise(() => undefined)
  }
  return {
    ...driver,
    get capabilities() {
      return driver.capabilities
    },
    backup: (...of) => until('backup', () => driver.backup(...of)),
    applyPackage: (...of) => until('applyPackage', () => driver.applyPackage(...of)),
    upgradeDatabase: (...of) => until('upgradeDatabase', () => driver.upgradeDatabase(...of)),
    restore: (...of) => until('restore', () => driver.restore(...of)),
    async holdWrites(siteId, forMs) {
      const was = await driver.holdWrites(siteId, forMs)
      heldMs = forMs
      return was
    },
    settleUpdate: (...of) => until('settleUpdate', () => driver.settleUpdate(...of)),
  }
}

let portal: TestPortal
let owner: TestCustomer
let id = ''
beforeAll(async () => {
  portal = await openTestPortal({
    changeDrivers: (drivers) => ({ ...drivers, wordpress: stopping(drivers.wordpress) }),
  })
  owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  ;({ id } = await orderServer(portal, owner))
})
afterAll(() => portal.close())

const site = () => path.join(portal.dataDir, 'sites', id)
const pluginText = (): string =>
  fs.readFileSync(path.join(site(), 'wordpress/wp-content/plugins', pluginMain), 'utf8')
const call = <T>(method: string, way: string, body?: unknown) =>
  portal.call<T>(method, `/api/wp/${id}/updates${way}`, { token: owner.token, body })

async function begin(version: string): Promise<Update> {
  // Resets the limit: an owner does not update twenty times an hour.
  await portal.app.db.deleteFrom('rate_limit').execute()
  installRelease(site(), pluginSlug, '1.0.0')
  await fetch(`${portal.sandboxUrl}/wordpress/state.json`, {
    method: 'POST',
    body: JSON.stringify({ newest: { [pluginSlug]: version } }),
  })
  await eventually('the site answers', async () => (await call('POST', '/look')).status === 200)
  // By name, because an update of everything leaves out releases that were rolled back before.
  const items = [{ kind: 'plugin', slug: pluginSlug }]
  const begun = await call<Update>('POST', '', { items })
  expect(begun.status).toBe(201)
  return begun.body.result
}

/**
 * Before `prove` is the moment after `backup`, and before `upgradeDatabase` that after
 * `applyPackage`: nothing happens between them.
 */
const steps = [
  ['backup', 'before'],
  ['backup', 'after'],
  ['applyPackage', 'before'],
  ['applyPackage', 'after'],
  ['upgradeDatabase', 'after'],
  ['settleUpdate', 'before'],
  ['settleUpdate', 'after'],
] as const
const ways = [
  ...steps.map(([act, when]) => ({ act, when, version: '1.0.1', sitesGoOn: true })),
  // The steps before the exchange of files are the same for a bad release.
  ...steps.slice(2).map(([act, when]) => ({ act, when, version: '1.1.0', sitesGoOn: true })),
  { act: 'restore', when: 'before', version: '1.1.0', sitesGoOn: true },
  { act: 'restore', when: 'after', version: '1.1.0', sitesGoOn: true },
  { act: 'applyPackage', when: 'after', version: '1.0.1', sitesGoOn: false },
  { act: 'applyPackage', when: 'after', version: '1.1.0', sitesGoOn: false },
  { act: 'restore', when: 'after', version: '1.1.0', sitesGoOn: false },
] as const

test.each(ways)(
  'stopped $when $act of $version (sites go on: $sitesGoOn)',
  { timeout: 120_000 },
  async ({ act, when, version, sitesGoOn }) => {
    const isStopped = new Promise<void>((resolve) => (onStop = resolve))
    stopAt = { act, when }
    const begun = await begin(version)
    const former = pluginText()
    await isStopped
    stopAt = undefined
    await portal.reopen({ sitesGoOn })
    const ended = await eventually(
      'the update ended',
      async () => {
        const found = (await call<Update[]>('GET', '/history')).body.result.find(
          (one) => one.id === begun.id,
        )
        return found?.endedAt ? found : undefined
      },
      60,
    )
    if (version === '1.0.1') {
      expect(ended).toMatchObject({ state: 'done' })
      expect(pluginText()).toContain('Version: 1.0.1')
    } else {
      expect(ended).toMatchObject({ state: 'rolled_back' })
      expect(pluginText()).toBe(former)
    }
    const { wordpress: driver } = portal.drivers
    // The hold ends once the end is stored.
    await eventually('writes let go of', async () => heldMs === 0)
    expect(await driver.holdWrites(id, 0)).toBe(false)
    expect((await driver.page(id, { target: '/', cookie: '' })).status).toBe(200)
    expect(fs.readdirSync(site()).filter((name) => name.startsWith('update-'))).toEqual([])
  },
)

const updateEnded = (updateId: string): Promise<Update> =>
  eventually(
    'the update ended',
    async () => {
      const found = (await call<Update[]>('GET', '/history')).body.result.find(
        (one) => one.id === updateId,
      )
      return found?.endedAt ? found : undefined
    },
    60,
  )
/** Stops the portal at an act of an update to a release that breaks the site. */
async function stopBadUpdate(act: Act, when: 'before' | 'after'): Promise<Update> {
  const isStopped = new Promise<void>((resolve) => (onStop = resolve))
  stopAt = { act, when }
  const begun = await begin('1.1.0')
  await isStopped
  stopAt = undefined
  return begun
}
const postOf = (text?: string): string => {
  const file = path.join(site(), 'wordpress/wp-content/database/.ht.sqlite')
  const database = new DatabaseSync(file, { timeout: 10_000 })
  try {
    if (text !== undefined)
      database.prepare('update wp_posts set post_content = ? where ID = 1').run(text)
    const row = database.prepare('select post_content as text from wp_posts where ID = 1').get()
    return String(row?.['text'])
  } finally {
    database.close()
  }
}

test('held no more before anything was exchanged: the backup is made anew', async () => {
  const begun = await stopBadUpdate('applyPackage', 'before')
  const former = pluginText()
  await portal.drivers.wordpress.holdWrites(id, 0)
  postOf('đơn hàng 1')
  await portal.reopen({ sitesGoOn: true })
  expect(await updateEnded(begun.id)).toMatchObject({ state: 'rolled_back' })
  expect(pluginText()).toBe(former)
  expect(postOf()).toBe('đơn hàng 1')
}, 120_000)

test('the second time it is given up, with nothing changed', async () => {
  const begun = await stopBadUpdate('applyPackage', 'before')
  await portal.app.db.updateTable('site_update').set({ hold_lapses: 1 }).execute()
  await portal.drivers.wordpress.holdWrites(id, 0)
  postOf('đơn hàng 2')
  await portal.reopen({ sitesGoOn: true })
  expect(await updateEnded(begun.id)).toMatchObject({ state: 'failed', reason: 'slow_backup' })
  expect(pluginText()).toContain('Version: 1.0.0')
  expect(postOf()).toBe('đơn hàng 2')
  await eventually('writes let go of', async () => heldMs === 0)
}, 120_000)

test('writes of a server that was suspended stay held until the update goes on', async () => {
  const { db } = portal.app
  const begun = await stopBadUpdate('upgradeDatabase', 'after')
  const soon = new Date(Date.now() + 120_000)
  const row = db.updateTable('site_update').where('id', '=', begun.id)
  await row.set({ held_until: soon }).execute()
  const turn = (status: string) =>
    portal.app.db.updateTable('site').set({ status }).where('id', '=', id).execute()
  await turn('suspended')
  await portal.reopen({ sitesGoOn: true })
  await eventually('they are held on', async () => {
    const { held_until: until } = await portal.app.db
      .selectFrom('site_update')
      .select('held_until')
      .where('id', '=', begun.id)
      .executeTakeFirstOrThrow()
    return until !== null && until > soon
  })
  await turn('running')
  await eventually('it is looked at', async () => {
    const due = await sql`update pgboss.job set start_after = now()
      where name = 'update-site' and state = 'created'`.execute(portal.app.db)
    return Number(due.numAffectedRows) > 0
  })
  expect(await updateEnded(begun.id)).toMatchObject({ state: 'rolled_back' })
}, 120_000)

test('a restore that was done before the hold was over is one, whoever writes since', async () => {
  const begun = await stopBadUpdate('restore', 'after')
  await portal.drivers.wordpress.holdWrites(id, 0)
  postOf('đơn hàng 4')
  await portal.reopen({ sitesGoOn: true })
  expect(await updateEnded(begun.id)).toMatchObject({ state: 'rolled_back' })
  expect(pluginText()).toContain('Version: 1.0.0')
  expect(postOf()).toBe('đơn hàng 4')
}, 120_000)

test.each([
  ['the machine says so', () => portal.drivers.wordpress.holdWrites(id, 0)],
  [
    'the time is over that they were held for, whatever the machine was told since',
    () => portal.app.db.updateTable('site_update').set({ held_until: new Date() }).execute(),
  ],
] as const)(
  'held no more after the exchange, for %s: nothing is taken away, and its owner is told',
  { timeout: 120_000 },
  async (why, lapse) => {
    const begun = await stopBadUpdate('upgradeDatabase', 'after')
    await lapse()
    postOf(`đơn hàng 3, ${why}`)
    await portal.reopen({ sitesGoOn: true })
    const ended = await updateEnded(begun.id)
    expect(ended).toMatchObject({ state: 'failed', reason: 'not_rolled_back' })
    expect(ended.differences).toContainEqual(expect.objectContaining({ path: '/', after: '500' }))
    expect(postOf()).toBe(`đơn hàng 3, ${why}`)
    await eventually('the letter', async () =>
      (await portal.inbox(owner.email)).find(({ text }) => text.includes('chưa hoàn tác')),
    )
    await eventually('writes let go of', async () => heldMs === 0)
  },
)
