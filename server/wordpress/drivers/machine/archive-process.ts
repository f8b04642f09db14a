// Packs and unpacks in a process of its own: a customer's database is opened here and not in the
// portal, as the site's user and confined to its folders (confinement.ts). The portal opens the
// archive and passes its descriptor: standard input for reading, standard output for writing.
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

/** The portal's order; a process carries out one. */
export type ArchiveOrder =
  | {
      readonly op: 'pack'
      readonly places: SitePlaces
      /** Temporary file for the database's snapshot. */
      readonly scratchFile: string
      /** Limit of all files together, uncompressed; beyond it nothing is packed. */
      readonly maxBytes: number
      /** Figures of the dump that `scratchFile` holds; absent: the database is SQLite's. */
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
  // Wrapped in an object, because the portal cannot tell a bare null from no answer.
  if (order.op === 'lay_dump')
    return layDump(order.places, order, order.counted).then((tables) => ({ tables }))
  return order.op === 'pack'
    ? packSite(order.places, standardOutput, order.scratchFile, order.maxBytes, order.dumped)
    : unpackSite(standardInput, order.places)
}

try {
  // Visitors' requests go first.
  setPriority(10)
} catch {
  // Not permitted here: the default priority is good enough.
}
// The portal is gone, so nobody needs the result.
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
