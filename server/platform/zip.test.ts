import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { zipOf } from '../../sandbox/wordpress/zip.ts'
import { BadZip, unpackZip, withZip, type ZipLimits } from './zip.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-zip-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))
const limits: ZipLimits = { archiveBytes: 1_000_000, bytes: 1_000_000, files: 100 }

let made = 0
const fileOf = (bytes: Buffer): string => {
  const file = path.join(folder, `${made++}.zip`)
  fs.writeFileSync(file, bytes)
  return file
}
const read = (bytes: Buffer, of = limits) =>
  withZip(fileOf(bytes), of, async (zip) => {
    const target = path.join(folder, `out-${made++}`)
    await unpackZip(zip, target, (name) => name)
    return target
  })
const refused = async (bytes: Buffer, why: RegExp, of = limits) => {
  const error: unknown = await read(bytes, of).catch((failure: unknown) => failure)
  expect(error).toBeInstanceOf(BadZip)
  expect((error as Error).message).toMatch(why)
}
const one = (name: string, content: string | Buffer = 'x') => zipOf([{ name, content }])

describe('a zip file', () => {
  test('comes out as it went in', async () => {
    const name = fc.stringMatching(/^[a-zA-Z0-9ăđ_-]{1,12}$/)
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(name, fc.uint8Array({ maxLength: 3_000 })), {
          selector: ([one]) => one.normalize('NFC').toLowerCase(),
          maxLength: 8,
        }),
        async (files) => {
          const target = await read(
            zipOf(
              files.map(([own, content]) => ({ name: `a/${own}`, content: Buffer.from(content) })),
            ),
          )
          for (const [own, content] of files)
            expect(fs.readFileSync(path.join(target, 'a', own))).toEqual(Buffer.from(content))
        },
      ),
      { numRuns: 50 },
    )
  })

  test.each(['../x', 'a/../../x', '/etc/passwd', 'a//b', 'a\\..\\b', 'c:x', 'a/./b', 'a\u0000b'])(
    'that leads elsewhere is refused: %j',
    (name) => refused(one(name), /leads elsewhere/),
  )

  test('is refused when it is larger than it may be, packed, unpacked or in files', async () => {
    await refused(one('a', Buffer.alloc(5_000)), /unpacks to more/, { ...limits, bytes: 4_999 })
    await refused(one('a', 'x'.repeat(300)), /larger than it may be/, {
      ...limits,
      archiveBytes: 50,
    })
    await refused(
      zipOf(Array.from({ length: 3 }, (_, index) => ({ name: `${index}`, content: '' }))),
      /more files/,
      { ...limits, files: 2 },
    )
  })

  test('that says less than it unpacks to is refused', async () => {
    const bytes = one('a', Buffer.alloc(100_000))
    const central = bytes.indexOf('PK\u0001\u0002')
    bytes.writeUInt32LE(10, central + 24)
    await refused(bytes, /cannot be unpacked/)
  })

  test.each([0x0fff_ffff, 0x8000_0000, 0xffff_ffff])(
    'that says a file has %d packed bytes that are not there is refused, and no process ends',
    async (packed) => {
      const bytes = one('a', 'hello')
      bytes.writeUInt32LE(packed, bytes.indexOf('PK\u0001\u0002') + 20)
      await refused(bytes, /ends too early/)
    },
  )

  test('with links, names that stand twice, or damage is refused', async () => {
    const link = one('a')
    link.writeUInt32LE((0o120_777 * 0x1_0000) >>> 0, link.indexOf('PK\u0001\u0002') + 38)
    await refused(link, /neither file nor folder/)
    await refused(
      zipOf([
        { name: 'A/x', content: '' },
        { name: 'a/X', content: '' },
      ]),
      /stands twice/,
    )
    await refused(Buffer.from('no zip at all, but long enough'), /no zip archive/)
    const wrong = one('a', 'hello')
    wrong.writeUInt32LE(1, wrong.indexOf('PK\u0001\u0002') + 16)
    await refused(wrong, /is not what the archive says/)
  })

  test('cut or scribbled over anywhere is refused or read, and nothing else', async () => {
    const whole = zipOf([
      { name: 'a/b.txt', content: 'hello' },
      { name: 'a/c.txt', content: Buffer.alloc(500, 'y') },
    ])
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.nat(255),
        fc.boolean(),
        async (at, value, cut) => {
          const bytes = cut ? whole.subarray(0, at) : Buffer.from(whole)
          if (!cut) bytes[at] = value
          await read(bytes).catch((error: unknown) => expect(error).toBeInstanceOf(BadZip))
        },
      ),
      { numRuns: 200 },
    )
  })
})
