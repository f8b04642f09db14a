import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Host } from '../host.ts'
import { ImportCopy } from './copy.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true })
})
function copyIn(): { dir: string; copy: ImportCopy } {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'import-copy-'))
  folders.push(dir)
  const copy = new ImportCopy({} as Host, 'an', {
    dir,
    owner: async () => null,
    live: async () => ({ files: 0, database: 0 }),
    open: () => {
      throw new Error('there is no copy to open')
    },
  })
  return { dir, copy }
}

test('a copy that is absent uses nothing; one that cannot be looked at is told', async () => {
  const { dir, copy } = copyIn()
  await copy.halt()
  expect(await copy.count()).toEqual({ files: 0, database: 0 })
  // A file in the folder's place: whatever is asked of what is in it fails, and not as absent.
  fs.writeFileSync(path.join(dir, 'import'), '')
  const told = { kind: 'unavailable', message: 'the copy cannot be looked at' }
  await expect(copy.halt()).rejects.toMatchObject(told)
  await expect(copy.count()).rejects.toMatchObject(told)
})
