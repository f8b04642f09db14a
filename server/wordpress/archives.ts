/**
 * Where the archives of servers' backups lie: in a folder of this machine, where they are written
 * and read in place, or at a place that all portals see (SITE_BACKUPS_TO).
 */
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { folderStore, type ObjectStore } from '../platform/object-store/index.ts'

/** A range of bytes of a file; both ends are included. */
export interface Part {
  readonly start: number
  readonly end: number
}

export interface Archives {
  /** Has `make` write the archive into a file; it is kept once that resolves. */
  make<T>(of: ArchiveName, make: (file: string) => Promise<T>): Promise<{ made: T; bytes: number }>
  /** Has `use` read the archive as a file of this machine. Throws NoSuchFile. */
  use<T>(of: ArchiveName, use: (file: string) => Promise<T>): Promise<T>
  /** Streams the archive, or a part of it. Throws NoSuchFile. */
  read(of: ArchiveName, part?: Part): Promise<Readable>
  /** Stores an archive that was made elsewhere, as `ObjectStore.put` does. */
  put(of: ArchiveName, write: (into: Writable) => Promise<void>): Promise<void>
  /** Does nothing where there is no archive. */
  remove(of: ArchiveName): Promise<void>
  /** Lists all archives, in no order. */
  list(): Promise<ArchiveName[]>
}

export interface ArchiveName {
  readonly siteId: string
  readonly backupId: string
}
const nameOf = ({ siteId, backupId }: ArchiveName): string => `${siteId}/${backupId}.tar.gz`
const named = /^([0-9a-f-]{36})\/([0-9a-f-]{36})\.tar\.gz$/

async function listIn(store: ObjectStore): Promise<ArchiveName[]> {
  return (await store.list()).flatMap((name) => {
    const [, siteId, backupId] = named.exec(name) ?? []
    return siteId !== undefined && backupId !== undefined ? [{ siteId, backupId }] : []
  })
}

/** Keeps archives in a folder of this machine. */
export function archivesIn(folder: string): Archives {
  const store = folderStore(folder)
  const fileOf = (of: ArchiveName): string => path.join(folder, nameOf(of))
  return {
    async make(of, make) {
      const made = await make(fileOf(of))
      return { made, bytes: (await fs.stat(fileOf(of))).size }
    },
    use: (of, use) => use(fileOf(of)),
    read: (of, part) => store.get(nameOf(of), part),
    put: (of, write) => store.put(nameOf(of), write),
    remove: (of) => store.remove(nameOf(of)),
    list: () => listIn(store),
  }
}

/** Keeps archives in `store`; `scratch` is a folder of this machine that nobody else uses. */
export function archivesAt(store: ObjectStore, scratch: string): Archives {
  /** Gives `act` a scratch file, which is removed when `act` has ended. */
  async function withScratch<T>(act: (file: string) => Promise<T>): Promise<T> {
    const folder = path.join(scratch, randomUUID())
    await fs.mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      return await act(path.join(folder, 'archive.tar.gz'))
    } finally {
      await fs.rm(folder, { recursive: true, force: true })
    }
  }
  return {
    make: (of, make) =>
      withScratch(async (file) => {
        const made = await make(file)
        await store.put(nameOf(of), (into) => pipeline(createReadStream(file), into))
        return { made, bytes: (await fs.stat(file)).size }
      }),
    use: (of, use) =>
      withScratch(async (file) => {
        await pipeline(await store.get(nameOf(of)), createWriteStream(file, { mode: 0o600 }))
        return await use(file)
      }),
    read: (of, part) => store.get(nameOf(of), part),
    put: (of, write) => store.put(nameOf(of), write),
    remove: (of) => store.remove(nameOf(of)),
    list: () => listIn(store),
  }
}
