// Backups and restores of one site.
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { DriverFailure } from '../../../platform/errors.ts'
import type { CopyFigures, SiteCopy } from '../../driver.ts'
import {
  copyIdOf,
  layOutFor,
  loadingIn,
  mayGrowTo,
  needRoom,
  needsUsers,
  tablesLoadedBy,
  type SiteContent,
} from './content.ts'
import { removeTree } from './files.ts'
import type { Host } from './host.ts'
import { placesIn } from './places.ts'

/** Prefix of scratch sites; no site's id begins like this. */
export const scratchPrefix = '.scratch-'

/**
 * Restores the archive beside the sites, counts it and removes it.
 * @param user the user it is unpacked by, who owns no site; null: the portal's own
 * @param siteId the site of the archive, where known: the file may lie in a folder for archives of
 *   all sites
 */
export async function proveCopy(
  { archiveRunner, sitesDir, engine }: Pick<Host, 'archiveRunner' | 'sitesDir' | 'engine'>,
  file: string,
  user: number | null,
  siteId?: string,
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
        queueKey: siteId ?? path.dirname(file),
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
    return { ...found, tables: await tablesLoadedBy(copy, content, null) }
  } finally {
    await archive.close()
    await removeTree(scratch)
  }
}

/**
 * The copies of one site. Calls come one at a time; an exchange of the content must have the site
 * to itself.
 */
export class Copies {
  readonly #content: SiteContent

  constructor(content: SiteContent) {
    this.#content = content
  }

  async pack(file: string): Promise<CopyFigures> {
    const part = `${file}.part`
    await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    const engine = this.#content.engine
    const places = placesIn(this.#content.present, engine)
    const [fileBytes, databaseBytes] = await this.#content.sizes(places)
    const bytes = fileBytes + databaseBytes
    await needRoom(path.dirname(file), bytes)
    await needRoom(this.#content.dir, databaseBytes * 2)
    const user = await this.#content.layOut(this.#content.copying)
    const archive = await fs.open(part, 'w', 0o600)
    try {
      const scratchFile = path.join(this.#content.copying, 'database.sqlite')
      const dumped = await this.#content.dump(user, scratchFile)
      const figures = await this.#content.archiveRunner.run({
        owner: this.#content.id,
        queueKey: this.#content.id,
        order: {
          op: 'pack',
          places,
          scratchFile,
          ...(dumped && { dumped }),
          maxBytes: mayGrowTo(bytes),
        },
        allowedPaths: { reads: [this.#content.present], writes: [this.#content.copying] },
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
      await removeTree(this.#content.copying)
    }
  }

  /** Unpacks the archive beside the site's content, and checks that it is complete and fits. */
  async prepare(
    { file, figures }: SiteCopy,
    budget: { readonly diskBytes: number; readonly databaseBytes: number },
  ): Promise<void> {
    if (figures.fileBytes > budget.diskBytes || figures.databaseBytes > budget.databaseBytes)
      throw new DriverFailure('rejected', "the backup is larger than the site's disks")
    await fs.mkdir(this.#content.dir, { recursive: true, mode: 0o700 })
    const archive = await fs.open(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new DriverFailure('rejected', 'the archive is gone')
      // Another fault may pass, such as too many open files: it must not be the restore's end.
      throw new DriverFailure('unavailable', 'the archive cannot be opened', { cause: error })
    })
    try {
      const bytes = figures.fileBytes + figures.databaseBytes
      await needRoom(this.#content.dir, bytes)
      const found = await this.#unpacked(archive.fd, bytes)
      if (!isDeepStrictEqual(found, figures))
        throw new DriverFailure('rejected', 'the archive is not what was backed up')
    } catch (error) {
      await removeTree(this.#content.coming)
      throw error
    } finally {
      await archive.close()
    }
  }

  async #unpacked(input: number, bytes: number): Promise<CopyFigures> {
    const engine = this.#content.engine
    const content = this.#content.coming
    const places = placesIn(content, engine)
    const unpack = (user: number | null, dumpFile?: string): Promise<CopyFigures> =>
      this.#content.archiveRunner.run({
        owner: this.#content.id,
        queueKey: this.#content.id,
        order: { op: 'unpack', places: { ...places, ...(dumpFile && { dumpFile }) } },
        allowedPaths: {
          reads: [],
          writes: [places.filesDir, ...(dumpFile ? [path.dirname(dumpFile)] : [])],
        },
        user,
        input,
        bytes,
      })
    if (!engine) return await unpack(await this.#content.layOut(content))
    const { laid, tables } = await this.#content.laidBeside(engine, content, unpack, null)
    return { ...laid, tables }
  }
}
