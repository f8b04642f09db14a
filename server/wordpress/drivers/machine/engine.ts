/**
 * The interface of a container engine for the sites of this machine: it runs PHP and the database
 * instead of the container process, which then only speaks HTTP and serves files. A driver with an
 * engine passes it in; the embedded driver has none.
 */
import type { CopyFigures, SiteDatabase } from '../../driver.ts'

/** A site's folders and its user. */
export interface EngineSite {
  readonly id: string
  /** The site's own folder. */
  readonly dir: string
  /** Its WordPress folder. */
  readonly wordpress: string
  /** The database's folder, beside it, where PHP does not reach. */
  readonly database: string
  readonly user: number
}

/** Use of a site's disks, bytes. */
export interface Used {
  readonly files: number
  readonly database: number
}

/** Use of the disks, as far as an engine knows it. */
export interface EngineUsed {
  /** Null: the files must be counted. */
  readonly files: number | null
  readonly database: number
}

/** The size of a plan. */
export interface PlanSize {
  readonly memoryMb: number
  readonly cpu: number
}

export interface EngineWeb {
  /** Resolves when it has ended, with the way it ended in words. */
  readonly ended: Promise<string>
  /** Changes the size at once, without a restart. */
  resize(size: PlanSize): Promise<void>
  /** Null while unknown. */
  memoryMb(): number | null
  /** Processor time so far, ms. */
  cpuMs(): number
  /**
   * The id of an image by which this container should be replaced; null: it has the newest that
   * works.
   */
  newerImage(): string | null
  /** Tells that its container answers, so its image works. */
  answered(): void
  /** Removes the container. */
  remove(): Promise<void>
}

export interface Engine {
  readonly name: string
  /** The program of the container process, below the runtime's folder. */
  readonly program: string
  readonly database: SiteDatabase
  /** Undefined when ready; otherwise why not. */
  health(): Promise<string | undefined>
  /** Opens the site's database; resolves when it answers. Does nothing where it answers already. */
  openDatabase(site: EngineSite, size: PlanSize, diskBytes: number): Promise<void>
  /** Ends the database, because the site needs it no more, unless a copy holds it. */
  closeDatabase(id: string): Promise<void>
  /**
   * Starts PHP for one container. It listens on `talk/php.sock` in the container's own folder, some
   * time after this has resolved. `isRenewal`: it replaces one that works, by the newest image.
   */
  openWeb(
    site: EngineSite,
    name: string,
    internalDir: string,
    size: PlanSize,
    isRenewal: boolean,
  ): Promise<EngineWeb>
  /** Tells that a container that was to be replaced by this image did not start. */
  refuseImage(id: string): void
  /**
   * Removes what is left of a site, from an earlier run, too; answers how many containers that
   * were.
   */
  endLeftovers(id: string, dir: string): Promise<number>
  /**
   * Writes a snapshot of the database into `file`, as SQL with one statement a line, and counts it
   * in the same transaction.
   */
  dump(site: EngineSite, file: string): Promise<CopyFigures['tables']>
  /**
   * Fills the empty database folder of a site that does not run from such a file, and counts the
   * result. The file is hostile: it is read as the site's own user of its database.
   * @param loaded a file that tells what the load before has left, and is written again: tables
   *   from the same SQL that are still there are not loaded again; null: everything is
   */
  load(site: EngineSite, file: string, loaded: string | null): Promise<CopyFigures['tables']>
  /** Makes the empty folders of a site's content, which can be given limits. */
  layOutContent(wordpress: string, database: string): Promise<void>
  /** Sets the limits of the disks, bytes. */
  limitDisks(site: EngineSite, limits: Used): Promise<void>
  /** `dir`: the site's own folder. */
  used(dir: string, wordpress: string, database: string): Promise<EngineUsed>
  close(): Promise<void>
}
