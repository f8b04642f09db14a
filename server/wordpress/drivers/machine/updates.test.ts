/** A site whose programs turn its names into links while its software is replaced. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { zipOf } from '../../../../test/packages.ts'
import type { SoftwarePackage } from '../../driver.ts'
import { Updates } from './updates.ts'

const plugin: SoftwarePackage = { kind: 'plugin', slug: 'gio', main: 'gio/gio.php', version: '2.0' }
const core: SoftwarePackage = { kind: 'core', slug: 'wordpress', main: '', version: '7.0' }
const packages = new Map([
  [plugin, [{ name: 'gio/gio.php', content: '<?php\n/*\nVersion: 2.0\n*/' }]],
  [
    core,
    [
      { name: 'wordpress/wp-includes/version.php', content: "<?php $wp_version = '7.0';" },
      { name: 'wordpress/index.php', content: 'of 7.0' },
    ],
  ],
])

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true })
})
function folderIn(where: string): string {
  const folder = fs.mkdtempSync(path.join(where, 'portal-updates-'))
  folders.push(folder)
  return folder
}

/** A site, with its files on the disk of `disk`, and a folder outside it. */
function site(disk: string) {
  const dir = folderIn(os.tmpdir())
  const top = folderIn(disk)
  const [wordpress, outside] = [path.join(top, 'site'), path.join(top, 'outside')]
  const place = path.join(wordpress, 'wp-content/plugins/gio')
  fs.mkdirSync(place, { recursive: true })
  fs.writeFileSync(path.join(place, 'old.txt'), 'of 1.0')
  fs.writeFileSync(path.join(wordpress, 'index.php'), 'of 6.0')
  fs.mkdirSync(path.join(outside, 'gio'), { recursive: true })
  fs.writeFileSync(path.join(outside, 'gio/precious'), 'precious')
  const of = { dir, wordpress, database: path.join(wordpress, 'none') }
  const updates = new Updates(of, () => Promise.resolve(null))
  async function apply(wanted: SoftwarePackage): Promise<void> {
    const file = path.join(dir, 'package.zip')
    fs.writeFileSync(file, zipOf(packages.get(wanted)!))
    const updateId = randomUUID()
    await updates.prepare(updateId, wanted, file, 2 ** 30)
    try {
      await updates.exchange(updateId, wanted)
    } finally {
      await updates.settle(updateId)
    }
  }
  const isSafe = (): boolean =>
    fs.readdirSync(outside, { recursive: true, encoding: 'utf8' }).toSorted().join() ===
      'gio,gio/precious' &&
    fs.readFileSync(path.join(outside, 'gio/precious'), 'utf8') === 'precious'
  return { dir, wordpress, outside, place, updates, apply, isSafe }
}

/** Runs a program of the site that repeats these lines until the test ends it. */
async function repeating(lines: string, cwd: string, args: readonly string[]) {
  const code = `const fs = require('node:fs'); const [, ...args] = process.argv
    const tried = (act) => { try { act() } catch {} }
    process.stdout.write('on'); for (;;) { ${lines} }`
  const child = spawn(process.execPath, ['-e', code, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const isOver = once(child, 'exit')
  await once(child.stdout, 'data')
  return async (): Promise<void> => {
    child.kill('SIGKILL')
    await isOver
  }
}

test('the next life takes up a hold that was not ended', async () => {
  const { dir, wordpress, updates } = site(os.tmpdir())
  const next = new Updates({ dir, wordpress, database: 'none' }, () => Promise.resolve(null))
  expect(await next.lastActAt()).toBeNull()
  const file = path.join(dir, 'package.zip')
  fs.writeFileSync(file, zipOf(packages.get(plugin)!))
  await updates.prepare(randomUUID(), plugin, file, 2 ** 30)
  expect(await next.lastActAt()).toBeGreaterThan(Date.now() - 60_000)
  // An update that could not be rolled back is over, although the files that it replaced are kept.
  await updates.endHold()
  expect(await next.lastActAt()).toBeNull()
  await updates.prepare(randomUUID(), plugin, file, 2 ** 30)
  expect(await next.lastActAt()).toBeGreaterThan(Date.now() - 60_000)
})

const disks = ['/dev/shm', os.tmpdir()].filter((disk) => fs.existsSync(disk))
describe.each(disks)('files on %s', (disk) => {
  test('are replaced whole, and nothing of the portal’s stays among them', async () => {
    const { wordpress, place, apply } = site(disk)
    fs.mkdirSync(path.join(wordpress, '.maintenance/deep'), { recursive: true })
    await apply(plugin)
    expect(fs.readdirSync(place)).toEqual(['gio.php'])
    await apply(core)
    expect(fs.readFileSync(path.join(wordpress, 'index.php'), 'utf8')).toBe('of 7.0')
    expect(fs.readdirSync(wordpress).toSorted()).toEqual(['index.php', 'wp-content', 'wp-includes'])
    expect(fs.readdirSync(path.dirname(place))).toEqual(['gio'])
  })

  test('a folder on the way that is a link is refused', async () => {
    const { wordpress, outside, apply, isSafe } = site(disk)
    const plugins = path.join(wordpress, 'wp-content/plugins')
    fs.rmSync(plugins, { recursive: true })
    fs.symlinkSync(outside, plugins)
    await expect(apply(plugin)).rejects.toMatchObject({ kind: 'rejected' })
    expect(isSafe()).toBe(true)
  })

  const tries = 30
  /**
   * Repeats an update often enough that a way out of the site would be found, if there were one.
   */
  async function tryAgainst(lines: string, wanted: SoftwarePackage, args: readonly string[] = []) {
    const one = site(disk)
    const end = await repeating(lines, one.wordpress, [one.outside, ...args])
    try {
      // An update that the site itself obstructs fails.
      for (let turn = 0; turn < tries && one.isSafe(); turn++)
        await one.apply(wanted).catch(() => undefined)
    } finally {
      await end()
    }
    expect(one.isSafe()).toBe(true)
  }

  test('what says that WordPress pauses is written to no file that a link leads to', async () => {
    const swap = "tried(() => fs.symlinkSync(args[0] + '/gio/precious', '.maintenance'))"
    await tryAgainst(swap, core)
  })

  test('nothing is replaced, copied or removed through a link that comes late', async () => {
    const swap = `
      tried(() => fs.renameSync('wp-content/plugins', 'wp-content/away'))
      tried(() => fs.symlinkSync(args[0], 'wp-content/plugins'))
      tried(() => fs.rmSync('wp-content/plugins'))
      tried(() => fs.renameSync('wp-content/away', 'wp-content/plugins'))`
    await tryAgainst(swap, plugin)
  })

  test('what is copied beside a folder does not go through a link there', async () => {
    const swap = "tried(() => fs.symlinkSync(args[0], 'wp-content/plugins/gio.portal-coming'))"
    await tryAgainst(swap, plugin)
  })
})
