import type { Cgroups } from './cgroups.ts'
import type { Confinement } from './confinement.ts'
import type { ArchiveRunner } from './archive-runner.ts'
import type { Gate } from './gate.ts'

/** What all sites of a driver share. */
export interface Host {
  readonly sitesDir: string
  readonly runtimeDir: string
  /** What a container runs, below `runtimeDir`. */
  readonly program: string
  readonly filesDir: string
  readonly internet: boolean
  /** ms that PHP may take for one request; the runtime's own limit when undefined. */
  readonly requestMs: number | undefined
  /** ms between two measurements of a running site's disks; the runtime's own when undefined. */
  readonly measureMs: number | undefined
  /** Booting is the costly part: few at a time. */
  readonly boots: Gate
  /** Walking through all files of a site: one at a time. */
  readonly measures: Gate
  readonly archiveRunner: ArchiveRunner
  readonly confinement: Confinement
  /** The user of the site in a folder that is there; null where sites run as the portal's own. */
  readonly ownerOf: (siteDir: string) => Promise<number | null>
  /** Null where the kernel holds no limits for us. */
  readonly cgroups: () => Promise<Cgroups | null>
  /** Of all sites together, since the start; the slots add to it. */
  readonly counted: { restarts: number; failedStarts: number }
  readonly warn: (detail: object, message: string) => void
}
