/**
 * Files of WordPress itself are only named in an archive: the copy is the same as if all were sent.
 */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { packChanges, unpackChanges } from './changes.ts'
import { releaseIn, type Release } from './release.ts'

const incompressible = randomBytes(3_000).toString('base64')
const time = new Date('2026-09-01T00:00:00Z')

function stage() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-release-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  const at = (...names: string[]): string => path.join(folder, ...names)
  const put = (name: string, text: string, of: { mode?: number; at?: Date } = {}): void => {
    fs.mkdirSync(path.dirname(at(name)), { recursive: true })
    fs.writeFileSync(at(name), text)
    fs.chmodSync(at(name), of.mode ?? 0o644)
    fs.utimesSync(at(name), of.at ?? time, of.at ?? time)
  }
  /** WordPress's files on a node. */
  const releaseOf = (node: string, mark = 'one'): Release => {
    put(`${node}/wp/index.php`, '<?php // index')
    // Content that cannot be compressed.
    put(`${node}/wp/wp-includes/load.php`, incompressible)
    put(`${node}/wp/wp-includes/empty.php`, '')
    for (const name of ['text', 'mode', 'time', 'gone', 'linked'])
      put(`${node}/wp/wp-includes/other ${name}.php`, '<?php // one')
    put(`${node}/.complete`, mark)
    const release = releaseIn(at(node))
    expect(release).not.toBeNull()
    return release!
  }
  fs.writeFileSync(at('dump'), '')
  const placesOf = (site: string) => ({ filesDir: at(site), databaseDir: at(`${site}.database`) })
  let listings = 0
  const pack = (site: string, release: Release | null, since: string | null = null) => {
    const listing = at(`${++listings}.json`)
    const file = at(`${listings}.archive`)
    const packed = packChanges(placesOf(site), fs.openSync(file, 'w'), {
      compression: 'zstd',
      scratchFile: at('dump'),
      maxBytes: 1e9,
      since,
      tried: [],
      listing,
      database: { for: 'mariadb', counted: [] },
      release,
    })
    return packed.then((changes) => ({ file, listing, changes }))
  }
  const lay = (file: string, site: string, release: Release | null, isWhole: boolean) => {
    fs.mkdirSync(at(site), { recursive: true })
    return unpackChanges(fs.openSync(file, 'r'), placesOf(site), {
      scratchFile: at(`${site}-${path.basename(file)}.sql`),
      database: 'mariadb',
      made: null,
      isWhole,
      release,
    })
  }
  /** Each file's text, mode and time, ms. */
  const contentOf = (site: string): Record<string, string> => {
    const found: Record<string, string> = {}
    for (const entry of fs.readdirSync(at(site), { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name)
      if (!entry.isFile()) continue
      const { mode, mtimeMs } = fs.statSync(file)
      const text = fs.readFileSync(file, 'utf8')
      found[path.relative(at(site), file)] = `${text} ${(mode & 0o777).toString(8)} ${mtimeMs}`
    }
    return found
  }
  return { at, put, releaseOf, pack, lay, contentOf }
}

test('a site comes over whole, and only what its owner has changed is sent', async () => {
  const { at, put, releaseOf, pack, lay, contentOf } = stage()
  const [here, there] = [releaseOf('here'), releaseOf('there')]
  expect(there.id).toBe(here.id)
  fs.cpSync(here.dir, at('site'), { recursive: true, preserveTimestamps: true })
  // Same length and time: only the text differs.
  put('site/wp-includes/other text.php', '<?php // two')
  put('site/wp-includes/other mode.php', '<?php // one', { mode: 0o600 })
  put('site/wp-includes/other time.php', '<?php // one', { at: new Date('2026-10-01T00:00:00Z') })
  fs.rmSync(at('site/wp-includes/other gone.php'))
  fs.rmSync(at('site/wp-includes/other linked.php'))
  fs.symlinkSync(
    at('here/wp/wp-includes/other linked.php'),
    at('site/wp-includes/other linked.php'),
  )
  put('site/wp-content/uploads/own.txt', 'own')

  const first = await pack('site', here)
  expect(first.changes).toMatchObject({ files: 7, removed: 0 })
  expect(await lay(first.file, 'copy', there, true)).toEqual(first.changes)
  expect(contentOf('copy')).toEqual(contentOf('site'))
  // Without a common release all files are sent.
  const all = await pack('site', null)
  expect(all.changes).toEqual(first.changes)
  expect(await lay(all.file, 'sent', null, true)).toEqual(first.changes)
  expect(contentOf('sent')).toEqual(contentOf('site'))
  expect(fs.statSync(first.file).size).toBeLessThan(2_000)
  expect(fs.statSync(all.file).size).toBeGreaterThan(3_000)

  // The owner restores WordPress's own file, and changes another.
  put('site/wp-includes/other text.php', '<?php // one')
  put('site/index.php', '<?php // mine!')
  const next = await pack('site', here, first.listing)
  expect(next.changes.files).toBeGreaterThanOrEqual(2)
  expect(await lay(next.file, 'copy', there, false)).toEqual(next.changes)
  expect(contentOf('copy')).toEqual(contentOf('site'))
})

test('a node with another WordPress refuses what leaves files out', async () => {
  const { at, put, releaseOf, pack, lay } = stage()
  const [here, there] = [releaseOf('here'), releaseOf('there')]
  fs.cpSync(here.dir, at('site'), { recursive: true, preserveTimestamps: true })
  const { file } = await pack('site', here)
  await expect(lay(file, 'none', null, true)).rejects.toThrow(/does not have/)
  const other = releaseOf('other', 'two')
  expect(other.id).not.toBe(here.id)
  await expect(lay(file, 'other', other, true)).rejects.toThrow(/does not have/)
  // A release with the same mark whose files were changed by hand.
  put('there/wp/index.php', '<?php // mine!')
  await expect(lay(file, 'changed', there, true)).rejects.toThrow(/not what the archive was made/)
  expect(releaseIn(at('nowhere'))).toBeNull()
})
