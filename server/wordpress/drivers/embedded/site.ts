// One site: its folder, its containers and its copies, and the order in which things happen to
// them.
import fs from 'node:fs/promises'
import { DriverFailure } from '../../../platform/errors.ts'
import type {
  CopyFigures,
  SiteAddress,
  SiteAdmin,
  SiteCopy,
  SiteSpec,
  SiteState,
} from '../../driver.ts'
import { Copies } from './copies.ts'
import type { Host } from './host.ts'
import { endLeftovers } from './leftovers.ts'
import { SiteFolder, type Used } from './site-folder.ts'
import { FileLog } from './site-log.ts'
import { Slots } from './slots.ts'
import { writeTicket } from './tickets.ts'

const megabyte = 1_048_576
/** A container that an installation left running waits this long for `start` to take it over. */
const warmMs = 60_000
const usageMs = 60_000

export class Site {
  readonly log: FileLog
  readonly #host: Host
  readonly #id: string
  readonly #folder: SiteFolder
  #queue: Promise<unknown> = Promise.resolve()
  /** Under way or waiting for their turn. */
  #acts = 0
  #swept = false
  #warmTimer: NodeJS.Timeout | undefined
  #usage: { readonly at: number; readonly used: Promise<Used> } | null = null
  readonly #slots: Slots
  readonly #copies: Copies
  /**
   * Backups and restores, one after another. The site's other acts wait only while a restore
   * exchanges its content.
   */
  #copyQueue: Promise<unknown> = Promise.resolve()

  constructor(host: Host, id: string) {
    this.#host = host
    this.#id = id
    this.#folder = new SiteFolder(host.sitesDir, id, host.filesDir, host.ownerOf)
    this.log = new FileLog(this.#folder.log)
    this.#slots = new Slots(host, id, this.#folder, this.log)
    this.#copies = new Copies(host.archiveRunner, id, this.#folder.dir, () => this.#folder.owner())
  }

  /** Whether nothing is done to it and nothing waits to be. */
  get idle(): boolean {
    return this.#acts === 0
  }

  #copyInTurn<T>(act: () => Promise<T>): Promise<T> {
    this.#acts++
    const turn = this.#copyQueue.then(act, act).finally(() => this.#acts--)
    this.#copyQueue = turn.catch(() => {})
    return turn
  }

  backup(file: string): Promise<CopyFigures> {
    return this.#copyInTurn(async () => {
      if (!(await this.#folder.installed()))
        throw new DriverFailure('rejected', `site ${this.#id} is not installed`)
      return await this.#copies.pack(file)
    })
  }

  restore(spec: SiteSpec, copy: SiteCopy, restoreId: string): Promise<void> {
    return this.#copyInTurn(async () => {
      if (await this.#inTurn(() => this.#copies.isDone(restoreId))) return
      await this.#copies.prepare(copy, {
        diskBytes: spec.diskMb * megabyte,
        databaseBytes: spec.databaseDiskMb * megabyte,
      })
      await this.#inTurn(async () => {
        if (this.#slots.closed)
          throw new DriverFailure('unavailable', 'the WordPress driver is closing')
        await this.#halt()
        await this.#sweep()
        await this.#copies.exchange(restoreId)
        if (!(await this.#folder.installed())) await this.#folder.markInstalled(spec)
        this.log.add('portal', 'files and database were restored from a backup')
      })
    })
  }

  /** One act after another, in the order they were asked for. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    this.#acts++
    const turn = this.#queue.then(act, act).finally(() => this.#acts--)
    this.#queue = turn.catch(() => {})
    return turn
  }

  install(spec: SiteSpec, admin: SiteAdmin | null): Promise<void> {
    return this.#inTurn(async () => {
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
        // Left running: `start` comes next, and takes over a container that has just booted.
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
        () => void this.#inTurn(() => (this.#slots.started ? Promise.resolve() : this.#halt())),
        warmMs,
      )
      this.#warmTimer.unref()
    })
  }

  start(spec: SiteSpec): Promise<void> {
    return this.#inTurn(async () => {
      if (!(await this.#folder.installed()))
        throw new DriverFailure('rejected', `site ${this.#id} is not installed`)
      await this.#sweep()
      clearTimeout(this.#warmTimer)
      await this.#slots.start(spec)
    })
  }

  /** No process of the site is left. Boots under way are cut short. */
  async #halt(): Promise<void> {
    clearTimeout(this.#warmTimer)
    await this.#slots.halt()
  }

  /** Ends the processes that an earlier run of the portal left behind; once is enough. */
  async #sweep(): Promise<void> {
    if (!this.#swept) {
      const ended = await endLeftovers(this.#folder.run, this.#id)
      if (ended > 0)
        this.#host.warn({ site: this.#id, ended }, 'ended WordPress containers of an earlier life')
      await this.#copies.recover()
      this.#swept = true
    }
    await fs.mkdir(this.#folder.run, { recursive: true })
  }

  stop(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#halt()
      if (await this.#folder.exists()) await this.#sweep()
      await this.log.flush()
    })
  }

  remove(): Promise<void> {
    this.#slots.cutShort()
    return this.#inTurn(async () => {
      await this.#copies.cutShort()
      await this.#halt()
      if (await this.#folder.exists()) await this.#sweep()
      await this.log.discard()
      await this.#folder.remove()
    })
  }

  /** Final: no container boots any more in this process. */
  close(): Promise<void> {
    this.#slots.close()
    return Promise.all([this.#copies.cutShort(), this.stop()]).then(() => undefined)
  }

  /** Checks the containers; to be called every few seconds. */
  watch(): void {
    this.#slots.watch((act) => this.#inTurn(act))
  }

  runCron(): void {
    this.#slots.runCron()
  }

  async adminLink(user: string): Promise<string> {
    const { spec } = this.#slots
    if (!spec || this.addresses().length === 0)
      throw new DriverFailure('unavailable', `site ${this.#id} is not started`)
    return (
      `${spec.url}/portal-sign-in/` +
      `${await writeTicket(this.#folder.tickets, user, await this.#folder.owner())}`
    )
  }

  addresses(): readonly SiteAddress[] {
    return this.#slots.addresses()
  }

  /**
   * What the disks hold while no container counts it: measured by walking through all files, one
   * site after another, and at most once a minute each, whoever asks how often.
   */
  async #measured(): Promise<Used> {
    if (!this.#usage || Date.now() - this.#usage.at > usageMs) {
      const used = this.#host.measures.run(() => this.#folder.used())
      this.#usage = { at: Date.now(), used }
      used.catch(() => (this.#usage = null))
    }
    return this.#usage.used
  }

  async state(): Promise<SiteState> {
    const [exists, installed, used] = await Promise.all([
      this.#folder.exists(),
      this.#folder.installed(),
      this.#slots.used() ?? this.#measured(),
    ])
    const ready = this.addresses().length > 0
    let state: SiteState['state'] = 'stopped'
    if (!exists) state = 'absent'
    else if (ready) state = 'running'
    else if (this.#slots.started) state = 'starting'
    return {
      state,
      installed,
      containers: this.#slots.states(),
      diskUsedMb: Math.ceil(used.files / megabyte),
      databaseUsedMb: Math.ceil(used.database / megabyte),
    }
  }
}
