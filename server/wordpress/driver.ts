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
  /** Largest plan, cores; null: a plan's cores are a share, whatever the machine has. */
  readonly maxCpu: number | null
  /** What stands behind WordPress; the screens say so. */
  readonly database: SiteDatabase
  /** Of what moves or is mirrored to it; releases before this one say nothing, and take gzip. */
  readonly compression?: RoundCompression | undefined
  /** Names the release of WordPress whose files it has; without it all of a site's are sent. */
  readonly release?: string | undefined
}

/**
 * Writes of a site are held for so long at most from the backup before an update on; the update,
 * and the restore that undoes it, renew it.
 */
export const updateHoldMs = 15 * 60_000

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
  /** Whether its PHP may send letters; not when absent. */
  readonly mail?: boolean
  /** What its owner has set of PHP; as the platform has it when absent. */
  readonly php?: {
    /** Largest body of a request, and file in it, MB. */
    readonly uploadMb: number
    /** Longest time of one page, seconds, within what the platform allows. */
    readonly pageSeconds: number
    readonly inputVars: number
    /** Notices go to the log. */
    readonly debug: boolean
  }
}

/** A letter that a site's PHP has sent, until the portal has taken it. Hostile content. */
export interface SpooledLetter {
  /** Of this letter for ever: a second answer with the same key is the same letter. */
  readonly key: string
  /** When it was sent. */
  readonly at: Date
  /** The sender that the program named for the envelope; null: none. */
  readonly from: string | null
  readonly to: readonly string[]
  /** Header and text (RFC 5322), Bcc and all. */
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

/** What a site's files hold, as its PHP reads it. Its code may have said anything. */
export interface InstalledSoftware {
  readonly wordpress: string
  readonly php: string
  readonly plugins: readonly {
    /** Below wp-content/plugins: `akismet/akismet.php`, or `hello.php`. */
    readonly file: string
    readonly name: string
    readonly version: string
    readonly active: boolean
    /** Where its maker hands out releases; empty: the directory of WordPress. */
    readonly updateUri: string
  }[]
  readonly themes: readonly {
    readonly slug: string
    readonly name: string
    readonly version: string
    /** It is used, or the one that is used is made from it. */
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
  /** Empty: a visitor without any. */
  readonly cookie: string
}
export interface PageAnswer {
  readonly status: number
  readonly type: string
  readonly location: string | null
  /** What the page set, to be sent with the next question. */
  readonly cookie: string
  /** At most 1 MB of it. */
  readonly text: string
}

export interface WordpressDriver {
  readonly name: string
  readonly capabilities: WordpressCapabilities
  /** How many more containers there is memory for; none where the disk is as good as full. */
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
   * Writes addresses that the site's database stores in another way, within serialized values too,
   * for some seconds; `after` is what the step before answered. A second run finds nothing left to
   * do. DriverFailure unavailable unless the site is started.
   */
  replaceAddresses(
    id: string,
    change: AddressChange,
    after: AddressStep['after'],
  ): Promise<AddressStep>
  /** DriverFailure unavailable unless the site is started. */
  software(id: string): Promise<InstalledSoftware>
  /**
   * For so many ms from now on, requests that may write wait (some seconds, then they are told to
   * come again), and WordPress's planned work does not run; 0: they go on. Reading goes on all the
   * time. True when writes were held until this call.
   */
  holdWrites(id: string, ms: number): Promise<boolean>
  /**
   * Replaces WordPress, a plugin or a theme by the release in `file`, a zip as wordpress.org hands
   * them out; each folder whole. What was there is kept until `settleUpdate`, unless the site's
   * files have a disk of their own. Acts once for an `updateId` and package. DriverFailure
   * rejected: the file is no such release; full: there is no room for it. In both cases nothing
   * has changed.
   */
  applyPackage(
    spec: SiteSpec,
    updateId: string,
    wanted: SoftwarePackage,
    file: string,
  ): Promise<void>
  /** Brings the database to the version of WordPress's files. */
  upgradeDatabase(id: string): Promise<void>
  /** What an update replaced is not needed any more. Does nothing where there is nothing. */
  settleUpdate(id: string, updateId: string): Promise<void>
  /** A page straight from a container, by the site's own address. DriverFailure when none comes. */
  page(id: string, question: PageQuestion): Promise<PageAnswer>
  /**
   * Writes the site's files and database into one archive, a gzipped tar that `file` names once it
   * is whole. The database is that of one moment, also while the site is written to; files are each
   * as they were when their turn came, after that moment.
   */
  backup(id: string, file: string): Promise<CopyFigures>
  /**
   * Writes what changed since the round before, or everything, into an archive that `copyIn` of
   * another node takes; the site goes on. A round that is asked for again begins where the first
   * one did. DriverFailure rejected where the site is not installed, or its database cannot be made
   * what the copy has: MariaDB's is not made SQLite's, and SQLite's not MariaDB's where it holds
   * tables that WordPress has not made.
   */
  copyOut(id: string, of: MoveRound, file: string): Promise<SiteChanges>
  /**
   * Makes the site here what `copyOut` found on its node: round 0 the whole content, which may not
   * be started; the others upon it, also while it is started, as long as nobody writes to it. A
   * site that was started while it held no writes takes no round of a move any more, one that
   * another try has overtaken is not taken (DriverFailure unavailable), and the first one of a move
   * is only taken where nothing else lies: both ends do what a removed site needs.
   * `log`: lines of its log there, which go before those of here.
   */
  copyIn(spec: SiteSpec, of: MoveRound, file: string, log: readonly LogLine[]): Promise<SiteChanges>
  /**
   * Restores the archive into a scratch site of its own, counts what then stands there, and removes
   * it again. `of`: the site whose archive it is, for what runs that one has its database.
   * `database`: what the archive itself is of, where the site may have another one by now.
   */
  prove(file: string, of?: string, database?: string): Promise<CopyFigures>
  /**
   * The site's files and database become those of the archive, wholly or not at all; its size and
   * address are those of the spec. It answers until all is ready to be exchanged, then no container
   * runs: `start` comes next. Acts once for a `restoreId`. DriverFailure rejected: the archive is
   * not what its figures say, or larger than the disks.
   */
  restore(spec: SiteSpec, copy: SiteCopy, restoreId: string): Promise<void>
  /**
   * An owner's act on the site's files, whether or not it is started. No link is followed, and the
   * database's own files are out of reach. A fault is an answer. DriverFailure rejected: the site
   * is not installed.
   */
  files(id: string, order: FileOrder): Promise<FileAnswer>
  /**
   * Makes a copy of the site that the packages hold (archives of ours, files with a dump, packages
   * of plugins), beside the site's own content, which is not touched; what a former call left of
   * it is removed. DriverFailure unavailable when it could not be finished.
   * @param files of this machine
   */
  layOutImport(
    spec: SiteSpec,
    files: readonly string[],
  ): Promise<{ readonly found: ImportFound } | { readonly problem: ImportProblem }>
  /**
   * Goes on with the copy for some seconds: its database is loaded in the site's own PHP, and
   * addresses of the original (its own and `hosts`) become those of the spec. A step that ran twice
   * acts once. DriverFailure rejected where there is no copy.
   */
  stepImport(spec: SiteSpec, hosts: readonly string[]): Promise<ImportStep>
  /** A page of the copy, as a visitor of the spec's address would get it. */
  importPage(spec: SiteSpec, path: string): Promise<CopyPage>
  /**
   * The copy, which must be done, becomes the site's content at once, as in `restore`: then no
   * container runs. Acts once for an `importId`.
   */
  switchImport(spec: SiteSpec, importId: string): Promise<void>
  /** Nothing of the copy is left. Does nothing where there is none. */
  dropImport(id: string): Promise<void>
  /**
   * Runs one command with WordPress loaded, as the site's user, for half a minute at most; pages
   * that show what it writes are dropped before it answers. DriverFailure unavailable unless the
   * site is started.
   */
  console(id: string, order: CommandOrder): Promise<CommandResult | ToolFault>
  /**
   * One question to the site's database, or one change of it, for ten seconds at most; without the
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
  /** Ids of sites of which letters may wait to be taken. Asked often: from memory. */
  sitesWithMail(): Promise<readonly string[]>
  /**
   * The oldest letters that wait, at most `limit`, and few megabytes of them at once; they go on
   * waiting until `mailTaken`. What is no letter is thrown away.
   */
  takeMail(id: string, limit: number): Promise<readonly SpooledLetter[]>
  /** These are kept elsewhere now. */
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

/** Of all sites, since the start of the process that runs them. */
export interface RuntimeCounts {
  /** Containers that answer now. */
  readonly containers: number
  /** How often a container ended unasked and was started again. */
  readonly restarts: number
  /** How often a container that should start did not; it is tried again. */
  readonly failedStarts: number
}

/** What a site that runs takes now. */
export interface SiteFigures {
  readonly site: string
  /** Of all its containers together, MB. */
  readonly memoryMb: number
  /** Of all its processes since this process runs it, ms. */
  readonly cpuMs: number
  readonly filesMb: number
  readonly databaseMb: number
}

/**
 * Told of what a site has written to its database or files, as tags of the page cache; null: nobody
 * knows what. It has dropped the pages that showed it when it returns.
 */
export type WriteListener = (site: string, tags: readonly string[] | null) => void

/** A driver in the process that runs the sites, where the edge asks it about every visitor. */
export interface SiteRuntime extends WordpressDriver {
  /** `addresses`, from memory. */
  upstreams(id: string): readonly SiteAddress[]
  /**
   * A line of the platform's own in the site's log, under the name `container`. Does nothing for a
   * site that it does not hold.
   */
  note(id: string, container: string, text: string): void
  /** Before the answer to a write ends, and whenever a container was ended or is started. */
  onWrite(listener: WriteListener): void
  /** Whenever PHP has ended by itself: what it wrote last, it could not say. */
  onCrash(listener: (site: string) => void): void
  /**
   * As `holdWrites`, beside it: neither ends the other. For a machine that no portal is in touch
   * with, while a portal may have had writes held before.
   */
  fenceWrites(id: string, ms: number): void
  counts(): RuntimeCounts
  /** Of the sites that run. */
  figures(): readonly SiteFigures[]
  /** Stops every container and waits until they are gone. Called once, at shutdown. */
  close(): Promise<void>
}
