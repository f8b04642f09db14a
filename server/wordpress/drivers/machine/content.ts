/**
 * A site's content on the disk while it is copied, unpacked beside the site, and exchanged. An
 * exchange leaves folders beside the site, from which the next start of the portal completes or
 * undoes it.
 */
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from '../../../platform/errors.ts'
import type { CopyFigures } from '../../driver.ts'
import type { SitePlaces } from './archive.ts'
import type { ArchiveRunner } from './archive-runner.ts'
import type { Engine, EngineSite } from './engine.ts'
import { bytesBelow, removeTree, writeWhole } from './files.ts'
import { placesIn } from './places.ts'

/** What a copy must leave free for the database and everything else on the host, bytes. */
const spareBytes = 512 * 1_048_576

/** How much a site may grow between being measured and being packed. */
const growthShare = 1.5
const growthBytes = 256 * 1_048_576

export const mayGrowTo = (bytes: number): number => Math.ceil(bytes * growthShare) + growthBytes

/** The folder of the content before an exchange; its name has the exchange's id. */
const formerName = /^former-([0-9a-f-]{36})$/

export async function needRoom(dir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await fs.statfs(dir)
  if (bavail * bsize < bytes + spareBytes)
    throw new DriverFailure('unavailable', "the host's disk is too full for a copy")
}

/** A copy that is unpacked into a folder whose database an engine fills. */
export interface EngineCopy {
  readonly engine: Engine
  readonly id: string
  /** A folder of the user, for the dump and the database's sockets. */
  readonly dir: string
  readonly user: number
}

/** Makes the folders of a content for an engine; answers the path for its dump. */
export async function layOutFor(
  { engine, dir, user }: EngineCopy,
  content: string,
): Promise<string> {
  const { filesDir, databaseDir } = placesIn(content, engine)
  await engine.layOutContent(filesDir, databaseDir)
  for (const one of [filesDir, dir]) {
    await fs.mkdir(one, { recursive: true, mode: 0o700 })
    await fs.chown(one, user, user)
  }
  return path.join(dir, 'database.sql')
}

/** Loads the database of an unpacked content, and counts it; `loaded`: see Engine.load. */
export function tablesLoadedBy(
  { engine, id, dir, user }: EngineCopy,
  content: string,
  loaded: string | null,
): Promise<CopyFigures['tables']> {
  const { filesDir, databaseDir } = placesIn(content, engine)
  const site = { id, dir, wordpress: filesDir, database: databaseDir, user }
  return engine.load(site, path.join(dir, 'database.sql'), loaded)
}

/** Where an engine loads a database that is being restored, in a site's folder or a scratch one. */
export const loadingIn = (dir: string): string => path.join(dir, 'loading')
/**
 * The engine's name for a scratch folder, without the leading dot: names of containers must not
 * have one.
 */
export const copyIdOf = (scratch: string): string => path.basename(scratch).slice(1)

export const needsUsers = (): DriverFailure =>
  new DriverFailure('unavailable', 'the engine needs a user for each site: start as root')

/**
 * The content of one site. Calls come one at a time; an exchange of the content must have the site
 * to itself.
 */
export class SiteContent {
  readonly archiveRunner: ArchiveRunner
  readonly id: string
  /** The site's own folder, with `wordpress` in it. */
  readonly dir: string
  /** The user that owns its files. */
  readonly owner: () => Promise<number | null>
  readonly engine: Engine | null
  #isLoading = false

  constructor(
    archiveRunner: ArchiveRunner,
    id: string,
    dir: string,
    owner: () => Promise<number | null>,
    engine: Engine | null,
  ) {
    this.engine = engine
    this.archiveRunner = archiveRunner
    this.id = id
    this.dir = dir
    this.owner = owner
  }

  get present(): string {
    return path.join(this.dir, 'wordpress')
  }
  /** Unpacked content that is not the site's yet. */
  get coming(): string {
    return path.join(this.dir, 'restoring')
  }
  get #loading(): string {
    return loadingIn(this.dir)
  }
  get #loadingId(): string {
    return `${this.id}-loading`
  }
  get mark(): string {
    return path.join(this.dir, 'restored.json')
  }
  /** The snapshot of the database while it is packed. */
  get copying(): string {
    return path.join(this.dir, 'copying')
  }

  /** Makes the folder empty and gives it to the site's user. */
  async layOut(dir: string): Promise<number | null> {
    const user = await this.owner()
    await removeTree(dir)
    await fs.mkdir(dir, { recursive: true, mode: 0o700 })
    if (user !== null) await fs.chown(dir, user, user)
    return user
  }

  /** The newest database of a mirror that an engine runs; it is loaded when the mirror starts. */
  get following(): string {
    return path.join(this.dir, 'following.sql')
  }

  /** Sizes of the files and of the database, bytes. */
  sizes({ filesDir, databaseDir }: SitePlaces): Promise<[number, number]> {
    const engine = this.engine
    return Promise.all([
      bytesBelow(filesDir, databaseDir),
      engine
        ? engine.used(this.dir, filesDir, databaseDir).then((used) => used.database)
        : bytesBelow(databaseDir),
    ])
  }

  /** Has the engine write the database into the file; null where there is no engine. */
  async dump(user: number | null, file: string): Promise<CopyFigures['tables'] | null> {
    if (!this.engine) return null
    return await this.engine.dump(this.inEngine(this.engine, user), file)
  }

  /** The site in the engine's terms. */
  inEngine(engine: Engine, user: number | null): EngineSite {
    if (user === null) throw needsUsers()
    const { filesDir: wordpress, databaseDir: database } = placesIn(this.present, engine)
    return { id: this.id, dir: this.dir, wordpress, database, user }
  }

  /**
   * Makes a content beside the site's own; the engine fills its database from the dump that `lay`
   * unpacks.
   * @param loaded file by which the next load knows what this one has left (Engine.load); null:
   *   none
   */
  async laidBeside<T>(
    engine: Engine,
    content: string,
    lay: (user: number, dumpFile: string) => Promise<T>,
    loaded: string | null,
  ): Promise<{ readonly laid: T; readonly tables: CopyFigures['tables'] }> {
    const loading = this.#loading
    const user = await this.owner()
    if (user === null) throw needsUsers()
    const copy = { engine, id: this.#loadingId, dir: loading, user }
    this.#isLoading = true
    try {
      await engine.endLeftovers(copy.id, loading)
      await removeTree(content)
      await removeTree(loading)
      const laid = await lay(user, await layOutFor(copy, content))
      return { laid, tables: await tablesLoadedBy(copy, content, loaded) }
    } finally {
      await removeTree(loading)
      this.#isLoading = false
    }
  }

  async isDone(restoreId: string): Promise<boolean> {
    await this.recover()
    return await this.isMarked(restoreId)
  }

  /** Whether the last exchange was this one. */
  async isMarked(restoreId: string): Promise<boolean> {
    const text = await fs.readFile(this.mark, 'utf8').catch(() => null)
    return text !== null && (JSON.parse(text) as { id: string }).id === restoreId
  }

  /**
   * Makes prepared content, or that of another folder of the site's, the site's content. No
   * container may run.
   */
  async exchange(restoreId: string, from = this.coming): Promise<void> {
    if (await fs.stat(this.present).catch(() => null))
      await fs.rename(this.present, path.join(this.dir, `former-${restoreId}`))
    await fs.rename(from, this.present)
    await this.#conclude(restoreId)
  }

  async #conclude(restoreId: string): Promise<void> {
    await fs.rm(this.following, { force: true })
    await writeWhole(this.mark, JSON.stringify({ id: restoreId }))
    await removeTree(path.join(this.dir, `former-${restoreId}`))
  }

  /**
   * After a kill: undoes an exchange that was cut off before its second half, and completes one
   * that was cut off after it.
   */
  async recover(): Promise<void> {
    const names: string[] = await fs.readdir(this.dir).catch(() => [])
    if (names.includes(path.basename(this.#loading)) && !this.#isLoading) {
      await this.engine?.endLeftovers(this.#loadingId, this.#loading)
      await removeTree(this.#loading)
    }
    for (const name of names) {
      const restoreId = formerName.exec(name)?.[1]
      if (restoreId === undefined) continue
      if (names.includes('wordpress')) await this.#conclude(restoreId)
      else await fs.rename(path.join(this.dir, name), this.present)
    }
  }

  cutShort(): Promise<void> {
    return this.archiveRunner.cutShort(this.id)
  }
}
