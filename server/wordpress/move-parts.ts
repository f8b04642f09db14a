/** What a move and its way back share. */
import { minutes, seconds } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { MoveChange, MoveRow } from './move-store.ts'
import type { NodeControl } from './routed-driver.ts'
import type { SiteRow } from './store.ts'

export const startMs = minutes(5)
/** Requests that write are waited for so long before they are held; then it is tried again. */
export const patienceMs = 1_500
/** Writes wait at the edge for so long at most. */
export const edgeHoldMs = seconds(20)
/** The copy does nothing by itself until the switch. */
export const copyHoldMs = minutes(10)

/** The switch is given up before writes go on at the edge. */
export const switchMs = seconds(15)

/** What cannot be mended by another try. */
export class GivenUp extends Error {}

/** Steps that both take, each of which may be done twice. */
export interface MoveSteps {
  /** Everything that the switch changes in the database, at once. */
  readonly writeDown: (
    tx: Tx,
    of: { readonly row: MoveRow; readonly site: SiteRow },
    to: { readonly node: string; readonly values: MoveChange },
  ) => Promise<void>
  /** Nobody waits any more, whatever came of it. */
  readonly letGo: (of: { readonly site: SiteRow; readonly from: NodeControl }) => Promise<void>
  /** The server is there: it writes, the edges know, and who watched its log watches there. */
  readonly arrive: (
    row: MoveRow,
    at: { readonly node: string; readonly other: string },
  ) => Promise<void>
  /** Undefined while it is away. */
  readonly controlIfThere: (node: string) => NodeControl | undefined
}
