/**
 * A folder that is open, in which a site may turn any name into a link meanwhile: each step goes
 * from an open folder (openat(2), by /proc on Linux) and follows no link. Where there is no /proc,
 * a name with a link in it is refused by a look before.
 */
import { constants, existsSync, type Stats } from 'node:fs'
import fs, { type FileHandle } from 'node:fs/promises'
import path from 'node:path'

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Whether an open file has a path of its own here. */
export const hasProc = existsSync('/proc/self/fd')

const isLink = (): Error => Object.assign(new Error('the name is a link'), { code: 'ELOOP' })

export class OpenFolder {
  readonly #handle: FileHandle
  readonly #dir: string
  private constructor(handle: FileHandle, dir: string) {
    this.#handle = handle
    this.#dir = dir
  }

  /** Opens a folder whose path, but for its last name, no site can change. */
  static async open(dir: string): Promise<OpenFolder> {
    return new OpenFolder(await fs.open(dir, flags), dir)
  }
  /** Where the system finds an entry of this folder, whatever its own path has become. */
  at(name: string): string {
    return this.#below('self', name)
  }
  /** The same for programs that this process starts: /proc/self is their own to them. */
  forPrograms(name: string): string {
    return this.#below(process.pid, name)
  }
  #below(process: 'self' | number, name: string): string {
    return hasProc ? `/proc/${process}/fd/${this.#handle.fd}/${name}` : path.join(this.#dir, name)
  }
  /** The folder of that name in this one. An error with the code ELOOP: it is a link. */
  async folder(name: string): Promise<OpenFolder> {
    const where = this.at(name)
    if (!hasProc && (await fs.lstat(where)).isSymbolicLink()) throw isLink()
    // A link to a folder is ENOTDIR or ELOOP by systems.
    const handle = await fs.open(where, flags).catch(async (error: unknown) => {
      const stat = await fs.lstat(where).catch(() => null)
      throw stat?.isSymbolicLink() ? isLink() : error
    })
    return new OpenFolder(handle, path.join(this.#dir, name))
  }
  /** Of the folder itself. */
  stat(): Promise<Stats> {
    return this.#handle.stat()
  }
  /** What lies in it. */
  names(): Promise<string[]> {
    return fs.readdir(this.at('.'))
  }
  /** It must not be used any more. */
  async close(): Promise<void> {
    await this.#handle.close()
  }
}

/** Works in the folder of these names below `root`, and closes what it opened on the way. */
export async function within<T>(
  root: string,
  names: readonly string[],
  work: (folder: OpenFolder) => Promise<T>,
): Promise<T> {
  let folder = await OpenFolder.open(root)
  try {
    for (const name of names) {
      const next = await folder.folder(name)
      await folder.close()
      folder = next
    }
    return await work(folder)
  } finally {
    await folder.close()
  }
}
