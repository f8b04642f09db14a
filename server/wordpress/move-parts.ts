/** Limits and steps that a move and the way back share. */
import { hours, minutes, seconds } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import type { MoveChange, MoveRow } from './move-store.ts'
import type { NodeControl } from './routed-driver.ts'
import type { SiteRow } from './store.ts'

/** Longest time of one archive, or of its restore: a site of many gigabytes. */
export const copyMs = hours(2)
/** Longest time of a start. */
export const startMs = minutes(5)
/** How long writing requests under way are waited for; after that the switch is tried again. */
export const patienceMs = 1_500
/** Longest time that writes wait at the edge. */
export const edgeHoldMs = seconds(20)
/**
 * How long the copy's writes and scheduled work are held; it does nothing by itself until the
 * switch.
 */
export const copyHoldMs = minutes(10)

/** The switch is given up after this, before the edge lets writes go on. */
export const switchMs = seconds(15)

/** A failure that another try cannot mend. */
export class GivenUp extends Error {}

/** Steps of both; each may be repeated. */
export interface MoveSteps {
  /** Stores everything that the switch changes in the database, in one transaction. */
  readonly writeDown: (
    tx: Tx,
    of: { readonly row: MoveRow; readonly site: SiteRow },
    to: { readonly node: string; readonly values: MoveChange },
  ) => Promise<void>
  /** Ends all holds of writes, whatever the outcome. */
  readonly letGo: (of: { readonly site: SiteRow; readonly from: NodeControl }) => Promise<void>
  /**
   * Completes the switch once it is stored: lets the server write, tells the edges, and sends
   * readers of its log to the new node.
   */
  readonly arrive: (
    row: MoveRow,
    at: { readonly node: string; readonly other: string },
  ) => Promise<void>
  /** The node's control; undefined while the node is away. */
  readonly controlIfThere: (node: string) => NodeControl | undefined
}
