/**
 * The portal ends in the middle of an update, at each of its steps, with the sites or without: the
 * update ends well or is rolled back, and nothing of it is left.
 */
import fs from 'node:fs'
import path from 'node:path'
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

type Act = 'backup' | 'prove' | 'applyPackage' | 'upgradeDatabase' | 'restore' | 'settleUpdate'

/** The act at which the portal is stopped next, and whether that is before or after it was done. */
let stopAt: { readonly act: Act; readonly when: 'before' | 'after' } | undefined
let onStop: () => void = () => undefined
/** For how long writes were held last. */
let heldMs = 0

/** Does nothing any more once the stop is reached: as if the portal's process were gone. */
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
    prove: (...of) => until('prove', () => driver.prove(...of)),
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
  // An owner does not update twenty times an hour.
  await portal.app.db.deleteFrom('rate_limit').execute()
  installRelease(site(), pluginSlug, '1.0.0')
  await fetch(`${portal.sandboxUrl}/wordpress/state.json`, {
    method: 'POST',
    body: JSON.stringify({ newest: { [pluginSlug]: version } }),
  })
  await eventually('the site answers', async () => (await call('POST', '/look')).status === 200)
  // By its name: what was rolled back before is left out of an update of everything.
  const items = [{ kind: 'plugin', slug: pluginSlug }]
  const begun = await call<Update>('POST', '', { items })
  expect(begun.status).toBe(201)
  return begun.body.result
}

const steps = [
  ['backup', 'before'],
  ['backup', 'after'],
  ['prove', 'before'],
  ['applyPackage', 'before'],
  ['applyPackage', 'after'],
  ['upgradeDatabase', 'before'],
  ['upgradeDatabase', 'after'],
  ['settleUpdate', 'before'],
  ['settleUpdate', 'after'],
] as const
const ways = [
  ...steps.map(([act, when]) => ({ act, when, version: '1.0.1', sitesGoOn: true })),
  // What comes before the exchange of files is the same for a bad release.
  ...steps.slice(3).map(([act, when]) => ({ act, when, version: '1.1.0', sitesGoOn: true })),
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
    // They are let go of once the end is written down.
    await eventually('writes let go of', async () => heldMs === 0)
    expect(await driver.holdWrites(id, 0)).toBe(false)
    expect((await driver.page(id, { target: '/', cookie: '' })).status).toBe(200)
    expect(fs.readdirSync(site()).filter((name) => name.startsWith('update-'))).toEqual([])
  },
)
