/** An engine of its own for tests, and whether this machine can run one. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { checkoutIsOpen } from './embedded-wordpress.ts'

const run = promisify(execFile)
const engineMs = 60_000
/** Longest time of one command of the engine or the system, ms. */
const stepMs = 120_000
const folderPrefix = 'portal-docker-'
const diskGb = 12

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
/** The disk's file of an engine in this folder, in memory. */
export const diskInMemory = (folder: string): string =>
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

/** Mounts a disk of its own at `folder`, on which the kernel enforces limits. */
export async function mountDisk(file: string, folder: string): Promise<() => Promise<void>> {
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

/** The last line that a command of the engine or the system has said. */
export const lastLine = (error: unknown): string => {
  const { stderr = '', message } = error as { stderr?: string; message: string }
  return (stderr.trim() || message.trim()).split('\n').at(-1) ?? ''
}

/** What the system says on a machine that permits no engine, no mounts or no containers. */
const ofMachine = new RegExp(
  'operation not permitted|permission denied|not supported|no such device|loop device' +
    '|unknown filesystem type|read-only file system|no space left|cgroup',
  'i',
)
/** The machine's fault in words; rejects with any other, for then what this file does is wrong. */
function faultOf(what: string, error: unknown): string {
  const { stderr = '', message } = error as { stderr?: string; message: string }
  if (!ofMachine.test(`${stderr}\n${message}`)) throw new Error(what, { cause: error })
  return `${what} (${lastLine(error)})`
}

/**
 * Why an engine cannot be used here; undefined where it can. It is tried out, because installed
 * programs say little: a machine that is a container may have no loop devices or overlay file
 * systems, or may not start containers. Rejects where the fault is not the machine's.
 */
export async function engineFault(): Promise<string | undefined> {
  let engine
  try {
    engine = await startEngine()
  } catch (error) {
    return faultOf('no engine starts', error)
  }
  try {
    const unmount = await mountDisk(
      path.join(engine.folder, 'trial.disk'),
      path.join(engine.folder, 'trial'),
    )
    await unmount()
  } catch (error) {
    await engine.stop()
    return faultOf('no disk of its own can be mounted', error)
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
    return faultOf('no container runs', error)
  } finally {
    await engine.stop()
  }
}

/**
 * `fault`: why this machine runs no engine, undefined where it does. `broken`: what failed although
 * the machine could run one.
 */
export type EngineTrial = { readonly fault: string | undefined } | { readonly broken: string }

/** Tries out whether an engine runs here, which takes some seconds. */
export async function engineTrial(): Promise<EngineTrial> {
  try {
    return { fault: withoutEngine() ?? (await engineFault()) }
  } catch (error) {
    const { message, cause } = error as Error
    return { broken: `${message}: ${cause instanceof Error ? cause.stack : String(cause)}` }
  }
}
