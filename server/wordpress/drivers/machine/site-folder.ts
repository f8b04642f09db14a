// A site's folder on the disk: its parts, whether the site is installed, and its size.
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from '../../../platform/errors.ts'
import type { SiteSpec } from '../../driver.ts'
import type { Engine, EngineSite, Used } from './engine.ts'
import { bytesBelow, copyInto, copyTree, removeTree, writeWhole } from './files.ts'
import { placesIn } from './places.ts'

const exists = (file: string): Promise<boolean> =>
  fs.stat(file).then(
    () => true,
    () => false,
  )

/** The runtime of a site, also where its mark names none. */
export const embeddedRuntime = 'embedded'

/** The runtime that a mark names; a mark cut short by a full disk names none. */
function runtimeIn(mark: string): string {
  try {
    return (JSON.parse(mark) as { runtime?: string } | null)?.runtime ?? embeddedRuntime
  } catch {
    return embeddedRuntime
  }
}

export class SiteFolder {
  readonly dir: string
  /** The folder that an exchange replaces. */
  readonly content: string
  readonly wordpress: string
  readonly database: string
  /** Scratch folders and pid files of the containers. */
  readonly run: string
  readonly tickets: string
  /** Letters of its PHP that the portal has not taken yet. */
  readonly mail: string
  /** Folder in which its PHP processes together count what they write. */
  readonly count: string
  readonly log: string
  readonly #mark: string
  readonly #filesDir: string
  readonly #templates: string
  readonly #ownerOf: (dir: string) => Promise<number | null>
  readonly #id: string
  readonly #engine: Engine | null

  /**
   * `filesDir`: WordPress's files for new sites; `<filesDir>-templates` beside it holds what was
   * prepared in advance.
   */
  constructor(
    sitesDir: string,
    id: string,
    filesDir: string,
    ownerOf: (dir: string) => Promise<number | null>,
    engine: Engine | null,
  ) {
    this.#id = id
    this.#engine = engine
    this.dir = path.join(sitesDir, id)
    this.content = path.join(this.dir, 'wordpress')
    const { filesDir: wordpress, databaseDir } = placesIn(this.content, engine)
    this.wordpress = wordpress
    this.database = databaseDir
    this.run = path.join(this.dir, 'run')
    this.tickets = path.join(this.dir, 'tickets')
    this.mail = path.join(this.dir, 'mail')
    this.count = path.join(this.dir, 'count')
    this.log = path.join(this.dir, 'log')
    this.#mark = path.join(this.dir, 'installed.json')
    this.#filesDir = filesDir
    this.#templates = `${filesDir}-templates`
    this.#ownerOf = ownerOf
  }

  exists(): Promise<boolean> {
    return exists(this.dir)
  }

  installed(): Promise<boolean> {
    return exists(this.#mark)
  }

  markInstalled(spec: SiteSpec): Promise<void> {
    return writeWhole(
      this.#mark,
      JSON.stringify({
        at: new Date().toISOString(),
        language: spec.language,
        runtime: this.#runtime,
      }),
    )
  }

  get #runtime(): string {
    return this.#engine?.name ?? embeddedRuntime
  }

  /**
   * Checks that the site is of this runtime: another one would find no database, and offer every
   * visitor to install WordPress. DriverFailure rejected where it is of another.
   */
  async requireRuntime(): Promise<void> {
    const runtime = runtimeIn(await fs.readFile(this.#mark, 'utf8'))
    if (runtime !== this.#runtime)
      throw new DriverFailure(
        'rejected',
        `the site is of the runtime ${runtime}, and this one is ${this.#runtime}`,
      )
  }

  /**
   * Moves the parts of a site that the first release with an engine has made, with its database
   * below WordPress's files, to where this release expects them. No process of the site may run. It
   * may be interrupted at any point.
   */
  async arrange(): Promise<void> {
    if (!this.#engine) return
    const arranged = path.join(this.dir, 'arranged')
    const places = placesIn(arranged, this.#engine)
    if (await exists(path.join(this.content, 'wp-includes'))) {
      await fs.mkdir(arranged, { recursive: true })
      await fs.chmod(arranged, 0o711)
      const former = placesIn(this.content, null)
      if (await exists(former.databaseDir)) await fs.rename(former.databaseDir, places.databaseDir)
      await fs.rename(this.content, places.filesDir)
    }
    if (await exists(places.filesDir)) await fs.rename(arranged, this.content)
  }

  /**
   * Makes the files of a new site: WordPress, and a database installed in advance when there is
   * one.
   */
  async layOut(spec: SiteSpec): Promise<void> {
    await this.clear()
    await fs.mkdir(this.dir, { recursive: true, mode: 0o700 })
    // The log may have made the folder, with another mode.
    await fs.chmod(this.dir, 0o700)
    const whole = path.join(this.#filesDir, 'wp')
    if (this.#engine) {
      await this.#engine.layOutContent(this.wordpress, this.database)
      await copyInto(whole, this.wordpress)
      return
    }
    await copyTree(whole, this.wordpress)
    const template = path.join(this.#templates, `database-${spec.language}`)
    if (await exists(template)) await copyTree(template, this.database)
  }

  /** The user that its files belong to and its processes run as; null: the portal's own. */
  owner(): Promise<number | null> {
    return this.#ownerOf(this.dir)
  }

  /** The site in the engine's terms. */
  async inEngine(): Promise<EngineSite> {
    const user = await this.owner()
    if (user === null)
      throw new DriverFailure('unavailable', 'the engine needs a user for each site: start as root')
    const { dir, wordpress, database } = this
    return { id: this.#id, dir, wordpress, database, user }
  }

  /** Makes a container's own folder, with PHP's compiled files when there are some. */
  async layOutScratch(name: string): Promise<string> {
    const scratch = path.join(this.run, name)
    await fs.mkdir(path.join(scratch, 'shared'), { recursive: true })
    // The site's user must pass through to its own folder, whatever the default mode of folders is
    // here.
    await fs.chmod(this.run, 0o711)
    const compiled = path.join(this.#templates, 'opcache')
    if (await exists(compiled)) await copyTree(compiled, path.join(scratch, 'shared', 'opcache'))
    return scratch
  }

  /** Removes files and database; everything else of the site stays. */
  clear(): Promise<void> {
    return removeTree(this.content)
  }

  remove(): Promise<void> {
    return removeTree(this.dir)
  }

  /** Bytes of the files without the database, and of the database. */
  async used(): Promise<Used> {
    if (this.#engine) {
      const told = await this.#engine.used(this.dir, this.wordpress, this.database)
      const files = told.files ?? (await bytesBelow(this.wordpress, this.database))
      return { files, database: told.database }
    }
    const [files, database] = await Promise.all([
      bytesBelow(this.wordpress, this.database),
      bytesBelow(this.database),
    ])
    return { files, database }
  }
}
