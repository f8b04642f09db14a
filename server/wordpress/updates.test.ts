/**
 * Updates of a server, told through the API: newer releases are found, installed, tested by the
 * site's pages, and rolled back where they break them.
 */
import fs from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Update, Updates } from '../../contract/wordpress-updates.ts'
import { pluginSlug, themeSlug } from '../../sandbox/wordpress/releases.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { installRelease } from '../../test/installed-software.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import type { WordpressDriver } from './driver.ts'
import { ask, betweenVisits } from './drivers/site.conformance.ts'

const clock = manualClock()
const logLines: string[] = []
let portal: TestPortal
let owner: TestCustomer
let id = ''
/** Number of updates under way at each end of a hold. */
const openAtLetGo: number[] = []
const watched = (driver: WordpressDriver): WordpressDriver => ({
  ...driver,
  get capabilities() {
    return driver.capabilities
  },
  async holdWrites(siteId, forMs) {
    if (forMs === 0) {
      const open = portal.app.db.selectFrom('site_update').select('id')
      openAtLetGo.push((await open.where('ended_at', 'is', null).execute()).length)
    }
    return await driver.holdWrites(siteId, forMs)
  },
})
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    logLines: (line) => logLines.push(line),
    changeDrivers: (drivers) => ({ ...drivers, wordpress: watched(drivers.wordpress) }),
  })
  owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  ;({ id } = await orderServer(portal, owner))
  installRelease(folder(), pluginSlug, '1.0.0')
  installRelease(folder(), themeSlug, '1.0')
})
afterAll(() => portal.close())
beforeEach(() => directory({ mode: 'well' }))

const folder = (of = id) => path.join(portal.dataDir, 'sites', of)
const call = <T>(method: string, way = '', body?: unknown, of = id) =>
  portal.call<T>(method, `/api/wp/${of}/updates${way}`, { token: owner.token, body })
const directory = async (to: object): Promise<{ asked: Record<string, number> }> => {
  const answer = await fetch(`${portal.sandboxUrl}/wordpress/state.json`, {
    method: 'POST',
    body: JSON.stringify(to),
  })
  return (await answer.json()) as { asked: Record<string, number> }
}
const publish = (slug: string, version: string) => directory({ newest: { [slug]: version } })
const look = async (): Promise<Updates> => {
  clock.advance(1000)
  const answer = await call<Updates>('POST', '/look')
  expect(answer.status, answer.text).toBe(200)
  return answer.body.result
}
const softwareOf = async (slug: string) => (await look()).software.find((one) => one.slug === slug)
const history = async () => (await call<Update[]>('GET', '/history')).body.result
const ended = (updateId: string): Promise<Update> =>
  eventually('the update ended', async () => {
    const found = (await history()).find((one) => one.id === updateId)
    return found?.endedAt ? found : undefined
  })
const update = async (items?: { kind: string; slug: string }[]): Promise<Update> => {
  const begun = await call<Update>('POST', '', items ? { items } : {})
  expect(begun.status, begun.text).toBe(201)
  return await ended(begun.body.result.id)
}
const databaseOf = <T>(act: (database: DatabaseSync) => T): T => {
  const database = new DatabaseSync(
    path.join(folder(), 'wordpress/wp-content/database/.ht.sqlite'),
    { timeout: 10_000 },
  )
  try {
    return act(database)
  } finally {
    database.close()
  }
}
const siteNow = async () =>
  (await portal.call<{ name: string }>('GET', `/api/wp/${id}`, { token: owner.token })).body.result
const plugin = [{ kind: 'plugin', slug: pluginSlug }]
const pluginText = () =>
  fs.readFileSync(
    path.join(folder(), 'wordpress/wp-content/plugins', pluginSlug, `${pluginSlug}.php`),
    'utf8',
  )
const leftovers = () => fs.readdirSync(folder()).filter((name) => name.startsWith('update-'))

describe('what is installed and what is newer', () => {
  test('is listed, and nobody else sees it', async () => {
    const first = (await call<Updates>('GET')).body.result
    expect(first).toMatchObject({ hasDirectory: true, policy: 'security', running: null })
    const found = await look()
    expect(found.lookedAt).not.toBeNull()
    expect(found.software.map(({ kind, slug, version }) => [kind, slug, version])).toEqual([
      ['core', 'wordpress', '7.1.1'],
      ['plugin', pluginSlug, '1.0.0'],
      ['theme', themeSlug, '1.0'],
      ['theme', 'simulated', '1.0'],
    ])
    expect(found.software.every(({ available }) => available === null)).toBe(true)
    const stranger = await portal.customer()
    for (const [method, way] of [
      ['GET', ''],
      ['GET', '/history'],
      ['POST', '/look'],
      ['POST', ''],
    ] as const) {
      const answer = await portal.call(method, `/api/wp/${id}/updates${way}`, {
        token: stranger.token,
        body: method === 'POST' && way === '' ? {} : undefined,
      })
      expect(answer.status).toBe(404)
    }
    expect((await call('POST', '', {})).body).toMatchObject({
      error: { code: 'nothing_to_update' },
    })
  })

  test('a release appears, and one that needs a newer PHP is not offered', async () => {
    await publish(pluginSlug, '1.3.0')
    expect((await softwareOf(pluginSlug))?.available).toMatchObject({
      version: '1.3.0',
      needs: 'php',
    })
    expect((await call('POST', '', { items: plugin })).status).toBe(409)
    await publish(pluginSlug, '1.0.1')
    expect((await softwareOf(pluginSlug))?.available).toEqual({
      version: '1.0.1',
      security: false,
      needs: null,
      rolledBack: false,
    })
  })

  test('a directory that is down, or names another host, changes nothing', async () => {
    await directory({ mode: 'down' })
    expect(await call('POST', '/look')).toMatchObject({
      status: 503,
      body: { error: { code: 'directory_unavailable' } },
    })
    await directory({ mode: 'astray', newest: { [pluginSlug]: '1.0.2' } })
    expect((await softwareOf(pluginSlug))?.available?.version).not.toBe('1.0.2')
    await directory({ mode: 'well', newest: { [pluginSlug]: '1.0.1' } })
  })
})

describe('update now', () => {
  test('a good release runs afterwards, after a backup of its own', async () => {
    await look()
    const done = await update(plugin)
    expect(done).toMatchObject({ state: 'done', cause: 'owner', reason: null, differences: [] })
    expect(done.pages).toBeGreaterThanOrEqual(2)
    expect(pluginText()).toContain('Version: 1.0.1')
    expect((await call<Updates>('GET')).body.result.software).toContainEqual(
      expect.objectContaining({ slug: pluginSlug, version: '1.0.1', available: null }),
    )
    const backups = await portal.call<{ kind: string; state: string }[]>(
      'GET',
      `/api/wp/${id}/backups`,
      { token: owner.token },
    )
    expect(backups.body.result).toContainEqual(
      expect.objectContaining({ kind: 'update', state: 'proven' }),
    )
    expect(leftovers()).toEqual([])
    await jobsIdle(portal.app.db)
    // The hold ends after the end of the update was stored: a later roll-back would lose new
    // writes.
    expect(openAtLetGo.splice(0)).toEqual([0])
    expect(await portal.drivers.wordpress.holdWrites(id, 0)).toBe(false)
    openAtLetGo.length = 0
  })

  test('a bad release is put back: files and database as before, and its owner told', async () => {
    databaseOf((database) =>
      database.exec("update wp_posts set post_content = 'trước khi cập nhật' where ID = 1"),
    )
    const before = pluginText()
    await publish(pluginSlug, '1.1.0')
    await look()
    const back = await update(plugin)
    expect(back).toMatchObject({ state: 'rolled_back', reason: 'pages_differ' })
    expect(back.differences).toContainEqual({
      path: '/',
      what: 'status',
      before: '200',
      after: '500',
    })
    expect(back.differences).toContainEqual(expect.objectContaining({ what: 'sign_in' }))
    expect(pluginText()).toBe(before)
    expect(
      databaseOf((database) =>
        database.prepare('select post_content as text from wp_posts where ID = 1').get(),
      ),
    ).toEqual({ text: 'trước khi cập nhật' })
    expect(leftovers()).toEqual([])
    const letter = await eventually('the letter', async () =>
      (await portal.inbox(owner.email)).find(({ text }) => text.includes('1.1.0')),
    )
    expect(letter.text).toContain('Giờ mở cửa 1.0.1 → 1.1.0')
    expect(letter.text).toContain('500')
    const told = await portal.call<{ data: { event: string }[] }>('GET', '/api/notifications', {
      token: owner.token,
    })
    expect(told.body.result.data.map(({ event }) => event)).toContain('wordpress.update')
    expect((await softwareOf(pluginSlug))?.available).toMatchObject({
      version: '1.1.0',
      rolledBack: true,
    })
    await jobsIdle(portal.app.db)
    // The hold ends after the end of the update was stored: a later roll-back would lose new
    // writes.
    expect(openAtLetGo.splice(0)).toEqual([0])
    expect(await portal.drivers.wordpress.holdWrites(id, 0)).toBe(false)
    openAtLetGo.length = 0
  })

  test('what was written during an update that is undone is not lost', async () => {
    await look()
    const { wordpress: driver } = portal.drivers
    const url = `http://${(await siteNow()).name}.localhost:${portal.config.SITES_PORT}`
    const entered = await driver.page(id, {
      target: new URL(await driver.adminLink(id, 'an')).pathname,
      cookie: '',
    })
    const nonce = await driver.page(id, {
      target: '/wp-admin/admin-ajax.php?action=rest-nonce',
      cookie: entered.cookie,
    })
    const headers = {
      cookie: entered.cookie,
      'x-wp-nonce': nonce.text,
      'content-type': 'application/json',
    }
    const taken: string[] = []
    const refused: number[] = []
    let isOver = false
    const write = async (title: string): Promise<void> => {
      const [at] = await driver.addresses(id)
      // While its containers are replaced a site may have none.
      const answer = at
        ? await ask(at, `${url}/wp-json/wp/v2/posts`, {
            method: 'POST',
            headers,
            body: JSON.stringify({ title, content: '' }),
          }).catch(() => undefined)
        : undefined
      if (answer?.status === 201) taken.push(title)
      else if (answer) refused.push(answer.status)
    }
    const writing = (async () => {
      const all: Promise<void>[] = []
      for (let count = 0; !isOver; count++) {
        all.push(write(`đơn hàng ${count}`))
        await betweenVisits()
      }
      await Promise.all(all)
    })()
    expect(await update(plugin)).toMatchObject({ state: 'rolled_back' })
    isOver = true
    await writing
    const kept = databaseOf((database) =>
      database.prepare('select post_title as title from wp_posts').all(),
    ).map((row) => String(row['title']))
    expect(taken.length).toBeGreaterThan(0)
    expect(taken.filter((title) => !kept.includes(title))).toEqual([])
    expect(new Set(refused)).toEqual(new Set(refused.length > 0 ? [503] : []))
  })

  test('so is one that empties pages, together with what came with it', async () => {
    await publish(pluginSlug, '1.2.0')
    await publish(themeSlug, '1.1')
    await look()
    const back = await update()
    expect(back.packages.map(({ slug, to }) => [slug, to])).toEqual([
      [pluginSlug, '1.2.0'],
      [themeSlug, '1.1'],
    ])
    expect(back).toMatchObject({ state: 'rolled_back' })
    expect(back.differences.some(({ what }) => what === 'text')).toBe(true)
    expect((await softwareOf(themeSlug))?.version).toBe('1.0')
    expect(await update([{ kind: 'theme', slug: themeSlug }])).toMatchObject({ state: 'done' })
    expect((await softwareOf(themeSlug))?.version).toBe('1.1')
  })

  test('WordPress itself, whose own content stays', async () => {
    await publish('wordpress', '7.1.2')
    expect((await softwareOf('wordpress'))?.available).toMatchObject({
      version: '7.1.2',
      security: true,
    })
    const done = await update([{ kind: 'core', slug: 'wordpress' }])
    expect(done).toMatchObject({ state: 'done' })
    expect((await softwareOf('wordpress'))?.version).toBe('7.1.2')
    expect(pluginText()).toContain('1.0.1')
  })

  test('a zip that is not what it says to be is not installed', async () => {
    await directory({ mode: 'well', newest: { [pluginSlug]: '1.0.2' } })
    await look()
    await directory({ mode: 'lies' })
    expect(await update(plugin)).toMatchObject({ state: 'failed', reason: 'package_unusable' })
    expect(pluginText()).toContain('1.0.1')
    await directory({ mode: 'well' })
    // A release does not change: one that was fetched is identified by its checksum.
    const releases = portal.app.db.updateTable('software_release').where('slug', '=', pluginSlug)
    await releases.set({ sha256: '0'.repeat(64) }).execute()
    expect(await update(plugin)).toMatchObject({ state: 'failed', reason: 'package_unusable' })
    await releases.set({ sha256: null }).execute()
    expect(await update(plugin)).toMatchObject({ state: 'done' })
  })

  test('one at a time, and no backup or restore meanwhile', async () => {
    await portal.app.db
      .updateTable('site_update')
      .set({ state: 'saving', ended_at: null })
      .where('seq', '=', (eb) =>
        eb.selectFrom('site_update').select((one) => one.fn.max('seq').as('n')),
      )
      .execute()
    expect((await call('POST', '', {})).body).toMatchObject({
      error: { code: 'update_in_progress' },
    })
    const backup = await portal.call('POST', `/api/wp/${id}/backups`, { token: owner.token })
    expect(backup.body).toMatchObject({ error: { code: 'update_in_progress' } })
    await portal.app.db
      .updateTable('site_update')
      .set({ state: 'done', ended_at: clock.now() })
      .where('state', '=', 'saving')
      .execute()
  })

  test('without room on the disk it says so and changes nothing', async () => {
    await publish(themeSlug, '1.0')
    await portal.app.db.updateTable('site').set({ disk_mb: 1 }).where('id', '=', id).execute()
    installRelease(folder(), themeSlug, '1.0')
    await publish(themeSlug, '1.1')
    await look()
    const failed = await update([{ kind: 'theme', slug: themeSlug }])
    expect(failed).toMatchObject({ state: 'failed', reason: 'no_room' })
    expect((await softwareOf(themeSlug))?.version).toBe('1.0')
    await portal.app.db.updateTable('site').set({ disk_mb: 10_240 }).where('id', '=', id).execute()
    expect(await update([{ kind: 'theme', slug: themeSlug }])).toMatchObject({ state: 'done' })
  })

  test('of the backups from before updates the newest three are kept', async () => {
    const { body } = await portal.call<{ kind: string }[]>('GET', `/api/wp/${id}/backups`, {
      token: owner.token,
    })
    expect(body.result.map(({ kind }) => kind)).toEqual(['update', 'update', 'update'])
  })

  test('every package was fetched once', async () => {
    const { asked } = await directory({})
    // 1.0.1, 1.1.0, 1.2.0, and 1.0.2 three times, because the directory lied about it.
    expect(asked['plugin package']).toBe(6)
    expect(asked['theme package']).toBe(1)
    expect(asked['release package']).toBe(1)
  })
})
