// MariaDB of each site that runs: opened, watched, started again when it ends, and closed.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from '../../../platform/errors.ts'
import type { EngineSite, PlanSize } from '../machine/engine.ts'
import { containerOf, databaseMbOf } from './containers.ts'
import { dataIn, mountDatabase, mountDirOf, unmountDatabase } from './database-disk.ts'
import type { EngineContainers } from './engine-containers.ts'
import { answersAt } from './socket-answers.ts'

const socketName = 'mysqld.sock'
/** A database that was not ended well repairs itself first. */
const openMs = 120_000
const stopSeconds = 30
const restartMs = 500
const longestRestartMs = 30_000

interface Database {
  readonly site: EngineSite
  size: PlanSize
  container: string | null
  opened: Promise<void>
  isClosing: boolean
  failures: number
  /** Of its disk. */
  readonly diskBytes: number
}

/** Where the database's socket is. */
export const runDirOf = (site: EngineSite): string => path.join(site.dir, 'database-run')

/** The folder with the site's own account of its database, made where there is none. */
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
  /** Resolves when it answers; one that is open gets the new size. */
  open(site: EngineSite, size: PlanSize, diskBytes: number): Promise<void>
  /** Resolves when it answers; false where it is not open. */
  answers(id: string): Promise<boolean>
  close(id: string): Promise<void>
  closeAll(): Promise<void>
}

/** Creating it starts nothing. */
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
    for (const folder of [runDir, site.database]) {
      await fs.mkdir(folder, { recursive: true, mode: 0o700 })
      await fs.chown(folder, site.user, site.user)
    }
    // Containers of PHP see this folder: it stays, and what an end has left in it goes.
    await fs.rm(path.join(runDir, socketName), { force: true })
    const mountDir = mountDirOf(site.dir)
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

  async function openDatabase(site: EngineSite, size: PlanSize, diskBytes: number): Promise<void> {
    const there = databases.get(site.id)
    if (there && !there.isClosing) {
      await there.opened
      if (there.size.memoryMb !== size.memoryMb || there.size.cpu !== size.cpu) {
        there.size = size
        if (there.container)
          await containers.resize(there.container, {
            ...size,
            memoryMb: databaseMbOf(size.memoryMb),
          })
      }
      return
    }
    const made: Database = {
      site,
      size,
      container: null,
      opened: Promise.resolve(),
      isClosing: false,
      failures: 0,
      diskBytes,
    }
    databases.set(site.id, made)
    made.opened = begin(made)
    try {
      await made.opened
    } catch (error) {
      if (databases.get(site.id) === made) databases.delete(site.id)
      throw error instanceof DriverFailure ? error : unavailable('the engine', error)
    }
  }

  async function closeDatabase(id: string): Promise<void> {
    const there = databases.get(id)
    if (!there) return
    there.isClosing = true
    await there.opened.catch(() => {})
    const { container } = there
    there.container = null
    if (container !== null) {
      await parts.stop(container, stopSeconds).catch(() => {})
      await containers.remove(container)
    }
    await unmountDatabase(there.site.database, mountDirOf(there.site.dir))
    if (databases.get(id) === there) databases.delete(id)
  }

  return {
    open: openDatabase,
    async answers(id) {
      const there = databases.get(id)
      if (!there || there.isClosing) return false
      await there.opened
      return true
    },
    close: closeDatabase,
    async closeAll() {
      for (const id of databases.keys()) await closeDatabase(id)
    },
  }
}
