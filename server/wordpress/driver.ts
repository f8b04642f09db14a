/**
 * The interface between the WordPress module and whatever runs the sites. A driver never sees the
 * wallet, an invoice or the database. Every act is idempotent: it may be called twice and acts
 * once. Failures are DriverFailure. The sites may run in another process: every call is
 * asynchronous, and its arguments and results are plain data.
 */
import type {
  CopyFigures,
  CopyPage,
  ImportFound,
  ImportProblem,
  ImportStep,
  MoveRound,
  RoundCompression,
  SiteChanges,
  SiteCopy,
  SiteDatabase,
} from './driver-copies.ts'
import type {
  AddressChange,
  AddressStep,
  CommandOrder,
  CommandResult,
  DatabaseAnswer,
  DatabaseOp,
  DatabaseOrders,
  FileAnswer,
  FileOrder,
  ToolFault,
} from './driver-tools.ts'

export * from './driver-copies.ts'
export * from './driver-tools.ts'

export interface WordpressCapabilities {
  /** Most containers one site may have. */
  readonly maxContainers: number
  /** Smallest plan this runtime can serve, MB of RAM. */
  readonly minRamMb: number
  /** Largest plan, MB of RAM; null: no bound of its own. */
  readonly maxRamMb: number | null
  /** Largest plan, cores; null: cores are a share of whatever the machine has. */
  readonly maxCpu: number | null
  /** The database behind WordPress; the screens name it. */
  readonly database: SiteDatabase
  /**
   * The compression accepted for moves and mirrors; release 2 and older state none, and take gzip.
   */
  readonly compression?: RoundCompression | undefined
  /**
   * The release of WordPress whose files the node has; absent: a site is sent with all its files.
   */
  readonly release?: string | undefined
}

/**
 * Longest time that a site's writes are held, from the backup before an update on; the update, and
 * the restore that undoes it, renew it.
 */
export const updateHoldMs = 15 * 60_000

/** The wanted state of a site. The driver makes the site match it. */
export interface SiteSpec {
  /** Our id (UUID). Folder, container and volume names derive from it and nothing else. */
  readonly id: string
  /** Where browsers find it, without a trailing slash: http://name.localhost:8082 */
  readonly url: string
  /**
   * Further host names that the site answers under; visitors of any other name are redirected to
   * `url`. Lower case, without a port.
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
   * Number of restarts that were asked for. Containers started under another number are replaced,
   * one after the other.
   */
  readonly generation: number
  /** Whether its PHP may send letters; false when absent. */
  readonly mail?: boolean
  /** The owner's PHP settings; the platform's defaults when absent. */
  readonly php?: {
    /** Largest body of a request, and largest file in it, MB. */
    readonly uploadMb: number
    /** Longest time of one page, seconds; the platform's limit applies if it is lower. */
    readonly pageSeconds: number
    readonly inputVars: number
    /** True: PHP's notices go to the log. */
    readonly debug: boolean
  }
}

/** A letter that a site's PHP has sent, kept until the portal has taken it. Hostile content. */
export interface SpooledLetter {
  /** Identifies this letter for ever: a second answer with the same key is the same letter. */
  readonly key: string
  /** When it was sent. */
  readonly at: Date
  /** The sender that the program named for the envelope; null: none. */
  readonly from: string | null
  readonly to: readonly string[]
  /** Header and text (RFC 5322), Bcc included. */
  readonly raw: Buffer
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
  /** Rises by one per line of a site; a copy that takes over another node's log leaves a gap. */
  readonly seq: number
  /** How many numbers up to this line no line ever had, because of such gaps. Undefined: none. */
  readonly leftOut?: number
  readonly at: Date
  /** Name of the container, such as `web-1`. */
  readonly container: string
  readonly text: string
}

export interface SiteLog {
  /** The newest lines kept, oldest first; at most `limit`. */
  tail(limit: number): Promise<readonly LogLine[]>
  /** Kept lines after `seq`, oldest first; at most `limit`. */
  after(seq: number, limit: number): Promise<readonly LogLine[]>
  /**
   * Calls `onNew` when there are lines that no reader was notified of. Ends when the returned
   * function is called.
   */
  watch(onNew: () => void): () => void
}

/** What a site's files hold, as its PHP reports it. The site's code may falsify it. */
export interface InstalledSoftware {
  readonly wordpress: string
  readonly php: string
  readonly plugins: readonly {
    /** Path below wp-content/plugins: `akismet/akismet.php`, or `hello.php`. */
    readonly file: string
    readonly name: string
    readonly version: string
    readonly active: boolean
    /** Where the plugin's maker hands out releases; empty: the directory of WordPress. */
    readonly updateUri: string
  }[]
  readonly themes: readonly {
    readonly slug: string
    readonly name: string
    readonly version: string
    /** The theme is used, or is the parent of the one that is used. */
    readonly active: boolean
    readonly updateUri: string
  }[]
}

/** A release of WordPress, a plugin or a theme. */
export interface SoftwarePackage {
  readonly kind: 'core' | 'plugin' | 'theme'
  /** The name of its folder; `wordpress` for WordPress itself. */
  readonly slug: string
  /** A plugin's main file as in InstalledSoftware; otherwise empty. */
  readonly main: string
  readonly version: string
}

export interface PageQuestion {
  /** Path and query. */
  readonly target: string
  /** Empty: a visitor without cookies. */
  readonly cookie: string
}
export interface PageAnswer {
  readonly status: number
  readonly type: string
  readonly location: string | null
  /** The cookies that the page set, to be sent with the next question. */
  readonly cookie: string
  /** At most the first 1 MB of the body. */
  readonly text: string
}

export interface WordpressDriver {
  readonly name: string
  readonly capabilities: WordpressCapabilities
  /** How many more containers the node has memory for; 0 where its disk is nearly full. */
  room(): Promise<number>
  /**
   * Puts files and database in place and installs WordPress with this admin. DriverFailure
   * rejected: `admin` is null and the site is not installed; full: there is no room for its
   * containers.
   */
  install(spec: SiteSpec, admin: SiteAdmin | null): Promise<void>
  /**
   * Runs as many containers as the spec says, with its limits; resolves when at least one answers,
   * and when no container that the spec replaces runs any more. Also resizes and restarts a running
   * site: a new container answers before an old one goes, so no visitor is turned away.
   */
  start(spec: SiteSpec): Promise<void>
  /** Ends all containers; the files stay. */
  stop(id: string): Promise<void>
  /** Removes everything of the site. */
  remove(id: string): Promise<void>
  state(id: string): Promise<SiteState>
  /**
   * An address that signs a browser in to wp-admin, once, within a minute: as `user`, or as the
   * oldest administrator when there is no such user. Whoever has it is let in. DriverFailure
   * unavailable unless the site is started.
   */
  adminLink(id: string, user: string): Promise<string>
  /**
   * Replaces addresses in the site's database, within serialized values too, for some seconds;
   * `after` is what the step before answered. A second run finds nothing left to do. DriverFailure
   * unavailable unless the site is started.
   */
  replaceAddresses(
    id: string,
    change: AddressChange,
    after: AddressStep['after'],
  ): Promise<AddressStep>
  /** DriverFailure unavailable unless the site is started. */
  software(id: string): Promise<InstalledSoftware>
  /**
   * For `ms` from now on, requests that may write wait (after some seconds they are told to retry),
   * and WordPress's scheduled work does not run; 0: ends the hold. Reading is never held. Answers
   * true when writes were held until this call.
   */
  holdWrites(id: string, ms: number): Promise<boolean>
  /**
   * Replaces WordPress, a plugin or a theme by the release in `file`, a zip as wordpress.org hands
   * them out; each folder is replaced as a whole. The former files are kept until `settleUpdate`,
   * unless the site's files have a disk of their own. Acts once for an `updateId` and package.
   * DriverFailure rejected: the file is no such release; full: there is no room for it. In both
   * cases nothing has changed.
   */
  applyPackage(
    spec: SiteSpec,
    updateId: string,
    wanted: SoftwarePackage,
    file: string,
  ): Promise<void>
  /** Upgrades the database to the version of WordPress's files. */
  upgradeDatabase(id: string): Promise<void>
  /** Deletes the files that an update replaced. Does nothing where there are none. */
  settleUpdate(id: string, updateId: string): Promise<void>
  /**
   * Fetches a page straight from a container, by the site's own address. DriverFailure when no page
   * comes.
   */
  page(id: string, question: PageQuestion): Promise<PageAnswer>
  /**
   * Writes the site's files and database into one archive, a gzipped tar, which appears as `file`
   * once it is complete. The database is a snapshot of one moment, even while the site is written
   * to; each file is read after that moment, when its turn comes.
   */
  backup(id: string, file: string): Promise<CopyFigures>
  /**
   * Writes what changed since the round before, or everything, into an archive that `copyIn` of
   * another node takes; the site keeps running. A repeated round starts from the same state as its
   * first try. DriverFailure rejected where the site is not installed, or its database cannot be
   * converted to the copy's: MariaDB is not converted to SQLite, nor SQLite to MariaDB where it
   * holds tables that WordPress has not made.
   */
  copyOut(id: string, of: MoveRound, file: string): Promise<SiteChanges>
  /**
   * Makes the site here equal to what `copyOut` found on its node. Round 0 brings the whole
   * content, for a site that is not started. Later rounds are applied to it, also while it is
   * started, as long as nobody writes to it. A site that was started while it held no writes takes
   * no further round of a move. A round that a later try has overtaken is not taken (DriverFailure
   * unavailable). The first round of a move is only taken where there is no other content. Both
   * ends do what a removed site needs. `log`: lines of the site's log on the other node, which go
   * before those of this one.
   */
  copyIn(spec: SiteSpec, of: MoveRound, file: string, log: readonly LogLine[]): Promise<SiteChanges>
  /**
   * Restores the archive into a scratch site, counts what the scratch site holds, and removes it.
   * `of`: the site of the archive, whose node has the right database. `database`: the database that
   * the archive was made of, where the site may have another one by now.
   */
  prove(file: string, of?: string, database?: string): Promise<CopyFigures>
  /**
   * Replaces the site's files and database by those of the archive, wholly or not at all; size and
   * address are those of the spec. The site answers until all is ready to be exchanged, then no
   * container runs: `start` comes next. Acts once for a `restoreId`. DriverFailure rejected: the
   * archive does not match its figures, or is larger than the disks.
   */
  restore(spec: SiteSpec, copy: SiteCopy, restoreId: string): Promise<void>
  /**
   * An owner's act on the site's files, whether or not the site is started. Links are not followed,
   * and the database's own files are out of reach. A fault is returned as an answer. DriverFailure
   * rejected: the site is not installed.
   */
  files(id: string, order: FileOrder): Promise<FileAnswer>
  /**
   * Makes a copy of the site that the packages hold (archives of ours, files with a dump, packages
   * of plugins), beside the site's own content, which is not touched; what an earlier call left of
   * the copy is removed. DriverFailure unavailable when it could not be finished.
   * @param files paths on this machine
   */
  layOutImport(
    spec: SiteSpec,
    files: readonly string[],
  ): Promise<{ readonly found: ImportFound } | { readonly problem: ImportProblem }>
  /**
   * Continues the copy for some seconds: its database is loaded in the site's own PHP, and
   * addresses of the original (its own and `hosts`) become those of the spec. A step that ran twice
   * acts once. DriverFailure rejected where there is no copy.
   */
  stepImport(spec: SiteSpec, hosts: readonly string[]): Promise<ImportStep>
  /** A page of the copy, as a visitor of the spec's address would get it. */
  importPage(spec: SiteSpec, path: string): Promise<CopyPage>
  /**
   * Makes the finished copy the site's content at once, as in `restore`: then no container runs.
   * Acts once for an `importId`.
   */
  switchImport(spec: SiteSpec, importId: string): Promise<void>
  /** Removes everything of the copy. Does nothing where there is none. */
  dropImport(id: string): Promise<void>
  /**
   * Runs one command with WordPress loaded, as the site's user, for half a minute at most; cached
   * pages that show what it changes are dropped before it answers. DriverFailure unavailable unless
   * the site is started.
   */
  console(id: string, order: CommandOrder): Promise<CommandResult | ToolFault>
  /**
   * One query or one change of the site's database, for ten seconds at most; runs without the
   * site's plugins and themes. DriverFailure unavailable unless the site is started.
   */
  database<Op extends DatabaseOp>(
    id: string,
    op: Op,
    order: DatabaseOrders[Op],
  ): Promise<DatabaseAnswer<Op>>
  /** Containers that answer now; empty while none does. */
  addresses(id: string): Promise<readonly SiteAddress[]>
  /**
   * The status of the front page for a visitor who asks for `host`. DriverFailure unavailable, with
   * the reason, where no page comes.
   */
  frontPage(id: string, host: string): Promise<number>
  /**
   * How many containers answer now, by site id, for all sites in one question; a site without any
   * may be left out.
   */
  answering(): Promise<Readonly<Record<string, number>>>
  log(id: string): SiteLog
  /**
   * Ids of sites that may have letters to take. Answered from memory, because it is asked often.
   */
  sitesWithMail(): Promise<readonly string[]>
  /**
   * The oldest waiting letters, at most `limit` and a few megabytes at a time; they keep waiting
   * until `mailTaken`. What is not a letter is thrown away.
   */
  takeMail(id: string, limit: number): Promise<readonly SpooledLetter[]>
  /** Removes letters that the portal has stored. */
  mailTaken(id: string, keys: readonly string[]): Promise<void>
  /** Ids of every site that this runtime holds. */
  list(): Promise<readonly string[]>
  /**
   * Folders of removed sites, or of copies of them, that could not be removed; 0 when all is well.
   */
  unremoved(): Promise<number>
  /** Undefined when ready; otherwise why not (for /readyz). */
  health(): Promise<string | undefined>
}

/** Counts over all sites, since the start of the process that runs them. */
export interface RuntimeCounts {
  /** Containers that answer now. */
  readonly containers: number
  /** How often a container ended unasked and was started again. */
  readonly restarts: number
  /** How often a container failed to start; it is tried again. */
  readonly failedStarts: number
}

/** Resources that a running site uses now. */
export interface SiteFigures {
  readonly site: string
  /** Memory of all its containers together, MB. */
  readonly memoryMb: number
  /** CPU time of all its processes since the runtime process started, ms. */
  readonly cpuMs: number
  readonly filesMb: number
  readonly databaseMb: number
}

/**
 * Called with what a site has written to its database or files, as tags of the page cache; null:
 * unknown. When it returns, the pages that showed it are dropped.
 */
export type WriteListener = (site: string, tags: readonly string[] | null) => void

/** A driver in the process that runs the sites, where the edge asks it about every visitor. */
export interface SiteRuntime extends WordpressDriver {
  /** As `addresses`, synchronously from memory. */
  upstreams(id: string): readonly SiteAddress[]
  /**
   * Adds a line of the platform's own to the site's log, under the name `container`. Does nothing
   * for a site that the runtime does not hold.
   */
  note(id: string, container: string, text: string): void
  /** Called before the answer to a write ends, and whenever a container was ended or is started. */
  onWrite(listener: WriteListener): void
  /** Called whenever PHP has ended by itself: it may not have reported its last writes. */
  onCrash(listener: (site: string) => void): void
  /**
   * Holds writes independently of `holdWrites`: neither hold ends the other. For a machine that no
   * portal is in touch with, while a portal may have had writes held before.
   */
  fenceWrites(id: string, ms: number): void
  counts(): RuntimeCounts
  /** Figures of the running sites. */
  figures(): readonly SiteFigures[]
  /** Stops every container and waits until they are gone. Called once, at shutdown. */
  close(): Promise<void>
}
