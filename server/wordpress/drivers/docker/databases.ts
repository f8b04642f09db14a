// MariaDB of each running site: opened, watched, restarted when it ends, and closed.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { DriverFailure } from '../../../platform/errors.ts'
import type { EngineSite } from '../machine/engine.ts'
import { giveTree } from '../machine/site-users.ts'
import { containerOf, databaseMbOf, type HeldSize } from './containers.ts'
import { dataIn, mountDatabase, mountDirOf, unmountDatabase } from './database-disk.ts'
import type { EngineContainers } from './engine-containers.ts'
import { answersAt } from './socket-answers.ts'

const socketName = 'mysqld.sock'
/** A database that was not shut down cleanly repairs itself first. */
const openMs = 120_000
const stopSeconds = 30
const restartMs = 500
const longestRestartMs = 30_000
/** The holder that stands for the site itself. */
export const theSite = 'site'

interface Database {
  readonly site: EngineSite
  size: HeldSize
  container: string | null
  opened: Promise<void>
  /** Who needs the database open: the site, and each copy of it. */
  readonly holders: Set<unknown>
  isClosing: boolean
  /** Null while it is open. */
  closed: Promise<void> | null
  failures: number
  /** Size of its disk. */
  readonly diskBytes: number
}

/** The folder of the database's socket. */
export const runDirOf = (site: EngineSite): string => path.join(site.dir, 'database-run')

/** The folder with the password of the site's database; created where it is missing. */
export async function secretsOf(site: EngineSite): Promise<string> {
  const folder = path.join(site.dir, 'secrets')
  const file = path.join(folder, 'database-password')
  if (!(await fs.stat(file).catch(() => null))) {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 })
    await fs.writeFile(file, randomBytes(24).toString('base64url'), { mode: 0o400 })
    await fs.chown(file, site.user, site.user)
    await fs.chown(folder, site.user, site.user)
  }
  return folder
}

export const unavailable = (what: string, cause: unknown): DriverFailure =>
  new DriverFailure('unavailable', `${what}: ${(cause as Error).message}`, { cause })

export interface Databases {
  /**
   * Opens the database; resolves when it answers. An open one gets the new size, unless `holder` is
   * a copy.
   * @param holder who needs it: it stays open until each holder has closed it
   */
  open(site: EngineSite, size: HeldSize, diskBytes: number, holder: unknown): Promise<void>
  /** Does nothing where `holder` has not opened the database. */
  close(id: string, holder: unknown): Promise<void>
  /** Closes the database, whoever holds it. */
  end(id: string): Promise<void>
  closeAll(): Promise<void>
}

/** Starts nothing by itself. */
export function createDatabases(parts: {
  readonly containers: EngineContainers
  readonly owner: string
  readonly image: string
  readonly stop: (container: string, seconds: number) => Promise<void>
  readonly warn: (detail: object, message: string) => void
}): Databases {
  const { containers, owner } = parts
  const databases = new Map<string, Database>()

  async function begin(of: Database): Promise<void> {
    const { site } = of
    const secrets = await secretsOf(site)
    const runDir = runDirOf(site)
    await fs.mkdir(runDir, { recursive: true, mode: 0o700 })
    await fs.chown(runDir, site.user, site.user)
    // Done once, and before the disk is mounted, which stays root's.
    await giveTree(site.wordpress, site.user)
    // PHP's containers have mounted this folder, so it stays; an old socket in it is removed.
    await fs.rm(path.join(runDir, socketName), { force: true })
    const mountDir = mountDirOf(site.dir)
    await containers.removeLeft()
    await mountDatabase(site.database, mountDir, of.diskBytes, site.user)
    const id = await containers.run(
      `${site.id}-database`,
      containerOf({
        owner,
        site,
        image: parts.image,
        size: of.size,
        secrets,
        runDir,
        dataDir: dataIn(mountDir),
      }),
    )
    of.container = id
    const end = containers.ended(id)
    const cut = new AbortController()
    void end.then((how) => {
      cut.abort(new Error(how))
    })
    try {
      await answersAt(runDir, socketName, openMs, cut.signal)
    } catch (error) {
      const words = await containers.lastWords(id)
      of.container = null
      await containers.remove(id)
      throw unavailable(`the database of ${site.id} does not start (${words})`, error)
    }
    void end.then(async (how) => {
      if (of.container !== id) return
      of.container = null
      const words = await containers.lastWords(id)
      await containers.remove(id).catch(() => {})
      if (of.isClosing) return
      parts.warn({ site: site.id, how, words }, 'a database ended and is started again')
      restart(of)
    })
  }

  function restart(of: Database): void {
    const pause = Math.min(longestRestartMs, restartMs * 2 ** of.failures++)
    of.opened = new Promise<void>((resolve) => setTimeout(resolve, pause)).then(() =>
      of.isClosing ? undefined : begin(of),
    )
    of.opened.then(
      () => (of.failures = 0),
      (error: unknown) => {
        if (of.isClosing) return
        parts.warn({ site: of.site.id, error }, 'a database did not start')
        restart(of)
      },
    )
  }

  async function resizeTo(there: Database, size: HeldSize): Promise<void> {
    if (isDeepStrictEqual(there.size, size)) return
    there.size = size
    if (there.container === null) return
    const memoryMb = databaseMbOf(size.memoryMb)
    await containers.resize(there.container, { ...size, memoryMb })
  }

  async function openDatabase(
    site: EngineSite,
    size: HeldSize,
    diskBytes: number,
    holder: unknown,
  ): Promise<void> {
    for (let there = databases.get(site.id); there; there = databases.get(site.id)) {
      if (!there.isClosing) {
        const isNew = !there.holders.has(holder)
        there.holders.add(holder)
        try {
          await there.opened
          if (holder === theSite) await resizeTo(there, size)
        } catch (error) {
          if (isNew) there.holders.delete(holder)
          throw error
        }
        return
      }
      await there.closed?.catch(() => {})
    }
    const made: Database = {
      site,
      size,
      container: null,
      opened: Promise.resolve(),
      holders: new Set([holder]),
      isClosing: false,
      closed: null,
      failures: 0,
      diskBytes,
    }
    databases.set(site.id, made)
    made.opened = begin(made)
    try {
      await made.opened
    } catch (error) {
      made.isClosing = true
      await (made.closed ??= leave(made)).catch((left: unknown) =>
        parts.warn({ site: site.id, error: left }, 'the disk of a database stays mounted'),
      )
      throw error instanceof DriverFailure ? error : unavailable('the engine', error)
    }
  }

  /**
   * Unmounts the disk even if a step fails: a disk that stays mounted would take later data into a
   * file that is gone.
   */
  async function leave(there: Database): Promise<void> {
    const { site, container } = there
    there.container = null
    try {
      if (container !== null) {
        await parts.stop(container, stopSeconds).catch(() => {})
        await containers.remove(container)
      }
    } finally {
      await unmountDatabase(site.database, mountDirOf(site.dir)).finally(() => {
        if (databases.get(site.id) === there) databases.delete(site.id)
      })
    }
  }

  async function closeFor(there: Database): Promise<void> {
    there.isClosing = true
    there.closed ??= there.opened.catch(() => {}).then(() => leave(there))
    await there.closed
  }

  return {
    open: openDatabase,
    async close(id, holder) {
      const there = databases.get(id)
      if (!there) return
      there.holders.delete(holder)
      if (there.isClosing) await there.closed
      else if (there.holders.size === 0) await closeFor(there)
    },
    async end(id) {
      const there = databases.get(id)
      if (there) await closeFor(there)
    },
    async closeAll() {
      for (const there of databases.values()) await closeFor(there)
    },
  }
}
