/** Finds the parts of a WordPress site in unpacked packages, by their folders. */
import fs from 'node:fs'
import path from 'node:path'
import { looksLikeSql } from './unpack.ts'

/** Folders of wp-content; packages of backup plugins hold them without wp-content. */
const contentFolders = ['plugins', 'themes', 'uploads', 'mu-plugins'] as const
const isContent = (name: string): boolean => contentFolders.some((one) => one === name)
/** Folders of core, which are not needed. */
const coreFolders = new Set(['wp-admin', 'wp-includes'])
const deepest = 4
const sniffBytes = 65_536
/** Folders by which UpdraftPlus's zip of the rest of wp-content is recognised. */
const otherContent = new Set(['languages', 'fonts'])

export interface FoundParts {
  /** Folders whose content goes into wp-content unchanged. */
  readonly contents: string[]
  /** Folders that hold a wp-content: their other entries belong to the site's root. */
  readonly roots: string[]
  /** Dumps, the largest first. */
  readonly dumps: string[]
  /** A database of the portal's own archives. */
  readonly sqlite: string | null
  readonly maker: 'portal' | 'updraftplus' | 'duplicator' | 'all-in-one' | 'files'
}

const entriesOf = (folder: string): fs.Dirent[] => fs.readdirSync(folder, { withFileTypes: true })

function folders(folder: string): string[] {
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
}

/** The first folder, from the top down, for which `is` is true. */
function findFolder(top: string, is: (names: readonly string[]) => boolean): string | undefined {
  let level = [top]
  for (let depth = 0; depth <= deepest && level.length > 0; depth++) {
    const found = level.find((one) => is(folders(one)))
    if (found !== undefined) return found
    level = level.flatMap((one) =>
      folders(one)
        .filter((name) => !coreFolders.has(name) && name !== 'wp-content' && !isContent(name))
        .map((name) => path.join(one, name)),
    )
  }
  return undefined
}

function headOf(file: string): Buffer {
  const descriptor = fs.openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(sniffBytes)
    return bytes.subarray(0, fs.readSync(descriptor, bytes, 0, sniffBytes, 0))
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Files that look like a dump, outside the site's own content. */
function* dumpsBelow(folder: string, depth = 0): Generator<string> {
  for (const entry of entriesOf(folder)) {
    const full = path.join(folder, entry.name)
    if (entry.isDirectory()) {
      const isSites = coreFolders.has(entry.name) || isContent(entry.name)
      if (!isSites && depth < deepest) yield* dumpsBelow(full, depth + 1)
    } else if (entry.isFile() && !/\.(?:php|js|css|html?|txt|md)$/i.test(entry.name))
      if (looksLikeSql(headOf(full))) yield full
  }
}

const sizeOf = (file: string): number => fs.statSync(file).size
const has = (folder: string, name: string): boolean => fs.existsSync(path.join(folder, name))

/** `uploads`: one folder for each uploaded file. `isWpress`: one of them was a .wpress package. */
export function findParts(uploads: readonly string[], isWpress: boolean): FoundParts {
  const contents: string[] = []
  const roots: string[] = []
  let sqlite: string | null = null
  let maker: FoundParts['maker'] = isWpress ? 'all-in-one' : 'files'
  let loose = 0
  for (const upload of uploads) {
    const database = path.join(upload, 'database', 'wordpress.sqlite')
    if (has(upload, 'manifest.json') && fs.existsSync(database)) {
      sqlite = database
      maker = 'portal'
    } else if (['manifest.json', 'database.sql', 'wordpress'].every((one) => has(upload, one)))
      // An archive of a runtime with MariaDB.
      maker = 'portal'
    const root = findFolder(upload, (names) => names.includes('wp-content'))
    if (root !== undefined) {
      roots.push(root)
      contents.push(path.join(root, 'wp-content'))
      if (has(root, 'dup-installer')) maker = 'duplicator'
      continue
    }
    const content = findFolder(upload, (names) => names.some(isContent))
    if (content !== undefined) {
      contents.push(content)
      loose++
    } else if (folders(upload).some((name) => otherContent.has(name))) contents.push(upload)
  }
  if (loose > 1) maker = 'updraftplus'
  const dumps = uploads
    .flatMap((upload) => [...dumpsBelow(upload)])
    .toSorted((one, other) => sizeOf(other) - sizeOf(one))
  const [dump] = dumps
  if (dump !== undefined && /UpdraftPlus/i.test(headOf(dump).subarray(0, 2_000).toString('latin1')))
    maker = 'updraftplus'
  return { contents, roots, dumps, sqlite, maker }
}

const versionLine = /\$wp_version\s*=\s*'([\d.]{1,20})/
/** The version of WordPress that the package was made with. */
export function versionIn(roots: readonly string[]): string | null {
  for (const root of roots) {
    const file = path.join(root, 'wp-includes', 'version.php')
    if (fs.existsSync(file)) return versionLine.exec(headOf(file).toString('latin1'))?.[1] ?? null
  }
  return null
}

const prefixLine = /\$table_prefix\s*=\s*(['"])([A-Za-z0-9_]{0,60})\1/
/** The prefix in the package's wp-config.php; nothing else of that file is read. */
export function prefixIn(roots: readonly string[]): string | undefined {
  for (const root of roots) {
    const file = path.join(root, 'wp-config.php')
    const found = fs.existsSync(file) ? prefixLine.exec(headOf(file).toString('latin1')) : null
    if (found) return found[2]
  }
  return undefined
}
