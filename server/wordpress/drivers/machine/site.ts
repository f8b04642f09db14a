// One site: its folder, its containers and its copies, and the order of acts on them.
import fs from 'node:fs/promises'
import { DriverFailure } from '../../../platform/errors.ts'
import type {
  CopyFigures,
  FileAnswer,
  FileOrder,
  LogLine,
  MoveRound,
  CopyPage,
  ImportStep,
  SiteAddress,
  SiteFigures,
  SiteAdmin,
  SiteChanges,
  SiteCopy,
  SiteSpec,
  SiteState,
  SoftwarePackage,
} from '../../driver.ts'
import { isWholeRound, updateHoldMs } from '../../driver.ts'
import { SiteContent } from './content.ts'
import { Copies } from './copies.ts'
import { DiskFigures } from './disk-figures.ts'
import type { Host } from './host.ts'
import { ImportCopy } from './import/copy.ts'
import type { MovedIn } from './import/move-in.ts'
import { endLeftovers } from './leftovers.ts'
import { Rounds } from './rounds.ts'
import { RunningActs } from './running-acts.ts'
import { SiteFolder } from './site-folder.ts'
import { FileLog } from './site-log.ts'
import { Slots } from './slots.ts'
import { TableMaker } from './table-maker.ts'
import { Turns } from './turns.ts'
import { Updates } from './updates.ts'

const megabyte = 1_048_576
/** How long a container that an installation left running waits for `start` to take it over. */
const warmMs = 60_000
/** Acts on files whose results visitors may see. */
const changing: ReadonlySet<FileOrder['op']> = new Set([
  'write',
  'move',
  'remove',
  'unlink',
  'rmdir',
  'attributes',
])

export class Site {
  readonly log: FileLog
  /** Acts of its PHP while it runs. */
  readonly running: RunningActs
  readonly #host: Host
  readonly #id: string
  readonly #folder: SiteFolder
  readonly #turns = new Turns()
  #swept = false
  #holdRecalled: Promise<void> | undefined
  #warmTimer: NodeJS.Timeout | undefined
  readonly #slots: Slots
  readonly #content: SiteContent
  readonly #copies: Copies
  readonly #rounds: Rounds
  readonly #tables: TableMaker
  readonly #updates: Updates
  readonly #importing: ImportCopy
  readonly #disks: DiskFigures

  constructor(host: Host, id: string) {
    this.#host = host
    this.#id = id
    this.#folder = new SiteFolder(host.sitesDir, id, host.filesDir, host.ownerOf, host.engine)
    this.log = new FileLog(this.#folder.log)
    this.#slots = new Slots(host, id, this.#folder, this.log)
    this.running = new RunningActs(id, this.#slots, this.#folder, host.toolTimes)
    const owner = (): Promise<number | null> => this.#folder.owner()
    const { archiveRunner, engine } = host
    this.#content = new SiteContent(archiveRunner, id, this.#folder.dir, owner, engine)
    this.#copies = new Copies(this.#content)
    this.#rounds = new Rounds(this.#content, host.release)
    const open = (beside: Host, besideId: string): Site => new Site(beside, besideId)
    this.#tables = new TableMaker(host, id, { dir: this.#folder.dir, owner, open })
    this.#updates = new Updates(this.#folder, owner)
    this.#importing = new ImportCopy(host, id, {
      dir: this.#folder.dir,
      owner,
      live: () => this.#disks.live(),
      open,
    })
    const parts = { folder: this.#folder, slots: this.#slots, importing: this.#importing }
    this.#disks = new DiskFigures(host, parts)
  }

  /** Whether no act on it is under way or waiting. */
  get idle(): boolean {
    return this.#turns.idle
  }

  async #requireInstalled(): Promise<void> {
    if (!(await this.#folder.installed()))
      throw new DriverFailure('rejected', `site ${this.#id} is not installed`)
  }
  #requireOpen(): void {
    if (this.#slots.closed)
      throw new DriverFailure('unavailable', 'the WordPress driver is closing')
  }

  backup(file: string): Promise<CopyFigures> {
    return this.#turns.takeForCopy(async () => {
      await this.#requireInstalled()
      await this.#folder.requireRuntime()
      // The sweep comes before the copy: at a later start it would take the copy's containers for
      // those of an earlier run.
      if (this.#host.engine) await this.#turns.take(() => this.#sweep())
      return await this.#copies.pack(file)
    })
  }

  restore(spec: SiteSpec, copy: SiteCopy, restoreId: string): Promise<void> {
    return this.#turns.takeForCopy(async () => {
      if (await this.#turns.take(() => this.#content.isDone(restoreId))) return
      await this.#copies.prepare(copy, {
        diskBytes: spec.diskMb * megabyte,
        databaseBytes: spec.databaseDiskMb * megabyte,
      })
      await this.#turns.take(async () => {
        this.#requireOpen()
        await this.#halt()
        await this.#sweep()
        await this.#content.exchange(restoreId)
        if (!(await this.#folder.installed())) await this.#folder.markInstalled(spec)
        this.log.add('portal', 'files and database were restored from a backup')
      })
    })
  }

  copyOut(of: MoveRound, file: string): Promise<SiteChanges> {
    return this.#turns.takeForCopy(async () => {
      await this.#requireInstalled()
      await this.#folder.requireRuntime()
      // Waits for earlier acts on its files. The sweep is needed for the same reason as in a
      // backup.
      await this.#turns.take(async () => {
        if (this.#host.engine) await this.#sweep()
      })
      return await this.#rounds.packChanges(file, of)
    })
  }

  copyIn(
    spec: SiteSpec,
    of: MoveRound,
    file: string,
    log: readonly LogLine[],
  ): Promise<SiteChanges> {
    return this.#turns.takeForCopy(() =>
      this.#turns.take(async () => {
        this.#requireOpen()
        // The round is late: the mirror has taken the site's place since.
        if (of.mirror && this.#slots.started)
          throw new DriverFailure('rejected', 'the site runs here and follows no other')
        await this.#rounds.require(of)
        if (isWholeRound(of)) {
          await this.#halt()
          await fs.mkdir(this.#folder.dir, { recursive: true, mode: 0o700 })
        }
        // Containers of the copy from an earlier run would keep its database from being opened.
        if (isWholeRound(of) || this.#host.engine) await this.#sweep()
        // A round may have been cut off after its tables were made.
        await this.#tables.drop()
        const changes = await this.#rounds.layChanges(file, of, (tables, made) =>
          this.#tables.make(spec, tables, made),
        )
        if (isWholeRound(of)) {
          await this.#folder.markInstalled(spec)
          await this.log.takeOver(log)
        }
        this.#host.onWrite(this.#id, null)
        return changes
      }),
    )
  }

  /** Limits the site to the part of its disks that the copy leaves. */
  async #shareDisks(): Promise<void> {
    this.#slots.reserve(await this.#importing.count())
  }

  /**
   * These are the driver's acts of the same names; they run one after another, and after copies
   * under way.
   */
  layOutImport(spec: SiteSpec, files: readonly string[]): Promise<MovedIn> {
    return this.#turns.takeForCopy(async () => {
      await this.#requireInstalled()
      try {
        return await this.#importing.layOut(spec, files)
      } finally {
        await this.#shareDisks()
      }
    })
  }

  stepImport(spec: SiteSpec, hosts: readonly string[]): Promise<ImportStep> {
    return this.#turns.takeForCopy(async () => {
      const step = await this.#importing.step(spec, hosts)
      if (step.phase === 'done') await this.#shareDisks()
      return step
    })
  }

  importPage(spec: SiteSpec, target: string): Promise<CopyPage> {
    return this.#turns.takeForCopy(() => this.#importing.page(spec, target))
  }

  dropImport(): Promise<void> {
    return this.#turns.takeForCopy(async () => {
      if (await this.#folder.exists()) await this.#importing.drop()
      await this.#shareDisks()
    })
  }

  switchImport(spec: SiteSpec, importId: string): Promise<void> {
    return this.#turns.takeForCopy(async () => {
      if (!(await this.#turns.take(() => this.#content.isDone(importId)))) {
        await this.#importing.ready()
        await this.#turns.take(async () => {
          this.#requireOpen()
          await this.#halt()
          await this.#sweep()
          await this.#content.exchange(importId, this.#importing.contentDir)
          if (!(await this.#folder.installed())) await this.#folder.markInstalled(spec)
          this.log.add('portal', 'a site that was moved in took the place of this one')
        })
      }
      await this.#importing.drop()
      await this.#shareDisks()
    })
  }

  install(spec: SiteSpec, admin: SiteAdmin | null): Promise<void> {
    return this.#turns.take(async () => {
      if (await this.#folder.installed()) return
      if (!admin)
        throw new DriverFailure(
          'rejected',
          `site ${this.#id} is not installed and no admin was given`,
        )
      await this.#halt()
      await this.#sweep()
      try {
        await this.#folder.layOut(spec)
        await this.#openDatabase(spec)
        // The container is left running: `start` comes next, and takes it over.
        await this.#slots.install(spec, {
          user: admin.user,
          password: admin.password,
          email: admin.email,
          title: spec.title,
          language: spec.language,
        })
        await this.#folder.markInstalled(spec)
      } catch (error) {
        await this.#halt()
        await this.#folder.clear()
        throw error instanceof DriverFailure
          ? error
          : new DriverFailure('unavailable', `site ${this.#id} could not be installed`, {
              cause: error,
            })
      }
      this.#warmTimer = setTimeout(
        () => void this.#turns.take(() => (this.#slots.started ? Promise.resolve() : this.#halt())),
        warmMs,
      )
      this.#warmTimer.unref()
    })
  }

  start(spec: SiteSpec): Promise<void> {
    return this.#turns.take(async () => {
      await this.#requireInstalled()
      await this.#folder.requireRuntime()
      await this.#recallHold()
      await this.#sweep()
      clearTimeout(this.#warmTimer)
      // An earlier run may have left a copy.
      if (!this.#slots.started) {
        await this.#shareDisks()
        await this.#rounds.loadFollowing()
      }
      // A copy starts while it holds writes; a server that starts without a hold is at its place.
      if (!this.#slots.holdsWrites) await this.#rounds.endMove()
      await this.#openDatabase(spec)
      await this.#slots.start(spec)
    })
  }

  /** Ends all processes of the site. Boots under way are cut short. */
  async #halt(): Promise<void> {
    clearTimeout(this.#warmTimer)
    await this.#slots.halt()
    await this.#host.engine?.closeDatabase(this.#id)
  }

  /** Opens the database that an engine runs beside PHP. */
  async #openDatabase(spec: SiteSpec): Promise<void> {
    const size = { memoryMb: spec.ramMb, cpu: spec.cpu }
    const diskBytes = spec.databaseDiskMb * megabyte
    await this.#host.engine?.openDatabase(await this.#folder.inEngine(), size, diskBytes)
  }

  /** Ends processes of an earlier run of the portal; done once. */
  async #sweep(): Promise<void> {
    if (!this.#swept) {
      const ended =
        (await endLeftovers(this.#folder.run, this.#id)) +
        ((await this.#host.engine?.endLeftovers(this.#id, this.#folder.dir)) ?? 0)
      if (ended > 0)
        this.#host.warn({ site: this.#id, ended }, 'ended WordPress containers of an earlier life')
      await this.#folder.arrange()
      await this.#content.recover()
      await this.#updates.recover()
      this.#swept = true
    }
    await fs.mkdir(this.#folder.run, { recursive: true })
  }

  stop(): Promise<void> {
    return this.#turns.take(async () => {
      await this.#halt()
      if (await this.#folder.exists()) await this.#sweep()
      await this.log.flush()
    })
  }

  remove(): Promise<void> {
    this.#slots.cutShort()
    return this.#turns.take(async () => {
      await this.#content.cutShort()
      await this.#importing.halt()
      await this.#tables.drop()
      await this.#halt()
      if (await this.#folder.exists()) await this.#sweep()
      // A copy under way has the database open, so its containers are ended.
      await this.#host.engine?.endLeftovers(this.#id, this.#folder.dir)
      await this.log.discard()
      await this.#folder.remove()
    })
  }

  /** Closes the site for good: no container boots any more in this process. */
  close(): Promise<void> {
    this.#slots.close()
    return Promise.all([
      this.#content.cutShort(),
      this.#importing.close(),
      this.#tables.cutShort(),
      this.stop(),
    ]).then(() => undefined)
  }

  /** Checks the containers; must be called every few seconds. */
  watch(): void {
    this.#slots.watch((act) => this.#turns.take(act))
    this.#importing.watch()
    this.#tables.watch()
  }

  runCron(): void {
    this.#slots.runCron()
  }

  async holdWrites(ms: number): Promise<boolean> {
    await this.#recallHold()
    if (ms === 0) await this.#updates.endHold()
    return this.#slots.holdWrites(ms)
  }
  /**
   * Continues the hold of an update that was under way when an earlier run ended, so that nobody
   * writes between the start of the machine and the portal's next call.
   */
  #recallHold(): Promise<void> {
    const recall = async (): Promise<void> => {
      const at = await this.#updates.lastActAt()
      const leftMs = (at ?? 0) + updateHoldMs - Date.now()
      if (leftMs > 0) this.#slots.holdWrites(leftMs)
    }
    return (this.#holdRecalled ??= recall())
  }
  fenceWrites(ms: number): void {
    this.#slots.fenceWrites(ms)
  }

  applyPackage(
    spec: SiteSpec,
    updateId: string,
    wanted: SoftwarePackage,
    file: string,
  ): Promise<void> {
    // In turn with copies, so that no backup has half of it.
    return this.#turns.takeForCopy(() =>
      this.#turns.take(async () => {
        await this.#requireInstalled()
        if (await this.#updates.isDone(updateId, wanted)) return
        await this.#updates.prepare(updateId, wanted, file, spec.diskMb * megabyte)
        await this.#updates.exchange(updateId, wanted)
        this.#host.onWrite(this.#id, null)
        this.log.add('portal', `${wanted.slug} was updated to ${wanted.version}`)
      }),
    )
  }

  settleUpdate(updateId: string): Promise<void> {
    return this.#turns.take(() => this.#updates.settle(updateId))
  }

  /** Undefined while no container answers. */
  figures(): Omit<SiteFigures, 'site'> | undefined {
    return this.#disks.figures()
  }
  state(): Promise<SiteState> {
    return this.#disks.state()
  }

  /** Acts run one after another, and wait while the content is exchanged. */
  files(order: FileOrder): Promise<FileAnswer> {
    return this.#turns.take(async () => {
      await this.#requireInstalled()
      const owner = await this.#folder.owner()
      const answer = await this.#host.fileHands.act(this.#folder.wordpress, owner, order)
      // Cached pages that show the file are dropped.
      if (!('fault' in answer) && changing.has(order.op)) this.#host.onWrite(this.#id, null)
      return answer
    })
  }

  addresses(): readonly SiteAddress[] {
    return this.#slots.addresses()
  }
}
