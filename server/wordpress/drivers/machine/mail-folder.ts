// Letters that a site's PHP has sent (runtimes/wordpress-wasm/src/mail-spool.js), until the portal
// has taken them. The site's user owns their folder: nothing in it is trusted.
import fs, { constants } from 'node:fs'
import path from 'node:path'
import * as z from 'zod/mini'
import type { SpooledLetter } from '../../driver.ts'

const nameShape = /^([0-9a-z]{9})-[0-9a-f]{24}\.eml$/
/** The runtime's limit of a letter, plus its envelope. */
const mostBytes = 10 * 1_048_576 + 65_536
const mostRecipients = 50
/** Bytes of one answer, beyond its first letter. */
const answerBytes = 4 * 1_048_576
/** A file that a killed process left incomplete is removed after this. */
const scratchMs = 3_600_000

/** Characters that are safe in an SMTP command, and in the database. */
const part = String.raw`[^\0-\x20\x7f<>()[\]\\,;:"@]`
const address = z.string().check(z.regex(new RegExp(`^${part}{1,64}@${part}{1,253}$`)))
const envelope = z.object({
  from: z.nullable(address),
  to: z.array(address).check(z.minLength(1), z.maxLength(mostRecipients)),
})

/**
 * The content of a regular file, without following links; null where it is no regular file, or too
 * large.
 */
function readRegular(file: string): Buffer | null {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const descriptor = fs.openSync(file, flags)
  try {
    const stat = fs.fstatSync(descriptor)
    if (!stat.isFile() || stat.size > mostBytes) return null
    const bytes = Buffer.alloc(stat.size)
    return fs.readSync(descriptor, bytes, 0, stat.size, 0) === stat.size ? bytes : null
  } finally {
    fs.closeSync(descriptor)
  }
}

function letterIn(dir: string, name: string): SpooledLetter | null {
  const [, at] = nameShape.exec(name) ?? []
  try {
    const bytes = at === undefined ? null : readRegular(path.join(dir, name))
    if (at === undefined || bytes === null) return null
    const end = bytes.indexOf('\n')
    const said = envelope.parse(JSON.parse(bytes.subarray(0, Math.max(0, end)).toString('utf8')))
    return {
      key: name.slice(0, -'.eml'.length),
      at: new Date(Math.min(Date.now(), Number.parseInt(at, 36))),
      ...said,
      raw: bytes.subarray(end + 1),
    }
  } catch {
    return null
  }
}

/** The names in the folder, oldest first; none where it is not a folder. */
function namesIn(dir: string): string[] {
  try {
    return fs.lstatSync(dir).isDirectory() ? fs.readdirSync(dir).toSorted() : []
  } catch {
    return []
  }
}

const remove = (file: string): void => {
  try {
    fs.rmSync(file, { recursive: true, force: true })
  } catch {
    // Its owner has denied access to a folder; it is removed with the site.
  }
}

function isBeingWritten(file: string): boolean {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs < scratchMs
}

/** The oldest letters; removes anything else in the folder. */
export function lettersIn(dir: string, limit: number): SpooledLetter[] {
  const letters: SpooledLetter[] = []
  let bytes = 0
  for (const name of namesIn(dir)) {
    if (letters.length >= limit) break
    const file = path.join(dir, name)
    const letter = letterIn(dir, name)
    if (!letter) {
      if (!name.endsWith('.new') || !isBeingWritten(file)) remove(file)
      continue
    }
    bytes += letter.raw.length
    if (letters.length > 0 && bytes > answerBytes) break
    letters.push(letter)
  }
  return letters
}

/** Removes letters by their keys. */
export function dropLetters(dir: string, keys: readonly string[]): void {
  if (namesIn(dir).length === 0) return
  for (const key of keys) {
    const name = `${key}.eml`
    if (nameShape.test(name)) remove(path.join(dir, name))
  }
}

export const hasLetters = (dir: string): boolean => namesIn(dir).length > 0
