import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folderStore } from './folder-store.ts'

test('a folder that is removed during a listing takes no other file out of it', async () => {
  const base = mkdtempSync(path.join(os.tmpdir(), 'folder-store-'))
  try {
    const store = folderStore(base)
    const stays = Array.from({ length: 50 }, (_, n) => `stays-${n}/file`)
    const goes = Array.from({ length: 400 }, (_, n) => `goes-${n}/file`)
    for (const name of [...stays, ...goes]) {
      mkdirSync(path.join(base, path.dirname(name)))
      writeFileSync(path.join(base, name), name)
    }
    let gone = false
    const removing = (async () => {
      for (const name of goes) await store.remove(name)
      gone = true
    })()
    while (!gone)
      expect(
        await store.list().then((names) => names.filter((one) => stays.includes(one))),
      ).toEqual(expect.arrayContaining(stays))
    await removing
    expect((await store.list()).toSorted()).toEqual(stays.toSorted())
    expect(await folderStore(path.join(base, 'nowhere')).list()).toEqual([])
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
})
