/**
 * Has PHP make the empty tables of a site that comes from MariaDB: by WordPress's SQLite driver, as
 * for a site that is moved in, so that the driver knows their MySQL types. This happens in a site
 * of its own beside the live one, with the platform's WordPress only: none of the customer's code
 * runs there.
 */
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from '../../../platform/errors.ts'
import type { SiteAddress, SiteSpec } from '../../driver.ts'
import { actAt, stepMs } from './acts.ts'
import { databaseFileOf } from './archive.ts'
import type { TablesToMake } from './carry-to-sqlite.ts'
import { copyTree, removeTree, writeWhole } from './files.ts'
import type { Host } from './host.ts'
import { stageName } from './import/move-in.ts'
import { answerShape, type Answer } from './import/steps.ts'
import { placesIn } from './places.ts'
import { embeddedRuntime } from './site-folder.ts'
import { giveTree } from './site-users.ts'
import { writeTicket } from './tickets.ts'

/** As `Site` does it, in a folder of its own. */
interface MakingSite {
  start(spec: SiteSpec): Promise<void>
  stop(): Promise<void>
  remove(): Promise<void>
  watch(): void
  addresses(): readonly SiteAddress[]
}

export class TableMaker {
  readonly #host: Host
  readonly #id: string
  readonly #dir: string
  readonly #owner: () => Promise<number | null>
  readonly #open: (host: Host, id: string) => MakingSite
  #site: MakingSite | undefined

  constructor(
    host: Host,
    id: string,
    of: {
      /** The live site's folder. */
      readonly dir: string
      readonly owner: () => Promise<number | null>
      /** Makes a site object for a folder. */
      readonly open: (host: Host, id: string) => MakingSite
    },
  ) {
    this.#host = host
    this.#id = id
    this.#dir = path.join(of.dir, 'tables')
    this.#owner = of.owner
    this.#open = of.open
  }

  get #makingId(): string {
    return `${this.#id}-tables`
  }

  #opened(): MakingSite {
    this.#site ??= this.#open(
      {
        ...this.#host,
        sitesDir: this.#dir,
        ownerOf: this.#owner,
        onWrite: () => {},
        onCrash: () => {},
        onMail: () => {},
      },
      this.#makingId,
    )
    return this.#site
  }

  /**
   * Writes a database with these tables, all empty, to `file`.
   * @throws DriverFailure rejected: the driver does not make one of them
   */
  async make(spec: SiteSpec, tables: TablesToMake['creates'], file: string): Promise<void> {
    await this.drop()
    const dir = path.join(this.#dir, this.#makingId)
    const places = placesIn(path.join(dir, 'wordpress'), null)
    const user = await this.#owner()
    try {
      await fs.mkdir(dir, { recursive: true, mode: 0o700 })
      if (user !== null) {
        // The user may pass through to its own folder.
        await fs.chown(this.#dir, process.getuid?.() ?? 0, user)
        await fs.chmod(this.#dir, 0o710)
        await fs.chown(dir, user, user)
      }
      await copyTree(path.join(this.#host.filesDir, 'wp'), places.filesDir)
      await fs.mkdir(places.databaseDir, { recursive: true })
      const lines = tables.map((one) => `${JSON.stringify(one)}\n`)
      await fs.writeFile(path.join(places.databaseDir, stageName), lines.join(''))
      if (user !== null) await giveTree(places.filesDir, user)
      const mark = JSON.stringify({ runtime: embeddedRuntime })
      await writeWhole(path.join(dir, 'installed.json'), mark)
      const making = { ...spec, id: this.#makingId, containers: 1, mail: false }
      await this.#opened().start(making)
      await this.#load(making, path.join(dir, 'tickets'))
      await this.#opened().stop()
      await fs.rename(databaseFileOf(places), file)
    } finally {
      await this.drop()
    }
  }

  async #load(spec: SiteSpec, tickets: string): Promise<void> {
    for (let after: number | null = 0; after !== null;) {
      const [at] = this.#opened().addresses()
      if (!at) throw new DriverFailure('unavailable', 'what makes the tables does not run')
      const step = { act: 'load', after, ms: stepMs }
      const ticket = await writeTicket(tickets, { act: 'import', step }, await this.#owner())
      const answer = answerIn(await actAt(at, ticket, new URL(spec.url).host))
      if ('error' in answer)
        throw new DriverFailure('rejected', `SQLite does not take the table ${answer.error}`)
      if (!('size' in answer))
        throw new DriverFailure('unavailable', 'what makes the tables answers oddly')
      ;({ after } = answer)
    }
  }

  /** Ends its processes, including those of an earlier run, and removes its files. */
  async drop(): Promise<void> {
    if (!this.#site && !(await fs.stat(this.#dir).catch(() => null))) return
    await this.#opened().remove()
    this.#site = undefined
    await removeTree(this.#dir)
  }

  /** Must be called every few seconds, as Site's. */
  watch(): void {
    this.#site?.watch()
  }

  /** Ends work under way, without its tables. */
  async cutShort(): Promise<void> {
    await this.#site?.remove()
  }
}

function answerIn(said: string): Answer {
  try {
    const read = answerShape.safeParse(JSON.parse(said)).data
    if (read) return read
  } catch {
    // No JSON: the failure below says so.
  }
  throw new DriverFailure('unavailable', 'what makes the tables answers something else')
}
