/** A site's folder on a real disk. */
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { SiteFolder } from './site-folder.ts'

const sitesDir = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-site-folder-'))
afterAll(() => fs.rm(sitesDir, { recursive: true, force: true }))

test('a mark that a full disk has cut short keeps no embedded site from starting', async () => {
  const folder = new SiteFolder(sitesDir, 'one', sitesDir, () => Promise.resolve(null), null)
  await fs.mkdir(folder.dir)
  const mark = path.join(folder.dir, 'installed.json')
  for (const text of ['', '{"at":"2026', '{}', 'null']) {
    await fs.writeFile(mark, text)
    await folder.requireRuntime()
  }
  await fs.writeFile(mark, '{"runtime":"docker"}')
  await expect(folder.requireRuntime()).rejects.toMatchObject({ kind: 'rejected' })
})
