/**
 * The line between the portal and what runs the sites: JSON-RPC over the channel of a child
 * process, or over a port where both are one process (tests).
 */
import type { ChildProcess } from 'node:child_process'
import type { MessagePort } from 'node:worker_threads'
import {
  createMessageConnection,
  IPCMessageReader,
  IPCMessageWriter,
  PortMessageReader,
  PortMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node'
import type { CacheFigures, HostChange } from './edge/index.ts'
import type { LeaseDetails } from './node-lease.ts'
import type { UsageRow } from './site-usage.ts'

/** The edge's table of host names, over the line. */
export type EdgeCalls = {
  version: () => string | null
  apply: (change: HostChange) => string | null
  /** Figures of a site's page cache. */
  cacheFigures: (site: string) => CacheFigures
  /** Drops all kept pages of a site. Answers how many there were. */
  purgeCache: (site: string) => number
  /** See WriteHolds.hold of the edge. */
  holdWrites: (site: string, ms: number, patienceMs: number) => boolean
  /** See NodeLease.mark: null if the node has no lease. */
  markLease: () => number | null
  /** See NodeLease.renew. */
  renewLease: (
    mark: number | null,
    ms: number | null,
    withheld: readonly string[],
    details?: LeaseDetails | null,
  ) => boolean
  /** Visits and resources of sites, from site-usage.ts. */
  usage: (last: { readonly at: number; readonly site: string } | null, limit: number) => UsageRow[]
}
export const edgePrefix = 'edge'
/**
 * A request of release 2 in their place: { entries: HostEntry[] }, all host names that there are.
 * Either end may be of that release for as long as an upgrade takes.
 */
export const publishHosts = 'edge/publish'

/**
 * A line to a child, or to the parent (`process`). It ends, with all pending calls, when the other
 * end is gone. Not listening yet.
 */
export function lineTo(other: ChildProcess | NodeJS.Process): MessageConnection {
  const line = createMessageConnection(new IPCMessageReader(other), new IPCMessageWriter(other))
  other.once('disconnect', () => line.dispose())
  return line
}

/** A line within one process. Not listening yet. */
export function lineThrough(port: MessagePort): MessageConnection {
  const line = createMessageConnection(new PortMessageReader(port), new PortMessageWriter(port))
  port.once('close', () => line.dispose())
  return line
}

/** Other messages between the portal's process and its parent. */
export interface Boot {
  readonly databaseUrl: string
  /** When this start began, ms since 1970. */
  readonly began: number
  /** Commands find the portal by its pid file: of several processes one writes it. */
  readonly notesPid?: boolean
}
/**
 * The portal's first request, once it has found its settings good: answered with Boot when database
 * and sites are there.
 */
export const bootRequest = 'portal/boot'
/**
 * A request: { key }. Admits other machines' portals that have the key (NODE_LISTEN). Answered once
 * the port is open.
 */
export const openToOthersRequest = 'portal/open-to-others'
/** A notification: the portal listens. */
export const portalIsReady = 'portal/ready'
/** The parent's request to a process that was replaced: answered when it has nothing in hand. */
export const drainRequest = 'portal/drain'
