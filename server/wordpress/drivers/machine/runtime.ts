// What the drivers that keep sites in folders of this machine have in common: the agreement, for a
// site of each folder.
import { existsSync } from 'node:fs'
import fs from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import path from 'node:path'
import { diskSpaceNow, shortageOf, type DiskSpace } from '../../../platform/disk-space.ts'
import { DriverFailure } from '../../../platform/errors.ts'
import { frontPageStatus } from '../../../platform/front-page.ts'
import type { SiteRuntime, SiteSpec, WriteListener } from '../../driver.ts'
import { ArchiveRunner, type CopyLimits } from './archive-runner.ts'
import { openCgroups, ownCgroup, type Cgroups } from './cgroups.ts'
import { Confinement } from './confinement.ts'
import { proveCopy } from './copies.ts'
import { FileHands } from './file-hands.ts'
import { Gate } from './gate.ts'
import { dropLetters, hasLetters, lettersIn } from './mail-folder.ts'
import type { Engine } from './engine.ts'
import type { Host } from './host.ts'
import { releaseIn } from './release.ts'
import type { Settings } from './settings.ts'
import { Site } from './site.ts'
import { embeddedRuntime } from './site-folder.ts'
import { firstSiteUser, SiteUsers } from './site-users.ts'
import { startSweeps } from './sweeps.ts'
import { usualToolTimes, type ToolTimes } from './tools.ts'

export interface MachineParts {
  /**
   * The engine that runs PHP and the database; null: the container runs PHP itself, with SQLite.
   */
  readonly engine: Engine | null
  /** The portal's data folder; sites live in `<dataDir>/sites/<id>/`. */
  readonly dataDir: string
  /** The folder `runtimes/wordpress-wasm`, with its packages installed. */
  readonly runtimeDir: string
  /**
   * The folder made by scripts/wordpress-files.mjs: `wp/` and `sqlite-database-integration/`;
   * `<filesDir>-templates` may lie beside it.
   */
  readonly filesDir: string
  /** The program of a container, below `runtimeDir`; `main.js` when not given. */
  readonly program?: 'main.js' | 'simulated.js'
  /** Node 22 or newer. */
  readonly nodePath: string
  readonly settings: Settings
  /** How often wp-cron.php runs in each started site, ms; 5 minutes when not given. */
  readonly cronMs?: number
  /** How often leftovers of removals are swept, ms; 12 hours when not given, and at the start. */
  readonly sweepMs?: number
  /** How often a running site's disks are measured, ms; a minute when not given. */
  readonly measureMs?: number
  /** How many containers boot at the same time; as many as there are cores when not given. */
  readonly bootsAtOnce?: number
  /** The limits of a copy; those that a normal site needs when not given. */
  readonly copyLimits?: Partial<CopyLimits>
  /** Longest times of the owner's tools; those of the product when not given. */
  readonly toolTimes?: ToolTimes | undefined
  /** Free memory of this machine, MB; the system's figure when not given. */
  readonly freeMb?: () => number
  /** Space on the disk that the sites are on; the system's figure when not given. */
  readonly diskSpace?: () => DiskSpace
  readonly log: { warn(detail: object, message: string): void }
}

const minRamMb = 512
/**
 * Memory of a container once it has answered, and memory kept for everything else on the machine,
 * MB.
 */
const containerMb = 320
const reserveMb = 512
/**
 * This many containers may always be tried: inside a container engine the figure for free memory
 * counts the file cache as used, so it cannot justify a refusal.
 */
const leastRoom = 4
const systemFreeMb = () => process.availableMemory() / 2 ** 20
/** A boot keeps one core busy. */
const cores = Math.max(2, availableParallelism())
const watchMs = 2_000
const defaultCronMs = 5 * 60_000
const defaultSweepMs = 12 * 3_600_000
const idShape = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/

/** A driver. Creating it starts no process and touches no site. */
export function createRuntime(parts: MachineParts): SiteRuntime {
  const sitesDir = path.join(path.resolve(parts.dataDir), 'sites')
  const { internet, maxContainers } = parts.settings
  const maxCpu = parts.settings.maxCpu ?? availableParallelism()
  const maxRamMb = parts.settings.maxRamMb ?? Math.floor(totalmem() / 2 ** 20)
  const firstUser = firstSiteUser()
  const users = firstUser === null ? null : new SiteUsers(path.resolve(parts.dataDir), firstUser)
  const confinement = new Confinement({
    nodePath: parts.nodePath,
    runtimeDir: path.resolve(parts.runtimeDir),
    filesDir: path.resolve(parts.filesDir),
    sitesDir,
    exampleUser: firstUser,
    log: parts.log,
  })
  let way: Promise<void> | undefined
  let cgroups: Promise<Cgroups | null> | undefined
  const hasUsers = async (): Promise<boolean> => {
    if (!users) return false
    // Tried again after a failure: its cause (a full disk, say) may pass.
    await (way ??= users.open().catch((error: unknown) => {
      way = undefined
      throw error
    }))
    return await confinement.hasUsers()
  }
  const writeListeners: WriteListener[] = []
  const crashListeners: ((site: string) => void)[] = []
  /**
   * Sites that may have letters to take; filled once from the disk, for letters of an earlier run.
   */
  const withMail = new Set<string>()
  const mailDirOf = (id: string): string => path.join(sitesDir, id, 'mail')
  let lookedForMail = false
  const { engine } = parts
  const database = engine?.database ?? 'sqlite'
  const release = releaseIn(path.resolve(parts.filesDir))
  const offer = { maxContainers, minRamMb, maxRamMb, maxCpu, database }
  const host: Host = {
    engine,
    sitesDir,
    runtimeDir: path.resolve(parts.runtimeDir),
    program: engine?.program ?? parts.program ?? 'main.js',
    filesDir: path.resolve(parts.filesDir),
    release,
    internet,
    pageMs: parts.settings.pageSeconds * 1_000,
    cores: maxCpu,
    measureMs: parts.measureMs,
    toolTimes: parts.toolTimes ?? usualToolTimes,
    boots: new Gate(parts.bootsAtOnce ?? cores),
    measures: new Gate(1),
    archiveRunner: new ArchiveRunner(confinement, parts.copyLimits),
    fileHands: new FileHands(confinement),
    confinement,
    ownerOf: async (siteDir) => ((await hasUsers()) ? await users!.of(siteDir) : null),
    cgroups: () => (cgroups ??= ownCgroup().then(openCgroups)),
    counted: { restarts: 0, failedStarts: 0 },
    onWrite: (id, tags) => {
      for (const listener of writeListeners) listener(id, tags)
    },
    onCrash(id) {
      for (const listener of crashListeners) listener(id)
    },
    onMail: (id) => void withMail.add(id),
    warn: (detail, message) => parts.log.warn(detail, message),
  }
  const sites = new Map<string, Site>()
  let closed: Promise<void> | undefined

  const sweeps = startSweeps({
    sitesDir,
    isSite: (name) => idShape.test(name),
    engine,
    everyMs: parts.sweepMs ?? defaultSweepMs,
    log: parts.log,
  })

  /** Validates an id, which becomes a folder's name. */
  const checkId = (id: string): void => {
    if (!idShape.test(id))
      throw new DriverFailure('rejected', 'a site id has letters, digits and hyphens only')
  }
  const site = (id: string): Site => {
    checkId(id)
    let found = sites.get(id)
    if (!found) {
      found = new Site(host, id)
      sites.set(id, found)
    }
    return found
  }
  const open = () => {
    if (closed) throw new DriverFailure('unavailable', 'the WordPress driver is closing')
  }
  const check = (spec: SiteSpec) => {
    open()
    if (spec.ramMb < minRamMb)
      throw new DriverFailure('rejected', `a container needs at least ${minRamMb} MB of RAM`)
    if (spec.containers < 1 || spec.containers > maxContainers)
      throw new DriverFailure('rejected', `a site has 1 to ${maxContainers} containers here`)
  }

  async function held(): Promise<string[]> {
    const entries = await fs.readdir(sitesDir, { withFileTypes: true }).catch(() => [])
    return entries
      .filter((entry) => entry.isDirectory() && idShape.test(entry.name))
      .map((entry) => entry.name)
  }

  /** Looks at the folder of the sites, or at the parent where it will be made. */
  const diskSpace =
    parts.diskSpace ??
    (() => {
      let folder = sitesDir
      while (!existsSync(folder)) folder = path.dirname(folder)
      return diskSpaceNow(folder)
    })
  let isFull = false
  /** How many containers there is memory for; 0 where the disk has no room for a site's files. */
  const room = (): number => {
    const space = diskSpace()
    const wasFull = isFull
    isFull = shortageOf(space) === 'too little'
    if (isFull && !wasFull)
      parts.log.warn({ freeMb: Math.floor(space.free / 2 ** 20) }, 'no room on the disk of sites')
    if (isFull) return 0
    const freeMb = (parts.freeMb ?? systemFreeMb)()
    return Math.max(leastRoom, Math.floor((freeMb - reserveMb) / containerMb))
  }

  const watching = setInterval(() => {
    for (const one of sites.values()) one.watch()
  }, watchMs)
  const cronMs = parts.cronMs ?? defaultCronMs
  const cron = setInterval(() => {
    // The runs are spread over the whole interval: each makes PHP work in some process.
    const all = [...sites.values()]
    for (const [index, one] of all.entries())
      setTimeout(() => one.runCron(), (index * cronMs) / all.length).unref()
  }, cronMs)
  watching.unref()
  cron.unref()

  return {
    name: engine?.name ?? embeddedRuntime,
    capabilities: { ...offer, compression: 'zstd', release: release?.id },
    room: async () => room(),
    async install(spec, admin) {
      check(spec)
      const more = spec.containers - (sites.get(spec.id)?.addresses().length ?? 0)
      if (more > room())
        throw new DriverFailure('full', `there is no room for ${more} containers more`)
      await site(spec.id).install(spec, admin)
    },
    async start(spec) {
      check(spec)
      await site(spec.id).start(spec)
    },
    async stop(id) {
      await site(id).stop()
    },
    async remove(id) {
      const removed = site(id)
      await removed.remove()
      withMail.delete(id)
      // Kept if the site was opened again meanwhile: two objects that act on one folder would not
      // wait for each other.
      if (removed.idle) sites.delete(id)
    },
    async state(id) {
      return site(id).state()
    },
    async adminLink(id, user) {
      open()
      return await site(id).running.adminLink(user)
    },
    async replaceAddresses(id, change, after) {
      open()
      return await site(id).running.replaceAddresses(change, after)
    },
    async files(id, order) {
      open()
      return await site(id).files(order)
    },
    async console(id, order) {
      open()
      return await site(id).running.console(order)
    },
    async database(id, op, order) {
      open()
      return await site(id).running.database(op, order)
    },
    async software(id) {
      open()
      return await site(id).running.software()
    },
    async holdWrites(id, ms) {
      open()
      return site(id).holdWrites(ms)
    },
    async applyPackage(spec, updateId, wanted, file) {
      check(spec)
      await site(spec.id).applyPackage(spec, updateId, wanted, file)
    },
    async upgradeDatabase(id) {
      open()
      await site(id).running.upgradeDatabase()
    },
    async settleUpdate(id, updateId) {
      open()
      await site(id).settleUpdate(updateId)
    },
    async page(id, question) {
      open()
      return await site(id).running.page(question)
    },
    async backup(id, file) {
      open()
      return await site(id).backup(file)
    },
    async copyOut(id, of, file) {
      open()
      return await site(id).copyOut(of, file)
    },
    async copyIn(spec, of, file, log) {
      check(spec)
      return await site(spec.id).copyIn(spec, of, file, log)
    },
    async prove(file, of) {
      open()
      const user = (await hasUsers()) ? users!.ofCopies : null
      return await proveCopy({ ...host, sitesDir }, file, user, of)
    },
    async restore(spec, copy, restoreId) {
      check(spec)
      await site(spec.id).restore(spec, copy, restoreId)
    },
    async sitesWithMail() {
      if (!lookedForMail) {
        lookedForMail = true
        for (const id of await held()) if (hasLetters(mailDirOf(id))) withMail.add(id)
      }
      return [...withMail]
    },
    async takeMail(id, limit) {
      checkId(id)
      // Cleared first, because a letter that comes from now on is reported again.
      withMail.delete(id)
      const letters = lettersIn(mailDirOf(id), limit)
      if (letters.length > 0) withMail.add(id)
      return letters
    },
    async mailTaken(id, keys) {
      checkId(id)
      dropLetters(mailDirOf(id), keys)
    },
    async layOutImport(spec, files) {
      check(spec)
      return await site(spec.id).layOutImport(spec, files)
    },
    async stepImport(spec, hosts) {
      check(spec)
      return await site(spec.id).stepImport(spec, hosts)
    },
    async importPage(spec, target) {
      check(spec)
      return await site(spec.id).importPage(spec, target)
    },
    async switchImport(spec, importId) {
      check(spec)
      await site(spec.id).switchImport(spec, importId)
    },
    async dropImport(id) {
      await site(id).dropImport()
    },
    unremoved: async () => sweeps.unremoved(),
    addresses: async (id) => sites.get(id)?.addresses() ?? [],
    frontPage: (id, host) => frontPageStatus(sites.get(id)?.addresses()[0], host),
    answering: async () =>
      Object.fromEntries([...sites].map(([id, one]) => [id, one.addresses().length])),
    upstreams: (id) => sites.get(id)?.addresses() ?? [],
    onWrite: (listener) => void writeListeners.push(listener),
    onCrash: (listener) => void crashListeners.push(listener),
    fenceWrites(id, ms) {
      sites.get(id)?.fenceWrites(ms)
    },
    note(id, container, text) {
      // A visitor who comes while the site is removed must not make its folder again.
      if (idShape.test(id) && existsSync(path.join(sitesDir, id))) site(id).log.add(container, text)
    },
    counts: () => ({
      containers: [...sites.values()].reduce((sum, one) => sum + one.addresses().length, 0),
      ...host.counted,
    }),
    figures: () =>
      [...sites].flatMap(([id, one]) => {
        const figures = one.figures()
        return figures ? [{ site: id, ...figures }] : []
      }),
    log: (id) => site(id).log,
    list: held,
    async health() {
      if (closed) return 'the WordPress driver is closing'
      if (!existsSync(path.join(host.filesDir, '.complete')))
        return 'the WordPress files are missing: run node scripts/wordpress-files.mjs'
      if (engine) return await engine.health()
      if (!existsSync(path.join(host.runtimeDir, 'node_modules', '@php-wasm', 'node')))
        return 'the packages of runtimes/wordpress-wasm are not installed'
      return undefined
    },
    close() {
      closed ??= (async () => {
        clearInterval(watching)
        clearInterval(cron)
        await sweeps.close()
        await Promise.all([
          host.archiveRunner.close(),
          host.fileHands.close(),
          ...[...sites.values()].map((one) => one.close()),
        ])
        await engine?.close()
      })()
      return closed
    },
  }
}
