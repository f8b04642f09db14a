// The containers of one site: a slot for each that it should have; when a container ends, its slot
// is filled again.
import fs from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { DriverFailure } from '../../../platform/errors.ts'
import type { SiteAddress, SiteSpec, SiteState } from '../../driver.ts'
import { disksOf, orderOf, planOf, sizeOf, stalenessOf } from './boot-order.ts'
import { commandsOf, holdToPlan, niceOf } from './container-commands.ts'
import { Container, type BootOrder } from './container.ts'
import { removeTree } from './files.ts'
import type { EngineWeb, Used } from './engine.ts'
import type { Host } from './host.ts'
import type { SiteFolder } from './site-folder.ts'
import type { FileLog } from './site-log.ts'

interface Slot {
  readonly name: string
  container: Container | null
  booting: Promise<void> | null
  wanted: boolean
  restarts: number
  /** Ends in a row, each after less than a minute. */
  failures: number
  timer: NodeJS.Timeout | undefined
}

/** Runs an act when no other act on the site is under way. */
type InTurn = (act: () => Promise<void>) => Promise<void>

const bootMs = 180_000
const imageAgainMs = 10 * 60_000
const steadyMs = 60_000
const longestBackoffMs = 60_000

export class Slots {
  readonly #host: Host
  readonly #id: string
  readonly #folder: SiteFolder
  readonly #log: FileLog
  #slots: Slot[] = []
  #spec: SiteSpec | null = null
  #cpuMs = 0
  /** CPU time of each container already added to `#cpuMs`, ms. */
  readonly #cpuOf = new WeakMap<Container, number>()
  /** The PHP of each container, where an engine runs it. */
  readonly #webOf = new WeakMap<Container, EngineWeb>()
  /** Whether the site is started: its containers may be shown to the edge. */
  #started = false
  #closed = false
  #reserved: Used = { files: 0, database: 0 }
  #renewing = false
  /** Until when writes are held, system clock, ms. */
  #heldUntil = 0
  /** The same for a hold while no portal is in touch with the machine. */
  #fencedUntil = 0
  /** After a new image failed: the earliest time to try again, system clock, ms. */
  #triesImageAt = 0
  #count = 0
  readonly #alive = new Set<Container>()
  /** Folders of ended containers that are being removed. */
  readonly #removing = new Set<Promise<void>>()

  constructor(host: Host, id: string, folder: SiteFolder, log: FileLog) {
    this.#host = host
    this.#id = id
    this.#folder = folder
    this.#log = log
  }

  get started(): boolean {
    return this.#started
  }

  /** The spec of the last start; null: not started yet. */
  get spec(): SiteSpec | null {
    return this.#spec
  }

  /** Whether no container boots any more in this process. */
  get closed(): boolean {
    return this.#closed
  }

  /** As WordpressDriver.holdWrites; containers that start during the hold keep it, too. */
  holdWrites(ms: number): boolean {
    const wasHeld = this.#heldUntil > Date.now()
    this.#heldUntil = ms > 0 ? Date.now() + ms : 0
    this.#sendHold()
    return wasHeld
  }
  /** Whether the portal holds writes now. */
  get holdsWrites(): boolean {
    return this.#heldUntil > Date.now()
  }
  /** As SiteRuntime.fenceWrites. */
  fenceWrites(ms: number): void {
    this.#fencedUntil = ms > 0 ? Date.now() + ms : 0
    this.#sendHold()
  }
  #sendHold(): void {
    const ms = this.#holdMs
    for (const container of this.#alive) container.send({ op: 'hold', ms })
  }
  get #holdMs(): number {
    return Math.max(0, Math.max(this.#heldUntil, this.#fencedUntil) - Date.now())
  }

  /** Reserves bytes on the site's disks for something else: its containers may use the rest. */
  reserve(of: Used): void {
    this.#reserved = of
    const spec = this.#spec
    if (!spec) return
    const limits = { ...disksOf(spec, this.#reserved), mail: spec.mail === true }
    for (const container of this.#alive) container.send({ op: 'limits', ...limits })
    // Only a start waits for the kernel's limits; here the containers have their new limits
    // already.
    this.#limitDisks(spec).catch((error: unknown) =>
      this.#host.warn({ site: this.#id, error }, 'the disks of a site could not be limited'),
    )
  }
  /** Has the kernel limit the disks, where the engine can. */
  async #limitDisks(spec: SiteSpec): Promise<void> {
    if (!this.#host.engine) return
    const { ssdBytes, databaseBytes } = disksOf(spec, this.#reserved)
    const limits = { files: ssdBytes, database: databaseBytes }
    await this.#host.engine.limitDisks(await this.#folder.inEngine(), limits)
  }
  /** Installs WordPress in a container, which is left running. */
  async install(spec: SiteSpec, install: BootOrder['install']): Promise<void> {
    const slot = this.#slot(1)
    slot.wanted = true
    await this.#boot(slot, spec, install)
  }

  /** Runs as many containers as the spec says, each by its settings; resolves when one answers. */
  async start(spec: SiteSpec): Promise<void> {
    // Cached pages are kept where nothing changed: while no container answers, they are all that
    // visitors can see.
    if (!this.#started || !isDeepStrictEqual(this.#spec, spec)) this.#host.onWrite(this.#id, null)
    this.#spec = spec
    this.#started = true
    const surplus = this.#slots.splice(spec.containers)
    await Promise.all(surplus.map((slot) => this.#end(slot)))
    const { engine } = this.#host
    const limits = {
      ...disksOf(spec, this.#reserved),
      mail: spec.mail === true,
      ...(engine && sizeOf(this.#host, spec)),
    }
    await this.#limitDisks(spec)
    for (const slot of this.#slots) {
      // A booting container still uses the previous spec.
      await slot.booting
      slot.container?.send({ op: 'limits', ...limits })
      if (engine && slot.container) {
        await this.#webOf.get(slot.container)?.resize(planOf(spec))
        Object.assign(slot.container.order, sizeOf(this.#host, spec))
      }
      // The primary name is included: until it is replaced, a container started under another one
      // would redirect its visitors there, and the edge would redirect them back.
      slot.container?.send({ op: 'hosts', hosts: [...spec.hosts, new URL(spec.url).hostname] })
      const reason = slot.container && stalenessOf(this.#host, slot.container, spec)
      if (reason) await this.#replace(slot, spec, reason)
    }
    for (let number = 1; number <= spec.containers; number++) {
      const slot = this.#slot(number)
      slot.wanted = true
      if (!slot.container && !slot.booting) this.#bootLater(slot, 0)
    }
    if (this.addresses().length === 0) await this.#first()
  }

  /** Waits until one container answers; fails when every one of them failed. */
  async #first(): Promise<void> {
    const boots = this.#slots.flatMap((slot) =>
      slot.booting
        ? [slot.booting.then(() => (slot.container ? undefined : Promise.reject(slot)))]
        : [],
    )
    try {
      await Promise.any(boots)
    } catch {
      throw new DriverFailure(
        'unavailable',
        `no container of site ${this.#id} came up: ${this.#log.newest?.text ?? 'no word from it'}`,
      )
    }
  }

  /** Replaces a container; the new one answers before the old one goes. */
  async #replace(slot: Slot, spec: SiteSpec, reason: string, isRenewal = false): Promise<void> {
    const old = slot.container
    this.#log.add(slot.name, `being replaced: ${reason}`)
    await this.#boot(slot, spec, null, isRenewal)
    await old?.retire()
  }

  #slot(number: number): Slot {
    const slot = this.#slots[number - 1]
    if (slot) return slot
    const made: Slot = {
      name: `web-${number}`,
      container: null,
      booting: null,
      wanted: false,
      restarts: 0,
      failures: 0,
      timer: undefined,
    }
    this.#slots[number - 1] = made
    return made
  }

  /** Starts a process for the slot and puts it there once it answers. */
  async #boot(
    slot: Slot,
    spec: SiteSpec,
    install: BootOrder['install'],
    isRenewal = false,
  ): Promise<void> {
    // The first container of every site is urgent: after a start of the machine all sites are soon
    // back.
    const urgent = this.addresses().length === 0 && this.#slots[0] === slot
    await this.#host.boots.run(
      async () => {
        if (!slot.wanted || this.#closed)
          throw new DriverFailure('unavailable', `container ${slot.name} is no longer wanted`)
        const name = `${slot.name}.${++this.#count}`
        const internalDir = await this.#folder.layOutScratch(name)
        const plain = orderOf(this.#host, spec, {
          folder: this.#folder,
          internalDir,
          install,
          reserved: this.#reserved,
          holdMs: this.#holdMs,
        })
        const of = { id: this.#id, folder: this.#folder, name: slot.name }
        const { command, php } = await commandsOf(this.#host, of, plain)
        const order = { ...plain, php: { command: php, nice: niceOf(spec.cpu) } }
        const place = {
          command,
          runtimeDir: this.#host.runtimeDir,
          name: slot.name,
          runDir: this.#folder.run,
          generation: spec.generation,
          limit: (pid: number, ended: Promise<unknown>) =>
            holdToPlan(this.#host, { id: this.#id, name, pid, ended }, order),
        }
        if (!slot.wanted || this.#closed)
          throw new DriverFailure('unavailable', `container ${slot.name} is no longer wanted`)
        const web = await this.#host.engine?.openWeb(
          await this.#folder.inEngine(),
          slot.name,
          internalDir,
          planOf(spec),
          isRenewal,
        )
        const container = new Container(
          place,
          order,
          (text) => this.#log.add(slot.name, text),
          (tags) => this.#host.onWrite(this.#id, tags),
          () => this.#host.onCrash(this.#id),
          () => this.#host.onMail(this.#id),
        )
        this.#alive.add(container)
        if (web) this.#join(slot, container, web)
        void container.ended.then((how) => this.#onEnd(slot, container, how))
        const timer = setTimeout(() => container.kill(), bootMs)
        try {
          await container.ready
        } finally {
          clearTimeout(timer)
        }
        web?.answered()
        if (!slot.wanted) {
          await container.stop()
          throw new DriverFailure('unavailable', `container ${slot.name} is no longer wanted`)
        }
        slot.container = container
        this.#log.add(
          slot.name,
          `answers after ${((Date.now() - container.startedAt) / 1000).toFixed(1)} s`,
        )
      },
      { urgent },
    )
  }

  /** Ends a container and its PHP together. */
  #join(slot: Slot, container: Container, web: EngineWeb): void {
    this.#webOf.set(container, web)
    void web.ended.then((how) => {
      if (!container.ending) this.#log.add(slot.name, `PHP ended: ${how}`)
      container.kill()
    })
    const removing = container.ended
      .then(() => web.remove())
      .catch((error: unknown) =>
        this.#host.warn({ site: this.#id, error }, 'a container could not be removed'),
      )
      .then(() => void this.#removing.delete(removing))
    this.#removing.add(removing)
  }

  /** Boots in the background; retries with growing pauses until the slot is no longer wanted. */
  #bootLater(slot: Slot, delayMs: number): void {
    clearTimeout(slot.timer)
    const begin = () => {
      const spec = this.#spec
      if (!slot.wanted || !spec || slot.container || slot.booting) return
      slot.booting = this.#boot(slot, spec, null)
        .catch((error: unknown) => {
          if (!slot.wanted) return
          slot.failures++
          this.#host.counted.failedStarts++
          const pause = Math.min(longestBackoffMs, 250 * 2 ** slot.failures)
          this.#log.add(slot.name, `did not start, next try in ${pause / 1000} s`)
          this.#host.warn(
            { site: this.#id, container: slot.name, error },
            'a WordPress container did not start',
          )
          slot.timer = setTimeout(begin, pause)
        })
        .finally(() => (slot.booting = null))
    }
    if (delayMs === 0) begin()
    else slot.timer = setTimeout(begin, delayMs)
  }

  #onEnd(slot: Slot, container: Container, how: string): void {
    this.#alive.delete(container)
    // The container may have ended before it reported its last writes.
    if (container.ending || !slot.wanted) this.#host.onWrite(this.#id, null)
    else this.#host.onCrash(this.#id)
    this.#host.onMail(this.#id)
    // What could not be removed is swept later.
    const { internalDir } = container.order
    const removing = Promise.allSettled([
      removeTree(internalDir),
      fs.rm(`${internalDir}.pid`, { force: true }),
    ]).then(() => void this.#removing.delete(removing))
    this.#removing.add(removing)
    if (slot.container !== container) return
    slot.container = null
    if (container.ending || !slot.wanted) return
    if (Date.now() - container.startedAt > steadyMs) slot.failures = 0
    slot.restarts++
    this.#host.counted.restarts++
    const pause = Math.min(longestBackoffMs, 250 * 2 ** slot.failures++)
    this.#log.add(slot.name, `ended (${how.split('\n')[0]}), restarting in ${pause / 1000} s`)
    if (this.#started) this.#bootLater(slot, pause)
  }

  async #end(slot: Slot): Promise<void> {
    slot.wanted = false
    clearTimeout(slot.timer)
    await slot.container?.retire()
    await slot.booting
  }

  /** Ends all processes of the site. Boots under way are cut short. */
  async halt(): Promise<void> {
    this.#started = false
    const slots = this.#slots
    this.#slots = []
    for (const slot of slots) slot.wanted = false
    await Promise.all([...this.#alive].map((container) => container.stop()))
    await Promise.all(slots.map((slot) => this.#end(slot)))
    // Removals are waited for, so that none of their processes outlives the portal.
    await Promise.all(this.#removing)
  }

  /** Stops all boots for good in this process. */
  close(): void {
    this.#closed = true
    this.cutShort()
  }

  /** Ends boots under way, which then need not be waited for. */
  cutShort(): void {
    for (const container of this.#alive) if (container.port === null) container.kill()
    for (const slot of this.#slots) slot.wanted = false
  }

  /**
   * Kills containers that use too much memory or have fallen silent (their slots restart them), and
   * replaces in good time those that soon would: `inTurn`, when no other act on the site is under
   * way.
   */
  watch(inTurn: InTurn): void {
    for (const slot of this.#slots) {
      const { container } = slot
      const fault = container?.fault()
      if (fault) {
        this.#log.add(slot.name, `${fault}: restarting it`)
        container?.kill()
      } else if (container && this.#started && !this.#renewing) this.#renew(slot, container, inTurn)
    }
  }
  /** Replaces a container that should be renewed; another one answers before it goes. */
  #renew(slot: Slot, container: Container, inTurn: InTurn): void {
    const mayTry = Date.now() >= this.#triesImageAt
    const image = mayTry ? (this.#webOf.get(container)?.newerImage() ?? null) : null
    const isFull = container.shouldRecycle()
    if (!isFull && image === null) return
    this.#renewing = true
    const reason = isFull ? 'its memory is near the limit' : 'there is a newer image'
    void inTurn(async () => {
      if (!slot.wanted || slot.container !== container || !this.#spec) return
      // Another site may have found meanwhile that the image does not work.
      if (!isFull && this.#webOf.get(container)?.newerImage() !== image) return
      await this.#replace(slot, this.#spec, reason, image !== null)
    })
      .catch((error: unknown) => {
        this.#host.warn({ site: this.#id, error }, 'a WordPress container could not be renewed')
        if (image === null || !slot.wanted || slot.container !== container) return
        this.#log.add(slot.name, 'does not answer with the newer image: it goes on as it was')
        this.#triesImageAt = Date.now() + imageAgainMs
        this.#host.engine?.refuseImage(image)
      })
      .finally(() => (this.#renewing = false))
  }

  /**
   * Runs wp-cron.php in one container: WordPress's own trigger, at the end of a visitor's page, is
   * switched off.
   */
  runCron(): void {
    if (!this.#started || this.#holdMs > 0) return
    this.#slots.find((slot) => slot.container?.port)?.container?.send({ op: 'cron' })
  }

  addresses(): readonly SiteAddress[] {
    if (!this.#started) return []
    return this.#slots.flatMap((slot) =>
      slot.container?.port ? [{ host: '127.0.0.1', port: slot.container.port }] : [],
    )
  }

  /**
   * The use of the disks as the containers count it for all of them together; null while none
   * counts. Each knows its own writes at once and the others' after a while: the largest figure is
   * the best.
   */
  used(): Used | null {
    // With an engine the containers count nothing.
    if (this.#host.engine) return null
    const all = this.#slots.flatMap((slot) => slot.container?.used ?? [])
    if (all.length === 0) return null
    return {
      files: Math.max(...all.map((one) => one.files)),
      database: Math.max(...all.map((one) => one.database)),
    }
  }

  /** Memory of the present containers, MB, and CPU time of all containers so far, ms. */
  load(): { readonly memoryMb: number; readonly cpuMs: number } {
    let memoryMb = 0
    for (const { container } of this.#slots) {
      if (!container) continue
      const web = this.#webOf.get(container)
      memoryMb += (container.memoryMb() ?? 0) + (web?.memoryMb() ?? 0)
      const before = this.#cpuOf.get(container) ?? 0
      const now = container.cpuMs + (web?.cpuMs() ?? 0)
      this.#cpuMs += Math.max(0, now - before)
      this.#cpuOf.set(container, now)
    }
    return { memoryMb, cpuMs: this.#cpuMs }
  }

  #memoryOf(container: Container): number | null {
    const own = container.memoryMb()
    return own === null ? null : own + (this.#webOf.get(container)?.memoryMb() ?? 0)
  }

  states(): SiteState['containers'] {
    const shown = this.#started ? this.#slots : []
    return shown.map((slot) => ({
      name: slot.name,
      ready: (slot.container?.port ?? null) !== null,
      restarts: slot.restarts,
      memoryMb: slot.container === null ? null : this.#memoryOf(slot.container),
    }))
  }
}
