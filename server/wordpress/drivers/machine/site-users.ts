/**
 * Gives each site a user, where root starts the portal: a number without a name, which owns the
 * site's files and runs its processes, so that no site can read or end another. The number is
 * stored as the group of the site's folder, and so survives the portal.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * First number of a range that no distribution uses (systemd's "Users, Groups, UIDs and GIDs":
 * unused).
 */
const wideFirst = 1_880_000_000
/**
 * First number inside a container engine's range of 65536, above people's and below systemd's own.
 */
const narrowFirst = 20_000
const numbers = 30_000
/** The site's user may pass through but not list; others have no access. */
const siteFolderMode = 0o710

/** Whether this process's user namespace maps the numbers. user_namespaces(7), uid_map. */
function isMapped(first: number): boolean {
  try {
    return readFileSync('/proc/self/uid_map', 'utf8')
      .trim()
      .split('\n')
      .some((line) => {
        const [inside, , length] = line.trim().split(/\s+/).map(Number)
        return first >= inside! && first + numbers < inside! + length!
      })
  } catch {
    return false
  }
}

/** The first number of the sites' users; null where the portal may not change owners. */
export function firstSiteUser(): number | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null
  return [wideFirst, narrowFirst].find(isMapped) ?? null
}

export class SiteUsers {
  readonly #dataDir: string
  readonly #sitesDir: string
  readonly #first: number
  #lookups: Promise<unknown> = Promise.resolve()

  constructor(dataDir: string, first: number) {
    this.#dataDir = dataDir
    this.#sitesDir = path.join(dataDir, 'sites')
    this.#first = first
  }

  /** A user that owns no site: copies that are unpacked to be counted and removed belong to it. */
  get ofCopies(): number {
    return this.#first + numbers
  }

  /** Lets sites' users through to their folders; they cannot list what lies beside them. */
  async open(): Promise<void> {
    await fs.mkdir(this.#sitesDir, { recursive: true })
    for (const dir of [this.#dataDir, this.#sitesDir]) {
      const { mode } = await fs.stat(dir)
      await fs.chmod(dir, (mode & 0o777) | 0o011)
    }
  }

  /** The user of the site in that folder, which must exist; a site without a user gets one. */
  of(siteDir: string): Promise<number> {
    const lookup = this.#lookups.then(() => this.#find(siteDir))
    this.#lookups = lookup.catch(() => {})
    return lookup
  }

  async #find(siteDir: string): Promise<number> {
    const isOurs = (number: number) => number >= this.#first && number < this.#first + numbers
    const { gid, mode } = await fs.stat(siteDir)
    if (isOurs(gid)) {
      if ((mode & 0o777) !== siteFolderMode) await fs.chmod(siteDir, siteFolderMode)
      return gid
    }
    // Folders under removal count, too: what is left of a site belongs to its user until it is
    // gone.
    const taken = new Set<number>()
    for (const name of await fs.readdir(this.#sitesDir)) {
      const stat = await fs.lstat(path.join(this.#sitesDir, name)).catch(() => null)
      if (stat && isOurs(stat.gid)) taken.add(stat.gid)
    }
    let user = this.#first
    while (taken.has(user)) user++
    if (!isOurs(user)) throw new Error('there is no user left for a site')
    await fs.chown(siteDir, 0, user)
    await fs.chmod(siteDir, siteFolderMode)
    return user
  }
}

/**
 * Makes `user` the owner of a tree, without following links. The top changes last, so a tree whose
 * top has the owner already is skipped.
 */
export async function giveTree(dir: string, user: number): Promise<void> {
  const stat = await fs.lstat(dir).catch(() => null)
  if (stat === null || stat.uid === user) return
  await run('chown', ['-R', '-P', '-h', `${user}:${user}`, '--', dir])
}
