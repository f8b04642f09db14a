/** Updates of a server with WordPress on PHP: the releases in the sandbox's directory are real. */
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Update, Updates } from '../../contract/wordpress-updates.ts'
import { pluginMain, pluginSlug, releases, themeSlug } from '../../sandbox/wordpress/releases.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'

let portal: TestPortal
let owner: TestCustomer
let id = ''
beforeAll(async () => {
  portal = await openTestPortal({ wordpress: 'real' })
  owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  ;({ id } = await orderServer(portal, owner))
  put(pluginSlug, '1.0.0', 'plugins')
  put(themeSlug, '1.0', 'themes')
  const probe = path.join(content(), '..', 'probe.php')
  fs.writeFileSync(
    probe,
    `<?php require __DIR__ . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';
echo is_null( activate_plugin( '${pluginMain}' ) ) ? 'on' : 'off';`,
  )
  expect((await page('/probe.php')).text).toBe('on')
  fs.rmSync(probe)
}, 180_000)
afterAll(() => portal.close())

const content = () => path.join(portal.dataDir, 'sites', id, 'wordpress', 'wp-content')
function put(slug: string, version: string, folder: string): void {
  const release = releases.find((one) => one.slug === slug && one.version === version)
  const owned = fs.statSync(content())
  for (const { name, content: text } of release?.files() ?? []) {
    const file = path.join(content(), folder, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, text)
    // The owner that the site's own PHP would have set.
    for (const one of [file, path.dirname(file)]) fs.chownSync(one, owned.uid, owned.gid)
  }
}
const page = (target: string) => portal.drivers.wordpress.page(id, { target, cookie: '' })
const call = <T>(method: string, way = '', body?: unknown) =>
  portal.call<T>(method, `/api/wp/${id}/updates${way}`, { token: owner.token, body })
const look = async () => (await call<Updates>('POST', '/look')).body.result
async function update(slug: string, version: string, kind: string): Promise<Update> {
  await fetch(`${portal.sandboxUrl}/wordpress/state.json`, {
    method: 'POST',
    body: JSON.stringify({ newest: { [slug]: version } }),
  })
  await look()
  const begun = await call<Update>('POST', '', { items: [{ kind, slug }] })
  expect(begun.status, begun.text).toBe(201)
  return await eventually(
    'the update ended',
    async () => {
      const found = (await call<Update[]>('GET', '/history')).body.result[0]
      return found?.endedAt ? found : undefined
    },
    120,
  )
}

test('a good release of a plugin runs afterwards', { timeout: 180_000 }, async () => {
  expect(await update(pluginSlug, '1.0.1', 'plugin')).toMatchObject({ state: 'done' })
  expect((await page('/')).text).toContain('<meta name="gio-mo-cua" content="1.0.1">')
})

test('one that PHP fails on is put back', { timeout: 180_000 }, async () => {
  const back = await update(pluginSlug, '1.1.0', 'plugin')
  expect(back).toMatchObject({ state: 'rolled_back' })
  expect(back.differences[0]).toMatchObject({ path: '/', what: 'status', after: '500' })
  expect((await page('/')).text).toContain('<meta name="gio-mo-cua" content="1.0.1">')
})

test('a theme, and WordPress itself', { timeout: 300_000 }, async () => {
  expect(await update(themeSlug, '1.1', 'theme')).toMatchObject({ state: 'done' })
  expect(await update('wordpress', '7.1.2', 'core')).toMatchObject({ state: 'done' })
  expect((await look()).software[0]).toMatchObject({ version: '7.1.2', available: null })
  expect((await page('/')).status).toBe(200)
  const link = new URL(await portal.drivers.wordpress.adminLink(id, 'an'))
  expect((await page(link.pathname)).status).toBe(302)
})
