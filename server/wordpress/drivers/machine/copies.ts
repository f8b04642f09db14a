// Backups and restores of one site. An exchange of its content leaves folders beside the site, from
// which the next start of the portal completes or undoes the exchange.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { DriverFailure } from '../../../platform/errors.ts'
import {
  isWholeRound,
  type CopyFigures,
  type MoveRound,
  type SiteChanges,
  type SiteCopy,
} from '../../driver.ts'
import type { SitePlaces } from './archive.ts'
import type { PackedDatabase } from './changes.ts'
import type { ArchiveRunner } from './archive-runner.ts'
import type { Engine, EngineSite } from './engine.ts'
import { bytesBelow, removeTree, writeWhole } from './files.ts'
import type { Host } from './host.ts'
import { placesIn } from './places.ts'

const run = promisify(execFile)

/** Scratch sites begin with it; no site's id does. */
export const scratchPrefix = '.scratch-'

/** What a copy must leave free for the database and everything else on the host. */
const spareBytes = 512 * 1_048_576

/** What a site may grow by between being measured and being packed. */
const growthShare = 1.5
const growthBytes = 256 * 1_048_576

/** Of a mirror: which rounds it has come to, and from which one before. */
interface MirrorMark {
  readonly id?: string
  readonly base?: number | null
  readonly laid?: number
}

/** What a site was before the exchange that the name tells. */
const formerName = /^former-([0-9a-f-]{36})$/

export async function needRoom(dir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await fs.statfs(dir)
  if (bavail * bsize < bytes + spareBytes)
    throw new DriverFailure('unavailable', "the host's disk is too full for a copy")
}

/** What is unpacked into a folder whose database an engine fills, and where its dump is put. */
interface EngineCopy {
  readonly engine: Engine
  readonly id: string
  /** Of the user; the dump and the database's sockets lie there. */
  readonly dir: string
  readonly user: number
}

/** Lays out folders of a content that an engine runs; answers where its dump is put. */
async function layOutFor({ engine, dir, user }: EngineCopy, content: string): Promise<string> {
  const { filesDir, databaseDir } = placesIn(content, engine)
  await engine.layOutContent(filesDir, databaseDir)
  for (const one of [filesDir, dir]) {
    await fs.mkdir(one, { recursive: true, mode: 0o700 })
    await fs.chown(one, user, user)
  }
  return path.join(dir, 'database.sql')
}

/** Loads the database of what was laid out, and counts it. */
function tablesLoadedBy(
  { engine, id, dir, user }: EngineCopy,
  content: string,
): Promise<CopyFigures['tables']> {
  const { filesDir, databaseDir } = placesIn(content, engine)
  const site = { id, dir, wordpress: filesDir, database: databaseDir, user }
  return engine.load(site, path.join(dir, 'database.sql'))
}

/** Where an engine loads a database that is restored, in a site's folder or a scratch one. */
export const loadingIn = (dir: string): string => path.join(dir, 'loading')
/** As an engine knows a scratch folder; no container's name begins with a dot. */
export const copyIdOf = (scratch: string): string => path.basename(scratch).slice(1)

const notSqlite = (): DriverFailure =>
  new DriverFailure('rejected', 'a database of MariaDB is not made one of SQLite')

const needsUsers = (): DriverFailure =>
  new DriverFailure('unavailable', 'the engine needs a user for each site: start as root')

/**
 * Restores the archive beside the sites, counts it and removes it.
 * @param user whom it is laid out by, who owns no site; null: the portal's own user
 */
export async function proveCopy(
  { archiveRunner, sitesDir, engine }: Pick<Host, 'archiveRunner' | 'sitesDir' | 'engine'>,
  file: string,
  user: number | null,
): Promise<CopyFigures> {
  const scratch = path.join(sitesDir, `${scratchPrefix}${randomUUID()}`)
  await fs.mkdir(scratch, { recursive: true, mode: 0o700 })
  const archive = await fs.open(file)
  try {
    const bytes = (await archive.stat()).size * 4
    await needRoom(scratch, bytes)
    if (user !== null) await fs.chown(scratch, user, user)
    const content = path.join(scratch, 'wordpress')
    const places = placesIn(content, engine)
    const unpack = (dumpFile?: string): Promise<CopyFigures> =>
      archiveRunner.run({
        owner: scratchPrefix,
        queueKey: path.dirname(file),
        order: { op: 'unpack', places: { ...places, ...(dumpFile && { dumpFile }) } },
        allowedPaths: { reads: [], writes: [scratch] },
        user,
        input: archive.fd,
        bytes,
      })
    if (!engine) return await unpack()
    if (user === null) throw needsUsers()
    const copy = { engine, id: copyIdOf(scratch), dir: loadingIn(scratch), user }
    const found = await unpack(await layOutFor(copy, content))
    return { ...found, tables: await tablesLoadedBy(copy, content) }
  } finally {
    await archive.close()
    await removeTree(scratch)
  }
}

/**
 * The copies of one site. Calls come one at a time; what exchanges its content must have the site
 * to itself.
 */
export class Copies {
  readonly #archiveRunner: ArchiveRunner
  readonly #id: string
  readonly #dir: string
  readonly #owner: () => Promise<number | null>
  readonly #engine: Engine | null
  #isLoading = false

  /** `dir`: the site's own folder, with `wordpress` in it; `owner`: whom its files belong to. */
  constructor(
    archiveRunner: ArchiveRunner,
    id: string,
    dir: string,
    owner: () => Promise<number | null>,
    engine: Engine | null,
  ) {
    this.#engine = engine
    this.#archiveRunner = archiveRunner
    this.#id = id
    this.#dir = dir
    this.#owner = owner
  }

  get #present(): string {
    return path.join(this.#dir, 'wordpress')
  }
  /** Unpacked, and not the site's content yet. */
  get #coming(): string {
    return path.join(this.#dir, 'restoring')
  }
  get #loading(): string {
    return loadingIn(this.#dir)
  }
  get #loadingId(): string {
    return `${this.#id}-loading`
  }
  get #mark(): string {
    return path.join(this.#dir, 'restored.json')
  }
  /** The snapshot of the database, while it is packed. */
  get #copying(): string {
    return path.join(this.#dir, 'copying')
  }

  /** A folder of the site's user, empty. */
  async #layOut(dir: string): Promise<number | null> {
    const user = await this.#owner()
    await removeTree(dir)
    await fs.mkdir(dir, { recursive: true, mode: 0o700 })
    if (user !== null) await fs.chown(dir, user, user)
    return user
  }

  async pack(file: string): Promise<CopyFigures> {
    const part = `${file}.part`
    await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    const engine = this.#engine
    const places = placesIn(this.#present, engine)
    const [fileBytes, databaseBytes] = await this.#sizes(places)
    const bytes = fileBytes + databaseBytes
    await needRoom(path.dirname(file), bytes)
    await needRoom(this.#dir, databaseBytes * 2)
    const user = await this.#layOut(this.#copying)
    const archive = await fs.open(part, 'w', 0o600)
    try {
      const scratchFile = path.join(this.#copying, 'database.sqlite')
      const dumped = await this.#dump(user, scratchFile)
      const figures = await this.#archiveRunner.run({
        owner: this.#id,
        queueKey: path.dirname(file),
        order: {
          op: 'pack',
          places,
          scratchFile,
          ...(dumped && { dumped }),
          maxBytes: Math.ceil(bytes * growthShare) + growthBytes,
        },
        allowedPaths: { reads: [this.#present], writes: [this.#copying] },
        user,
        output: archive.fd,
        bytes,
      })
      await archive.sync()
      await fs.rename(part, file)
      return figures
    } finally {
      await archive.close()
      await fs.rm(part, { force: true })
      await removeTree(this.#copying)
    }
  }

  /** Of the files and of the database, bytes. */
  #sizes({ filesDir, databaseDir }: SitePlaces): Promise<[number, number]> {
    const engine = this.#engine
    return Promise.all([
      bytesBelow(filesDir, databaseDir),
      engine
        ? engine.used(this.#dir, filesDir, databaseDir).then((used) => used.database)
        : bytesBelow(databaseDir),
    ])
  }

  /** Where an engine has the database: writes it into the file. */
  async #dump(user: number | null, file: string): Promise<CopyFigures['tables'] | null> {
    if (!this.#engine) return null
    return await this.#engine.dump(this.#inEngine(this.#engine, user), file)
  }

  /** Listings of what a copy on another machine has come to. */
  #listingsOf({ mirror }: MoveRound): string {
    return path.join(this.#dir, mirror ? 'mirroring' : 'moving')
  }
  /**
   * The listing that a round goes on from, where it is written, and those of former tries of the
   * round, each of which the copy may have taken. Drops what belongs to rounds before.
   */
  async #listingsFor(of: MoveRound): Promise<{
    readonly since: string | null
    readonly tried: readonly string[]
    readonly listing: string
  }> {
    const folder = this.#listingsOf(of)
    const { round, mirror } = of
    const at = (name: string): string => path.join(folder, name)
    if (isWholeRound(of)) {
      await this.#layOut(folder)
      return { since: null, tried: [], listing: at(mirror ? `none-${round}.json` : '0.json') }
    }
    const names: string[] = await fs.readdir(folder).catch(() => [])
    const [isBase, isTry, listing] = mirror
      ? [
          (name: string) => name.endsWith(`-${mirror.since}.json`),
          (name: string) => name.startsWith(`${mirror.since}-`),
          `${mirror.since}-${round}.json`,
        ]
      : [
          (name: string) => name === `${round - 1}.json`,
          (name: string) => name === `${round}.json` || name.startsWith(`${round}.try-`),
          `${round}.json`,
        ]
    const base = names.find(isBase)
    if (base === undefined)
      throw new DriverFailure('rejected', 'what the copy has come to is not known any more')
    const tries = names.filter(isTry)
    for (const name of names)
      if (!isBase(name) && !isTry(name)) await fs.rm(at(name), { force: true })
    if (!tries.includes(listing))
      return { since: at(base), tried: tries.map(at), listing: at(listing) }
    const kept = `${round}.try-${tries.length}.json`
    await fs.rename(at(listing), at(kept))
    const tried = tries.map((name) => at(name === listing ? kept : name))
    return { since: at(base), tried, listing: at(listing) }
  }
  /** The newest database of a mirror that an engine runs; it is loaded when the mirror starts. */
  get #following(): string {
    return path.join(this.#dir, 'following.sql')
  }

  /**
   * Writes what changed since the round before into `file`; everything in round 0. A round may be
   * asked for again: it goes on from the one before it.
   */
  async packChanges(file: string, of: MoveRound): Promise<SiteChanges> {
    const { database } = of
    const engine = this.#engine
    if (engine && database === 'sqlite') throw notSqlite()
    const listings = await this.#listingsFor(of)
    const part = `${file}.part`
    await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    const places = placesIn(this.#present, engine)
    const [fileBytes, databaseBytes] = await this.#sizes(places)
    await needRoom(this.#dir, databaseBytes * 2)
    const bytes = fileBytes + databaseBytes
    await needRoom(path.dirname(file), isWholeRound(of) ? bytes : databaseBytes)
    const user = await this.#layOut(this.#copying)
    const archive = await fs.open(part, 'w', 0o600)
    try {
      const scratchFile = path.join(this.#copying, 'database.sqlite')
      let packed: PackedDatabase = database === 'mariadb' ? 'dump' : 'sqlite'
      if (await this.#dump(user, scratchFile)) packed = 'dumped'
      const changes = await this.#archiveRunner.run<SiteChanges>({
        owner: this.#id,
        queueKey: this.#dir,
        order: {
          op: 'pack_changes',
          places,
          scratchFile,
          maxBytes: Math.ceil(bytes * growthShare) + growthBytes,
          ...listings,
          database: packed,
        },
        allowedPaths: { reads: [this.#present], writes: [this.#copying, this.#listingsOf(of)] },
        user,
        output: archive.fd,
        bytes,
      })
      await fs.rename(part, file)
      return changes
    } finally {
      await archive.close()
      await fs.rm(part, { force: true })
      await removeTree(this.#copying)
    }
  }

  /**
   * Lays what `packChanges` wrote on another machine out: round 0 as a whole content that becomes
   * this site's, the others upon it.
   */
  async layChanges(file: string, of: MoveRound): Promise<SiteChanges> {
    const isWhole = isWholeRound(of)
    const content = isWhole ? this.#coming : this.#present
    const engine = this.#engine
    const places = placesIn(content, engine)
    const archive = await fs.open(file)
    try {
      const { size } = await archive.stat()
      // A database that is loaded is three times its SQL; rows that are alike pack to nothing.
      await needRoom(this.#dir, Math.max(size * 4, (of.bytes ?? 0) * (engine ? 3 : 1)))
      // Of another move, or late: the site may have been switched to since.
      if (!(await this.#takes(of)))
        throw new DriverFailure('rejected', 'the copy is not of this move')
      const lay = (user: number | null, scratchFile: string): Promise<SiteChanges> =>
        this.#archiveRunner.run<SiteChanges>({
          owner: this.#id,
          queueKey: this.#dir,
          order: { op: 'lay_changes', places, scratchFile, isDump: engine !== null },
          allowedPaths: { reads: [], writes: [places.filesDir, path.dirname(scratchFile)] },
          user,
          input: archive.fd,
          bytes: size * 4,
        })
      let changes: SiteChanges
      if (engine && isWhole) changes = (await this.#laidBeside(engine, content, lay)).laid
      else {
        const user = isWhole ? await this.#layOut(content) : await this.#owner()
        await this.#layOut(this.#copying)
        const scratchFile = path.join(this.#copying, engine ? 'database.sql' : 'database.sqlite')
        changes = await lay(user, scratchFile)
        if (of.mirror && engine) await fs.rename(scratchFile, this.#following)
        // It is open where the copy has started.
        else if (engine) await engine.load(this.#inEngine(engine, user), scratchFile)
      }
      if (isWhole) await this.exchange(of.moveId)
      if (of.mirror) await this.#markMirror(of)
      return changes
    } finally {
      await archive.close()
      await removeTree(this.#copying)
    }
  }

  /** Loads what a mirror has of its database; does nothing where nothing waits. */
  async loadFollowing(): Promise<void> {
    const engine = this.#engine
    if (!engine || !(await fs.stat(this.#following).catch(() => null))) return
    const folder = path.join(this.#dir, 'following')
    const user = await this.#layOut(folder)
    try {
      const file = path.join(folder, 'database.sql')
      // The load takes its file away, and one that is cut off begins again.
      await fs.link(this.#following, file)
      await engine.load(this.#inEngine(engine, user), file)
      await fs.rm(this.#following)
    } finally {
      await removeTree(folder)
    }
  }

  /** The site as the engine has it. */
  #inEngine(engine: Engine, user: number | null): EngineSite {
    if (user === null) throw needsUsers()
    const { filesDir: wordpress, databaseDir: database } = placesIn(this.#present, engine)
    return { id: this.#id, dir: this.#dir, wordpress, database, user }
  }

  /** A content beside the site's own; the engine fills its database from the dump that is laid. */
  async #laidBeside<T>(
    engine: Engine,
    content: string,
    lay: (user: number, dumpFile: string) => Promise<T>,
  ): Promise<{ readonly laid: T; readonly tables: CopyFigures['tables'] }> {
    const loading = this.#loading
    const user = await this.#owner()
    if (user === null) throw needsUsers()
    const copy = { engine, id: this.#loadingId, dir: loading, user }
    this.#isLoading = true
    try {
      await engine.endLeftovers(copy.id, loading)
      await removeTree(content)
      await removeTree(loading)
      const laid = await lay(user, await layOutFor(copy, content))
      return { laid, tables: await tablesLoadedBy(copy, content) }
    } finally {
      await removeTree(loading)
      this.#isLoading = false
    }
  }

  /** Whether a round has its place here: not of another move, not late, and none is left out. */
  async #takes(of: MoveRound): Promise<boolean> {
    const isWhole = isWholeRound(of)
    if (!of.mirror) return isWhole || (await this.#isMarked(of.moveId))
    const text = await fs.readFile(this.#mark, 'utf8').catch(() => '{}')
    const { id, base, laid } = JSON.parse(text) as MirrorMark
    if (id !== of.moveId) return isWhole
    if (laid !== undefined && of.round <= laid) return false
    return isWhole || of.mirror.since === laid || of.mirror.since === base
  }
  /** What was laid stands on the disk before it is said that it does. */
  async #markMirror({ moveId, round, mirror }: MoveRound): Promise<void> {
    // Where there is no such tool, a power cut may cost what came within the last seconds.
    await run('sync', ['-f', this.#dir]).catch(() => undefined)
    const mark = { id: moveId, base: mirror?.since ?? null, laid: round } satisfies MirrorMark
    await writeWhole(this.#mark, JSON.stringify(mark))
  }

  async isDone(restoreId: string): Promise<boolean> {
    await this.recover()
    return await this.#isMarked(restoreId)
  }

  /** Whether that exchange was the last one. */
  async #isMarked(restoreId: string): Promise<boolean> {
    const text = await fs.readFile(this.#mark, 'utf8').catch(() => null)
    return text !== null && (JSON.parse(text) as { id: string }).id === restoreId
  }

  /**
   * Lays the archive out beside the site's content, and makes sure that it is what it should be and
   * fits.
   */
  async prepare(
    { file, figures }: SiteCopy,
    budget: { readonly diskBytes: number; readonly databaseBytes: number },
  ): Promise<void> {
    if (figures.fileBytes > budget.diskBytes || figures.databaseBytes > budget.databaseBytes)
      throw new DriverFailure('rejected', "the backup is larger than the site's disks")
    await fs.mkdir(this.#dir, { recursive: true, mode: 0o700 })
    const archive = await fs.open(file).catch(() => null)
    if (!archive) throw new DriverFailure('rejected', 'the archive is gone')
    try {
      const bytes = figures.fileBytes + figures.databaseBytes
      await needRoom(this.#dir, bytes)
      const found = await this.#unpacked(file, archive.fd, bytes)
      if (!isDeepStrictEqual(found, figures))
        throw new DriverFailure('rejected', 'the archive is not what was backed up')
    } catch (error) {
      await removeTree(this.#coming)
      throw error
    } finally {
      await archive.close()
    }
  }

  async #unpacked(file: string, input: number, bytes: number): Promise<CopyFigures> {
    const engine = this.#engine
    const content = this.#coming
    const places = placesIn(content, engine)
    const unpack = (user: number | null, dumpFile?: string): Promise<CopyFigures> =>
      this.#archiveRunner.run({
        owner: this.#id,
        queueKey: path.dirname(file),
        order: { op: 'unpack', places: { ...places, ...(dumpFile && { dumpFile }) } },
        allowedPaths: {
          reads: [],
          writes: [places.filesDir, ...(dumpFile ? [path.dirname(dumpFile)] : [])],
        },
        user,
        input,
        bytes,
      })
    if (!engine) return await unpack(await this.#layOut(content))
    const { laid, tables } = await this.#laidBeside(engine, content, unpack)
    return { ...laid, tables }
  }

  /**
   * What was prepared, or stands in another folder of the site's, becomes the site's content. No
   * container may run.
   */
  async exchange(restoreId: string, from = this.#coming): Promise<void> {
    if (await fs.stat(this.#present).catch(() => null))
      await fs.rename(this.#present, path.join(this.#dir, `former-${restoreId}`))
    await fs.rename(from, this.#present)
    await this.#conclude(restoreId)
  }

  async #conclude(restoreId: string): Promise<void> {
    await fs.rm(this.#following, { force: true })
    await writeWhole(this.#mark, JSON.stringify({ id: restoreId }))
    await removeTree(path.join(this.#dir, `former-${restoreId}`))
  }

  /**
   * After a kill: undoes an exchange that was cut off before its second half, completes one that
   * was cut off after it.
   */
  async recover(): Promise<void> {
    const names: string[] = await fs.readdir(this.#dir).catch(() => [])
    if (names.includes(path.basename(this.#loading)) && !this.#isLoading) {
      await this.#engine?.endLeftovers(this.#loadingId, this.#loading)
      await removeTree(this.#loading)
    }
    for (const name of names) {
      const restoreId = formerName.exec(name)?.[1]
      if (restoreId === undefined) continue
      if (names.includes('wordpress')) await this.#conclude(restoreId)
      else await fs.rename(path.join(this.#dir, name), this.#present)
    }
  }

  cutShort(): Promise<void> {
    return this.#archiveRunner.cutShort(this.#id)
  }
}
