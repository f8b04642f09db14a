// The tests of updates for every WordPress driver: installed software, held writes, packages.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { SoftwarePackage } from '../driver.ts'
import { ask, type Site } from './site.conformance.ts'

const head = (version: string, more = ''): string =>
  `<?php\n/*\nPlugin Name: Giờ mở cửa\nVersion: ${version}\n*/\n${more}`
const slug = 'gio-mo-cua'
const main = `${slug}/${slug}.php`
const release = (version: string): SoftwarePackage => ({ kind: 'plugin', slug, main, version })

export function updatesSoftware(site: Site): void {
  const { spec, page, first, write, session, titles } = site
  const driver = () => site.made().driver
  const zip = (files: Record<string, string>) => site.made().zip(files)
  const installed = async (): Promise<string | undefined> =>
    (await driver().software(spec.id)).plugins.find(({ file }) => file === main)?.version

  test('lists what is installed', async () => {
    await site.made().put(spec.id, `wp-content/plugins/${main}`, head('1.0'))
    await site.made().put(spec.id, `wp-content/plugins/${slug}/old.txt`, 'of version 1')
    const found = await driver().software(spec.id)
    expect(found).toMatchObject({ wordpress: expect.stringMatching(/^\d+\.\d+/) as string })
    expect(found.php).toMatch(/^8\./)
    expect(found.plugins.find(({ file }) => file === main)).toEqual({
      file: main,
      name: 'Giờ mở cửa',
      version: '1.0',
      active: false,
      updateUri: '',
    })
    expect(found.themes.filter(({ active }) => active)).toHaveLength(1)
  })

  test('replaces a plugin whole, once, and keeps what was there until it is settled', async () => {
    const updateId = randomUUID()
    const file = await zip({ [main]: head('1.1'), [`${slug}/new.txt`]: 'of version 1.1' })
    await driver().applyPackage(spec, updateId, release('1.1'), file)
    expect(await installed()).toBe('1.1')
    expect((await page(`/wp-content/plugins/${slug}/new.txt`)).text).toBe('of version 1.1')
    expect((await page(`/wp-content/plugins/${slug}/old.txt`)).status).toBe(404)
    // It acts only once, even if the plugin was changed meanwhile.
    await site.made().put(spec.id, `wp-content/plugins/${slug}/mine.txt`, 'kept')
    await driver().applyPackage(spec, updateId, release('1.1'), file)
    expect((await page(`/wp-content/plugins/${slug}/mine.txt`)).text).toBe('kept')
    await driver().settleUpdate(spec.id, updateId)
    await driver().settleUpdate(spec.id, updateId)
    expect(await installed()).toBe('1.1')
    await driver().upgradeDatabase(spec.id)
    await driver().upgradeDatabase(spec.id)
    expect((await page('/')).status).toBe(200)
  })

  test('refuses what is no such release, and changes nothing', async () => {
    const packages: [string, Record<string, string>][] = [
      ['another version', { [main]: head('9.9') }],
      ['another folder', { [main]: head('2.0'), 'other/x.php': '<?php' }],
      ['a way out', { [main]: head('2.0'), [`${slug}/../../../x.php`]: '<?php' }],
      ['no main file', { [`${slug}/readme.txt`]: 'x' }],
    ]
    for (const [what, files] of packages)
      await expect(
        driver().applyPackage(spec, randomUUID(), release('2.0'), await zip(files)),
        what,
      ).rejects.toMatchObject({ kind: 'rejected' })
    const file = await zip({ [main]: head('2.0'), [`${slug}/large`]: 'x'.repeat(2_000_000) })
    await expect(
      driver().applyPackage({ ...spec, diskMb: 1 }, randomUUID(), release('2.0'), file),
    ).rejects.toMatchObject({ kind: 'full' })
    expect(await installed()).toBe('1.1')
  })

  test('replaces WordPress itself, and leaves what is the site’s own', async () => {
    const { wordpress } = await driver().software(spec.id)
    const version = `${wordpress}-tried`
    const updateId = randomUUID()
    const source = `<?php\n$wp_version = '${version}';\n`
    // Each folder is replaced as a whole. This package is no WordPress that can run, and is undone
    // at once.
    const file = await zip({
      'wordpress/wp-includes/version.php': source,
      'wordpress/readme.html': 'another',
      'wordpress/wp-config.php': 'overwritten',
      'wordpress/wp-content/index.php': 'overwritten',
    })
    const figures = await driver().backup(spec.id, `${file}.tar.gz`)
    const wanted: SoftwarePackage = { kind: 'core', slug: 'wordpress', main: '', version }
    await driver().applyPackage(spec, updateId, wanted, file)
    expect((await page('/readme.html')).text).toBe('another')
    expect((await page('/wp-content/index.php')).text).not.toContain('overwritten')
    const copy = { file: `${file}.tar.gz`, figures }
    await driver().restore(spec, copy, randomUUID())
    await driver().settleUpdate(spec.id, updateId)
    await driver().start(spec)
    expect((await driver().software(spec.id)).wordpress).toBe(wordpress)
    expect((await page('/')).status).toBe(200)
  })

  test('while writes are held they wait, and reading goes on', async () => {
    const signedIn = await session()
    expect(await driver().holdWrites(spec.id, 60_000)).toBe(false)
    expect(await driver().holdWrites(spec.id, 60_000)).toBe(true)
    let isWritten = false
    const writing = write('Trong lúc cập nhật', await first(), signedIn).then((answer) => {
      isWritten = true
      return answer
    })
    expect((await page('/')).status).toBe(200)
    expect(await titles()).not.toContain('Trong lúc cập nhật')
    expect(isWritten).toBe(false)
    // A container that starts meanwhile holds writes, too; a request that waited at the former one
    // is told to come again.
    await driver().start({ ...spec, generation: 900 })
    expect((await writing).status).toBe(503)
    isWritten = false
    const again = write('Trong lúc cập nhật', await first(), signedIn).then((answer) => {
      isWritten = true
      return answer
    })
    expect(await titles()).not.toContain('Trong lúc cập nhật')
    expect(isWritten).toBe(false)
    expect(await driver().holdWrites(spec.id, 0)).toBe(true)
    expect((await again).status).toBe(201)
    await driver().start(spec)
    expect(await titles()).toContain('Trong lúc cập nhật')
    expect(await driver().holdWrites(spec.id, 0)).toBe(false)
  })

  test('gives a page as it is now, as a visitor or as who is signed in', async () => {
    const front = await driver().page(spec.id, { target: '/', cookie: '' })
    expect(front).toMatchObject({ status: 200, location: null })
    expect(front.text).toContain('<html lang="vi"')
    const link = new URL(await driver().adminLink(spec.id, site.admin.user))
    const entered = await driver().page(spec.id, { target: link.pathname, cookie: '' })
    expect(entered).toMatchObject({ status: 302, location: `${spec.url}/wp-admin/` })
    const inside = await driver().page(spec.id, { target: '/wp-admin/', cookie: entered.cookie })
    expect(inside.status).toBe(200)
    expect((await driver().page(spec.id, { target: '/wp-admin/', cookie: '' })).status).toBe(302)
    const { status } = await ask(await first(), `${spec.url}/wp-admin/`)
    expect(status).toBe(302)
  })
}
