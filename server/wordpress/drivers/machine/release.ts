// Files of WordPress itself that both nodes have are only named in an archive, and not sent. Of a
// fresh site that is nearly all of them. Everything except `releaseIn` is for a process of its own,
// as archive.ts.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import * as z from 'zod/mini'
import { openFile, partsOf } from './archive.ts'

/** WordPress's files on this node, which are copied for a new site. */
export interface Release {
  /** Differs wherever the files differ. */
  readonly id: string
  readonly dir: string
}

/**
 * The release in the folder, identified by the file that is written last; null: the files are
 * incomplete.
 */
export function releaseIn(filesDir: string): Release | null {
  try {
    const mark = fs.readFileSync(path.join(filesDir, '.complete'))
    return { id: createHash('sha256').update(mark).digest('hex'), dir: path.join(filesDir, 'wp') }
  } catch {
    return null
  }
}

/** The part of an archive's manifest about files that the archive does not hold. */
export const Released = z.object({
  /** The release that they are from. */
  id: z.string(),
  names: z.array(z.string()),
  /** Checksum of their contents, one after another. */
  sha256: z.string(),
})
export type Released = z.infer<typeof Released>

/**
 * Whether the file begins with that content; no more of it is read, because the site may be writing
 * to it.
 */
function holds(file: string, content: Buffer): boolean {
  const descriptor = openFile(file)
  if (descriptor === undefined) return false
  try {
    const found = Buffer.allocUnsafe(content.length)
    return (
      fs.readSync(descriptor, found, 0, found.length, 0) >= found.length && found.equals(content)
    )
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Compares files of a site with the release's, and keeps the names of equal ones. */
export class ReleasedNames {
  readonly #release: Release
  readonly #sum = createHash('sha256')
  readonly #names: string[] = []

  constructor(release: Release) {
    this.#release = release
  }

  /**
   * Bytes of the file where it equals the release's; undefined where it differs, and must be sent.
   */
  note(name: string, file: string): number | undefined {
    const own = path.join(this.#release.dir, name)
    const [of, at] = [own, file].map((one) => fs.lstatSync(one, { throwIfNoEntry: false }))
    if (!of?.isFile() || !at?.isFile()) return undefined
    // The copy gets the release's file, with its mode and time, so these must be equal, too.
    if (of.size !== at.size || of.mode !== at.mode || of.mtimeMs !== at.mtimeMs) return undefined
    const content = fs.readFileSync(own)
    if (!holds(file, content)) return undefined
    this.#sum.update(content)
    this.#names.push(name)
    return content.length
  }

  told(): Released {
    return { id: this.#release.id, names: this.#names, sha256: this.#sum.digest('hex') }
  }
}

/**
 * Writes the named files from this node's release, by `lay`; answers their number and bytes. Throws
 * where they are not the files that the other node has compared with.
 */
export async function layReleased(
  released: Released,
  release: Release | null,
  lay: (name: string, of: { mode: number; mtime: Date }, content: Buffer) => Promise<void>,
): Promise<{ readonly files: number; readonly bytes: number }> {
  if (released.id !== release?.id)
    throw new Error("the archive leaves files out that this node's WordPress does not have")
  const sum = createHash('sha256')
  let bytes = 0
  for (const name of released.names) {
    const parts = partsOf(name)
    if (!parts) throw new Error(`the archive names what no copy has: ${name}`)
    const own = path.join(release.dir, ...parts)
    const { mode, mtime } = fs.statSync(own)
    const content = fs.readFileSync(own)
    sum.update(content)
    bytes += content.length
    await lay(name, { mode: mode & 0o777, mtime }, content)
  }
  if (sum.digest('hex') !== released.sha256)
    throw new Error("this node's WordPress is not what the archive was made with")
  return { files: released.names.length, bytes }
}
