/**
 * A site’s folder of letters belongs to the site: everything in it is validated, and nothing does
 * harm.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { dropLetters, hasLetters, lettersIn } from '../machine/mail-folder.ts'

let root: string
let dir: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-mail-'))
  dir = path.join(root, 'mail')
  fs.mkdirSync(dir)
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

const nameOf = (number: number, ending = 'eml'): string =>
  `0mm${String(number).padStart(6, '0')}-${'a'.repeat(24)}.${ending}`
const put = (number: number, text: string | Buffer, ending?: string): string => {
  const file = path.join(dir, nameOf(number, ending))
  fs.writeFileSync(file, text)
  return file
}
const letter = (to: unknown = ['an@x.vn'], from: unknown = null): string =>
  `${JSON.stringify({ from, to })}\nTo: an@x.vn\r\n\r\nxin chào`

test('letters come oldest first, few megabytes at once, and go by their keys', () => {
  put(2, `${letter()}${'x'.repeat(5_000_000)}`)
  put(1, letter())
  put(3, letter(['b@x.vn'], 'a@x.vn'))
  expect(lettersIn(dir, 10).map(({ to, from }) => [to[0], from])).toEqual([['an@x.vn', null]])
  dropLetters(dir, [nameOf(1).slice(0, -4)])
  expect(lettersIn(dir, 10).map(({ raw }) => raw.length > 5_000_000)).toEqual([true])
  dropLetters(dir, [nameOf(2).slice(0, -4), '../../x', 'no'])
  expect(lettersIn(dir, 10)).toMatchObject([{ to: ['b@x.vn'], from: 'a@x.vn' }])
  expect(lettersIn(dir, 0)).toEqual([])
})

test('what is no letter is no answer, and is gone', () => {
  const secret = path.join(root, 'secret')
  fs.writeFileSync(secret, letter(['thief@x.vn']))
  fs.symlinkSync(secret, path.join(dir, nameOf(1)))
  if (process.platform !== 'win32') execFileSync('mkfifo', [path.join(dir, nameOf(2))])
  fs.mkdirSync(path.join(dir, nameOf(3)))
  put(4, 'no envelope')
  put(5, letter([]))
  put(6, letter(Array.from({ length: 51 }, (_, at) => `p${at}@x.vn`)))
  put(7, letter(['a\u0000b@x.vn']))
  put(8, letter(['a@x.vn>\r\nRCPT TO:<b@x.vn']))
  put(9, letter(['an@x.vn'], 'two words@x.vn'))
  put(10, `${letter()}${'x'.repeat(11 * 1_048_576)}`)
  fs.writeFileSync(path.join(dir, 'anything.txt'), 'x')
  put(11, letter())
  expect(lettersIn(dir, 10).map(({ key }) => key)).toEqual([nameOf(11).slice(0, -4)])
  expect(fs.readdirSync(dir)).toEqual([nameOf(11)])
  // The target of the link is not touched.
  expect(fs.existsSync(secret)).toBe(true)
})

test('what is being written is left alone, for an hour', () => {
  const half = put(1, 'half', 'eml.new')
  expect(lettersIn(dir, 10)).toEqual([])
  expect(fs.existsSync(half)).toBe(true)
  const old = new Date(Date.now() - 2 * 3_600_000)
  fs.utimesSync(half, old, old)
  expect(lettersIn(dir, 10)).toEqual([])
  expect(fs.existsSync(half)).toBe(false)
})

test('a folder that is none, or a link to one, holds nothing', () => {
  put(1, letter())
  const link = path.join(root, 'link')
  fs.symlinkSync(dir, link)
  expect([hasLetters(dir), hasLetters(link), hasLetters(path.join(root, 'none'))]).toEqual([
    true,
    false,
    false,
  ])
  expect(lettersIn(link, 10)).toEqual([])
  dropLetters(link, [nameOf(1).slice(0, -4)])
  expect(hasLetters(dir)).toBe(true)
})
