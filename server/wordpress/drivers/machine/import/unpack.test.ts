/** How much of a disk a package may use, in files and folders as well as in bytes. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tarGzOf, wpressOf, zipOf } from '../../../../../test/packages.ts'
import { Unpacking } from './unpack.ts'

const limits = { maxBytes: 2 ** 20, maxFiles: 100 }

async function unpacked(bytes: Buffer): Promise<{ folder: string; done: Promise<unknown> }> {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-unpack-'))
  fs.writeFileSync(path.join(top, 'package'), bytes)
  const descriptor = fs.openSync(path.join(top, 'package'), 'r')
  onTestFinished(() => {
    fs.closeSync(descriptor)
    fs.rmSync(top, { recursive: true, force: true })
  })
  const folder = path.join(top, 'laid-out')
  return { folder, done: new Unpacking(limits).run(descriptor, folder, () => false) }
}
const below = (folder: string): number => fs.readdirSync(folder, { recursive: true }).length

test('folders that nobody lists count as files do', async () => {
  // Each takes an entry in the disk's table of files, and costs the package two bytes.
  const deep = Array.from({ length: 20 }, (_one, index) => ({
    name: `${index}/${'d/'.repeat(200)}x`,
  }))
  for (const bytes of [zipOf(deep), await tarGzOf(deep), wpressOf(deep)]) {
    const { folder, done } = await unpacked(bytes)
    await expect(done).rejects.toMatchObject({ problem: { code: 'too_many_files' } })
    expect(below(folder)).toBeLessThan(2 * 201)
  }
})

test('entries that share one place in the package count each for what they come to', async () => {
  // Overlapping entries make a small file large, although none of them has a high ratio.
  const bytes = zipOf([{ name: 'a', content: Buffer.alloc(300_000, 'a') }])
  const directory = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 1, 2]))
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  const entry = bytes.subarray(directory, end)
  const copies = Array.from({ length: 20 }, (_one, index) => {
    const copy = Buffer.from(entry)
    copy.write(String.fromCharCode(97 + index), 46)
    return copy
  })
  const tail = Buffer.from(bytes.subarray(end))
  tail.writeUInt16LE(copies.length, 8)
  tail.writeUInt16LE(copies.length, 10)
  tail.writeUInt32LE(entry.length * copies.length, 12)
  const { done } = await unpacked(Buffer.concat([bytes.subarray(0, directory), ...copies, tail]))
  await expect(done).rejects.toMatchObject({ problem: { code: 'too_large' } })
})
