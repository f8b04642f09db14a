import type { Cgroups } from './cgroups.ts'
import type { Confinement } from './confinement.ts'
import type { Engine } from './engine.ts'
import type { ArchiveRunner } from './archive-runner.ts'
import type { FileHands } from './file-hands.ts'
import type { Gate } from './gate.ts'
import type { Release } from './release.ts'
import type { ToolTimes } from './tools.ts'

/** What all sites of a driver share. */
export interface Host {
  /**
   * The engine that runs PHP and the database; null: the container runs PHP itself, with SQLite.
   */
  readonly engine: Engine | null
  readonly sitesDir: string
  readonly runtimeDir: string
  /** The program of a container, below `runtimeDir`. */
  readonly program: string
  readonly filesDir: string
  /** The release in `filesDir`; null where it is incomplete. */
  readonly release: Release | null
  readonly internet: boolean
  /** Longest time of PHP for one page, ms. */
  readonly pageMs: number
  /** Number of processors that sites may use. */
  readonly cores: number
  /**
   * Interval between two measurements of a running site's disks, ms; the runtime's own when
   * undefined.
   */
  readonly measureMs: number | undefined
  readonly toolTimes: ToolTimes
  /** Limits boots at a time, because they are the costly part. */
  readonly boots: Gate
  /** Walks through a site's files one at a time. */
  readonly measures: Gate
  readonly archiveRunner: ArchiveRunner
  readonly fileHands: FileHands
  readonly confinement: Confinement
  /** The user of the site in an existing folder; null where sites run as the portal's own. */
  readonly ownerOf: (siteDir: string) => Promise<number | null>
  /** Null where the kernel enforces no limits for us. */
  readonly cgroups: () => Promise<Cgroups | null>
  /** Counts over all sites since the start; the slots add to them. */
  readonly counted: { restarts: number; failedStarts: number }
  /** Called with what a site's PHP has written, as tags; null: everything. */
  readonly onWrite: (site: string, tags: readonly string[] | null) => void
  /** Called when PHP has ended by itself: it may not have reported its last writes. */
  readonly onCrash: (site: string) => void
  /** Called when a letter of the site may lie in its folder. */
  readonly onMail: (site: string) => void
  readonly warn: (detail: object, message: string) => void
}
