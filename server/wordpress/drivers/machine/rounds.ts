/**
 * Both ends of the archives by which a copy on another machine follows a site: changes are packed
 * on one, and applied to the copy on the other.
 */
import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { DriverFailure } from '../../../platform/errors.ts'
import { isWholeRound, type MoveRound, type SiteChanges } from '../../driver.ts'
import type { SitePlaces } from './archive.ts'
import type { ArchiveOrder } from './archive-process.ts'
import type { TablesToMake } from './carry-to-sqlite.ts'
import type { LaidChanges, LayOrder, PackedDatabase } from './changes.ts'
import { mayGrowTo, needRoom, type SiteContent } from './content.ts'
import { removeTree, writeWhole } from './files.ts'
import { placesIn } from './places.ts'
import type { Release } from './release.ts'

const run = promisify(execFile)

/** The rounds that a copy has applied. */
interface RoundMark {
  readonly id?: string
  /** For a mirror: the round that the applied one follows. */
  readonly base?: number | null
  readonly laid?: number
  /** For a move: the attempt of the applied archive. */
  readonly attempt?: number | undefined
  /** For a move: the server is here now, and has been written to. */
  readonly isOver?: boolean
}

/** Has the site's PHP make empty tables, and writes the database with them into a file. */
export type MakeTables = (tables: TablesToMake['creates'], file: string) => Promise<void>

/** Empty tables made for the dump of an earlier round; the hash identifies the tables. */
const madeName = /^tables-([0-9a-f]{64})\.sqlite$/

export class Rounds {
  readonly #content: SiteContent
  readonly #release: Release | null

  constructor(content: SiteContent, release: Release | null) {
    this.#content = content
    this.#release = release
  }

  /** The folder of listings of what a copy on another machine has. */
  #listingsOf({ mirror }: MoveRound): string {
    return path.join(this.#content.dir, mirror ? 'mirroring' : 'moving')
  }
  /**
   * The listing that a round starts from, the file for the new one, and those of earlier tries of
   * the round, each of which the copy may have applied. Deletes listings of earlier rounds.
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
      await this.#content.layOut(folder)
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
  /**
   * Writes what changed since the round before into `file`; everything in round 0. A repeated round
   * starts from the same listing.
   */
  async packChanges(file: string, of: MoveRound): Promise<SiteChanges> {
    const { database } = of
    const engine = this.#content.engine
    // A mirror takes over when nobody can ask the owner whether another database is all right.
    if (engine && database === 'sqlite' && of.mirror)
      throw new DriverFailure('rejected', 'a mirror has the same database as its server')
    const listings = await this.#listingsFor(of)
    const part = `${file}.part`
    await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    const places = placesIn(this.#content.present, engine)
    const [fileBytes, databaseBytes] = await this.#content.sizes(places)
    await needRoom(this.#content.dir, databaseBytes * 2)
    const bytes = fileBytes + databaseBytes
    await needRoom(path.dirname(file), isWholeRound(of) ? bytes : databaseBytes)
    const release = this.#release?.id === of.release ? this.#release : null
    const user = await this.#content.layOut(this.#content.copying)
    const archive = await fs.open(part, 'w', 0o600)
    try {
      const scratchFile = path.join(this.#content.copying, 'database.sqlite')
      let packed: PackedDatabase = database === 'mariadb' ? 'dump' : 'sqlite'
      const counted = await this.#content.dump(user, scratchFile)
      if (counted) packed = { for: database ?? 'mariadb', counted }
      const changes = await this.#content.archiveRunner.run<SiteChanges>({
        owner: this.#content.id,
        queueKey: this.#content.id,
        order: {
          op: 'pack_changes',
          places,
          scratchFile,
          maxBytes: mayGrowTo(bytes),
          ...listings,
          database: packed,
          compression: of.compression ?? 'gzip',
          release,
        },
        allowedPaths: {
          reads: [this.#content.present, ...(release ? [release.dir] : [])],
          writes: [this.#content.copying, this.#listingsOf(of)],
        },
        user,
        output: archive.fd,
        bytes,
      })
      await fs.rename(part, file)
      return changes
    } finally {
      await archive.close()
      await fs.rm(part, { force: true })
      await removeTree(this.#content.copying)
    }
  }

  /** Runs a process that applies the archive from its standard input, or the rest of the work. */
  #layer(places: SitePlaces, user: number | null, archive: fs.FileHandle, bytes: number) {
    const { id, archiveRunner } = this.#content
    return <T>(order: ArchiveOrder & LayOrder): Promise<T> =>
      archiveRunner.run<T>({
        owner: id,
        queueKey: id,
        order,
        allowedPaths: {
          reads: [order.made?.file, this.#release?.dir].filter((one) => one !== undefined),
          writes: [places.filesDir, path.dirname(order.scratchFile)],
        },
        user,
        input: archive.fd,
        bytes,
      })
  }

  /**
   * Applies an archive of another machine's `packChanges`: round 0 as a whole content that becomes
   * this site's, later rounds to that content.
   * @throws DriverFailure rejected where the copy could not be the same as the original
   */
  async layChanges(file: string, of: MoveRound, makeTables: MakeTables): Promise<SiteChanges> {
    const { engine, coming, copying, dir, following, present } = this.#content
    const isWhole = isWholeRound(of)
    const content = isWhole ? coming : present
    const places = placesIn(content, engine)
    const archive = await fs.open(file)
    try {
      const { size } = await archive.stat()
      // A loaded database is three times its SQL; repetitive rows are packed to almost nothing.
      await needRoom(dir, Math.max(size * 4, (of.bytes ?? 0) * (engine ? 3 : 1)))
      const database = engine ? 'mariadb' : 'sqlite'
      const release = this.#release
      const order = { places, database, isWhole, made: null, release } as const
      const layBy = (user: number | null) => this.#layer(places, user, archive, size * 4)
      const lay = (user: number | null, scratchFile: string): Promise<SiteChanges> =>
        layBy(user)({ op: 'lay_changes', scratchFile, ...order })
      let changes: SiteChanges
      if (engine && isWhole) {
        const loaded = of.mirror ? null : await this.#loadedFile()
        changes = (await this.#content.laidBeside(engine, content, lay, loaded)).laid
      } else {
        const user = isWhole ? await this.#content.layOut(content) : await this.#content.owner()
        await this.#content.layOut(copying)
        const scratchFile = path.join(copying, engine ? 'database.sql' : 'database.sqlite')
        if (!engine)
          changes = await this.#laySqlite(layBy(user), { places, scratchFile, isWhole }, makeTables)
        else {
          changes = await lay(user, scratchFile)
          if (of.mirror) await fs.rename(scratchFile, following)
          // The database is open where the copy has started.
          else {
            const site = this.#content.inEngine(engine, user)
            await engine.load(site, scratchFile, await this.#loadedFile())
          }
        }
      }
      if (isWhole) await this.#content.exchange(of.moveId)
      await (of.mirror ? this.#markMirror(of) : this.#markMove(of))
      return changes
    } finally {
      await archive.close()
      await removeTree(copying)
    }
  }

  /** The file by which a copy's next load knows what the one before has left. */
  async #loadedFile(): Promise<string> {
    const folder = path.join(this.#content.dir, 'moving')
    await fs.mkdir(folder, { recursive: true, mode: 0o700 })
    return path.join(folder, 'loaded.json')
  }

  /** A server with MariaDB sends a dump: WordPress's own driver makes the tables for it. */
  async #laySqlite(
    lay: <T>(order: ArchiveOrder & LayOrder) => Promise<T>,
    at: Pick<LayOrder, 'scratchFile' | 'isWhole'> & { readonly places: SitePlaces },
    makeTables: MakeTables,
  ): Promise<SiteChanges> {
    const folder = path.join(this.#content.dir, 'moving')
    const names: string[] = await fs.readdir(folder).catch(() => [])
    const [former] = names.flatMap((name) => madeName.exec(name)?.[1] ?? [])
    const of = { ...at, database: 'sqlite', release: this.#release } as const
    const madeIn = (key: string) => ({ key, file: path.join(folder, `tables-${key}.sqlite`) })
    const { waits, ...changes } = await lay<LaidChanges>({
      ...of,
      op: 'lay_changes',
      made: former === undefined ? null : madeIn(former),
    })
    if (!waits) return changes
    const { tables, counted } = waits
    const user = await this.#content.layOut(folder)
    const made = madeIn(tables.key)
    await makeTables(tables.creates, made.file)
    if (user !== null) await fs.chown(made.file, user, user)
    await needRoom(this.#content.dir, (await fs.stat(at.scratchFile)).size * 2)
    const still = await lay<{ tables: TablesToMake | null }>({
      ...of,
      op: 'lay_dump',
      counted,
      made,
    })
    if (still.tables) throw new DriverFailure('unavailable', 'the tables of the dump changed')
    return changes
  }

  /** Loads the waiting database of a mirror; does nothing where none waits. */
  async loadFollowing(): Promise<void> {
    const engine = this.#content.engine
    if (!engine || !(await fs.stat(this.#content.following).catch(() => null))) return
    const folder = path.join(this.#content.dir, 'following')
    const user = await this.#content.layOut(folder)
    try {
      const file = path.join(folder, 'database.sql')
      // The load removes its file; the link lets an interrupted load begin again.
      await fs.link(this.#content.following, file)
      await engine.load(this.#content.inEngine(engine, user), file, null)
      await fs.rm(this.#content.following)
    } finally {
      await removeTree(folder)
    }
  }

  async #mark(): Promise<RoundMark> {
    const text = await fs.readFile(this.#content.mark, 'utf8').catch(() => '{}')
    return JSON.parse(text) as RoundMark
  }
  /**
   * Checks that a round can be applied here: it belongs to this move, is not late, and none before
   * it is missing. Must be called before anything of the site is touched: the site may have been
   * switched to since.
   * @throws DriverFailure rejected; unavailable: another try of the move has gone on
   */
  async require(of: MoveRound): Promise<void> {
    await this.#content.recover()
    const mark = await this.#mark()
    if (!(of.mirror ? this.#followsMirror(of, mark) : await this.#followsMove(of, mark)))
      throw new DriverFailure('rejected', 'the copy is not of this move')
    const { laid = 0, attempt = 0 } = mark.id === of.moveId && !of.mirror ? mark : {}
    // A portal that was thought dead continues its old try, while another process leads the move.
    if (of.round < laid || (of.attempt ?? attempt) < attempt)
      throw new DriverFailure('unavailable', 'another try of the move has gone on')
  }
  #followsMirror(of: MoveRound, { id, base, laid }: RoundMark): boolean {
    const isWhole = isWholeRound(of)
    if (id !== of.moveId) return isWhole
    if (laid !== undefined && of.round <= laid) return false
    return isWhole || of.mirror?.since === laid || of.mirror?.since === base
  }
  async #followsMove(of: MoveRound, { id, isOver }: RoundMark): Promise<boolean> {
    if (id === of.moveId) return isOver !== true
    // Other content was removed before the first round: an existing server is not replaced.
    return isWholeRound(of) && !(await fs.stat(this.#content.present).catch(() => null))
  }
  /**
   * Records the round. It may come again, if its sender was killed before it recorded the answer.
   */
  async #markMove({ moveId, round, attempt }: MoveRound): Promise<void> {
    const mark = { id: moveId, laid: round, attempt } satisfies RoundMark
    await writeWhole(this.#content.mark, JSON.stringify(mark))
  }
  /**
   * Records that the site is started and may be written to: from now on no round of the move
   * overwrites it.
   */
  async endMove(): Promise<void> {
    const mark = await this.#mark()
    const isOfMove = mark.laid !== undefined && mark.base === undefined
    if (!isOfMove || mark.isOver) return
    await writeWhole(this.#content.mark, JSON.stringify({ ...mark, isOver: true }))
  }
  /** Records the round once its content is safely on the disk. */
  async #markMirror({ moveId, round, mirror }: MoveRound): Promise<void> {
    // Without this tool a power cut may lose the last seconds.
    await run('sync', ['-f', this.#content.dir]).catch(() => undefined)
    const mark = { id: moveId, base: mirror?.since ?? null, laid: round } satisfies RoundMark
    await writeWhole(this.#content.mark, JSON.stringify(mark))
  }
}
