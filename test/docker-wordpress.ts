/**
 * The driver `docker` for its own tests: an engine and folder of its own, the sites on a disk of
 * their own, whose limits the kernel enforces. Images are built once and kept in .cache.
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
import {
  checkoutIsOpen,
  filesDir,
  processesOf,
  putOpenFile,
  runtimeDir,
} from './embedded-wordpress.ts'

const run = promisify(execFile)
const repository = path.resolve(import.meta.dirname, '..')
const engineMs = 60_000
/** Longest time of one command of the engine or the system, ms. */
const stepMs = 120_000
/** Longest time of debootstrap, and of an image's packages, seconds. */
const fetchSeconds = 300
const folderPrefix = 'portal-docker-'
const diskGb = 12
const leastMemoryGb = 6
const siteUmask = 0o027

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
  /** Sends this signal to the engine, to end it or to pause and resume it (SIGSTOP, SIGCONT). */
  signal(name: NodeJS.Signals): Promise<void>
  /** Starts it again after it was ended; resolves when it answers. */
  startAgain(): Promise<void>
  stop(): Promise<void>
}

const isAlive = async (file: string): Promise<boolean> => {
  const pid = await fs.readFile(file, 'utf8').catch(() => '')
  return pid.trim() !== '' && existsSync(`/proc/${pid.trim()}`)
}

/** Unmounts everything in the folder, and removes it. */
async function removeFolder(folder: string): Promise<void> {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  for (const line of mounts.toReversed()) {
    const [, at = ''] = line.split(' ')
    if (at.startsWith(`${folder}/`)) await step('umount', [at]).catch(() => {})
  }
  await fs.rm(folder, { recursive: true, force: true, maxRetries: 3 })
  await fs.rm(diskInMemory(folder), { force: true })
}

/** Removes folders of killed runs: neither the run nor its engine is alive. */
async function sweepFolders(): Promise<void> {
  for (const name of await fs.readdir(os.tmpdir())) {
    const folder = path.join(os.tmpdir(), name)
    const [maker, engine] = [path.join(folder, makerName), path.join(folder, 'pid')]
    // A folder without the file of its maker is still being created.
    if (!name.startsWith(folderPrefix) || !existsSync(maker)) continue
    if (!(await isAlive(maker)) && !(await isAlive(engine)))
      await removeFolder(folder).catch((error: Error) => console.error(error.message))
  }
}
const makerName = 'maker'
const diskInMemory = (folder: string): string =>
  path.join('/dev/shm', `${path.basename(folder)}.disk`)

const step = (file: string, args: readonly string[]) =>
  run(file, args, { timeout: stepMs, killSignal: 'SIGKILL', maxBuffer: 16 * 2 ** 20 })

/** Starts an engine without a network of its own. */
export async function startEngine(): Promise<TestEngine> {
  await sweepFolders()
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), folderPrefix))
  await fs.writeFile(path.join(folder, makerName), String(process.pid))
  await fs.chmod(folder, 0o755)
  const socketPath = path.join(folder, 'docker.sock')
  // The engine uses neither this machine's settings nor its containerd, and so none of its
  // containers.
  const settings = path.join(folder, 'daemon.json')
  await fs.writeFile(settings, '{}')
  const namespace = path.basename(folder)
  const launch = () =>
    spawn(
      'setpriv',
      [
        // The engine ends with this test, however it ends.
        '--pdeathsig=TERM',
        'dockerd',
        `--config-file=${settings}`,
        `--containerd-namespace=${namespace}`,
        `--containerd-plugins-namespace=${namespace}-plugins`,
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
  let child: ReturnType<typeof launch>
  let isGone: boolean
  let ended: Promise<unknown>
  const docker = async (...args: string[]): Promise<string> =>
    (await step('docker', ['-H', `unix://${socketPath}`, ...args])).stdout
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    child.kill(name)
    if (name === 'SIGTERM' || name === 'SIGKILL') await ended
  }
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), engineMs)
    await ended
    clearTimeout(timer)
    await removeFolder(folder)
  }
  const startAgain = async (): Promise<void> => {
    const started = launch()
    isGone = false
    child = started
    ended = once(started, 'exit').then(() => (isGone = started === child || isGone))
    started.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)))
    const until = Date.now() + engineMs
    while (!(await docker('version').catch(() => null))) {
      if (isGone || Date.now() > until) {
        await stop()
        throw new Error(`the engine does not start: ${said}`)
      }
      await pause(50)
    }
  }
  await startAgain()
  return { folder, socketPath, docker, signal, startAgain, stop }
}

const lastLine = (error: unknown): string => {
  const { stderr = '', message } = error as { stderr?: string; message: string }
  return (stderr.trim() || message.trim()).split('\n').at(-1) ?? ''
}

/**
 * Why an engine cannot be used here; undefined where it can. It is tried out, because installed
 * programs say little: a machine that is a container may have no loop devices or overlay file
 * systems, or may not start containers.
 */
export async function engineFault(): Promise<string | undefined> {
  let engine
  try {
    engine = await startEngine()
  } catch (error) {
    return `no engine starts (${lastLine(error)})`
  }
  try {
    const unmount = await mountDisk(
      path.join(engine.folder, 'trial.disk'),
      path.join(engine.folder, 'trial'),
    )
    await unmount()
  } catch (error) {
    await engine.stop()
    return `no disk of its own can be mounted (${lastLine(error)})`
  }
  try {
    // A program of this machine, with its shared libraries.
    const tar = path.join(engine.folder, 'trial.tar')
    const { stdout } = await step('ldd', ['/bin/true'])
    const parts = ['/bin/true', ...(stdout.match(/\/\S+/g) ?? [])]
    await step('tar', ['-chf', tar, ...parts])
    await engine.docker('import', tar, 'trial')
    const limits = ['--network=none', '--read-only', '--memory=64m', '--pids-limit=16', '--cpus=1']
    await engine.docker('run', '--rm', ...limits, '--cap-drop=ALL', 'trial', '/bin/true')
    return undefined
  } catch (error) {
    return `no container runs (${lastLine(error)})`
  } finally {
    await engine.stop()
  }
}

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

/** Mounts a disk of its own at `folder`, on which the kernel enforces limits. */
async function mountDisk(file: string, folder: string): Promise<() => Promise<void>> {
  await step('truncate', ['-s', `${diskGb}G`, file])
  await step('mkfs.btrfs', ['-q', file])
  await fs.mkdir(folder, { recursive: true })
  await step('mount', ['-o', 'loop,noatime', file, folder])
  // The unlinked file disappears with the mount, however this test ends.
  await fs.rm(file)
  await step('btrfs', ['quota', 'enable', folder])
  return async () => {
    await step('umount', [folder])
  }
}

export async function dockerFixture(): Promise<
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
  const engine = await startEngine()
  const dataDir = path.join(engine.folder, 'portal')
  let unmount: () => Promise<void>
  try {
    await engine.docker('load', '-q', '-i', imagesFile)
    unmount = await mountDisk(await placeOfDisk(engine.folder), dataDir)
  } catch (error) {
    await engine.stop()
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
        await unmount()
      } finally {
        process.umask(umaskBefore)
        await engine.stop()
      }
      if (process.env['DOCKER_TEST_LOG']) console.log(JSON.stringify(warned, null, 1))
    },
  }
}
