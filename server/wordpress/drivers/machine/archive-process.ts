// Packing and unpacking in a process of its own: a customer's database is opened here and not in
// the portal, as the site's user and held to its folders (confinement.ts). The archive is a
// descriptor that the portal opened: standard input when it is read, standard output when it is
// written.
import { setPriority } from 'node:os'
import type { CopyFigures, RoundCompression } from '../../driver.ts'
import { moveIn, type MoveInOrder } from './import/move-in.ts'
import type { CountedTable } from './carry-to-sqlite.ts'
import {
  layDump,
  packChanges,
  unpackChanges,
  type LayOrder,
  type PackedDatabase,
} from './changes.ts'
import { packSite, unpackSite, type SitePlaces } from './archive.ts'
import type { Release } from './release.ts'
import { UnfitDatabase } from './snapshot.ts'

/** What the portal asks for; one order a process. */
export type ArchiveOrder =
  | {
      readonly op: 'pack'
      readonly places: SitePlaces
      /** Holds the database's snapshot meanwhile. */
      readonly scratchFile: string
      /** Of the files together, uncompressed; beyond it nothing is packed. */
      readonly maxBytes: number
      /** Of the dump that `scratchFile` is already; without it the database is SQLite's. */
      readonly dumped?: CopyFigures['tables']
    }
  | { readonly op: 'unpack'; readonly places: SitePlaces }
  | {
      readonly op: 'pack_changes'
      readonly places: SitePlaces
      readonly scratchFile: string
      readonly maxBytes: number
      readonly since: string | null
      readonly tried: readonly string[]
      readonly listing: string
      readonly database: PackedDatabase
      readonly compression: RoundCompression
      readonly release: Release | null
    }
  | ({ readonly op: 'lay_changes'; readonly places: SitePlaces } & LayOrder)
  | ({
      readonly op: 'lay_dump'
      readonly places: SitePlaces
      readonly counted: readonly CountedTable[]
    } & LayOrder)
  | MoveInOrder

const standardInput = 0
const standardOutput = 1

function work(order: ArchiveOrder) {
  if (order.op === 'import') return moveIn(order)
  if (order.op === 'pack_changes') return packChanges(order.places, standardOutput, order)
  if (order.op === 'lay_changes') return unpackChanges(standardInput, order.places, order)
  // An answer of its own, for null says nothing to the portal.
  if (order.op === 'lay_dump')
    return layDump(order.places, order, order.counted).then((tables) => ({ tables }))
  return order.op === 'pack'
    ? packSite(order.places, standardOutput, order.scratchFile, order.maxBytes, order.dumped)
    : unpackSite(standardInput, order.places)
}

try {
  // Visitors come first.
  setPriority(10)
} catch {
  // Not permitted here: the platform's default will do.
}
// The portal is gone: so is whoever wanted this.
process.once('disconnect', () => process.exit(1))
process.once('message', (order: ArchiveOrder) => {
  work(order).then(
    (figures) => process.send?.({ figures }, () => process.exit(0)),
    (error: unknown) =>
      process.send?.(
        {
          fault: error instanceof Error ? error.message : String(error),
          unfit: error instanceof UnfitDatabase,
        },
        () => process.exit(1),
      ),
  )
})
