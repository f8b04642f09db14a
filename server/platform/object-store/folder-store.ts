/** Files in a folder of this machine, such as a mounted disk of another one. */
import { createReadStream, createWriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { once } from 'node:events'
import { endStream, NoSuchFile, type ObjectStore } from './store.ts'

/** The suffix of a file that is being written, or was when the process was killed. */
const unfinished = '.part'

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await fs.open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Files below a folder. A folder that is missing, or vanishes meanwhile (a pruned backup), has
 * none; Node's own recursive listing would fail for all of them.
 */
async function* filesBelow(folder: string): AsyncGenerator<string> {
  const entries = await fs
    .readdir(folder, { withFileTypes: true })
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
  for (const entry of entries) {
    const full = path.join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(full)
    else if (entry.isFile()) yield full
  }
}

export function folderStore(folder: string): ObjectStore {
  const base = path.resolve(folder)
  const fileOf = (name: string): string => path.join(base, ...name.split('/'))
  return {
    place: folder,
    async list() {
      const names: string[] = []
      for await (const file of filesBelow(base))
        names.push(path.relative(base, file).split(path.sep).join('/'))
      return names
    },
    async put(name, write) {
      const file = fileOf(name)
      await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      const into = createWriteStream(file + unfinished, { mode: 0o600, flush: true })
      try {
        await write(into)
        if (!into.closed) await once(into, 'close')
        await fs.rename(file + unfinished, file)
        await syncFolder(path.dirname(file))
      } catch (error) {
        await endStream(into)
        await fs.rm(file + unfinished, { force: true })
        throw error
      }
    },
    async get(name, part) {
      const stream = createReadStream(fileOf(name), { ...part })
      await once(stream, 'open').catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new NoSuchFile(name) : error
      })
      return stream
    },
    async remove(name) {
      await fs.rm(fileOf(name), { force: true })
      // The folders that are empty now, up to the one that the operator named.
      for (
        let each = path.dirname(fileOf(name));
        each.startsWith(base + path.sep);
        each = path.dirname(each)
      )
        if (
          !(await fs.rmdir(each).then(
            () => true,
            () => false,
          ))
        )
          break
    },
  }
}
