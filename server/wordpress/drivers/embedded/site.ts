// One site: its folder, its containers, and the order in which things happen to it.
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from '../../../platform/errors.ts'
import type { CopyFigures, SiteAddress, SiteAdmin, SiteCopy, SiteSpec, SiteState } from '../../driver.ts'
import { Container, type BootOrder } from './container.ts'
import { Copies, type Archivist } from './copies.ts'
import type { Gate } from './gate.ts'
import { endLeftovers } from './leftovers.ts'
import { SiteFolder } from './site-folder.ts'
import { FileLog } from './site-log.ts'
import { writeTicket } from './tickets.ts'

/** What all sites of a driver share. */
export interface Host {
  readonly sitesDir: string
  readonly runtimeDir: string
  readonly filesDir: string
  readonly nodePath: string
  readonly internet: boolean
  readonly requestMs: number | undefined
  /** Booting is the costly part: few at a time. */
  readonly boots: Gate
  readonly archivist: Archivist
  readonly warn: (detail: object, message: string) => void
}

interface Slot {
  readonly name: string
  container: Container | null
  booting: Promise<void> | null
  wanted: boolean
  restarts: number
  /** Ends in a row without a minute of life between them. */
  failures: number
  timer: NodeJS.Timeout | undefined
}

const megabyte = 1_048_576
const bootMs = 180_000
const steadyMs = 60_000
const longestBackoffMs = 60_000
/** A container that an installation left running waits this long for `start` to take it over. */
const warmMs = 60_000
const internalMb = 512

export class Site {
  readonly log: FileLog
  readonly #host: Host
  readonly #id: string
  readonly #folder: SiteFolder
  #queue: Promise<unknown> = Promise.resolve()
  /** Under way or waiting for their turn. */
  #acts = 0
  #slots: Slot[] = []
  #spec: SiteSpec | null = null
  /** Whether the site is started: its containers may be shown to the edge. */
  #started = false
  #closing = false
  #renewing = false
  #swept = false
  #count = 0
  #warmTimer: NodeJS.Timeout | undefined
  readonly #alive = new Set<Container>()
  readonly #copies: Copies
  /** Backups and restores, one after another. The site's other acts wait only while a restore exchanges its content. */
  #copyQueue: Promise<unknown> = Promise.resolve()

  constructor(host: Host, id: string) {
    this.#host = host
    this.#id = id
    this.#folder = new SiteFolder(host.sitesDir, id, host.filesDir)
    this.log = new FileLog(this.#folder.log)
    this.#copies = new Copies(host.archivist, id, this.#folder.dir)
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
      if (!(await this.#folder.installed())) throw new DriverFailure('rejected', `site ${this.#id} is not installed`)
      return await this.#copies.pack(file)
    })
  }

  restore(spec: SiteSpec, copy: SiteCopy, restoreId: string): Promise<void> {
    return this.#copyInTurn(async () => {
      if (await this.#inTurn(() => this.#copies.isDone(restoreId))) return
      await this.#copies.prepare(copy, { diskBytes: spec.diskMb * megabyte, databaseBytes: spec.databaseDiskMb * megabyte })
      await this.#inTurn(async () => {
        if (this.#closing) throw new DriverFailure('unavailable', 'the WordPress driver is closing')
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
      if (!admin) throw new DriverFailure('rejected', `site ${this.#id} is not installed and no admin was given`)
      await this.#halt()
      await this.#sweep()
      try {
        await this.#folder.layOut(spec)
        // Left running: `start` comes next, and takes over a container that has just booted.
        const slot = this.#slot(1)
        slot.wanted = true
        await this.#boot(slot, spec, {
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
          : new DriverFailure('unavailable', `site ${this.#id} could not be installed`, { cause: error })
      }
      this.#warmTimer = setTimeout(() => void this.#inTurn(() => (this.#started ? Promise.resolve() : this.#halt())), warmMs)
      this.#warmTimer.unref()
    })
  }

  start(spec: SiteSpec): Promise<void> {
    return this.#inTurn(async () => {
      if (!(await this.#folder.installed())) throw new DriverFailure('rejected', `site ${this.#id} is not installed`)
      await this.#sweep()
      clearTimeout(this.#warmTimer)
      this.#spec = spec
      this.#started = true
      const surplus = this.#slots.splice(spec.containers)
      await Promise.all(surplus.map((slot) => this.#end(slot)))
      const limits = { ssdBytes: spec.diskMb * megabyte, databaseBytes: spec.databaseDiskMb * megabyte }
      for (const slot of this.#slots) {
        // One that is booting does so by the spec of before.
        await slot.booting
        slot.container?.send({ op: 'limits', ...limits })
        slot.container?.send({ op: 'hosts', hosts: spec.hosts })
        const reason = slot.container && this.#staleness(slot.container, spec)
        if (reason) await this.#replace(slot, spec, reason)
      }
      for (let number = 1; number <= spec.containers; number++) {
        const slot = this.#slot(number)
        slot.wanted = true
        if (!slot.container && !slot.booting) this.#bootLater(slot, 0)
      }
      if (this.addresses().length === 0) await this.#first()
    })
  }

  /** Waits until one container answers; fails when every one of them failed. */
  async #first(): Promise<void> {
    const boots = this.#slots.flatMap((slot) =>
      slot.booting ? [slot.booting.then(() => (slot.container ? undefined : Promise.reject(slot)))] : [],
    )
    try {
      await Promise.any(boots)
    } catch {
      throw new DriverFailure('unavailable', `no container of site ${this.#id} came up: ${this.log.newest?.text ?? 'no word from it'}`)
    }
  }

  /** Why only a new process can take on the spec's conditions, or null. */
  #staleness(container: Container, spec: SiteSpec): string | null {
    const order = this.#order(spec, '', null)
    if (container.order.url !== order.url || container.order.memoryMb !== order.memoryMb || container.order.internet !== order.internet)
      return 'the plan or the address changed'
    return container.generation === spec.generation ? null : 'a restart was asked for'
  }

  /** The new one answers before the old one goes. */
  async #replace(slot: Slot, spec: SiteSpec, reason: string): Promise<void> {
    const old = slot.container
    this.log.add(slot.name, `being replaced: ${reason}`)
    await this.#boot(slot, spec, null)
    await old?.retire()
  }

  #order(spec: SiteSpec, internalDir: string, install: BootOrder['install']): BootOrder {
    return {
      siteDir: this.#folder.wordpress,
      internalDir,
      sqliteDir: path.join(this.#host.filesDir, 'sqlite-database-integration'),
      ticketsDir: this.#folder.tickets,
      url: spec.url,
      hosts: spec.hosts,
      memoryMb: spec.ramMb,
      phpMemoryMb: Math.min(1_024, Math.max(64, Math.floor(spec.ramMb / 4))),
      ssdBytes: spec.diskMb * megabyte,
      databaseBytes: spec.databaseDiskMb * megabyte,
      internalBytes: internalMb * megabyte,
      internet: this.#host.internet,
      requestMs: this.#host.requestMs,
      install,
    }
  }

  #slot(number: number): Slot {
    const slot = this.#slots[number - 1]
    if (slot) return slot
    const made: Slot = { name: `web-${number}`, container: null, booting: null, wanted: false, restarts: 0, failures: 0, timer: undefined }
    this.#slots[number - 1] = made
    return made
  }

  /** Starts a process for the slot and puts it there once it answers. */
  async #boot(slot: Slot, spec: SiteSpec, install: BootOrder['install']): Promise<void> {
    await this.#host.boots.run(async () => {
      if (!slot.wanted || this.#closing) throw new DriverFailure('unavailable', `container ${slot.name} is no longer wanted`)
      const name = `${slot.name}.${++this.#count}`
      const internalDir = await this.#folder.layOutScratch(name)
      const place = {
        nodePath: this.#host.nodePath,
        runtimeDir: this.#host.runtimeDir,
        siteId: this.#id,
        name: slot.name,
        runDir: this.#folder.run,
        generation: spec.generation,
      }
      if (!slot.wanted || this.#closing) throw new DriverFailure('unavailable', `container ${slot.name} is no longer wanted`)
      const container = new Container(place, this.#order(spec, internalDir, install), (text) => this.log.add(slot.name, text))
      this.#alive.add(container)
      void container.ended.then((how) => this.#onEnd(slot, container, how))
      const timer = setTimeout(() => container.kill(), bootMs)
      try {
        await container.ready
      } finally {
        clearTimeout(timer)
      }
      if (!slot.wanted) {
        await container.stop()
        throw new DriverFailure('unavailable', `container ${slot.name} is no longer wanted`)
      }
      slot.container = container
      this.log.add(slot.name, `answers after ${((Date.now() - container.startedAt) / 1000).toFixed(1)} s`)
    })
  }

  /** Boots in the background; tries again with growing pauses until it is no longer wanted. */
  #bootLater(slot: Slot, delayMs: number): void {
    clearTimeout(slot.timer)
    const begin = () => {
      const spec = this.#spec
      if (!slot.wanted || !spec || slot.container || slot.booting) return
      slot.booting = this.#boot(slot, spec, null)
        .catch((error: unknown) => {
          if (!slot.wanted) return
          slot.failures++
          const pause = Math.min(longestBackoffMs, 250 * 2 ** slot.failures)
          this.log.add(slot.name, `did not start, next try in ${pause / 1000} s`)
          this.#host.warn({ site: this.#id, container: slot.name, error }, 'a WordPress container did not start')
          slot.timer = setTimeout(begin, pause)
        })
        .finally(() => (slot.booting = null))
    }
    if (delayMs === 0) begin()
    else slot.timer = setTimeout(begin, delayMs)
  }

  #onEnd(slot: Slot, container: Container, how: string): void {
    this.#alive.delete(container)
    void fs.rm(container.order.internalDir, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
    void fs.rm(`${container.order.internalDir}.pid`, { force: true }).catch(() => {})
    if (slot.container !== container) return
    slot.container = null
    if (container.ending || !slot.wanted) return
    if (Date.now() - container.startedAt > steadyMs) slot.failures = 0
    slot.restarts++
    const pause = Math.min(longestBackoffMs, 250 * 2 ** slot.failures++)
    this.log.add(slot.name, `ended (${how.split('\n')[0]}), restarting in ${pause / 1000} s`)
    if (this.#started) this.#bootLater(slot, pause)
  }

  async #end(slot: Slot): Promise<void> {
    slot.wanted = false
    clearTimeout(slot.timer)
    await slot.container?.retire()
    await slot.booting
  }

  /** No process of the site is left. Boots under way are cut short. */
  async #halt(): Promise<void> {
    clearTimeout(this.#warmTimer)
    this.#started = false
    const slots = this.#slots
    this.#slots = []
    for (const slot of slots) slot.wanted = false
    await Promise.all([...this.#alive].map((container) => container.stop()))
    await Promise.all(slots.map((slot) => this.#end(slot)))
  }

  /** Ends what an earlier life of the portal left behind; once is enough. */
  async #sweep(): Promise<void> {
    if (!this.#swept) {
      const ended = await endLeftovers(this.#folder.run, this.#id)
      if (ended > 0) this.#host.warn({ site: this.#id, ended }, 'ended WordPress containers of an earlier life')
      await this.#copies.recover()
      this.#swept = true
    }
    await fs.mkdir(this.#folder.run, { recursive: true })
  }

  stop(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#halt()
      if (await this.#folder.exists()) await this.#sweep()
      this.log.flush()
    })
  }

  remove(): Promise<void> {
    this.#cutShort()
    return this.#inTurn(async () => {
      await this.#copies.cutShort()
      await this.#halt()
      if (await this.#folder.exists()) await this.#sweep()
      this.log.discard()
      await this.#folder.remove()
    })
  }

  /** For good: nothing boots any more in this life of the driver. */
  close(): Promise<void> {
    this.#closing = true
    this.#cutShort()
    return Promise.all([this.#copies.cutShort(), this.stop()]).then(() => undefined)
  }

  /** What is booting now need not be waited for. */
  #cutShort(): void {
    for (const container of this.#alive) if (container.port === null) container.kill()
    for (const slot of this.#slots) slot.wanted = false
  }

  /** Puts down containers that take too much memory or say nothing (the slot's restart follows), and renews in good time those that will. */
  watch(): void {
    for (const slot of this.#slots) {
      const { container } = slot
      const fault = container?.fault()
      if (fault) {
        this.log.add(slot.name, `${fault}: restarting it`)
        container?.kill()
      } else if (container?.ripe() && this.#started && !this.#renewing) {
        this.#renewing = true
        void this.#inTurn(async () => {
          if (slot.wanted && slot.container === container && this.#spec)
            await this.#replace(slot, this.#spec, 'its memory is near the limit')
        })
          .catch((error: unknown) => this.#host.warn({ site: this.#id, error }, 'a WordPress container could not be renewed'))
          .finally(() => (this.#renewing = false))
      }
    }
  }

  /** wp-cron.php, in one container: WordPress's own way, at the end of a visitor's page, is switched off. */
  runCron(): void {
    if (!this.#started) return
    this.#slots.find((slot) => slot.container?.port)?.container?.send({ op: 'cron' })
  }

  async adminLink(user: string): Promise<string> {
    const spec = this.#spec
    if (!spec || this.addresses().length === 0) throw new DriverFailure('unavailable', `site ${this.#id} is not started`)
    return `${spec.url}/portal-sign-in/${await writeTicket(this.#folder.tickets, user)}`
  }

  addresses(): readonly SiteAddress[] {
    if (!this.#started) return []
    return this.#slots.flatMap((slot) => (slot.container?.port ? [{ host: '127.0.0.1', port: slot.container.port }] : []))
  }

  async state(): Promise<SiteState> {
    const [exists, installed, used] = await Promise.all([this.#folder.exists(), this.#folder.installed(), this.#folder.used()])
    const shown = this.#started ? this.#slots : []
    const ready = this.addresses().length > 0
    return {
      state: !exists ? 'absent' : ready ? 'running' : this.#started ? 'starting' : 'stopped',
      installed,
      containers: shown.map((slot) => ({
        name: slot.name,
        ready: (slot.container?.port ?? null) !== null,
        restarts: slot.restarts,
        memoryMb: slot.container?.memoryMb() ?? null,
      })),
      diskUsedMb: Math.ceil(used.files / megabyte),
      databaseUsedMb: Math.ceil(used.database / megabyte),
    }
  }
}
