// What a site is on the disk: where its parts lie, whether it is installed, how much it holds.
import fs from 'node:fs/promises'
import path from 'node:path'
import type { SiteSpec } from '../../driver.ts'
import { bytesBelow, copyTree, removeTree, writeWhole } from './files.ts'

const exists = (file: string): Promise<boolean> =>
  fs.stat(file).then(
    () => true,
    () => false,
  )

/** Bytes. */
export interface Used {
  readonly files: number
  readonly database: number
}

export class SiteFolder {
  readonly dir: string
  readonly wordpress: string
  readonly database: string
  /** Scratch folders and pid files of the containers. */
  readonly run: string
  readonly tickets: string
  /** Letters of its PHP that nobody has taken yet. */
  readonly mail: string
  /** Where the processes of its PHP count together what they write. */
  readonly count: string
  readonly log: string
  readonly #mark: string
  readonly #filesDir: string
  readonly #templates: string
  readonly #ownerOf: (dir: string) => Promise<number | null>

  /**
   * `filesDir`: WordPress as it is before any site; `<filesDir>-templates` beside it holds what was
   * prepared ahead of time.
   */
  constructor(
    sitesDir: string,
    id: string,
    filesDir: string,
    ownerOf: (dir: string) => Promise<number | null>,
  ) {
    this.dir = path.join(sitesDir, id)
    this.wordpress = path.join(this.dir, 'wordpress')
    this.database = path.join(this.wordpress, 'wp-content', 'database')
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
      JSON.stringify({ at: new Date().toISOString(), language: spec.language }),
    )
  }

  /**
   * The files of a new site: WordPress, and the database installed ahead of time when there is one.
   */
  async layOut(spec: SiteSpec): Promise<void> {
    await this.clear()
    await fs.mkdir(this.dir, { recursive: true, mode: 0o700 })
    // The log may have made it, with the mode that is usual here.
    await fs.chmod(this.dir, 0o700)
    await copyTree(path.join(this.#filesDir, 'wp'), this.wordpress)
    const template = path.join(this.#templates, `database-${spec.language}`)
    if (await exists(template)) await copyTree(template, this.database)
  }

  /** The user that its files belong to and its processes run as; null: the portal's own. */
  owner(): Promise<number | null> {
    return this.#ownerOf(this.dir)
  }

  /** A container's own folder, PHP's compiled files in it when there are some. */
  async layOutScratch(name: string): Promise<string> {
    const scratch = path.join(this.run, name)
    await fs.mkdir(path.join(scratch, 'shared'), { recursive: true })
    // The site's user passes through to its own folder, whatever mode files have here by default.
    await fs.chmod(this.run, 0o711)
    const compiled = path.join(this.#templates, 'opcache')
    if (await exists(compiled)) await copyTree(compiled, path.join(scratch, 'shared', 'opcache'))
    return scratch
  }

  /** Neither files nor database; what lies beside them stays. */
  clear(): Promise<void> {
    return removeTree(this.wordpress)
  }

  remove(): Promise<void> {
    return removeTree(this.dir)
  }

  /** Bytes of the files without the database, and of the database. */
  async used(): Promise<Used> {
    const [files, database] = await Promise.all([
      bytesBelow(this.wordpress, this.database),
      bytesBelow(this.database),
    ])
    return { files, database }
  }
}
