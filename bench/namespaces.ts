/**
 * Machines of their own on one network: network namespaces on a bridge. All of it lies in
 * namespaces of this process (network, processes, mounts), so nothing is left of it, however it
 * ends, and nothing of it reaches the network of the machine.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const mark = 'PORTAL_BENCH_NAMESPACES'

/** Why there can be none here; undefined where there can. */
function hindrance(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root has namespaces'
  const folders = (process.env['PATH'] ?? '').split(':').concat('/usr/sbin', '/sbin')
  const missing = ['unshare', 'nsenter', 'ip'].filter(
    (name) => !folders.some((folder) => existsSync(path.join(folder, name))),
  )
  return missing.length > 0 ? `there is no ${missing.join(', no ')}` : undefined
}

/** Starts the bench again in namespaces of its own, and ends with what it ends with. */
export function enterNamespaces(): void {
  if (process.env[mark] !== undefined) return
  const why = hindrance()
  if (why !== undefined) {
    console.log(`none here: ${why}`)
    process.exit(0)
  }
  const [, program = ''] = process.argv
  const own = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc']
  const { status } = spawnSync(
    'unshare',
    [...own, process.execPath, ...process.execArgv, program],
    { stdio: 'inherit', env: { ...process.env, [mark]: 'yes' } },
  )
  process.exit(status ?? 1)
}

export interface Ran {
  readonly code: number | null
  readonly said: string
}

/** A machine: its address, its folder, and what runs on it. */
export class Machine {
  readonly address: string
  readonly folder: string
  readonly #holder: ChildProcess
  readonly #env: Readonly<Record<string, string>>
  #isOff = false

  constructor(name: string, number: number, scratch: string) {
    this.address = `10.99.0.${number}`
    this.folder = path.join(scratch, name)
    mkdirSync(this.folder, { mode: 0o755 })
    this.#env = {
      PATH: `${path.join(root, 'node_modules', '.bin')}:${process.env['PATH'] ?? ''}`,
      HOME: process.env['HOME'] ?? '/',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      ENV_FILE: path.join(this.folder, 'portal.env'),
      DATA_DIR: path.join(this.folder, 'data'),
    }
    this.settings({})
    this.#holder = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' })
    const pid = this.#holder.pid ?? 0
    const own = readlinkSync('/proc/self/ns/net')
    // It enters its namespace before it becomes sleep(1).
    for (let looks = 0; readlinkSync(`/proc/${pid}/ns/net`) === own; looks++) {
      if (looks > 1_000) throw new Error(`${name} got no network of its own`)
      execFileSync('true')
    }
    const line = `machine${number}`
    ip('link', 'add', line, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid))
    ip('link', 'set', line, 'master', bridge, 'up')
    for (const act of [
      'link set lo up',
      `addr add ${this.address}/24 dev eth0`,
      'link set eth0 up',
    ])
      execFileSync('nsenter', [...this.#enter(), 'ip', ...act.split(' ')])
  }

  #enter(): string[] {
    return [`--net=/proc/${this.#holder.pid}/ns/net`]
  }

  /** What stands in its `.env`. */
  settings(variables: Readonly<Record<string, string>>): void {
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(this.#env['ENV_FILE'] ?? '', lines.join(''), { mode: 0o600 })
  }

  /** Starts a command line on it, which goes on; `input` is what is typed. */
  start(line: string, input = ''): ChildProcess {
    const child = spawn('nsenter', [...this.#enter(), 'sh', '-c', line], {
      cwd: root,
      env: this.#env,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin?.end(input)
    return child
  }

  /** Runs a command line on it until it ends. */
  run(line: string): Promise<Ran> {
    const child = this.start(line)
    const said = saidBy(child)
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, said: said() })))
  }

  /** The power fails: every process of it ends at once. */
  powerOff(): void {
    if (this.#isOff) return
    this.#isOff = true
    const own = readlinkSync(`/proc/${this.#holder.pid}/ns/net`)
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      try {
        if (readlinkSync(`/proc/${pid}/ns/net`) === own) process.kill(Number(pid), 'SIGKILL')
      } catch {
        // It ended while we looked.
      }
  }
}

const bridge = 'machines'
function ip(...args: string[]): void {
  execFileSync('ip', args)
}

/** What a process has said so far. */
export function saidBy(child: ChildProcess): () => string {
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-50_000)))
  return () => said
}

/** Machines 10.99.0.1 and on; this process is 10.99.0.254 to them. */
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
