/**
 * Runs sites by an engine of containers on this machine, such as Docker: PHP-FPM and MariaDB of
 * each site, in containers without a network, with few rights, and with only the site's files. They
 * talk to each other and to the portal over sockets in the site's folder.
 */
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { DriverFailure } from '../../../platform/errors.ts'
import type { Engine, EngineSite, EngineWeb, PlanSize, Used } from '../machine/engine.ts'
import { removeTree } from '../machine/files.ts'
import { placesIn } from '../machine/places.ts'
import { toolOf, webOf, type HeldSize } from './containers.ts'
import {
  databaseUsed,
  limitDatabase,
  mountDirOf,
  unmountDatabase,
  windowIn,
} from './database-disk.ts'
import { createDatabases, runDirOf, secretsOf, theSite, unavailable } from './databases.ts'
import { disksOf, type Disks } from './disks.ts'
import { EngineError, type EngineApi } from './engine-api.ts'
import { engineContainers } from './engine-containers.ts'
import { figuresIn } from './figures.ts'
import { groupFigures } from './group-figures.ts'
import { writePhpFiles } from './php-files.ts'
import { createWebImage } from './web-image.ts'

export interface EngineParts {
  readonly api: EngineApi
  readonly sitesDir: string
  /** `runtimes/docker/tools`. */
  readonly toolsDir: string
  readonly images: { readonly wordpress: string; readonly mariadb: string }
  /** Longest time of PHP for one page, ms. */
  readonly pageMs: number
  /** Number of processors that sites may use. */
  readonly cores: number
  readonly warn: (detail: object, message: string) => void
  /** Interval between two looks for a newer image, ms; 30 s when not given. */
  readonly imageLookMs?: number | undefined
}

const megabyte = 1_048_576
/** Longest time of copying a large database. */
const toolMs = 30 * 60_000
const sampleMs = 2_000
/**
 * Upper bound for the size of a loaded dump: indexes and half-filled pages are several times its
 * rows. The space is not allocated in advance, and limitDisks holds a site to its plan.
 */
const loadedBytes = (dumpBytes: number): number => 1_024 * megabyte + 8 * dumpBytes

/** Asks the engine nothing by itself. */
export function createEngine(parts: EngineParts): Engine {
  const { api } = parts
  const owner = createHash('sha256').update(parts.sitesDir).digest('hex').slice(0, 16)
  const containers = engineContainers(api, owner)
  const databases = createDatabases({
    containers,
    owner,
    image: parts.images.mariadb,
    stop: async (container, seconds) =>
      void (await api.call('POST', `/containers/${container}/stop?t=${seconds}`)),
    warn: parts.warn,
  })
  const webImage = createWebImage(
    api,
    { name: parts.images.wordpress, file: `${parts.sitesDir}-image` },
    parts.imageLookMs,
  )
  let disks: Promise<Disks> | undefined
  let count = 0
  const theDisks = (): Promise<Disks> => (disks ??= disksOf(parts.sitesDir, parts.warn))
  /** The engine refuses more processors than the machine has. */
  const capped = ({ memoryMb, cpu }: PlanSize): HeldSize => ({
    memoryMb,
    cpu: Math.min(cpu, parts.cores),
    weight: cpu,
  })

  async function openWeb(
    site: EngineSite,
    name: string,
    internalDir: string,
    given: PlanSize,
    isRenewal: boolean,
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
      id = await containers.run(
        `${site.id}-${name}.${++count}`,
        webOf({
          owner,
          site,
          image: await webImage.wanted(isRenewal),
          size,
          secrets: await secretsOf(site),
          runDir: runDirOf(site),
          name,
          internalDir,
          windowDir: windowIn(mountDirOf(site.dir)),
          // lstat, because the engine would follow a link.
          hasStage: await fs.lstat(path.join(site.database, stageName)).then(
            (stat) => stat.isFile(),
            () => false,
          ),
        }),
      )
    } catch (error) {
      throw unavailable(`container ${name} of ${site.id}`, error)
    }
    const { State, Image: image } = await containers.inspect(id).catch(async (error: unknown) => {
      // Removed now, because nothing else would know of it.
      await containers.remove(id).catch(() => {})
      throw unavailable(`container ${name} of ${site.id}`, error)
    })
    const startedAt = Date.now()
    const figures = groupFigures(State.Pid)
    const timer = setInterval(() => figures.look(), sampleMs)
    timer.unref()
    const end = containers.ended(id)
    void end.then(() => clearInterval(timer))
    return {
      ended: end,
      resize: (next) => containers.resize(id, capped(next)),
      memoryMb: () => figures.memoryMb,
      cpuMs: () => figures.cpuMs,
      newerImage: () => webImage.newerThan(image, startedAt),
      answered: () => webImage.answered(image),
      async remove() {
        clearInterval(timer)
        await containers.remove(id)
      },
    }
  }

  async function endLeftovers(id: string, dir: string): Promise<number> {
    await databases.end(id)
    const ended = await containers.removeOf(id)
    const { databaseDir } = placesIn(path.join(dir, 'wordpress'), parts)
    await unmountDatabase(databaseDir, mountDirOf(dir))
    return ended
  }

  /** Runs the tool (runtimes/docker/tools) beside an open database. */
  async function tool(site: EngineSite, act: 'dump' | 'load', copyDir: string) {
    const id = await containers.run(
      `${site.id}-${act}`,
      toolOf({
        owner,
        site,
        image: await webImage.wanted(false),
        secrets: await secretsOf(site),
        runDir: runDirOf(site),
        toolsDir: parts.toolsDir,
        copyDir,
        act,
      }),
    )
    const timer = setTimeout(() => void containers.remove(id).catch(() => {}), toolMs)
    try {
      const how = await containers.ended(id)
      const said = await fs.readFile(path.join(copyDir, 'figures.json'), 'utf8').catch(() => null)
      if (said === null) throw new DriverFailure('unavailable', `the copy was not finished: ${how}`)
      return figuresIn(said)
    } finally {
      clearTimeout(timer)
      await containers.remove(id)
    }
  }

  /** Gives `act` a folder of the site's user for one copy. */
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

  /**
   * Keeps the database open for a copy: a site that starts or stops meanwhile does not end the
   * copy, nor the copy the site.
   */
  async function withDatabase<T>(
    site: EngineSite,
    diskBytes: number,
    act: () => Promise<T>,
  ): Promise<T> {
    const holder = Symbol('copy')
    await databases.open(site, capped({ memoryMb: 512, cpu: 1 }), diskBytes, holder)
    try {
      return await act()
    } finally {
      await databases.close(site.id, holder)
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
    openDatabase: (site, size, diskBytes) => databases.open(site, capped(size), diskBytes, theSite),
    closeDatabase: (id) => databases.close(id, theSite),
    openWeb,
    refuseImage: webImage.refuse,
    endLeftovers,
    // 0 bytes: the disk exists, and keeps its size.
    dump: (site, file) =>
      withDatabase(site, 0, () =>
        inCopyDir(site, async (dir) => {
          const tables = await tool(site, 'dump', dir)
          await fs.rename(path.join(dir, 'database.sql'), file)
          return tables
        }),
      ),
    load: async (site, file, loaded) =>
      withDatabase(site, loadedBytes((await fs.stat(file)).size), () =>
        inCopyDir(site, async (dir) => {
          await fs.rename(file, path.join(dir, 'database.sql'))
          const told = path.join(dir, 'loaded.json')
          if (loaded !== null) await fs.rename(loaded, told).catch(() => {})
          const tables = await tool(site, 'load', dir)
          if (loaded !== null) await fs.rename(told, loaded)
          return tables
        }),
      ),
    async layOutContent(wordpress, database) {
      const { make } = await theDisks()
      // Root owns this folder, for the database; the site's user may pass through it to its files.
      const content = path.dirname(wordpress)
      await fs.mkdir(content, { recursive: true })
      await fs.chmod(content, 0o711)
      await make(wordpress, false)
      await make(database, true)
    },
    async limitDisks(site, limits: Used) {
      const { limit } = await theDisks()
      await limit(site.wordpress, limits.files)
      await limitDatabase(site.database, mountDirOf(site.dir), limits.database, (why) =>
        parts.warn({ site: site.id, why }, 'a larger disk of a database comes at its next start'),
      )
    },
    async used(dir, wordpress, database) {
      const { used } = await theDisks()
      return {
        files: await used(wordpress),
        database: await databaseUsed(database, mountDirOf(dir)),
      }
    },
    async close() {
      webImage.close()
      await databases.closeAll()
      api.close()
    },
  }
}
/** The name of the staged dump (stageName in machine/import/move-in.ts). */
const stageName = '.import.jsonl'
