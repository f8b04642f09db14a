/**
 * The driver `docker` for its own tests: the sites on a disk of their own, whose limits the kernel
 * enforces. Images are built once and kept in .cache.
 */
import { existsSync } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { randomUUID } from 'node:crypto'
import { buildImages, dockerToolsDir, imageNames, imagesKey } from '../scripts/docker-images.mjs'
import { zipOf } from '../sandbox/wordpress/zip.ts'
import { ensureWordpress } from '../scripts/wordpress-files.mjs'
import type { SiteRuntime } from '../server/wordpress/driver.ts'
import type { Fixture } from '../server/wordpress/drivers/conformance.ts'
import { createDocker } from '../server/wordpress/drivers/docker/index.ts'
import { diskInMemory, lastLine, mountDisk, startEngine, type TestEngine } from './docker-engine.ts'
import { filesDir, processesOf, putOpenFile, runtimeDir } from './embedded-wordpress.ts'

const repository = path.resolve(import.meta.dirname, '..')
/** Longest time of debootstrap, and of an image's packages, seconds. */
const fetchSeconds = 300
const leastMemoryGb = 6
const siteUmask = 0o027

/** The file in which built images are cached. */
export const imagesFile = path.join(repository, '.cache', `docker-images-${imagesKey()}.tar`)

/**
 * Builds the images if the cache lacks them. Returns why they cannot be built, if packages cannot
 * be downloaded in time; rejects where the images themselves are faulty.
 */
export async function ensureImages(): Promise<string | undefined> {
  if (existsSync(imagesFile)) return undefined
  const engine = await startEngine()
  try {
    await makeImages(engine)
    return undefined
  } catch (error) {
    const said = String((error as Error).message)
    if (!unreachable.test(said)) throw error
    return `Debian's packages cannot be fetched (${lastLine(error)})`
  } finally {
    await engine.stop()
  }
}
const unreachable = new RegExp(
  'could not resolve|failed to fetch|unable to (?:fetch|connect|resolve)|couldn.t download' +
    '|failed getting|temporary failure|took longer than',
  'i',
)

async function makeImages({ docker, socketPath }: TestEngine): Promise<void> {
  await buildImages({ socketPath, say: () => {}, limit: fetchSeconds })
  await fs.mkdir(path.dirname(imagesFile), { recursive: true })
  const scratch = `${imagesFile}.${process.pid}`
  await docker('save', '-o', scratch, ...Object.values(imageNames))
  await fs.rename(scratch, imagesFile)
}

/** Memory if there is enough, because databases wait until each write is on the disk. */
async function placeOfDisk(folder: string): Promise<string> {
  const { bavail, bsize } = await fs.statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize > leastMemoryGb * 2 ** 30 ? diskInMemory(folder) : path.join(folder, 'disk')
}

/** An engine with the images of sites. */
export async function startLoadedEngine(): Promise<TestEngine> {
  const engine = await startEngine()
  try {
    await engine.docker('load', '-q', '-i', imagesFile)
    return engine
  } catch (error) {
    await engine.stop()
    throw error
  }
}

/** `shared`: an engine with the images that goes on afterwards; one of its own otherwise. */
export async function dockerFixture(shared?: TestEngine): Promise<
  Fixture & {
    driver: SiteRuntime
    dataDir: string
    engine: TestEngine
    images: typeof imageNames
    /** Opens the same sites again, after the portal was closed and `between` was run. */
    reopen(between: () => Promise<void>): Promise<SiteRuntime>
    /** Warnings that the driver has logged. */
    warned: readonly object[]
  }
> {
  await ensureWordpress()
  const engine = shared ?? (await startLoadedEngine())
  const stop = async (): Promise<void> => {
    if (!shared) await engine.stop()
  }
  const dataDir = path.join(engine.folder, 'portal')
  let unmount: () => Promise<void>
  try {
    unmount = await mountDisk(await placeOfDisk(engine.folder), dataDir)
  } catch (error) {
    await stop()
    throw error
  }
  await fs.chmod(dataDir, 0o755)
  // The same umask as in the process that runs the sites (server/main.ts).
  const umaskBefore = process.umask(siteUmask)
  const warned: object[] = []
  const open = (): SiteRuntime =>
    createDocker({
      dataDir,
      runtimeDir,
      filesDir,
      nodePath: process.execPath,
      socketPath: engine.socketPath,
      toolsDir: dockerToolsDir,
      images: imageNames,
      imageLookMs: 500,
      settings: {
        internet: false,
        maxContainers: 50,
        pageSeconds: 60,
        maxCpu: null,
        maxRamMb: null,
      },
      log: { warn: (detail, message) => warned.push({ detail, message }) },
    })
  let driver = open()
  const containersOf = async (id: string, name?: string): Promise<string[]> => {
    const filters = [`portal.site=${id}`, ...(name ? [`portal.role=${name}`] : [])]
    const labels = filters.map((one) => `--filter=label=${one}`)
    const said = await engine.docker('ps', '-aq', ...labels)
    return said.split('\n').filter((line) => line !== '')
  }
  return {
    dataDir,
    engine,
    images: imageNames,
    warned,
    driver,
    wordpress: { mb: 50, files: 1_000 },
    close: () => driver.close(),
    async reopen(between) {
      await driver.close()
      await between()
      driver = open()
      return driver
    },
    async put(id, file, text) {
      putOpenFile(path.join(dataDir, 'sites', id, 'wordpress', 'files', file), text)
    },
    async zip(files) {
      const file = path.join(dataDir, `package-${randomUUID()}.zip`)
      await fs.writeFile(
        file,
        zipOf(Object.entries(files).map(([name, content]) => ({ name, content }))),
      )
      return file
    },
    async kill(id, container) {
      for (const one of await containersOf(id, container)) await engine.docker('kill', one)
    },
    async traces(id) {
      const names = await fs.readdir(path.join(dataDir, 'sites')).catch(() => [])
      return [
        ...names.filter((name) => name.includes(id)),
        ...(await containersOf(id)).map((one) => `process of the container ${one}`),
        ...processesOf(id).map((pid) => `process ${pid}`),
      ]
    },
    async dispose() {
      try {
        await driver.close()
        const left = shared ? (await engine.docker('ps', '-aq')).split('\n').filter(Boolean) : []
        if (left.length > 0) await engine.docker('rm', '-f', ...left)
        await unmount()
      } finally {
        process.umask(umaskBefore)
        await stop()
      }
      if (process.env['DOCKER_TEST_LOG']) console.log(JSON.stringify(warned, null, 1))
    },
  }
}
