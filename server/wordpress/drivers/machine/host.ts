import type { Cgroups } from './cgroups.ts'
import type { Confinement } from './confinement.ts'
import type { Engine } from './engine.ts'
import type { ArchiveRunner } from './archive-runner.ts'
import type { FileHands } from './file-hands.ts'
import type { Gate } from './gate.ts'
import type { Release } from './release.ts'

/** What all sites of a driver share. */
export interface Host {
  /** What runs PHP and the database; null: the container itself, and SQLite. */
  readonly engine: Engine | null
  readonly sitesDir: string
  readonly runtimeDir: string
  /** What a container runs, below `runtimeDir`. */
  readonly program: string
  readonly filesDir: string
  /** What stands in `filesDir`; null where it is not whole. */
  readonly release: Release | null
  readonly internet: boolean
  /** ms that PHP may take for one page. */
  readonly pageMs: number
  /** Processors that sites may compute on. */
  readonly cores: number
  /** ms between two measurements of a running site's disks; the runtime's own when undefined. */
  readonly measureMs: number | undefined
  /** Booting is the costly part: few at a time. */
  readonly boots: Gate
  /** Walking through all files of a site: one at a time. */
  readonly measures: Gate
  readonly archiveRunner: ArchiveRunner
  readonly fileHands: FileHands
  readonly confinement: Confinement
  /** The user of the site in a folder that is there; null where sites run as the portal's own. */
  readonly ownerOf: (siteDir: string) => Promise<number | null>
  /** Null where the kernel holds no limits for us. */
  readonly cgroups: () => Promise<Cgroups | null>
  /** Of all sites together, since the start; the slots add to it. */
  readonly counted: { restarts: number; failedStarts: number }
  /** Told of what a site's PHP has written, as tags; null: of everything. */
  readonly onWrite: (site: string, tags: readonly string[] | null) => void
  /** PHP has ended by itself: what it wrote last, it could not say. */
  readonly onCrash: (site: string) => void
  /** A letter of the site may lie in its folder. */
  readonly onMail: (site: string) => void
  readonly warn: (detail: object, message: string) => void
}
