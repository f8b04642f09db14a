/**
 * How long a node accepts writes without contact to a portal (decision 123). A machine that is cut
 * off must not accept orders for servers that came up elsewhere meanwhile: after its lease its
 * sites are read-only until a portal is in touch again. Portals count from a later moment than the
 * node: the node gives them a mark of its own clock before they grant it time.
 */
import os from 'node:os'
import type { EdgeFence } from './edge/index.ts'

/** See `LeaseDetails` of wordpress/lease-store.ts. */
export interface LeaseDetails {
  readonly order: number
  readonly readOnly: readonly string[]
  /** A portal of an older release says nothing of them. */
  readonly mirrored?: { readonly ms: number; readonly sites: readonly string[] } | null
}

/** The part of the runtime that holds writes. */
interface Runtime {
  answering(): Promise<Readonly<Record<string, number>>>
  holdWrites(id: string, ms: number): Promise<boolean>
  fenceWrites(id: string, ms: number): void
}

export interface NodeLease {
  /** Now, by the node's own clock; null: this node keeps to no lease. */
  mark(): number | null
  /**
   * Grants the node's sites writes for `ms` from the mark on; null: without an end. `withheld`
   * sites came up elsewhere: before it resolves, nothing here answers for them or accepts a write.
   * Mirrored sites accept writes for their own time in `details`; true: the node obeys that.
   */
  renew(
    mark: number | null,
    ms: number | null,
    withheld: readonly string[],
    details?: LeaseDetails | null,
  ): Promise<boolean>
  readonly fence: EdgeFence
  close(): void
}

const lookMs = 1_000
/** Containers hold writes for this long, ms, and are told again well before its end. */
const holdMs = 60_000
const holdAgainMs = 20_000
const dayMs = 86_400_000
/** Two clocks may run apart. */
const marginMs = 300_000

/**
 * A monotonic clock that continues while the machine sleeps, ms. The process's clock stops then;
 * the system's may be coarse.
 */
function steadyClock(): () => number {
  const begin = { process: performance.now(), system: os.uptime() * 1_000 }
  return () => Math.max(performance.now() - begin.process, os.uptime() * 1_000 - begin.system)
}

/**
 * @param forget drops what is kept of the pages of a site
 * @param keeps false: a portal runs on this machine, which knows what its node has to do
 * @param now a steady clock, ms; the machine's when not given
 */
export function createNodeLease(
  runtime: Runtime,
  forget: (site: string) => void,
  log: { warn(detail: object, message: string): void; info(detail: object, message: string): void },
  keeps: boolean,
  now: () => number = steadyClock(),
): NodeLease {
  /** Null without an end, as before the first promise: nothing runs then that no portal started. */
  let until: number | null = null
  let withheld: ReadonlySet<string> = new Set()
  let readOnly: ReadonlySet<string> = new Set()
  let newest = 0
  /** Sites whose containers were told to hold writes, and the time they were last told. */
  let held = new Set<string>()
  let heldAt = Number.NEGATIVE_INFINITY

  /**
   * When the mirrored sites' writes end, because they come up elsewhere soon afterwards (decision
   * 135).
   */
  let mirroredUntil = 0
  let mirrored: ReadonlySet<string> = new Set()
  /** The mirrored sites whose containers were told. */
  let fenced = new Set<string>()
  let fencedAt = Number.NEGATIVE_INFINITY

  const isOver = (): boolean => until !== null && now() >= until
  const isMirroredOver = (): boolean => now() >= mirroredUntil

  function fenceMirrored(): void {
    if (!isMirroredOver() || mirrored.size === 0 || now() - fencedAt < holdAgainMs) return
    if (fenced.size === 0)
      log.warn(
        {},
        'no portal was in touch: sites with a mirror may come up elsewhere, and are read',
      )
    fencedAt = now()
    fenced = new Set(mirrored)
    for (const id of fenced) runtime.fenceWrites(id, holdMs)
  }
  /** A site may be fenced for two reasons: it accepts writes when both have ended. */
  function lift(id: string): void {
    if (!held.has(id) && !fenced.has(id)) runtime.fenceWrites(id, 0)
  }
  /** Lifts the fence of sites that may accept writes again or are not mirrored any more. */
  function unfence(): void {
    for (const id of fenced)
      if (!mirrored.has(id) || !isMirroredOver()) {
        fenced.delete(id)
        lift(id)
      }
    if (fenced.size === 0) fencedAt = Number.NEGATIVE_INFINITY
  }

  /** A fence, so that its end does not end what a portal holds for an update or a move. */
  async function hold(): Promise<void> {
    heldAt = now()
    for (const id of Object.keys(await runtime.answering())) {
      held.add(id)
      runtime.fenceWrites(id, holdMs)
    }
  }
  function release(): void {
    const all = held
    held = new Set()
    heldAt = Number.NEGATIVE_INFINITY
    for (const id of all) lift(id)
  }

  const timer = setInterval(() => {
    fenceMirrored()
    if (!isOver() || now() - heldAt < holdAgainMs) return
    if (held.size === 0)
      log.warn({}, 'no portal was in touch for too long: the sites of this node are only read')
    hold().catch((error: unknown) => log.warn({ err: error }, 'holding writes of the sites'))
  }, lookMs)
  timer.unref()

  return {
    mark: () => (keeps ? now() : null),
    async renew(mark, ms, elsewhere, details) {
      const { order, readOnly: read, mirrored: brief } = details ?? { order: newest, readOnly: [] }
      const isNewest = order >= newest
      const keepsMirrored = keeps && mark !== null && isNewest && brief != null
      if (isNewest) {
        newest = order
        withheld = new Set(elsewhere)
        readOnly = new Set(read)
        mirrored = new Set(keepsMirrored ? brief.sites : [])
        if (keepsMirrored) mirroredUntil = Math.max(mirroredUntil, mark + brief.ms)
        // Longer than the lease, because this may be the last message for some time.
        const readOnlyMs = (ms ?? dayMs) + marginMs
        for (const id of read) if (readOnly.has(id)) await runtime.holdWrites(id, readOnlyMs)
        for (const id of elsewhere) {
          // A newer list may have come meanwhile.
          if (!withheld.has(id)) continue
          forget(id)
          await runtime.holdWrites(id, holdMs)
        }
      }
      unfence()
      const wasOver = isOver()
      if (keeps && mark !== null && ms !== null) until = Math.max(until ?? 0, mark + ms)
      // An older promise does not take an end away that a newer one has given.
      if (ms === null && order >= newest) until = null
      if ((wasOver || held.size > 0) && !(wasOver && isOver())) {
        release()
        log.info({}, 'a portal is in touch again: the sites of this node take writes')
      }
      return keepsMirrored
    },
    fence: {
      withholds: (site) => withheld.has(site),
      isUp: (site) => isOver() || (mirrored.has(site) && isMirroredOver()),
    },
    close: () => clearInterval(timer),
  }
}
