/**
 * Acts on a site's files by relative names. The site may turn any folder into a link meanwhile, so
 * each step starts from an open folder (open-folder.ts).
 */
import { constants } from 'node:fs'
import fs, { type FileHandle } from 'node:fs/promises'
import type { FileAnswer, FileEntry, FileFault, FileOrder } from '../../driver.ts'
import { hasProc, within, type OpenFolder } from './open-folder.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants
const mostEntries = 5_000
const deepest = 60
/** Largest piece of one read, bytes. */
const mostPiece = 1_048_576
/** An unfinished upload is removed after this, ms. */
const staleMs = 24 * 3_600_000
const uploadName = (upload: string): string => `.portal-upload-${upload}`
const isUploadName = /^\.portal-upload-[0-9a-f-]{36}$/

export class TreeFault extends Error {
  readonly fault: FileFault
  constructor(fault: FileFault) {
    super(fault)
    this.fault = fault
  }
}

const nameShape = /^(?!\.{1,2}$)[^/\0]{1,255}$/
/** The parts of a path; empty for the site's own folder. */
export function namesOf(where: string): string[] {
  const names = where.split('/').filter((name) => name !== '')
  if (names.length > deepest || !names.every((name) => nameShape.test(name)))
    throw new TreeFault('name')
  if (Buffer.byteLength(where) > 2_000) throw new TreeFault('name')
  return names
}

/** Whether the path is the platform's: SQLite's database, or the drop-in that leads to it. */
function isOurs(names: readonly string[]): boolean {
  const [content, second, ...more] = names.map((name) => name.toLowerCase())
  if (content !== 'wp-content') return false
  return second === 'database' || (second === 'db.php' && more.length === 0)
}

const made: ReadonlySet<string> = new Set(['wp-admin', 'wp-includes', 'wp-content'])

const codes: Readonly<Record<string, FileFault>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  ELOOP: 'link',
  EEXIST: 'exists',
  ENOTEMPTY: 'exists',
  EISDIR: 'kind',
  ENXIO: 'kind',
  EACCES: 'denied',
  EPERM: 'denied',
  ENOSPC: 'full',
  EDQUOT: 'full',
  ENAMETOOLONG: 'name',
}
const faultOf = (error: unknown): FileFault | undefined =>
  error instanceof TreeFault ? error.fault : codes[(error as NodeJS.ErrnoException).code ?? '']

/** Works with the last name, in the folder that holds it. */
async function withParent<T>(
  root: string,
  names: readonly string[],
  work: (folder: OpenFolder, name: string) => Promise<T>,
): Promise<T> {
  const name = names.at(-1)
  if (name === undefined) throw new TreeFault('name')
  return await within(root, names.slice(0, -1), (folder) => work(folder, name))
}

async function entryOf(folder: OpenFolder, name: string): Promise<FileEntry | null> {
  const stat = await fs.lstat(folder.at(name)).catch(() => null)
  if (!stat) return null
  const kinds = [
    ['file', stat.isFile()],
    ['folder', stat.isDirectory()],
    ['link', stat.isSymbolicLink()],
  ] as const
  const kind = kinds.find(([, is]) => is)?.[0] ?? 'other'
  return { name, kind, bytes: kind === 'file' ? stat.size : 0, at: Math.round(stat.mtimeMs) }
}

async function list(folder: OpenFolder, names: readonly string[]): Promise<FileAnswer> {
  const found = await folder.names()
  const entries: FileEntry[] = []
  for (const name of found.slice(0, mostEntries)) {
    if (isOurs([...names, name]) || isUploadName.test(name)) continue
    const entry = await entryOf(folder, name)
    if (entry) entries.push(entry)
  }
  return { entries, isWhole: found.length <= mostEntries }
}

async function openFile(where: string, flags: number, mode?: number): Promise<FileHandle> {
  if (!hasProc && (await fs.lstat(where).catch(() => null))?.isSymbolicLink())
    throw new TreeFault('link')
  const handle = await fs.open(where, flags | O_NOFOLLOW | O_NONBLOCK, mode)
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  throw new TreeFault('kind')
}

async function read(folder: OpenFolder, name: string, offset: number): Promise<FileAnswer> {
  const handle = await openFile(folder.at(name), O_RDONLY)
  try {
    const { size } = await handle.stat()
    const piece = Buffer.alloc(Math.max(0, Math.min(mostPiece, size - offset)))
    const { bytesRead } = await handle.read(piece, 0, piece.length, offset)
    return { bytes: size, data: piece.subarray(0, bytesRead).toString('base64') }
  } finally {
    await handle.close()
  }
}

/** Removes unfinished uploads that have not been continued. */
async function forgetStale(folder: OpenFolder): Promise<void> {
  for (const name of await folder.names()) {
    if (!isUploadName.test(name)) continue
    const stat = await fs.lstat(folder.at(name)).catch(() => null)
    if (stat && Date.now() - stat.mtimeMs > staleMs)
      await fs.rm(folder.at(name), { recursive: true, force: true })
  }
}

/**
 * Pieces go to a file beside the present one, and replace it once they are complete: a visitor
 * never gets half a file.
 */
async function write(
  folder: OpenFolder,
  name: string,
  order: Extract<FileOrder, { op: 'write' }>,
): Promise<FileAnswer> {
  const standing = await entryOf(folder, name)
  if (standing && standing.kind !== 'file') throw new TreeFault('exists')
  if (standing && !order.replaces) throw new TreeFault('exists')
  const scratch = folder.at(uploadName(order.upload))
  if (order.offset === 0) {
    await forgetStale(folder)
    await fs.rm(scratch, { force: true })
  }
  const flags = order.offset === 0 ? O_WRONLY | O_CREAT | O_EXCL : O_WRONLY
  const handle = await openFile(scratch, flags, 0o644)
  try {
    // A repeated piece is written again; a piece ahead of its turn is refused.
    const { size } = await handle.stat()
    if (order.offset > size) throw new TreeFault('offset')
    const data = Buffer.from(order.data, 'base64')
    await handle.write(data, 0, data.length, order.offset)
    if (!order.isLast) return { bytes: order.offset + data.length }
    await handle.truncate(order.offset + data.length)
  } finally {
    await handle.close()
  }
  await fs.rename(scratch, folder.at(name))
  return { bytes: (await entryOf(folder, name))?.bytes ?? 0 }
}

async function removeOne(
  folder: OpenFolder,
  name: string,
  kind: 'unlink' | 'rmdir',
): Promise<FileAnswer> {
  const entry = await entryOf(folder, name)
  if (!entry) throw new TreeFault('missing')
  if ((entry.kind === 'folder') !== (kind === 'rmdir')) throw new TreeFault('kind')
  await (kind === 'rmdir' ? fs.rmdir(folder.at(name)) : fs.unlink(folder.at(name)))
  return {}
}

/**
 * The mode always leaves the owner access; otherwise the file would be out of the owner's own
 * reach.
 */
const modeOf = (asked: number, isFolder: boolean): number =>
  (asked & 0o777) | (isFolder ? 0o700 : 0o600)

async function setAttributes(
  folder: OpenFolder,
  name: string,
  order: Extract<FileOrder, { op: 'attributes' }>,
): Promise<FileAnswer> {
  const entry = await entryOf(folder, name)
  if (!entry) throw new TreeFault('missing')
  if (entry.kind !== 'file' && entry.kind !== 'folder') throw new TreeFault('link')
  const isFolder = entry.kind === 'folder'
  const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (isFolder ? O_DIRECTORY : 0)
  const handle = await fs.open(folder.at(name), flags)
  try {
    // This path leads to the very file that is open, whatever its name leads to by now; Node's
    // permission model refuses fchmod(2) and futimes(2).
    const where = hasProc ? `/proc/self/fd/${handle.fd}` : folder.at(name)
    if (order.mode !== undefined) await fs.chmod(where, modeOf(order.mode, isFolder))
    if (order.at !== undefined) await fs.utimes(where, new Date(order.at), new Date(order.at))
  } finally {
    await handle.close()
  }
  return {}
}

async function stat(root: string, names: readonly string[]): Promise<FileAnswer> {
  if (names.length === 0) {
    const { mtimeMs } = await fs.lstat(root)
    const entry = { name: '', kind: 'folder', bytes: 0, at: Math.round(mtimeMs) } as const
    return { entries: [entry], isWhole: true }
  }
  return await withParent(root, names, async (folder, name) => {
    const entry = await entryOf(folder, name)
    if (!entry) throw new TreeFault('missing')
    return { entries: [entry], isWhole: true }
  })
}

async function removeEntry(folder: OpenFolder, name: string, depth = 0): Promise<void> {
  const entry = await entryOf(folder, name)
  if (!entry) throw new TreeFault('missing')
  if (entry.kind !== 'folder') return await fs.unlink(folder.at(name))
  if (depth > deepest) throw new TreeFault('name')
  const inner = await folder.folder(name)
  try {
    for (const one of await inner.names()) await removeEntry(inner, one, depth + 1)
  } finally {
    await inner.close()
  }
  await fs.rmdir(folder.at(name))
}

async function act(root: string, order: FileOrder): Promise<FileAnswer> {
  const names = namesOf(order.path)
  const target = 'to' in order ? namesOf(order.to) : []
  // Listing and reading are refused, too: the database's file holds more than its owner may see
  // here.
  if (isOurs(names) || isOurs(target)) throw new TreeFault('ours')
  // Folders that the site consists of cannot be removed by mistake.
  if (['remove', 'rmdir', 'move'].includes(order.op) && names.length === 1 && made.has(names[0]!))
    throw new TreeFault('ours')
  switch (order.op) {
    case 'list':
      return await within(root, names, (folder) => list(folder, names))
    case 'read':
      return await withParent(root, names, (folder, name) => read(folder, name, order.offset))
    case 'write':
      return await withParent(root, names, (folder, name) => write(folder, name, order))
    case 'folder':
      return await withParent(root, names, async (folder, name) => {
        await fs.mkdir(folder.at(name), { mode: 0o755 })
        return {}
      })
    case 'stat':
      return await stat(root, names)
    case 'unlink':
    case 'rmdir':
      return await withParent(root, names, (folder, name) => removeOne(folder, name, order.op))
    case 'attributes':
      return await withParent(root, names, (folder, name) => setAttributes(folder, name, order))
    case 'remove':
      return await withParent(root, names, async (folder, name) => {
        await removeEntry(folder, name)
        return {}
      })
    case 'move':
      if (target.length >= names.length && names.every((name, index) => name === target[index]))
        throw new TreeFault('name')
      return await withParent(root, names, (folder, name) =>
        withParent(root, target, async (other, next) => {
          if (!(await entryOf(folder, name))) throw new TreeFault('missing')
          if (await entryOf(other, next)) throw new TreeFault('exists')
          await fs.rename(folder.at(name), other.at(next))
          return {}
        }),
      )
  }
}

/** Does one act in the folder. A fault is returned as an answer; any other error is thrown. */
export async function actInTree(root: string, order: FileOrder): Promise<FileAnswer> {
  try {
    return await act(root, order)
  } catch (error) {
    const fault = faultOf(error)
    if (fault === undefined) throw error
    return { fault }
  }
}
