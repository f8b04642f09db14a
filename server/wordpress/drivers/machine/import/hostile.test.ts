/** Packages that are no site, or more than one: each is refused with its reason. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { tarGzOf, wpressOf, zipOf } from '../../../../../test/packages.ts'
import { moveIn, type MovedIn } from './move-in.ts'

const limits = {
  maxBytes: 2 ** 30,
  maxFiles: 1_000,
  diskBytes: 2 ** 20,
  databaseBytes: 2 ** 20,
}

/** The answer for a package, and the names in the folder in which it was unpacked. */
async function moved(
  bytes: Buffer,
  maxBytes = limits.maxBytes,
): Promise<{ answer: MovedIn; site: string; names: string[] }> {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-hostile-'))
  onTestFinished(() => fs.rmSync(top, { recursive: true, force: true }))
  const site = path.join(top, 'copy', 'wordpress')
  fs.mkdirSync(path.join(site, 'wp-content', 'plugins'), { recursive: true })
  fs.writeFileSync(path.join(top, 'package'), bytes)
  const descriptor = fs.openSync(path.join(top, 'package'), 'r')
  try {
    const places = { filesDir: site, databaseDir: path.join(site, 'wp-content', 'database') }
    const rawDir = path.join(top, 'copy', 'raw')
    const answer = await moveIn(
      {
        op: 'import',
        database: 'sqlite',
        places,
        rawDir,
        packages: 1,
        limits: { ...limits, maxBytes },
      },
      descriptor,
    )
    const names = fs.readdirSync(top).toSorted()
    expect(fs.existsSync(rawDir)).toBe(false)
    return { answer, site, names }
  } finally {
    fs.closeSync(descriptor)
  }
}

const plugin = { name: 'wp-content/plugins/a/a.php', content: '<?php' }
const tables = ['options', 'posts', 'users', 'usermeta']
const dumpOf = (...prefixes: readonly string[]): string =>
  prefixes
    .flatMap((prefix) => tables.map((name) => `CREATE TABLE \`${prefix}${name}\` (\`id\` int);`))
    .join('\n')
const network = 'CREATE TABLE `wp_blogs` (`id` int);CREATE TABLE `wp_site` (`id` int);'
const dump = { name: 'database.sql', content: dumpOf('wp_') }

test('what leads out, lies or is no site is refused, each with its reason', async () => {
  const cases: [code: string, bytes: Buffer][] = [
    ['leads_outside', zipOf([{ name: 'wp-content\\..\\..\\escaped', content: 'x' }])],
    ['leads_outside', zipOf([{ name: 'C:\\escaped', content: 'x' }])],
    ['leads_outside', wpressOf([{ name: '../escaped.php', content: 'x' }])],
    ['name_too_long', zipOf([{ name: `${'x'.repeat(300)}`, content: 'x' }])],
    ['bomb', zipOf([{ name: 'wp-content/uploads/0', content: Buffer.alloc(100 * 2 ** 20) }])],
    ['damaged', (await tarGzOf([plugin, dump])).subarray(0, 60)],
    ['damaged', zipOf([plugin, dump]).subarray(0, 80)],
    ['damaged', zipOf([{ ...plugin, content: 'longer than it says', saidBytes: 3 }, dump])],
    // The same name is a file in one place and a folder in another.
    ['damaged', zipOf([{ name: 'wp-content', content: 'x' }, plugin, dump])],
    ['no_database', zipOf([plugin])],
    ['no_content', Buffer.from(dump.content)],
    ['no_tables', zipOf([plugin, { ...dump, content: 'CREATE TABLE `wp_x` (`id` int);' }])],
    ['several_sites', zipOf([plugin, { ...dump, content: dumpOf('a_', 'b_') }])],
    ['multisite', zipOf([plugin, { ...dump, content: dumpOf('wp_') + network }])],
    ['too_large', zipOf([dump, { ...plugin, content: Buffer.alloc(2 * 2 ** 20) }])],
    ['unknown_format', Buffer.from('Salted__ nobody can read this')],
    ['unknown_format', Buffer.alloc(0)],
  ]
  for (const [code, bytes] of cases) {
    const { answer, names } = await moved(bytes)
    expect(answer, code).toMatchObject({ problem: { code } })
    expect(names, code).toEqual(['copy', 'package'])
  }
})

test('no link is laid out, whatever follows through it', async () => {
  const { answer, site } = await moved(
    await tarGzOf([
      plugin,
      dump,
      { name: 'wp-content/uploads', link: '/etc' },
      { name: 'wp-content/uploads/portal-escaped', content: 'x' },
      { name: 'wp-content/hard', link: '/etc/passwd', type: 'link' },
    ]),
  )
  expect(answer).toMatchObject({
    found: { notes: [{ code: 'links_left_out', detail: '2' }], tables: 4 },
  })
  const uploads = path.join(site, 'wp-content', 'uploads')
  expect(fs.lstatSync(uploads).isDirectory()).toBe(true)
  expect(fs.readFileSync(path.join(uploads, 'portal-escaped'), 'utf8')).toBe('x')
  expect(fs.existsSync('/etc/portal-escaped')).toBe(false)
})

test('dumps that are packed once more count together, and each as a bomb', async () => {
  const zeros = (megabytes: number): Buffer => gzipSync(Buffer.alloc(megabytes * 2 ** 20))
  const packed = (count: number, content: Buffer): Buffer =>
    zipOf([
      plugin,
      ...Array.from({ length: count }, (_one, index) => ({ name: `${index}.sql.gz`, content })),
    ])
  const many = await moved(packed(8, zeros(10)), 40 * 2 ** 20)
  expect(many.answer).toMatchObject({ problem: { code: 'too_large' } })
  // Bytes of the packages themselves count, too.
  const filled = await moved(
    zipOf([
      { ...plugin, content: Buffer.alloc(25 * 2 ** 20) },
      { name: 'a.sql.gz', content: zeros(20) },
    ]),
    40 * 2 ** 20,
  )
  expect(filled.answer).toMatchObject({ problem: { code: 'too_large' } })
  const bomb = await moved(packed(1, zeros(100)))
  expect(bomb.answer).toMatchObject({ problem: { code: 'bomb', detail: '0.sql.gz' } })
})
