/**
 * Uploaded files of sites that are moved in. Each piece is an object of its own, in a folder or at
 * a place that all portals see: the process that takes the next piece need not have the others.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { pieceBytes } from '../../contract/wordpress-import.ts'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { diskSpaceOf } from '../platform/disk-space.ts'
import { Refusal } from '../platform/errors.ts'
import type { ObjectStore } from '../platform/object-store/index.ts'
import {
  awaitedBytes,
  filesOf,
  importById,
  lockImport,
  pieceCount,
  piecesOf,
  receivedOf,
} from './import-store.ts'

export interface Received {
  readonly offset: number
  readonly bytes: number
}

export interface ImportFiles {
  /** Refuses with unavailable where this machine's disk has no room for so many more bytes. */
  requireRoom(tx: Tx, bytes: number): Promise<void>
  received(siteId: string, importId: string, file: string): Promise<Received>
  /**
   * Stores a piece. Refuses with conflict where the file does not end at `offset` (now), with
   * unavailable where the disk is full.
   */
  take(
    of: { siteId: string; importId: string; file: string; offset: number },
    chunks: AsyncIterable<Buffer>,
  ): Promise<Received>
  /** Has `act` read the uploads as files of this machine. Throws NoSuchFile. */
  use<T>(importId: string, act: (files: readonly string[]) => Promise<T>): Promise<T>
  remove(importId: string): Promise<void>
}

/** Longer than any attempt takes. */
const keptMs = 24 * 3_600_000
/** Free space that the machine keeps for everything else, bytes; a tenth of a small disk. */
const spareBytes = 2 * 1_073_741_824
/** Share of the free space that announced uploads of one customer keep from others. */
const shareOfOne = 1 / 8
/**
 * Limits the number of pieces, each of which is a row: pieces of this length, and some smaller
 * ones.
 */
const usualPieceBytes = 65_536
const smallPieces = 200

/** `scratch`: a folder of this machine that nobody else uses. */
export function createImportFiles(db: Database, store: ObjectStore, scratch: string): ImportFiles {
  const nameOf = (importId: string, piece: string): string => `${importId}/${piece}`

  async function standing(siteId: string, importId: string, file: string) {
    const row = await importById(db, importId)
    const index = /^\d{1,3}$/.test(file) ? Number(file) : -1
    const listed = row?.site_id === siteId ? filesOf(row)[index] : undefined
    if (!row || !listed) throw new Refusal('not_found')
    if (row.state !== 'uploading') throw new Refusal('conflict')
    const offset = (await receivedOf(db, importId)).get(index) ?? 0
    return { index, offset, bytes: listed.bytes }
  }

  /** Bytes that may be written here; 0 when the rest is needed for everything else. */
  async function freeBytes(): Promise<number> {
    await fs.mkdir(scratch, { recursive: true, mode: 0o700 })
    const { free, size } = await diskSpaceOf(scratch)
    return Math.max(0, free - Math.min(spareBytes, size / 10))
  }

  /** Removes what a killed process left, once nobody can be using it any more. */
  async function sweep(): Promise<void> {
    for (const name of await fs.readdir(scratch).catch(() => [])) {
      const left = path.join(scratch, name)
      const found = await fs.stat(left).catch(() => undefined)
      if (found && Date.now() - found.mtimeMs > keptMs)
        await fs.rm(left, { recursive: true, force: true })
    }
  }

  return {
    async requireRoom(tx, bytes) {
      const free = await freeBytes()
      // Other uploads that have begun will need room, too.
      if (free < (bytes + (await awaitedBytes(tx, free * shareOfOne))) * 2)
        throw new Refusal('unavailable')
    },
    async received(siteId, importId, file) {
      const { offset, bytes } = await standing(siteId, importId, file)
      return { offset, bytes }
    },
    async take({ siteId, importId, file, offset }, chunks) {
      const before = await standing(siteId, importId, file)
      if (before.offset !== offset) throw new Refusal('conflict')
      const allowed = Math.min(pieceBytes, before.bytes - offset)
      // The portal's own database may lie on this disk.
      if ((await freeBytes()) < allowed) throw new Refusal('unavailable')
      const name = randomUUID()
      let taken = 0
      const written = store.put(nameOf(importId, name), async (into) => {
        for await (const chunk of chunks) {
          taken += chunk.length
          if (taken > allowed) throw new Refusal('payload_too_large')
          if (!into.write(chunk)) await once(into, 'drain')
        }
        into.end()
      })
      await written.catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOSPC') throw new Refusal('unavailable')
        throw error
      })
      // A second of two simultaneous pieces, or one after the end of the upload, is not kept.
      const isKept =
        taken > 0 &&
        (await transaction(db, async (tx) => {
          const row = await lockImport(tx, siteId, importId)
          const now = (await receivedOf(tx, importId)).get(before.index) ?? 0
          if (row?.state !== 'uploading' || now !== offset) return false
          const most = Number(row.total_bytes) / usualPieceBytes + smallPieces
          if ((await pieceCount(tx, importId)) >= most) return false
          await tx
            .insertInto('site_import_piece')
            .values({
              import_id: importId,
              file: before.index,
              at: BigInt(offset),
              bytes: taken,
              name,
            })
            .execute()
          return true
        }))
      if (!isKept) await store.remove(nameOf(importId, name))
      if (!isKept && taken > 0) throw new Refusal('conflict')
      return { offset: offset + taken, bytes: before.bytes }
    },
    async use(importId, act) {
      await sweep()
      const folder = path.join(scratch, `${importId}-${randomUUID()}`)
      await fs.mkdir(folder, { recursive: true, mode: 0o700 })
      try {
        const row = await importById(db, importId)
        const files = (row ? filesOf(row) : []).map((_file, index) =>
          path.join(folder, String(index)),
        )
        for (const file of files) await fs.writeFile(file, '', { mode: 0o600 })
        for (const piece of await piecesOf(db, importId)) {
          const into = createWriteStream(files[piece.file]!, { flags: 'a' })
          await pipeline(await store.get(nameOf(importId, piece.name)), into)
        }
        return await act(files)
      } finally {
        await fs.rm(folder, { recursive: true, force: true })
      }
    },
    async remove(importId) {
      // Lists the store itself: a killed process may have left a piece that no row names.
      for (const name of await store.list())
        if (name.startsWith(`${importId}/`)) await store.remove(name)
      await db.deleteFrom('site_import_piece').where('import_id', '=', importId).execute()
    },
  }
}
