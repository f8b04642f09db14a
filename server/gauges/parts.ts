/** The dependencies of the gauges. */
import type { Pool } from 'pg'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { OtherProcesses, ParentFigures } from '../process-figures.ts'
import type { MirrorCounts } from '../wordpress/index.ts'

/** A machine that runs sites, as the database knows it. */
export interface NodeFigures {
  readonly id: string
  readonly seenSecondsAgo: number | null
  /** Containers that may still be placed. */
  readonly free: number
  readonly sites: number
}

export interface GaugeParts {
  readonly db: Database
  readonly pool: Pick<Pool, 'totalCount' | 'idleCount' | 'waitingCount'>
  /** Most connections that the pool opens. */
  readonly poolSize: number
  readonly clock: Clock
  readonly metrics: Metrics
  readonly waitingSubscriptions: () => Promise<number>
  readonly connections: () => number
  readonly orphans: () => number | Promise<number>
  readonly unremovedSites: () => Promise<number>
  /** Archives of proven backups that this machine does not find. */
  readonly missingArchives: () => number
  /** How many more containers there is memory for. */
  readonly room: () => Promise<number>
  readonly mirrors: () => Promise<MirrorCounts>
  /** The machines that run sites. */
  readonly nodes: () => Promise<readonly NodeFigures[]>
  readonly waitingMessages: () => Promise<number>
  readonly processes: OtherProcesses
  /** The name of this machine's node. */
  readonly ownNode: string
  /** Parents of other machines that run sites, by their nodes. */
  readonly otherNodes: () => ReadonlyMap<string, () => Promise<ParentFigures>>
  /** Names of the payment drivers that are in use. */
  readonly gateways: readonly string[]
  readonly dataDir: string
}
