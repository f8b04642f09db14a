/**
 * The copy of a site that a customer moves in: a site of its own in a folder beside the live one,
 * which no visitor can reach, until it takes the live one's place. Its progress is stored beside
 * it, so that a restarted node continues.
 */
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from '../../../../platform/errors.ts'
import type { CopyPage, ImportProblem, ImportStep, SiteAddress, SiteSpec } from '../../../driver.ts'
import { actAt, askContainer, stepMs } from '../acts.ts'
import { replaceAddressesAt } from '../addresses.ts'
import { needRoom } from '../content.ts'
import { copyInto, copyTree, removeTree, writeWhole } from '../files.ts'
import type { Host } from '../host.ts'
import type { Used } from '../engine.ts'
import { placesIn } from '../places.ts'
import { embeddedRuntime, SiteFolder } from '../site-folder.ts'
import { giveTree } from '../site-users.ts'
import { writeTicket } from '../tickets.ts'
import { stageName, type MovedIn } from './move-in.ts'
import { answerShape, formerPlaces, siteOf, type Answer, type State } from './steps.ts'

const megabyte = 1_048_576
/** Half of what the site's own disk may hold (the runtime's disk-budget.js). */
const maxFiles = 200_000
/**
 * Unpacking may use this many times the free space of the disks: unpacked text and a dump take more
 * until they are in place.
 */
const spareShare = 2
/** The copy's container ends after this time without a request. */
const idleMs = 60_000

/**
 * What is said of a file of the copy that was not opened or read: it is not there, or it cannot be
 * looked at now, which may pass and must not end the move.
 */
const ifAbsent = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null
  throw new DriverFailure('unavailable', 'the copy cannot be looked at', { cause: error })
}

/** The copy as a site: as `Site` does it, in a folder of its own. */
interface CopySite {
  start(spec: SiteSpec): Promise<void>
  stop(): Promise<void>
  close(): Promise<void>
  watch(): void
  addresses(): readonly SiteAddress[]
}

const nothing: Used = { files: 0, database: 0 }

export interface CopyOf {
  /** The live site's folder. */
  readonly dir: string
  readonly owner: () => Promise<number | null>
  /** What the live site uses of its disks, bytes: the copy may use the rest. */
  readonly live: () => Promise<Used>
  /** Makes a site object for a folder. */
  readonly open: (host: Host, id: string) => CopySite
}

export class ImportCopy {
  readonly #host: Host
  readonly #id: string
  readonly #dir: string
  readonly #owner: () => Promise<number | null>
  readonly #live: CopyOf['live']
  readonly #open: CopyOf['open']
  #site: CopySite | undefined
  #idle: NodeJS.Timeout | undefined
  #closed = false
  /** What the copy uses of the site's disks; undefined until it was counted. */
  #takes: Used | undefined

  constructor(host: Host, id: string, of: CopyOf) {
    this.#host = host
    this.#id = id
    this.#dir = path.join(of.dir, 'import')
    this.#owner = of.owner
    this.#live = of.live
    this.#open = of.open
  }

  get #copyId(): string {
    return `${this.#id}-import`
  }
  get #copyDir(): string {
    return path.join(this.#dir, this.#copyId)
  }
  /** The content that replaces the live site's. */
  get contentDir(): string {
    return path.join(this.#copyDir, 'wordpress')
  }
  get #stateFile(): string {
    return path.join(this.#dir, 'state.json')
  }
  get #places() {
    return placesIn(this.contentDir, this.#host.engine)
  }

  async #state(): Promise<State> {
    const found = await fs.readFile(this.#stateFile, 'utf8').catch(ifAbsent)
    if (found === null) throw new DriverFailure('rejected', 'there is no copy')
    return JSON.parse(found) as State
  }
  async #keep(state: State): Promise<State> {
    await writeWhole(this.#stateFile, JSON.stringify(state))
    return state
  }

  async layOut(spec: SiteSpec, files: readonly string[]): Promise<MovedIn> {
    await this.drop()
    const packages = await Promise.all(files.map((file) => fs.open(file)))
    try {
      const sizes = await Promise.all(packages.map(async (one) => (await one.stat()).size))
      const bytes = sizes.reduce((sum, one) => sum + one, 0)
      const live = await this.#live()
      const diskBytes = spec.diskMb * megabyte - live.files
      const databaseBytes = spec.databaseDiskMb * megabyte - live.database
      await needRoom(path.dirname(this.#dir), bytes * 2)
      const user = await this.#owner()
      await fs.mkdir(this.#copyDir, { recursive: true, mode: 0o700 })
      if (user !== null) {
        // Only the portal may write the copy's state; the user may pass through the folder.
        await fs.chown(this.#dir, process.getuid?.() ?? 0, user)
        await fs.chmod(this.#dir, 0o710)
        await fs.chown(this.#copyDir, user, user)
      }
      const { engine, filesDir } = this.#host
      const content = this.#places
      if (engine) {
        await engine.layOutContent(content.filesDir, content.databaseDir)
        await copyInto(path.join(filesDir, 'wp'), content.filesDir)
      } else await copyTree(path.join(filesDir, 'wp'), content.filesDir)
      if (user !== null) {
        await giveTree(content.filesDir, user)
        // The user needs it for the dump that waits to be loaded.
        if (engine) await fs.chown(content.databaseDir, user, user)
      }
      const rawDir = path.join(this.#copyDir, 'raw')
      const movedIn = await this.#host.archiveRunner.run<MovedIn>({
        owner: this.#id,
        queueKey: this.#id,
        order: {
          op: 'import',
          database: engine?.database ?? 'sqlite',
          places: this.#places,
          rawDir,
          packages: packages.length,
          limits: {
            maxBytes: Math.max(0, diskBytes + databaseBytes) * spareShare,
            maxFiles,
            diskBytes,
            databaseBytes,
          },
        },
        allowedPaths: { reads: [], writes: [this.#copyDir] },
        user,
        packages: packages.map((one) => one.fd),
        bytes: bytes * 8,
      })
      if ('problem' in movedIn) {
        await this.drop()
        return movedIn
      }
      const { stageBytes } = movedIn.found
      const runtime = engine?.name ?? embeddedRuntime
      await writeWhole(path.join(this.#copyDir, 'installed.json'), JSON.stringify({ runtime }))
      const none = { changed: 0, refused: 0 }
      await this.#keep(
        stageBytes > 0
          ? { phase: 'database', after: 0, size: stageBytes, ...none }
          : { phase: 'upgrade', ...none },
      )
      return movedIn
    } catch (error) {
      await this.drop()
      throw error
    } finally {
      await Promise.all(packages.map((one) => one.close()))
    }
  }

  /** The copy as a site; the edge, caches and mail do not know of it. */
  #opened(): CopySite {
    this.#site ??= this.#open(
      {
        ...this.#host,
        sitesDir: this.#dir,
        ownerOf: this.#owner,
        onWrite: () => {},
        onCrash: () => {},
        onMail: () => {},
      },
      this.#copyId,
    )
    return this.#site
  }

  /** The address of the copy's container, which is started when it does not run. */
  async #address(spec: SiteSpec): Promise<SiteAddress> {
    if (this.#closed) throw new DriverFailure('unavailable', 'the WordPress driver is closing')
    const site = this.#opened()
    const [running] = site.addresses()
    if (running) return running
    const state = await this.#state()
    // The staged dump lies on the database's disk meanwhile.
    const staged = state.phase === 'database' ? Math.ceil(state.size / megabyte) : 0
    const live = await this.#live()
    await site.start({
      ...spec,
      id: this.#copyId,
      containers: 1,
      // Otherwise the original's customers would get letters from a site that is not in use yet.
      mail: false,
      diskMb: Math.max(0, spec.diskMb - Math.ceil(live.files / megabyte)),
      databaseDiskMb: Math.max(
        0,
        spec.databaseDiskMb + staged - Math.ceil(live.database / megabyte),
      ),
    })
    const [started] = site.addresses()
    if (!started) throw new DriverFailure('unavailable', 'the copy does not run')
    return started
  }

  /** Lets `act` ask the copy's container, which ends some time after the last request. */
  async #asking<T>(spec: SiteSpec, act: (at: SiteAddress) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle)
    try {
      return await act(await this.#address(spec))
    } finally {
      this.#idle = setTimeout(() => void this.#site?.stop().catch(() => {}), idleMs)
      this.#idle.unref()
    }
  }

  async #act(spec: SiteSpec, step: object): Promise<Answer> {
    const tickets = path.join(this.#copyDir, 'tickets')
    const answer = await this.#asking(spec, async (at) => {
      const ticket = await writeTicket(tickets, { act: 'import', step }, await this.#owner())
      return await actAt(at, ticket, new URL(spec.url).host)
    })
    try {
      const read = answerShape.safeParse(JSON.parse(answer)).data
      if (read) return read
    } catch {
      // No JSON: the failure below says so.
    }
    throw new DriverFailure('unavailable', 'the copy answers something else')
  }

  /** One step; see the driver's `stepImport`. */
  async step(spec: SiteSpec, hosts: readonly string[]): Promise<ImportStep> {
    const state = await this.#state()
    const told = (next: State, problem: ImportProblem | null = null): ImportStep => ({
      phase: next.phase,
      share: next.phase === 'database' ? Math.min(1, next.after / Math.max(1, next.size)) : 1,
      site: next.phase === 'done' ? next.site : null,
      problem,
    })
    const failed = (detail: string): ImportStep =>
      told(state, { code: 'database_refused', detail: detail.slice(0, 300) })
    switch (state.phase) {
      case 'database': {
        const answer = await this.#act(spec, { act: 'load', after: state.after, ms: stepMs })
        if ('error' in answer) {
          // The answer to the last step was lost: the whole dump is loaded.
          const stage = path.join(this.#places.databaseDir, stageName)
          if (state.after > 0 && !(await fs.stat(stage).catch(ifAbsent)))
            return told(await this.#keep({ ...state, phase: 'upgrade' }))
          return failed(answer.error)
        }
        if (!('size' in answer)) throw new DriverFailure('unavailable', 'the copy answers oddly')
        const counted = {
          changed: state.changed + answer.changed,
          refused: state.refused + Object.values(answer.refused).reduce((sum, one) => sum + one, 0),
        }
        return told(
          await this.#keep(
            answer.after === null
              ? { phase: 'upgrade', ...counted }
              : { phase: 'database', after: answer.after, size: state.size, ...counted },
          ),
        )
      }
      case 'upgrade': {
        const answer = await this.#act(spec, { act: 'finish', ms: stepMs })
        if ('error' in answer) return failed(answer.error)
        if (!('home' in answer)) throw new DriverFailure('unavailable', 'the copy answers oddly')
        const { changed, refused } = state
        return told(
          await this.#keep({
            phase: 'addresses',
            after: null,
            finished: answer,
            changed,
            refused,
          }),
        )
      }
      case 'addresses': {
        const { finished } = state
        const from = formerPlaces(
          [...finished.from, ...hosts.map((one) => `http://${one}`)],
          spec.url,
        )
        const next = from.length === 0 ? null : (await this.#replace(spec, from, state.after)).after
        if (next !== null) return told(await this.#keep({ ...state, after: next }))
        return told(await this.#keep({ phase: 'done', site: siteOf(state) }))
      }
      case 'done':
        return told(state)
    }
  }

  async #replace(
    spec: SiteSpec,
    from: readonly string[],
    after: { table: string; key: number | null } | null,
  ) {
    const step = { from, to: spec.url, dryRun: false, after, ms: stepMs }
    const tickets = path.join(this.#copyDir, 'tickets')
    const allowed = { act: 'replace-addresses', step } as const
    return await this.#asking(spec, async (at) => {
      const ticket = await writeTicket(tickets, allowed, await this.#owner())
      return await replaceAddressesAt(at, ticket, new URL(spec.url).host)
    })
  }

  async page(spec: SiteSpec, target: string): Promise<CopyPage> {
    // Such a target is no valid request, and a redirect of the copy's own may lead there.
    if (!/^\/(?!\/)[\x21-\x7e]{0,1000}$/.test(target))
      return { status: 400, location: null, text: '' }
    const { host, protocol } = new URL(spec.url)
    const headers = { host, 'x-forwarded-proto': protocol.slice(0, -1) }
    try {
      return await this.#asking(spec, (at) => askContainer(at, target, headers, { cuts: true }))
    } catch (error) {
      if (error instanceof DriverFailure) throw error
      throw new DriverFailure('unavailable', `the copy ${(error as Error).message}`, {
        cause: error,
      })
    }
  }

  /**
   * Ends the copy's processes and checks that it is complete. DriverFailure rejected where it is
   * not.
   */
  async ready(): Promise<void> {
    if ((await this.#state()).phase !== 'done')
      throw new DriverFailure('rejected', 'the copy is not finished')
    await this.halt()
    await fs.rm(path.join(this.#places.databaseDir, stageName), { force: true })
  }

  /**
   * Ends all processes of the copy, including those of an earlier run. DriverFailure unavailable
   * where its folder cannot be looked at.
   */
  async halt(): Promise<void> {
    clearTimeout(this.#idle)
    if (await fs.stat(this.#copyDir).catch(ifAbsent)) await this.#opened().stop()
  }

  /** Must be called every few seconds, as Site's. */
  watch(): void {
    this.#site?.watch()
  }

  /** What the copy uses of the site's disks, bytes, as last counted. */
  get takes(): Used {
    return this.#takes ?? nothing
  }

  /**
   * Counts what the copy uses of the site's disks. DriverFailure unavailable where its folder
   * cannot be looked at.
   */
  async count(): Promise<Used> {
    if (!(await fs.stat(this.#stateFile).catch(ifAbsent))) return (this.#takes = nothing)
    const { engine, filesDir } = this.#host
    const folder = new SiteFolder(this.#dir, this.#copyId, filesDir, this.#owner, engine)
    return (this.#takes = await this.#host.measures.run(() => folder.used()))
  }

  /** Closes the copy for good. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    await this.#site?.close()
  }

  async drop(): Promise<void> {
    await this.halt()
    this.#site = undefined
    await removeTree(this.#dir)
    this.#takes = nothing
  }
}
