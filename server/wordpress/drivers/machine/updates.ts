/**
 * Replaces WordPress, a plugin or a theme of one site by a package (a zip). Each folder is replaced
 * as a whole: the new one is made beside the site, then two renames follow. The former one is kept
 * until the update is settled, unless the site's files have a disk of their own. Everything lies in
 * one folder beside the site, which PHP cannot see, and from which a later process continues after
 * a kill.
 *
 * The site's programs run meanwhile, and may turn any name of theirs into a link. So its folders
 * are opened one from the other (open-folder.ts), nothing is written to a name of the site's, and
 * what leaves the site is renamed to a place that it does not reach before it is removed.
 */
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from '../../../platform/errors.ts'
import { BadZip, unpackZip, withZip, type ZipReader } from '../../../platform/zip.ts'
import type { SoftwarePackage } from '../../driver.ts'
import { bytesBelow, copyTree, removeTree, writeWhole } from './files.ts'
import { OpenFolder, within } from './open-folder.ts'
import type { SiteFolder } from './site-folder.ts'
import { giveTree } from './site-users.ts'

const megabyte = 1_048_576
/** WordPress unpacks to 90 MB, the largest plugins of the directory to some 300. */
export const packageLimits = { archiveBytes: 128 * megabyte, bytes: 512 * megabyte, files: 40_000 }
/** Space that an update must leave free for the database and everything else on the host, bytes. */
const spareBytes = 512 * megabyte
const folderName = /^update-([0-9a-f-]{36})$/
/** The site's own entries, which no package of WordPress replaces. */
const ownOfSite = new Set(['wp-config.php', 'wp-content', '.htaccess'])
const headBytes = 8_192

/** The entries of the site to exchange, by their places below its WordPress folder. */
interface Plan {
  readonly places: readonly string[]
}

const exists = (file: string): Promise<boolean> =>
  fs.lstat(file).then(
    () => true,
    () => false,
  )
const unfit = (why: string): DriverFailure => new DriverFailure('rejected', `the package: ${why}`)

/** The place of a package's file below WordPress's folder, without the zip's root folder. */
function placeIn({ kind, slug }: SoftwarePackage, name: string): string | undefined {
  const [root, ...rest] = name.split('/')
  if (rest.length === 0) return undefined
  if (kind === 'core') {
    if (root !== 'wordpress') throw unfit('it holds other folders than wordpress')
    return ownOfSite.has(rest[0] ?? '') ? undefined : rest.join('/')
  }
  if (root !== slug) throw unfit(`it holds other folders than ${slug}`)
  return `wp-content/${kind === 'plugin' ? 'plugins' : 'themes'}/${name}`
}

/** The file in the zip that states the version, and how it does. */
const versionOf = ({ kind, slug, main }: SoftwarePackage): [string, RegExp] => {
  if (kind === 'core') return ['wordpress/wp-includes/version.php', /\$wp_version = '([^']+)'/]
  const header = /^(?:[ \t]*<\?php)?[ \t/*#@]*Version:(.*)$/im
  return [kind === 'plugin' ? main : `${slug}/style.css`, header]
}

/** Checks the version: a directory may name one and hand out another. */
async function judge(zip: ZipReader, wanted: SoftwarePackage): Promise<void> {
  const [file, shape] = versionOf(wanted)
  const content = await zip.read(file)
  if (!content) throw unfit(`it holds no ${file}`)
  const said = shape
    .exec(content.toString('utf8', 0, headBytes))?.[1]
    ?.replace(/\s*(?:\*\/|\?>).*/, '')
    .trim()
  if (said !== wanted.version)
    throw unfit(`it says that it is ${said ?? 'of no version'}, not ${wanted.version}`)
}

/** A folder on the disk of the site's files, which the site's programs cannot enter. */
interface Ground {
  readonly folder: OpenFolder
  /** True where the folder lies in the site's own, for as long as the exchange takes. */
  readonly isInSite: boolean
}
/** @param file a file of the update, in the update's own folder */
const groundName = (file: string): string => `.portal-${path.basename(path.dirname(file))}`

const noFolder =
  (way: string) =>
  (error: unknown): never => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ELOOP' || code === 'ENOTDIR' || code === 'ENOENT')
      throw new DriverFailure('rejected', `${way} of the site is no folder`, { cause: error })
    throw error
  }

/** Removes the entry of that name, whatever it is, after it was moved out of the site's reach. */
async function takeAway(folder: OpenFolder, name: string, ground: Ground): Promise<void> {
  const leaving = ground.folder.forPrograms('leaving')
  await removeTree(leaving)
  try {
    await fs.rename(folder.at(name), leaving)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await removeTree(leaving)
}

const pauseName = '.maintenance'
/**
 * Written elsewhere and renamed into place: a file opened by a name of the site's may be any file.
 */
async function pause(site: OpenFolder, ground: Ground): Promise<void> {
  const made = ground.folder.at('pause')
  await fs.rm(made, { force: true })
  await fs.writeFile(made, `<?php $upgrading = ${Math.floor(Date.now() / 1000)};\n`, { flag: 'wx' })
  await takeAway(site, pauseName, ground)
  await fs.rename(made, site.at(pauseName))
}

export class Updates {
  readonly #dir: string
  readonly #present: string
  readonly #database: string
  readonly #owner: () => Promise<number | null>

  /** @param owner the user that the site's files belong to */
  constructor(
    of: Pick<SiteFolder, 'dir' | 'wordpress' | 'database'>,
    owner: () => Promise<number | null>,
  ) {
    this.#dir = of.dir
    this.#present = of.wordpress
    this.#database = of.database
    this.#owner = owner
  }

  #of(updateId: string): string {
    return path.join(this.#dir, `update-${updateId}`)
  }

  /** Whether the package is in place already. */
  async isDone(updateId: string, { kind, slug }: SoftwarePackage): Promise<boolean> {
    await this.recover()
    return exists(path.join(this.#of(updateId), `${kind}-${slug}.done`))
  }

  /**
   * Unpacks the package beside the site. DriverFailure rejected: the file is not the wanted
   * package; full: the site's or the host's disk has no room for it.
   */
  async prepare(
    updateId: string,
    wanted: SoftwarePackage,
    file: string,
    diskBytes: number,
  ): Promise<void> {
    const folder = this.#of(updateId)
    const coming = path.join(folder, `${wanted.kind}-${wanted.slug}.coming`)
    await removeTree(coming)
    await fs.mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      await withZip(file, packageLimits, async (zip) => {
        await judge(zip, wanted)
        const bytes = zip.entries.reduce((sum, entry) => sum + entry.bytes, 0)
        await this.#needRoom(bytes, diskBytes)
        await unpackZip(zip, coming, (name) => placeIn(wanted, name))
      })
    } catch (error) {
      await removeTree(coming)
      if (error instanceof BadZip) throw unfit(error.message)
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
        throw new DriverFailure('full', "the host's disk has no room for the package")
      throw error
    }
    const owner = await this.#owner()
    if (owner !== null) await giveTree(coming, owner)
  }

  async #needRoom(bytes: number, diskBytes: number): Promise<void> {
    const { bavail, bsize } = await fs.statfs(this.#dir)
    if (bavail * bsize < bytes + spareBytes)
      throw new DriverFailure('full', "the host's disk has no room for the package")
    // Old and new files together must fit, as both exist for a moment.
    if ((await bytesBelow(this.#present, this.#database)) + bytes > diskBytes)
      throw new DriverFailure('full', "the site's disk has no room for the package")
  }

  /**
   * The entries to exchange: a plugin or theme as one folder, WordPress's own folders and files
   * each.
   */
  async #planOf({ kind, slug }: SoftwarePackage, coming: string): Promise<Plan> {
    if (kind !== 'core')
      return { places: [`wp-content/${kind === 'plugin' ? 'plugins' : 'themes'}/${slug}`] }
    return { places: await fs.readdir(coming) }
  }

  /** Puts the prepared package in place. */
  async exchange(updateId: string, wanted: SoftwarePackage): Promise<void> {
    const name = `${wanted.kind}-${wanted.slug}`
    const base = path.join(this.#of(updateId), name)
    const plan = await this.#planOf(wanted, `${base}.coming`)
    // A plan is written only for a completely prepared package, and only a plan is carried out.
    await writeWhole(`${base}.plan`, JSON.stringify(plan))
    await this.#carryOut(base, plan)
  }

  async #carryOut(base: string, { places }: Plan): Promise<void> {
    await within(this.#present, [], async (site) => {
      const ground = await this.#groundOf(path.dirname(base), site)
      try {
        // WordPress asks visitors to come back while its own files are exchanged, for some
        // milliseconds (wp_maintenance(); it ignores the file after ten minutes).
        const isCore = base.endsWith('/core-wordpress')
        if (isCore) await pause(site, ground)
        for (const place of places) await this.#exchangeOne(base, place, ground)
        if (isCore) await takeAway(site, pauseName, ground)
      } finally {
        await ground.folder.close()
        // The folder is empty by now, unless a fault came; then the next try finds it.
        if (ground.isInSite) await fs.rmdir(site.at(groundName(base))).catch(() => {})
      }
    })
    await writeWhole(`${base}.done`, '')
    await fs.rm(`${base}.plan`, { force: true })
    await removeTree(`${base}.coming`)
  }

  /**
   * The update's own folder; where the site's files have a disk of their own, a folder on that
   * disk.
   */
  async #groundOf(folder: string, site: OpenFolder): Promise<Ground> {
    const beside = await OpenFolder.open(folder)
    if ((await beside.stat()).dev === (await site.stat()).dev)
      return { folder: beside, isInSite: false }
    await beside.close()
    const name = groundName(path.join(folder, 'any'))
    await fs.mkdir(site.at(name), { mode: 0o700 }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    })
    const inSite = await site.folder(name).catch(noFolder(name))
    // The site may replace it by another folder; this one, with this owner and mode, it cannot
    // enter.
    const { uid, mode } = await inSite.stat()
    if (uid === process.getuid?.() && (mode & 0o777) === 0o700)
      return { folder: inSite, isInSite: true }
    await inSite.close()
    throw new DriverFailure('rejected', 'the site has taken the place of its update')
  }

  /** May be interrupted at any point and called again. */
  async #exchangeOne(base: string, place: string, ground: Ground): Promise<void> {
    const coming = path.join(`${base}.coming`, place)
    if (!(await exists(coming))) return
    const former = path.join(`${base}.former`, place)
    const names = place.split('/')
    const name = names.pop() ?? ''
    // Each name on the way must be a folder: a link would lead out of the site.
    const asked = within(this.#present, names, async (folder) => {
      if (ground.isInSite) {
        const staged = ground.folder.forPrograms('coming')
        await removeTree(staged)
        await copyTree(coming, staged)
        await takeAway(folder, name, ground)
        await fs.rename(ground.folder.at('coming'), folder.at(name))
        await removeTree(coming)
        return
      }
      if (await exists(former)) await takeAway(folder, name, ground)
      else if (await exists(folder.at(name))) {
        await fs.mkdir(path.dirname(former), { recursive: true, mode: 0o700 })
        await fs.rename(folder.at(name), former)
      }
      await fs.rename(coming, folder.at(name))
    })
    await asked.catch(noFolder(names.join('/') || place))
  }

  /** After a kill: carries out what was planned. */
  async recover(): Promise<void> {
    const names: string[] = await fs.readdir(this.#dir).catch(() => [])
    for (const name of names.filter((one) => folderName.test(one))) {
      const folder = path.join(this.#dir, name)
      for (const file of await fs.readdir(folder)) {
        if (!file.endsWith('.plan')) continue
        const plan = JSON.parse(await fs.readFile(path.join(folder, file), 'utf8')) as Plan
        await this.#carryOut(path.join(folder, file.slice(0, -'.plan'.length)), plan)
      }
    }
  }

  /**
   * The last activity of an update that is not settled, ms since 1970; null: there is none, or its
   * hold was ended.
   */
  async lastActAt(): Promise<number | null> {
    // An update that was settled meanwhile is gone.
    const times = await Promise.all(
      (await this.#unsettled()).map((folder) =>
        fs.stat(folder).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      ),
    )
    return Math.max(0, ...times) || null
  }

  /**
   * Records that the portal ended the hold: an unsettled update that stays here is no reason to
   * hold writes.
   */
  async endHold(): Promise<void> {
    for (const folder of await this.#unsettled())
      await fs.utimes(folder, 0, 0).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
      })
  }

  async #unsettled(): Promise<string[]> {
    const names: string[] = await fs.readdir(this.#dir).catch(() => [])
    return names.filter((one) => folderName.test(one)).map((name) => path.join(this.#dir, name))
  }

  /**
   * Removes the replaced files, which are not needed any more, or the site was restored as a whole.
   */
  async settle(updateId: string): Promise<void> {
    await removeTree(this.#of(updateId))
  }
}
