/**
 * What an engine of containers does for the sites of this machine: it runs PHP and the database in
 * the place of the container process, which then only speaks HTTP and serves files. A driver that
 * has one gives it; the embedded driver has none.
 */
import type { CopyFigures, SiteDatabase } from '../../driver.ts'

/** Where a site lies, and whom it belongs to. */
export interface EngineSite {
  readonly id: string
  /** The site's own folder. */
  readonly dir: string
  /** Its WordPress folder. */
  readonly wordpress: string
  /** Beside it, where PHP does not reach. */
  readonly database: string
  readonly user: number
}

/** What lies on a site's disks, bytes. */
export interface Used {
  readonly files: number
  readonly database: number
}

/** The same, as far as an engine knows. */
export interface EngineUsed {
  /** Null: it has to be counted. */
  readonly files: number | null
  readonly database: number
}

/** What a plan gives. */
export interface PlanSize {
  readonly memoryMb: number
  readonly cpu: number
}

export interface EngineWeb {
  /** Resolves when it has ended, with the way it went in words. */
  readonly ended: Promise<string>
  /** At once, without a restart. */
  resize(size: PlanSize): Promise<void>
  /** Null while nobody knows. */
  memoryMb(): number | null
  /** Processor time so far, ms. */
  cpuMs(): number
  /** The id of an image that it is to be renewed with; null: it has the newest that works. */
  newerImage(): string | null
  /** Its container answers: its image works. */
  answered(): void
  /** Nothing of it is left. */
  remove(): Promise<void>
}

export interface Engine {
  readonly name: string
  /** The container process, below the runtime's folder. */
  readonly program: string
  readonly database: SiteDatabase
  /** Undefined when ready; otherwise why not. */
  health(): Promise<string | undefined>
  /** The site's database answers. Does nothing where it does. */
  openDatabase(site: EngineSite, size: PlanSize, diskBytes: number): Promise<void>
  /** The site needs it no more: it has ended well, unless a copy holds it. */
  closeDatabase(id: string): Promise<void>
  /**
   * PHP for one container. It listens on `talk/php.sock` in the container's own folder, some time
   * after this has resolved. `isRenewal`: in the place of one that works, with the newest image.
   */
  openWeb(
    site: EngineSite,
    name: string,
    internalDir: string,
    size: PlanSize,
    isRenewal: boolean,
  ): Promise<EngineWeb>
  /** A container that was to be renewed with this image did not come up. */
  refuseImage(id: string): void
  /** Removes what is left of a site, also by an earlier life; how many containers that were. */
  endLeftovers(id: string, dir: string): Promise<number>
  /**
   * Writes the database as it is at one moment into `file`, SQL with a statement on each line, and
   * counts it in the same transaction.
   */
  dump(site: EngineSite, file: string): Promise<CopyFigures['tables']>
  /**
   * Fills the empty database folder of a site that does not run from such a file, and counts what
   * stands there then. The file is hostile: it is read as the site's own user of its database.
   * @param loaded a file that tells what the load before has left, and is written anew: what comes
   *   from the same SQL and stands there still is not loaded once more; null: all is
   */
  load(site: EngineSite, file: string, loaded: string | null): Promise<CopyFigures['tables']>
  /** Empty folders of a site's content, which can be given limits. */
  layOutContent(wordpress: string, database: string): Promise<void>
  /** What may lie there from now on, bytes. */
  limitDisks(site: EngineSite, limits: Used): Promise<void>
  /** `dir`: the site's own folder. */
  used(dir: string, wordpress: string, database: string): Promise<EngineUsed>
  close(): Promise<void>
}
