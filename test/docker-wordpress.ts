/**
 * The driver `docker` for its own tests: an engine of its own in a folder of its own, the sites on
 * a disk of their own, whose limits the kernel holds. Images are made once and kept in .cache.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { buildImages, dockerToolsDir, imageNames, imagesKey } from '../scripts/docker-images.mjs'
import { zipOf } from '../sandbox/wordpress/zip.ts'
import { ensureWordpress } from '../scripts/wordpress-files.mjs'
import type { SiteRuntime } from '../server/wordpress/driver.ts'
import type { Fixture } from '../server/wordpress/drivers/conformance.ts'
import { createDocker } from '../server/wordpress/drivers/docker/index.ts'
import { checkoutIsOpen, filesDir, processesOf, runtimeDir } from './embedded-wordpress.ts'

const run = promisify(execFile)
const repository = path.resolve(import.meta.dirname, '..')
const engineMs = 60_000
const diskGb = 12
const leastMemoryGb = 6

const has = (program: string): boolean =>
  (process.env['PATH'] ?? '')
    .split(':')
    .concat('/usr/sbin', '/sbin')
    .some((folder) => existsSync(path.join(folder, program)))

/** Why no engine can be started here; undefined where one can. */
export function withoutEngine(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root starts an engine'
  const missing = ['dockerd', 'docker', 'debootstrap', 'mkfs.btrfs'].filter((name) => !has(name))
  if (missing.length > 0) return `there is no ${missing.join(', no ')}`
  if (!checkoutIsOpen()) return 'users of sites cannot enter this checkout'
  if (!readFileSync('/proc/filesystems', 'utf8').includes('\tbtrfs')) return 'there is no btrfs'
  return undefined
}

export interface TestEngine {
  readonly folder: string
  readonly socketPath: string
  docker(...args: string[]): Promise<string>
  stop(): Promise<void>
}

/** An engine without a network of its own. */
export async function startEngine(): Promise<TestEngine> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-docker-'))
  await fs.chmod(folder, 0o755)
  const socketPath = path.join(folder, 'docker.sock')
  const child = spawn(
    'setpriv',
    [
      // However this test ends, the engine ends with it.
      '--pdeathsig=TERM',
      'dockerd',
      `--data-root=${path.join(folder, 'data')}`,
      `--exec-root=${path.join(folder, 'exec')}`,
      `--pidfile=${path.join(folder, 'pid')}`,
      `--host=unix://${socketPath}`,
      '--storage-driver=overlay2',
      '--bridge=none',
      '--iptables=false',
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
    },
  )
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)))
  let isGone = false
  const ended = once(child, 'exit').then(() => (isGone = true))
  const docker = async (...args: string[]): Promise<string> =>
    (await run('docker', ['-H', `unix://${socketPath}`, ...args], { maxBuffer: 16 * 2 ** 20 }))
      .stdout
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
    // What it mounted goes with it; the folder is this test's own.
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
    for (const line of mounts.toReversed()) {
      const [, at = ''] = line.split(' ')
      if (at.startsWith(`${folder}/`)) await run('umount', [at]).catch(() => {})
    }
    await fs.rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  const until = Date.now() + engineMs
  while (!(await docker('version').catch(() => null))) {
    if (isGone || Date.now() > until) {
      await stop()
      throw new Error(`the engine does not start: ${said}`)
    }
    await pause(50)
  }
  return { folder, socketPath, docker, stop }
}

const cache = path.join(repository, '.cache', `docker-images-${imagesKey()}.tar`)

/**
 * Makes the images where the cache does not have them. Why they cannot be made, where nothing can
 * be fetched; rejects where they are at fault themselves.
 */
export async function ensureImages(): Promise<string | undefined> {
  if (existsSync(cache)) return undefined
  const engine = await startEngine()
  try {
    await makeImages(engine)
    return undefined
  } catch (error) {
    const said = String((error as Error).message)
    if (!unreachable.test(said)) throw error
    return `Debian's packages cannot be fetched (${said.trim().split('\n').at(-1) ?? ''})`
  } finally {
    await engine.stop()
  }
}
const unreachable =
  /could not resolve|failed to fetch|unable to (?:fetch|connect)|couldn't download/i

async function makeImages({ docker, socketPath }: TestEngine): Promise<void> {
  await buildImages({ socketPath, say: () => {} })
  await fs.mkdir(path.dirname(cache), { recursive: true })
  const scratch = `${cache}.${process.pid}`
  await docker('save', '-o', scratch, ...Object.values(imageNames))
  await fs.rename(scratch, cache)
}

/** Memory where there is enough of it: databases wait for each write to be on the disk. */
async function placeOfDisk(folder: string): Promise<string> {
  const { bavail, bsize } = await fs.statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize > leastMemoryGb * 2 ** 30
    ? path.join('/dev/shm', `${path.basename(folder)}.disk`)
    : path.join(folder, 'disk')
}

/** A disk of its own at `folder`, on which the kernel holds limits. */
async function mountDisk(file: string, folder: string): Promise<() => Promise<void>> {
  await run('truncate', ['-s', `${diskGb}G`, file])
  await run('mkfs.btrfs', ['-q', file])
  await fs.mkdir(folder, { recursive: true })
  await run('mount', ['-o', 'loop,noatime', file, folder])
  // It goes with the mount, however this test ends.
  await fs.rm(file)
  await run('btrfs', ['quota', 'enable', folder])
  return async () => {
    await run('umount', [folder])
  }
}

export async function dockerFixture(): Promise<
  Fixture & { driver: SiteRuntime; dataDir: string; engine: TestEngine }
> {
  await ensureWordpress()
  const engine = await startEngine()
  await engine.docker('load', '-q', '-i', cache)
  const dataDir = path.join(engine.folder, 'portal')
  const unmount = await mountDisk(await placeOfDisk(engine.folder), dataDir)
  await fs.chmod(dataDir, 0o755)
  const driver = createDocker({
    dataDir,
    runtimeDir,
    filesDir,
    nodePath: process.execPath,
    socketPath: engine.socketPath,
    toolsDir: dockerToolsDir,
    images: imageNames,
    settings: { internet: false, maxContainers: 50, pageSeconds: 60, maxCpu: null, maxRamMb: null },
    log: { warn: (detail, message) => warned.push({ detail, message }) },
  })
  const warned: object[] = []
  const containersOf = async (id: string, name?: string): Promise<string[]> => {
    const filters = [`portal.site=${id}`, ...(name ? [`portal.role=${name}`] : [])]
    const labels = filters.map((one) => `--filter=label=${one}`)
    const said = await engine.docker('ps', '-aq', ...labels)
    return said.split('\n').filter((line) => line !== '')
  }
  return {
    dataDir,
    engine,
    driver,
    wordpress: { mb: 50, files: 1_000 },
    close: () => driver.close(),
    async put(id, file, text) {
      const target = path.join(dataDir, 'sites', id, 'wordpress', file)
      await fs.mkdir(path.dirname(target), { recursive: true })
      await fs.writeFile(target, text)
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
      await driver.close()
      await unmount()
      await engine.stop()
      if (process.env['DOCKER_TEST_LOG']) console.log(JSON.stringify(warned, null, 1))
    },
  }
}
