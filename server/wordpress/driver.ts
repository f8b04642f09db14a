/**
 * The interface between the WordPress module and whatever runs the sites. A driver never sees the
 * wallet, an invoice or the database. Every act is idempotent: it may be called twice and acts
 * once. Failures are DriverFailure. The sites may run in another process: every call is
 * asynchronous, and its arguments and results are plain data.
 */

export interface WordpressCapabilities {
  /** Most containers one site may have. */
  readonly maxContainers: number
  /** Smallest plan this runtime can serve, MB of RAM. */
  readonly minRamMb: number
  /** Largest plan, MB of RAM; null: no bound of its own. */
  readonly maxRamMb: number | null
  /** Largest plan, cores; null: a plan's cores are a share, whatever the machine has. */
  readonly maxCpu: number | null
  /** What stands behind WordPress; the screens say so. */
  readonly database: 'sqlite' | 'mariadb'
}

/** What a site should be. The driver makes it so. */
export interface SiteSpec {
  /** Our id (UUID). Folder, container and volume names derive from it and nothing else. */
  readonly id: string
  /** Where browsers find it, without a trailing slash: http://name.localhost:8082 */
  readonly url: string
  /**
   * Further host names that it answers on as on its own, lower case, without a port; any other is
   * sent to `url`.
   */
  readonly hosts: readonly string[]
  readonly title: string
  /** `vi` or `en`: the language WordPress is installed in. */
  readonly language: 'vi' | 'en'
  readonly cpu: number
  readonly ramMb: number
  readonly diskMb: number
  readonly databaseDiskMb: number
  readonly containers: number
  /**
   * Counts the restarts that were asked for: a container that began under another number is
   * replaced, one after the other.
   */
  readonly generation: number
}

/** Given once, with the first `install`; never stored by the driver. */
export interface SiteAdmin {
  readonly user: string
  readonly password: string
  readonly email: string
}

export interface SiteState {
  /**
   * `absent`: no files. `stopped`: files, no container. `starting`: containers, none answers yet.
   * `running`: at least one answers.
   */
  readonly state: 'absent' | 'stopped' | 'starting' | 'running'
  readonly installed: boolean
  readonly containers: readonly {
    readonly name: string
    readonly ready: boolean
    readonly restarts: number
    readonly memoryMb: number | null
  }[]
  readonly diskUsedMb: number
  readonly databaseUsedMb: number
}

/** Where one container answers. */
export interface SiteAddress {
  readonly host: string
  readonly port: number
}

export interface LogLine {
  /** Grows by one per line of a site; gaps never occur inside one life of the driver. */
  readonly seq: number
  readonly at: Date
  /** `web-1` … */
  readonly container: string
  readonly text: string
}

export interface SiteLog {
  /** The newest lines kept, oldest first; at most `limit`. */
  tail(limit: number): Promise<readonly LogLine[]>
  /** Kept lines after `seq`, oldest first; at most `limit`. */
  after(seq: number, limit: number): Promise<readonly LogLine[]>
  /**
   * `onNew` is called when there are lines that no reader was notified of, until the function that
   * it answers is called.
   */
  watch(onNew: () => void): () => void
}

/** What a site's content comes to; equal figures are equal contents. Plain JSON. */
export interface CopyFigures {
  readonly files: number
  readonly fileBytes: number
  /** Over the name, length and SHA-256 of every file, in the order of the names. Hexadecimal. */
  readonly filesSha256: string
  readonly databaseBytes: number
  /** By name; the SHA-256 is over every value of every row. */
  readonly tables: readonly {
    readonly name: string
    readonly rows: number
    readonly sha256: string
  }[]
}

/** An archive, and what was counted while it was made. */
export interface SiteCopy {
  readonly file: string
  readonly figures: CopyFigures
}

export interface WordpressDriver {
  readonly name: string
  readonly capabilities: WordpressCapabilities
  /** How many more containers there is memory for. */
  room(): Promise<number>
  /**
   * Files and database in place, WordPress installed with this admin. Without `admin` on a site
   * that is not installed: DriverFailure rejected; where there is no room for its containers:
   * DriverFailure full.
   */
  install(spec: SiteSpec, admin: SiteAdmin | null): Promise<void>
  /**
   * As many containers as the spec says, with its limits; resolves when at least one answers, and
   * when none runs any more that the spec replaces. Also resizes and restarts a running site: a new
   * container answers before an old one goes, so no visitor is turned away.
   */
  start(spec: SiteSpec): Promise<void>
  /** No container runs; files stay. */
  stop(id: string): Promise<void>
  /** Nothing of the site is left. */
  remove(id: string): Promise<void>
  state(id: string): Promise<SiteState>
  /**
   * An address that signs a browser in to wp-admin, once, within a minute: as `user`, or as the
   * oldest administrator when there is no such user. Whoever has it is let in. DriverFailure
   * unavailable unless the site is started.
   */
  adminLink(id: string, user: string): Promise<string>
  /**
   * Writes the site's files and database into one archive, a gzipped tar that `file` names once it
   * is whole. The database is that of one moment, also while the site is written to; files are each
   * as they were when their turn came, after that moment.
   */
  backup(id: string, file: string): Promise<CopyFigures>
  /**
   * Restores the archive into a scratch site of its own, counts what then stands there, and removes
   * it again.
   */
  prove(file: string): Promise<CopyFigures>
  /**
   * The site's files and database become those of the archive, wholly or not at all; its size and
   * address are those of the spec. It answers until all is ready to be exchanged, then no container
   * runs: `start` comes next. Acts once for a `restoreId`. DriverFailure rejected: the archive is
   * not what its figures say, or larger than the disks.
   */
  restore(spec: SiteSpec, copy: SiteCopy, restoreId: string): Promise<void>
  /** Containers that answer now; empty while none does. */
  addresses(id: string): Promise<readonly SiteAddress[]>
  /**
   * The status of the front page, as a visitor gets it who asks for `host`. DriverFailure
   * unavailable, with the reason, where no page comes.
   */
  frontPage(id: string, host: string): Promise<number>
  /**
   * How many containers answer now, by the id of their site, in one question for all; a site of
   * which none does may be left out.
   */
  answering(): Promise<Readonly<Record<string, number>>>
  log(id: string): SiteLog
  /** Ids of every site that this runtime holds. */
  list(): Promise<readonly string[]>
  /**
   * Folders of removed sites, or of copies of them, that could not be removed; 0 when all is well.
   */
  unremoved(): Promise<number>
  /** Undefined when ready; otherwise why not (for /readyz). */
  health(): Promise<string | undefined>
}

/** Of all sites, since the start of the process that runs them. */
export interface RuntimeCounts {
  /** Containers that answer now. */
  readonly containers: number
  /** How often a container ended unasked and was started again. */
  readonly restarts: number
  /** How often a container that should start did not; it is tried again. */
  readonly failedStarts: number
}

/** A driver in the process that runs the sites, where the edge asks it about every visitor. */
export interface SiteRuntime extends WordpressDriver {
  /** `addresses`, from memory. */
  upstreams(id: string): readonly SiteAddress[]
  /**
   * A line of the platform's own in the site's log, under the name `container`. Does nothing for a
   * site that it does not hold.
   */
  note(id: string, container: string, text: string): void
  counts(): RuntimeCounts
  /** Stops every container and waits until they are gone. Called once, at shutdown. */
  close(): Promise<void>
}
