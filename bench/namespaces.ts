/**
 * Machines on one network, each with its own network, processes and mounts (namespaces), on a
 * bridge. All of it is in namespaces of this process, so nothing remains, however it ends, and
 * nothing reaches the machine's own network. Files that a mount covers, processes in containers,
 * and loop devices end with it as well.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import {
  existsSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
/** Tells the process in the namespaces the folder of this run. */
const mark = 'PORTAL_BENCH_NAMESPACES'
const folderPrefix = 'portal-machines-'
const makerName = 'maker'
const groups = '/sys/fs/cgroup'
/**
 * Options of unshare(1): what each namespace has of its own. Its mounts end with its last process.
 */
const ownParts = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc']

/** Why namespaces cannot be used here; undefined where they can. */
function hindrance(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root has namespaces'
  const folders = (process.env['PATH'] ?? '').split(':').concat('/usr/sbin', '/sbin')
  const missing = ['unshare', 'nsenter', 'setpriv', 'ip'].filter(
    (name) => !folders.some((folder) => existsSync(path.join(folder, name))),
  )
  return missing.length > 0 ? `there is no ${missing.join(', no ')}` : undefined
}

/** The processes that a process has started, with their ids as seen from here. */
function childrenOf(pid: number): number[] {
  try {
    const said = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return said.split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/**
 * Removes what containers of killed machines leave in the cgroup tree: folders without a process.
 */
function removeGroups(name: string): void {
  const remove = (folder: string): void => {
    for (const one of readdirSync(folder, { withFileTypes: true }))
      if (one.isDirectory()) remove(path.join(folder, one.name))
    rmdirSync(folder)
  }
  // One common tree, or one per controller.
  const trees = readdirSync(groups, { withFileTypes: true }).filter((one) => one.isDirectory())
  for (const tree of [groups, ...trees.map((one) => path.join(groups, one.name))])
    for (const one of readdirSync(tree))
      if (one.startsWith(`${name}-`)) remove(path.join(tree, one))
}

function removeRun(folder: string): void {
  for (const act of [
    () => removeGroups(path.basename(folder)),
    () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  ])
    try {
      act()
    } catch (error) {
      console.error(`something of ${folder} stays: ${(error as Error).message}`)
    }
}

/** Removes what killed runs have left behind. */
function sweep(): void {
  for (const name of readdirSync(os.tmpdir())) {
    const folder = path.join(os.tmpdir(), name)
    const maker = path.join(folder, makerName)
    if (!name.startsWith(folderPrefix) || !existsSync(maker)) continue
    if (!existsSync(`/proc/${readFileSync(maker, 'utf8')}`)) removeRun(folder)
  }
}

/**
 * Starts the benchmark again in namespaces of its own, and exits with its exit code. There it
 * resolves with a folder that is removed at the end, also after Ctrl-C.
 * @param prepare the steps that need the network; returns why they failed
 */
export async function enterNamespaces(
  prepare: () => Promise<string | undefined> = async () => undefined,
): Promise<string> {
  const there = process.env[mark]
  if (there !== undefined) return there
  const why = hindrance() ?? (await prepare())
  if (why !== undefined) {
    console.log(`none here: ${why}`)
    process.exit(0)
  }
  sweep()
  const folder = mkdtempSync(path.join(os.tmpdir(), folderPrefix))
  writeFileSync(path.join(folder, makerName), String(process.pid))
  // The database runs as another user, who must be able to enter.
  chmodSync(folder, 0o755)
  const [, program = ''] = process.argv
  // However this process ends, the processes that it has started end with it.
  const bench = [process.execPath, ...process.execArgv, program]
  const child = spawn('setpriv', ['--pdeathsig=KILL', 'unshare', ...ownParts, ...bench], {
    stdio: 'inherit',
    env: { ...process.env, [mark]: folder },
  })
  // This is the first process of the namespace: the kernel ends the others when it ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      for (const pid of childrenOf(child.pid ?? 0)) process.kill(pid, 'SIGKILL')
    })
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  removeRun(folder)
  process.exit(code ?? 1)
}

export interface Ran {
  readonly code: number | null
  readonly said: string
}

/** A machine: its address, its folder, and its processes. */
export class Machine {
  readonly name: string
  readonly address: string
  readonly folder: string
  readonly dataDir: string
  /** In the cgroup tree: everything below it is removed at the end. */
  readonly group: string
  readonly #first: number
  readonly #env: Readonly<Record<string, string>>
  #isOff = false

  constructor(name: string, number: number, scratch: string) {
    this.name = name
    this.address = `10.99.0.${number}`
    this.folder = path.join(scratch, name)
    this.dataDir = path.join(this.folder, 'data')
    this.group = `/${path.basename(scratch)}-${name}`
    mkdirSync(this.folder, { mode: 0o755 })
    this.#env = {
      PATH: [
        path.join(root, 'node_modules', '.bin'),
        process.env['PATH'],
        '/usr/sbin',
        '/sbin',
      ].join(':'),
      HOME: process.env['HOME'] ?? '/',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      ENV_FILE: path.join(this.folder, 'portal.env'),
      DATA_DIR: this.dataDir,
    }
    this.settings({})
    // The shell reaps orphans, as the first process of a machine does.
    const holder = spawn('unshare', [...ownParts, 'sh', '-c', 'sleep infinity & wait'], {
      stdio: 'ignore',
    })
    this.#first = whenThere(`${name} does not start`, () => {
      const [pid] = childrenOf(holder.pid ?? 0)
      return pid !== undefined && isIn(pid, 'sh') ? pid : undefined
    })
    const line = `machine${number}`
    ip('link', 'add', line, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(this.#first))
    ip('link', 'set', line, 'master', bridge, 'up')
    for (const act of [
      'link set lo up',
      `addr add ${this.address}/24 dev eth0`,
      'link set eth0 up',
    ])
      execFileSync('nsenter', [...this.#enter(), 'ip', ...act.split(' ')])
    // The surrounding machine's programs listen in /run, so it is covered.
    execFileSync('nsenter', [...this.#enter(), 'mount', '-t', 'tmpfs', 'none', '/run'])
  }

  #enter(): string[] {
    return [`--target=${this.#first}`, '--net', '--pid', '--mount']
  }

  /** Writes its `.env`. */
  settings(variables: Readonly<Record<string, string>>): void {
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(this.#env['ENV_FILE'] ?? '', lines.join(''), { mode: 0o600 })
  }

  /** Starts a command line on it and returns at once; `input` is typed. */
  start(line: string, input?: string): ChildProcess {
    const there = `cd '${root}' && ${line}`
    const child = spawn('nsenter', [...this.#enter(), 'sh', '-c', there], {
      env: this.#env,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    // A program that does not read its input reports itself why it ended.
    child.stdin?.once('error', () => undefined).end(input)
    return child
  }

  /** Ends a started process, and waits for that. */
  async end(child: ChildProcess): Promise<void> {
    const ended = new Promise((resolve) => child.once('close', resolve))
    // nsenter(1) forwards no signals.
    for (const pid of childrenOf(child.pid ?? 0)) process.kill(pid, 'SIGTERM')
    await ended
  }

  /** Runs a command line on it to its end. */
  run(line: string): Promise<Ran> {
    const child = this.start(line)
    const said = saidBy(child)
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, said: said() })))
  }

  /** Runs a command line; rejects with its output if it fails. */
  async must(line: string): Promise<string> {
    const { code, said } = await this.run(line)
    if (code !== 0) throw new Error(`${this.name}: ${line}: ${said}`)
    return said
  }

  /**
   * A power failure: every process of the machine ends at once, including those of its containers.
   */
  powerOff(): void {
    if (this.#isOff) return
    this.#isOff = true
    process.kill(this.#first, 'SIGKILL')
  }
}

/** Whether the process is already this program, in namespaces of its own. */
function isIn(pid: number, program: string): boolean {
  try {
    const own = readlinkSync('/proc/self/ns/net')
    const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
    return name === program && readlinkSync(`/proc/${pid}/ns/net`) !== own
  } catch {
    return false
  }
}

function whenThere<T>(otherwise: string, look: () => T | undefined): T {
  for (let looks = 0; looks < 1_000; looks++) {
    const seen = look()
    if (seen !== undefined) return seen
    execFileSync('true')
  }
  throw new Error(otherwise)
}

const bridge = 'machines'
function ip(...args: string[]): void {
  execFileSync('ip', args)
}

/** The output of a process so far. */
export function saidBy(child: ChildProcess): () => string {
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-50_000)))
  return () => said
}

/** Machines have the addresses from 10.99.0.1; this process is 10.99.0.254 to them. */
export function openMachinesOnBridge<Name extends string>(
  names: readonly Name[],
  scratch: string,
): Record<Name, Machine> {
  ip('link', 'set', 'lo', 'up')
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('addr', 'add', '10.99.0.254/24', 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  const machines = names.map(
    (name, index) => [name, new Machine(name, index + 1, scratch)] as const,
  )
  return Object.fromEntries(machines) as Record<Name, Machine>
}
