/**
 * An open folder, in which a site may turn any name into a link meanwhile: each step starts from an
 * open folder (openat(2), through /proc on Linux) and follows no link. Where there is no /proc, a
 * name is checked before, and a link refused.
 */
import { constants, existsSync, type Stats } from 'node:fs'
import fs, { type FileHandle } from 'node:fs/promises'
import path from 'node:path'

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Whether open files can be reached by a path in /proc. */
export const hasProc = existsSync('/proc/self/fd')

const isLink = (): Error => Object.assign(new Error('the name is a link'), { code: 'ELOOP' })

export class OpenFolder {
  readonly #handle: FileHandle
  readonly #dir: string
  private constructor(handle: FileHandle, dir: string) {
    this.#handle = handle
    this.#dir = dir
  }

  /** Opens a folder whose path, except its last name, no site can change. */
  static async open(dir: string): Promise<OpenFolder> {
    return new OpenFolder(await fs.open(dir, flags), dir)
  }
  /** A path to an entry of this folder that works even if the folder was renamed. */
  at(name: string): string {
    return this.#below('self', name)
  }
  /**
   * The same path for programs that this process starts, for which /proc/self is another process.
   */
  forPrograms(name: string): string {
    return this.#below(process.pid, name)
  }
  #below(process: 'self' | number, name: string): string {
    return hasProc ? `/proc/${process}/fd/${this.#handle.fd}/${name}` : path.join(this.#dir, name)
  }
  /** The subfolder of that name. An error with the code ELOOP: it is a link. */
  async folder(name: string): Promise<OpenFolder> {
    const where = this.at(name)
    if (!hasProc && (await fs.lstat(where)).isSymbolicLink()) throw isLink()
    // A link to a folder gives ENOTDIR or ELOOP, depending on the system.
    const handle = await fs.open(where, flags).catch(async (error: unknown) => {
      const stat = await fs.lstat(where).catch(() => null)
      throw stat?.isSymbolicLink() ? isLink() : error
    })
    return new OpenFolder(handle, path.join(this.#dir, name))
  }
  /** Figures of the folder itself. */
  stat(): Promise<Stats> {
    return this.#handle.stat()
  }
  /** The names in the folder. */
  names(): Promise<string[]> {
    return fs.readdir(this.at('.'))
  }
  /** Closes the folder, which must not be used any more. */
  async close(): Promise<void> {
    await this.#handle.close()
  }
}

/** Works in the folder of these names below `root`, and closes the folders that it opened. */
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
