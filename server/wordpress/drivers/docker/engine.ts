/**
 * An engine of containers on this machine, as Docker's: PHP-FPM and MariaDB of each site, in
 * containers that have no network, few rights, and of the machine's files the site's alone. What
 * they say to each other and to the portal goes over sockets in the site's folder.
 */
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from '../../../platform/errors.ts'
import type { Engine, EngineSite, EngineWeb, PlanSize, Used } from '../machine/engine.ts'
import { removeTree } from '../machine/files.ts'
import { containerOf, databaseMbOf, toolOf, webOf, type ContainerSpec } from './containers.ts'
import {
  databaseUsed,
  dataIn,
  limitDatabase,
  mountDatabase,
  unmountDatabase,
  windowIn,
} from './database-disk.ts'
import { disksOf, type Disks } from './disks.ts'
import { EngineError, type EngineApi } from './engine-api.ts'
import { figuresIn } from './figures.ts'
import { groupFigures } from './group-figures.ts'
import { writePhpFiles } from './php-files.ts'
import { answersAt } from './socket-answers.ts'

export interface EngineParts {
  readonly api: EngineApi
  readonly sitesDir: string
  /** `runtimes/docker/tools`. */
  readonly toolsDir: string
  readonly images: { readonly wordpress: string; readonly mariadb: string }
  /** ms that PHP may take for one page. */
  readonly pageMs: number
  /** Processors that sites may compute on. */
  readonly cores: number
  readonly warn: (detail: object, message: string) => void
}

const megabyte = 1_048_576
/** A database that was not ended well repairs itself first. */
const openMs = 120_000
const stopSeconds = 30
const restartMs = 500
const longestRestartMs = 30_000
/** A copy of a large database. */
const toolMs = 30 * 60_000
const sampleMs = 2_000
/** Of a database that is loaded to be counted; what is restored gets its plan's at its start. */
const copyDiskBytes = 1_024 * megabyte

/** Of each line of a container's log: eight bytes, of which most are 0. */
// oxlint-disable-next-line no-control-regex
const lineHead = /[\0-\u0008\u000B-\u001F]+./g

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

/** The part of `inspect` that is needed. */
interface Inspected {
  readonly State: {
    readonly Running: boolean
    readonly Pid: number
    readonly ExitCode: number
    readonly OOMKilled: boolean
  }
}

const unavailable = (what: string, cause: unknown): DriverFailure =>
  new DriverFailure('unavailable', `${what}: ${(cause as Error).message}`, { cause })

/** Creating it asks the engine nothing. */
export function createEngine(parts: EngineParts): Engine {
  const { api } = parts
  const owner = createHash('sha256').update(parts.sitesDir).digest('hex').slice(0, 16)
  const databases = new Map<string, Database>()
  let disks: Promise<Disks> | undefined
  let count = 0
  const theDisks = (): Promise<Disks> => (disks ??= disksOf(parts.sitesDir))
  const capped = (size: PlanSize): PlanSize => ({ ...size, cpu: Math.min(size.cpu, parts.cores) })

  /** Creates and starts it; answers its id. */
  async function run(name: string, spec: ContainerSpec): Promise<string> {
    const full = `portal-${owner.slice(0, 8)}-${name}-${randomBytes(3).toString('hex')}`
    const made = (await api.call('POST', `/containers/create?name=${full}`, {
      body: spec,
    })) as { Id: string }
    try {
      await api.call('POST', `/containers/${made.Id}/start`)
      return made.Id
    } catch (error) {
      await remove(made.Id)
      throw error
    }
  }

  async function remove(id: string): Promise<void> {
    try {
      await api.call('DELETE', `/containers/${id}?force=true&v=true`)
    } catch (error) {
      // Gone, or on its way.
      if (!(error instanceof EngineError) || ![404, 409].includes(error.status)) throw error
    }
  }

  const inspect = async (id: string): Promise<Inspected> =>
    (await api.call('GET', `/containers/${id}/json`)) as Inspected

  /** Resolves when it has ended, in words; also when the engine itself is gone. */
  async function ended(id: string): Promise<string> {
    try {
      const { StatusCode } = (await api.call('POST', `/containers/${id}/wait`, {
        waits: true,
      })) as { StatusCode: number }
      const state = await inspect(id).catch(() => null)
      return state?.State.OOMKilled ? 'it took more memory than its plan has' : `code ${StatusCode}`
    } catch (error) {
      return `the engine: ${(error as Error).message}`
    }
  }

  async function lastWords(id: string): Promise<string> {
    const said = await api
      .text(`/containers/${id}/logs?stdout=1&stderr=1&tail=5`)
      .catch(() => 'no word from it')
    return said.replace(lineHead, '').trim().slice(-4_000)
  }

  async function secretsOf(site: EngineSite): Promise<string> {
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

  const runDirOf = (site: EngineSite): string => path.join(site.dir, 'database-run')
  const mountDirOf = (dir: string): string => path.join(dir, 'database-disk')

  async function begin(of: Database): Promise<void> {
    const { site } = of
    const secrets = await secretsOf(site)
    const runDir = runDirOf(site)
    await removeTree(runDir)
    for (const folder of [runDir, site.database]) {
      await fs.mkdir(folder, { recursive: true, mode: 0o700 })
      await fs.chown(folder, site.user, site.user)
    }
    const mountDir = mountDirOf(site.dir)
    await mountDatabase(site.database, mountDir, of.diskBytes, site.user)
    const id = await run(
      `${site.id}-database`,
      containerOf({
        owner,
        site,
        image: parts.images.mariadb,
        size: of.size,
        secrets,
        runDir,
        dataDir: dataIn(mountDir),
      }),
    )
    of.container = id
    const end = ended(id)
    const cut = new AbortController()
    void end.then((how) => {
      cut.abort(new Error(how))
    })
    try {
      await answersAt(runDir, 'mysqld.sock', openMs, cut.signal)
    } catch (error) {
      const words = await lastWords(id)
      of.container = null
      await remove(id)
      throw unavailable(`the database of ${site.id} does not start (${words})`, error)
    }
    void end.then(async (how) => {
      if (of.container !== id) return
      of.container = null
      const words = await lastWords(id)
      await remove(id).catch(() => {})
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

  async function openDatabase(site: EngineSite, given: PlanSize, diskBytes: number): Promise<void> {
    const size = capped(given)
    const there = databases.get(site.id)
    if (there && !there.isClosing) {
      await there.opened
      if (there.size.memoryMb !== size.memoryMb || there.size.cpu !== size.cpu) {
        there.size = size
        if (there.container)
          await update(there.container, { ...size, memoryMb: databaseMbOf(size.memoryMb) })
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
      await api.call('POST', `/containers/${container}/stop?t=${stopSeconds}`).catch(() => {})
      await remove(container)
    }
    await unmountDatabase(there.site.database, mountDirOf(there.site.dir))
    if (databases.get(id) === there) databases.delete(id)
  }

  async function update(id: string, { memoryMb, cpu }: PlanSize): Promise<void> {
    const bytes = memoryMb * megabyte
    await api.call('POST', `/containers/${id}/update`, {
      body: { Memory: bytes, MemorySwap: bytes, NanoCpus: Math.round(cpu * 1e9) },
    })
  }

  async function openWeb(
    site: EngineSite,
    name: string,
    internalDir: string,
    given: PlanSize,
  ): Promise<EngineWeb> {
    const size = capped(given)
    for (const one of ['talk', 'tmp', 'shared']) {
      const folder = path.join(internalDir, one)
      await fs.mkdir(folder, { recursive: true })
      await fs.chown(folder, site.user, site.user)
    }
    await writePhpFiles(internalDir, size.memoryMb, parts.pageMs)
    let id: string
    try {
      id = await run(
        `${site.id}-${name}.${++count}`,
        webOf({
          owner,
          site,
          image: parts.images.wordpress,
          size,
          secrets: await secretsOf(site),
          runDir: runDirOf(site),
          name,
          internalDir,
          windowDir: windowIn(mountDirOf(site.dir)),
          hasStage: (await fs.stat(path.join(site.database, stageName)).catch(() => null)) !== null,
        }),
      )
    } catch (error) {
      throw unavailable(`container ${name} of ${site.id}`, error)
    }
    const figures = groupFigures((await inspect(id)).State.Pid)
    const timer = setInterval(() => figures.look(), sampleMs)
    timer.unref()
    const end = ended(id)
    void end.then(() => clearInterval(timer))
    return {
      ended: end,
      resize: (next) => update(id, capped(next)),
      memoryMb: () => figures.memoryMb,
      cpuMs: () => figures.cpuMs,
      async remove() {
        clearInterval(timer)
        await remove(id)
      },
    }
  }

  async function endLeftovers(id: string, dir: string): Promise<number> {
    const filters = JSON.stringify({ label: [`portal.owner=${owner}`, `portal.site=${id}`] })
    const found = (await api.call(
      'GET',
      `/containers/json?all=true&filters=${encodeURIComponent(filters)}`,
    )) as { Id: string }[]
    for (const { Id } of found) await remove(Id)
    await unmountDatabase(dir, mountDirOf(dir))
    return found.length
  }

  /** Runs the tool (runtimes/docker/tools) beside a database that is open. */
  async function tool(site: EngineSite, act: 'dump' | 'load', copyDir: string) {
    const id = await run(
      `${site.id}-${act}`,
      toolOf({
        owner,
        site,
        image: parts.images.wordpress,
        secrets: await secretsOf(site),
        runDir: runDirOf(site),
        toolsDir: parts.toolsDir,
        copyDir,
        act,
      }),
    )
    const timer = setTimeout(() => void remove(id).catch(() => {}), toolMs)
    try {
      const how = await ended(id)
      const said = await fs.readFile(path.join(copyDir, 'figures.json'), 'utf8').catch(() => null)
      if (said === null) throw new DriverFailure('unavailable', `the copy was not finished: ${how}`)
      return figuresIn(said)
    } finally {
      clearTimeout(timer)
      await remove(id)
    }
  }

  /** A folder of the site's user for one copy. */
  async function inCopyDir<T>(site: EngineSite, act: (dir: string) => Promise<T>): Promise<T> {
    const dir = path.join(site.dir, `copy-${randomBytes(6).toString('hex')}`)
    await fs.mkdir(dir, { mode: 0o700 })
    await fs.chown(dir, site.user, site.user)
    try {
      return await act(dir)
    } finally {
      await removeTree(dir)
    }
  }

  async function withDatabase<T>(site: EngineSite, act: () => Promise<T>): Promise<T> {
    const there = databases.get(site.id)
    if (there && !there.isClosing) {
      await there.opened
      return await act()
    }
    await openDatabase(site, { memoryMb: 512, cpu: 1 }, copyDiskBytes)
    try {
      return await act()
    } finally {
      await closeDatabase(site.id)
    }
  }

  return {
    name: 'docker',
    program: 'native.js',
    database: 'mariadb',
    async health() {
      try {
        for (const image of Object.values(parts.images))
          await api.call('GET', `/images/${encodeURIComponent(image)}/json`)
        return undefined
      } catch (error) {
        return error instanceof EngineError && error.status === 404
          ? `an image is missing (${error.message}): run npm run docker:images`
          : `the container engine does not answer: ${(error as Error).message}`
      }
    },
    openDatabase,
    closeDatabase,
    openWeb,
    endLeftovers,
    dump: (site, file) =>
      withDatabase(site, () =>
        inCopyDir(site, async (dir) => {
          const tables = await tool(site, 'dump', dir)
          await fs.rename(path.join(dir, 'database.sql'), file)
          return tables
        }),
      ),
    load: (site, file) =>
      withDatabase(site, () =>
        inCopyDir(site, async (dir) => {
          await fs.rename(file, path.join(dir, 'database.sql'))
          return await tool(site, 'load', dir)
        }),
      ),
    async layOutContent(wordpress, database) {
      const { make } = await theDisks()
      await make(wordpress, false)
      await make(database, true)
    },
    async limitDisks(site, limits: Used) {
      const { limit } = await theDisks()
      await limit(site.wordpress, limits.files)
      await limitDatabase(mountDirOf(site.dir), limits.database)
    },
    async used(dir, wordpress, database) {
      const { used } = await theDisks()
      return {
        files: await used(wordpress),
        database: await databaseUsed(database, mountDirOf(dir)),
      }
    },
    async close() {
      for (const id of databases.keys()) await closeDatabase(id)
      api.close()
    },
  }
}
/** As the import of a site names it (machine/import/move-in.ts). */
const stageName = '.import.jsonl'
