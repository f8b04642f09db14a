// Packing and unpacking in a process of its own: a customer's database is opened here and not in the portal, and the portal's event loop stays free.
import { setPriority } from 'node:os'
import { packSite, unpackSite, type SitePlaces } from './archive.ts'

/** What the portal asks for; one order a process. */
export type ArchiveOrder =
  | { readonly op: 'pack'; readonly places: SitePlaces; readonly file: string; readonly scratchFile: string }
  | { readonly op: 'unpack'; readonly places: SitePlaces; readonly file: string }

const work = (order: ArchiveOrder) =>
  order.op === 'pack' ? packSite(order.places, order.file, order.scratchFile) : unpackSite(order.file, order.places)

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
    (error: unknown) => process.send?.({ fault: error instanceof Error ? error.message : String(error) }, () => process.exit(1)),
  )
})
