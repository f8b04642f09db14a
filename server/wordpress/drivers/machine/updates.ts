/**
 * Replaces WordPress, a plugin or a theme in one site by a package (a zip). Each folder is replaced
 * whole: the new one is made beside the site, then two renames follow. What was there is kept until
 * the update is settled. All of it lies in one folder beside the site, which PHP cannot see, from
 * which whoever comes after a kill goes on.
 */
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from '../../../platform/errors.ts'
import { BadZip, unpackZip, withZip, type ZipReader } from '../../../platform/zip.ts'
import type { SoftwarePackage } from '../../driver.ts'
import { bytesBelow, copyTree, removeTree, writeWhole } from './files.ts'
import type { SiteFolder } from './site-folder.ts'
import { giveTree } from './site-users.ts'

const megabyte = 1_048_576
/** WordPress unpacks to 90 MB, the largest plugins of the directory to some 300. */
export const packageLimits = { archiveBytes: 128 * megabyte, bytes: 512 * megabyte, files: 40_000 }
/** What an update must leave free for the database and everything else on the host. */
const spareBytes = 512 * megabyte
const folderName = /^update-([0-9a-f-]{36})$/
/** Of the site's own: no package of WordPress replaces these. */
const ownOfSite = new Set(['wp-config.php', 'wp-content', '.htaccess'])
const headBytes = 8_192

/** One thing of the site that is exchanged, by its place below the site's WordPress folder. */
interface Plan {
  readonly places: readonly string[]
}

const exists = (file: string): Promise<boolean> =>
  fs.lstat(file).then(
    () => true,
    () => false,
  )
const unfit = (why: string): DriverFailure => new DriverFailure('rejected', `the package: ${why}`)

/** Where a package's files lie below WordPress's folder; the root folder of the zip is left out. */
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

/** The file that says which version it is, within the zip, and how it says so. */
const versionOf = ({ kind, slug, main }: SoftwarePackage): [string, RegExp] => {
  if (kind === 'core') return ['wordpress/wp-includes/version.php', /\$wp_version = '([^']+)'/]
  const header = /^(?:[ \t]*<\?php)?[ \t/*#@]*Version:(.*)$/im
  return [kind === 'plugin' ? main : `${slug}/style.css`, header]
}

/** A directory that names one version and hands out another is not believed. */
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

export class Updates {
  readonly #dir: string
  readonly #present: string
  readonly #database: string
  readonly #owner: () => Promise<number | null>

  /** @param owner whom the site's files belong to */
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
   * Unpacks the package beside the site. DriverFailure rejected: it is none, or another one; full:
   * the site's disk, or the host's, has no room for it.
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
    // As if what it replaces were still there: that is how much it is for a moment.
    if ((await bytesBelow(this.#present, this.#database)) + bytes > diskBytes)
      throw new DriverFailure('full', "the site's disk has no room for the package")
  }

  /** What is exchanged: a plugin or theme as one folder, WordPress's own folders and files each. */
  async #planOf({ kind, slug }: SoftwarePackage, coming: string): Promise<Plan> {
    if (kind !== 'core')
      return { places: [`wp-content/${kind === 'plugin' ? 'plugins' : 'themes'}/${slug}`] }
    return { places: await fs.readdir(coming) }
  }

  /** What was prepared is the site's from now on. */
  async exchange(updateId: string, wanted: SoftwarePackage): Promise<void> {
    const name = `${wanted.kind}-${wanted.slug}`
    const base = path.join(this.#of(updateId), name)
    const plan = await this.#planOf(wanted, `${base}.coming`)
    // Only what is prepared wholly is planned, and only what is planned is exchanged.
    await writeWhole(`${base}.plan`, JSON.stringify(plan))
    await this.#carryOut(base, plan)
  }

  async #carryOut(base: string, { places }: Plan): Promise<void> {
    const isCore = base.endsWith('/core-wordpress')
    const pause = path.join(this.#present, '.maintenance')
    // WordPress tells visitors to come back while its own files are exchanged, for some
    // milliseconds (wp_maintenance(); it ignores the file after ten minutes).
    if (isCore) {
      await fs.rm(pause, { recursive: true, force: true })
      await fs.writeFile(pause, `<?php $upgrading = ${Math.floor(Date.now() / 1000)};\n`)
    }
    for (const place of places) await this.#exchangeOne(base, place)
    if (isCore) await fs.rm(pause, { force: true })
    await writeWhole(`${base}.done`, '')
    await fs.rm(`${base}.plan`, { force: true })
    await removeTree(`${base}.coming`)
  }

  /** May be cut off at any point and called again. */
  async #exchangeOne(base: string, place: string): Promise<void> {
    const coming = path.join(`${base}.coming`, place)
    if (!(await exists(coming))) return
    const present = path.join(this.#present, place)
    const former = path.join(`${base}.former`, place)
    await this.#needFolders(path.dirname(place))
    const disks = await Promise.all(
      [path.dirname(coming), path.dirname(present)].map(async (one) => (await fs.stat(one)).dev),
    )
    if (disks[0] !== disks[1]) return await this.#exchangeAcross({ coming, present, former })
    if (await exists(former)) await removeTree(present)
    else if (await exists(present)) {
      await fs.mkdir(path.dirname(former), { recursive: true, mode: 0o700 })
      await fs.rename(present, former)
    }
    await fs.rename(coming, present)
  }

  /**
   * As above where the site's content has a disk of its own: copied into it first, and exchanged
   * there by two renames.
   */
  async #exchangeAcross(of: {
    readonly coming: string
    readonly present: string
    readonly former: string
  }): Promise<void> {
    const { coming, present, former } = of
    const [staged, leaving] = [`${present}.portal-coming`, `${present}.portal-leaving`]
    await removeTree(leaving)
    await removeTree(staged)
    await copyTree(coming, staged)
    if (!(await exists(former)) && (await exists(present))) {
      const copied = `${former}.copied`
      await removeTree(copied)
      await copyTree(present, copied)
      await fs.rename(copied, former)
    }
    if (await exists(present)) await fs.rename(present, leaving)
    await fs.rename(staged, present)
    await removeTree(leaving)
    await removeTree(coming)
  }

  /** Every folder on the way must be one: a link would lead out of the site. */
  async #needFolders(way: string): Promise<void> {
    let at = this.#present
    for (const part of way === '.' ? [''] : ['', ...way.split('/')]) {
      at = path.join(at, part)
      const stat = await fs.lstat(at).catch(() => null)
      if (!stat?.isDirectory())
        throw new DriverFailure('rejected', `${way} of the site is no folder`)
    }
  }

  /** After a kill: what was planned is carried out. */
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

  /** What the update replaced is not needed any more, or the site was put back as a whole. */
  async settle(updateId: string): Promise<void> {
    await removeTree(this.#of(updateId))
  }
}
