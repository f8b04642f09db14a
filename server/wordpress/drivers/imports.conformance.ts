/**
 * The tests of a site that is moved in, for every WordPress driver: made beside the live one, which
 * goes on answering, and put in its place once and completely; a hostile package changes nothing.
 */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tarGzOf, zipOf } from '../../../test/packages.ts'
import type { ImportStep, WordpressDriver } from '../driver.ts'
import { fillFile } from './pressure.conformance.ts'
import { eventually, type Fixture, type Site } from './site.conformance.ts'

export function movesIn(site: Site): void {
  const { spec, first, page, session, write, titles } = site
  let fixture: Fixture
  let driver: WordpressDriver
  let folder: string
  const put = async (name: string, bytes: Buffer): Promise<string> => {
    const file = path.join(folder, name)
    await fs.writeFile(file, bytes)
    return file
  }
  const untilDone = async (): Promise<ImportStep> => {
    for (;;) {
      const step = await driver.stepImport(spec, [])
      expect(step.problem).toBeNull()
      if (step.phase === 'done') return step
    }
  }
  beforeAll(async () => {
    fixture = site.made()
    driver = fixture.driver
    folder = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-imports-'))
  })
  afterAll(() => fs.rm(folder, { recursive: true, force: true }))

  test('moves an archive in beside the site, which goes on, and takes its place once', async () => {
    await fixture.put(spec.id, 'wp-content/uploads/đường 🌧.txt', 'mang theo')
    await fixture.put(spec.id, 'wp-content/uploads/large.txt', 'x'.repeat(5 * 2 ** 20))
    expect((await write('Chuyển nhà', await first(), await session())).status).toBe(201)
    const archive = path.join(folder, 'away.tar.gz')
    await driver.backup(spec.id, archive)
    expect((await write('Ở lại', await first(), await session())).status).toBe(201)
    await fixture.put(spec.id, 'wp-content/uploads/stays.txt', 'ở lại')

    const before = await driver.state(spec.id)
    const laidOut = await driver.layOutImport(spec, [archive])
    expect(laidOut).toMatchObject({ found: { maker: 'portal', prefix: 'wp_' } })
    // The copy counts on the site's disk, so that the disk is not used twice.
    const beside = await driver.state(spec.id)
    expect(beside.diskUsedMb).toBeGreaterThan(before.diskUsedMb)
    const done = await untilDone()
    expect(done.site?.admins).toEqual([site.admin.user])
    expect(done.site?.paths[0]).toBe('/')
    const copied = await driver.importPage(spec, '/')
    expect(copied.status).toBe(200)
    expect(copied.text).toContain('Chuyển nhà')
    expect(copied.text).not.toContain('Ở lại')
    // The live site is unchanged, and no other site exists.
    expect(await titles()).toContain('Ở lại')
    expect(await driver.list()).toEqual([spec.id])

    const importId = randomUUID()
    await driver.switchImport(spec, importId)
    await driver.start(spec)
    expect(await titles()).toContain('Chuyển nhà')
    expect(await titles()).not.toContain('Ở lại')
    expect((await page('/wp-content/uploads/đường 🌧.txt')).text).toBe('mang theo')
    expect((await page('/wp-content/uploads/stays.txt')).status).toBe(404)
    // The administrator's password was moved in, too.
    expect((await write('Sau khi chuyển', await first(), await session())).status).toBe(201)
    await driver.switchImport(spec, importId)
    expect(await driver.addresses(spec.id)).toHaveLength(1)
    expect(await titles()).toContain('Sau khi chuyển')
    await expect(driver.stepImport(spec, [])).rejects.toMatchObject({ kind: 'rejected' })
    expect((await driver.state(spec.id)).diskUsedMb).toBeLessThan(beside.diskUsedMb)
    // The copy has no letters either: its containers have ended by now, which is reported of every
    // site.
    for (const id of await driver.sitesWithMail()) expect(id).toBe(spec.id)
  })

  test('has what the site leaves of its disk, and the site what the copy leaves', async () => {
    const archive = path.join(folder, 'small.tar.gz')
    await driver.backup(spec.id, archive)
    const { diskUsedMb } = await driver.state(spec.id)
    // There is room for one of the two, not for both.
    const small = { ...spec, diskMb: Math.ceil(diskUsedMb * 1.5) }
    await driver.start(small)
    expect(await driver.layOutImport(small, [archive])).toMatchObject({
      problem: { code: 'too_large' },
    })
    expect((await driver.state(spec.id)).diskUsedMb).toBeLessThanOrEqual(diskUsedMb + 1)
    // There is room for both and some more, which the site may use; a file of 20 MB is rewritten.
    const enough = { ...spec, diskMb: 2 * diskUsedMb + 30 }
    await driver.start(enough)
    await fixture.put(spec.id, 'probe-fill.php', fillFile)
    expect(await driver.layOutImport(enough, [archive])).toHaveProperty('found')
    const full = await page('/probe-fill.php?n=1&mb=100')
    const written = Number(/written=(\d+)/.exec(full.text)?.[1])
    expect(written).toBeGreaterThan(20)
    expect(written).toBeLessThanOrEqual(52)
    await driver.dropImport(spec.id)
    await eventually(async () =>
      expect((await page('/probe-fill.php?n=2&mb=60')).text).toBe('written=60'),
    )
    await driver.start(spec)
  })

  test('refuses what is hostile or no site, and leaves nothing of it', async () => {
    const plugin = { name: 'wp-content/plugins/a/a.php', content: '<?php' }
    const dump = { name: 'database.sql', content: 'CREATE TABLE `wp_x` (`id` int);\n' }
    // More cases, without a driver, are in machine/import/hostile.test.ts.
    const cases: [code: string, bytes: Buffer][] = [
      ['leads_outside', zipOf([plugin, { name: '../../../escaped.php', content: 'x' }])],
      ['leads_outside', await tarGzOf([plugin, { name: '/etc/escaped', content: 'x' }])],
      ['damaged', zipOf([{ ...plugin, content: 'longer than it says', saidBytes: 3 }])],
      ['no_tables', zipOf([plugin, dump])],
    ]
    for (const [code, bytes] of cases)
      expect(await driver.layOutImport(spec, [await put('hostile', bytes)]), code).toMatchObject({
        problem: { code },
      })
    // Links and devices are left out; the rest is no site.
    const links = await tarGzOf([
      plugin,
      { name: 'wp-content/uploads/passwd', link: '/etc/passwd' },
      { name: 'wp-content/uploads/hard', link: '/etc/passwd', type: 'link' },
      { name: 'wp-content/uploads/disk', type: 'block-device' },
    ])
    expect(await driver.layOutImport(spec, [await put('links', links)])).toMatchObject({
      problem: { code: 'no_database' },
    })
    await expect(driver.stepImport(spec, [])).rejects.toMatchObject({ kind: 'rejected' })
    await expect(driver.switchImport(spec, randomUUID())).rejects.toMatchObject({
      kind: 'rejected',
    })
    await driver.dropImport(spec.id)
    expect((await page('/')).status).toBe(200)
    expect(await titles()).toContain('Sau khi chuyển')
    expect(await driver.list()).toEqual([spec.id])
  })
}
