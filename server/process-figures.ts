/**
 * Figures and counters of each portal process since its start. The parent and the name server
 * answer over the line, so that one /metrics shows all three.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { MessageConnection } from 'vscode-jsonrpc/node'
import type { NameServerCounts } from './dns/index.ts'
import type { CacheCounts, EdgeCounts, TlsCounts } from './edge/index.ts'
import { callsOver, passOn, serveOver } from './platform/rpc.ts'
import { version } from './version.ts'
import type { RuntimeCounts } from './wordpress/index.ts'

export interface ProcessFigures {
  readonly version: string
  /** When it began, seconds since 1970. */
  readonly startedAt: number
  readonly residentBytes: number
  /** The 99th percentile of the event loop's delay since the last reading, seconds. */
  readonly lagSeconds: number
}

/** The parent's figures: the runtime of the sites, and the edge. */
export interface ParentFigures extends ProcessFigures {
  readonly edge: EdgeCounts
  /** Undefined where the parent is of a release without one. */
  readonly cache?: CacheCounts
  /** `held`: the edge's certificates; `open`: those that are ready for use. */
  readonly tls: TlsCounts & { readonly held: number; readonly open: number }
  readonly runtime: RuntimeCounts
}
export interface NameServerFigures extends ProcessFigures {
  readonly dns: NameServerCounts
}

const resolutionMs = 20

/** One histogram per process, because it is a timer that never ends. */
let histogram: ReturnType<typeof monitorEventLoopDelay> | undefined

/**
 * Begins to measure this process. The returned function gives the figures; `lagSeconds` covers the
 * time since its previous call.
 */
export function measureProcess(): () => ProcessFigures {
  const delay = (histogram ??= monitorEventLoopDelay({ resolution: resolutionMs }))
  delay.enable()
  const startedAt = (Date.now() - process.uptime() * 1000) / 1000
  return () => {
    // The histogram holds the time between two turns, not what exceeds the pause between them.
    const lagMs = delay.percentile(99) / 1e6 - resolutionMs
    delay.reset()
    return {
      version,
      startedAt,
      residentBytes: process.memoryUsage.rss(),
      lagSeconds: Math.max(0, lagMs) / 1000,
    }
  }
}

const prefixes = { parent: 'figures/parent', nameServer: 'figures/name-server' } as const
const gone = 'the process is not there'

export const serveParentFigures = (line: MessageConnection, read: () => ParentFigures): void =>
  serveOver(line, prefixes.parent, { read })
export const serveNameServerFigures = (
  line: MessageConnection,
  read: () => NameServerFigures,
): void => serveOver(line, prefixes.nameServer, { read })

/** Passes the portal's question on to the name server's process, as it is now. */
export const passOnToNameServerFigures = (
  line: MessageConnection,
  to: () => MessageConnection | undefined,
): void => passOn(line, prefixes.nameServer, ['read'], to)

export interface OtherProcesses {
  /**
   * Rejects with DriverFailure unavailable while the process is not there. Null where the parent
   * runs no sites.
   */
  readonly parent: (() => Promise<ParentFigures>) | null
  /** Null where another name server than one of this machine is used. */
  readonly nameServer: (() => Promise<NameServerFigures>) | null
}

/** Queries the parent at the other end of the current line. */
export function askParent(
  line: MessageConnection | (() => MessageConnection | undefined),
): () => Promise<ParentFigures> {
  const call = callsOver<{ read: () => ParentFigures }>(line, prefixes.parent, gone)
  return () => call('read')
}

/** `line`: to the parent, listening. */
export function askOtherProcesses(
  line: MessageConnection,
  opened: { readonly node: boolean; readonly nameServer: boolean },
): OtherProcesses {
  const nameServer = callsOver<{ read: () => NameServerFigures }>(line, prefixes.nameServer, gone)
  return {
    parent: opened.node ? askParent(line) : null,
    nameServer: opened.nameServer ? () => nameServer('read') : null,
  }
}
