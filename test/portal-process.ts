/**
 * The real portal as a process group of its own, to be killed: its own ports, folder and embedded
 * PostgreSQL, and the sandbox for third parties.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { programOfRelease } from '../server/programs.ts'
import { eventually, freePort } from './portal.ts'

const root = path.resolve(import.meta.dirname, '..')

export interface Found {
  readonly pid: number
  readonly command: string
}

export class PortalProcess {
  readonly dataDir: string
  /** Ids of the sites that tests asked for; their containers have them in the command line. */
  readonly sites = new Set<string>()
  readonly url: string
  readonly sandboxUrl: string
  readonly sitesPort: number
  readonly dnsPort: number
  readonly #env: Record<string, string>
  #child: ChildProcess | undefined
  #output = ''
  /** Set when the portal ended unexpectedly. */
  fell: string | undefined
  #wanted = false
  /** The folder of the release that the next start and commands run. */
  release = root

  private constructor(dataDir: string, ports: readonly [number, number, number, number]) {
    const [port, sandboxPort, sitesPort, dnsPort] = ports
    this.dataDir = dataDir
    this.url = `http://127.0.0.1:${port}`
    this.sandboxUrl = `http://127.0.0.1:${sandboxPort}`
    this.sitesPort = sitesPort
    this.dnsPort = dnsPort
    this.#env = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '/',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      PORT: String(port),
      SANDBOX_PORT: String(sandboxPort),
      SITES_PORT: String(sitesPort),
      DNS_PORT: String(dnsPort),
      SFTP_PORT: 'off',
      DATA_DIR: dataDir,
      WORDPRESS_MAX_CPU: '16',
      WORDPRESS_MAX_RAM_MB: '32000',
      SANDBOX: 'on',
      DEMO: 'off',
      LOG_LEVEL: 'warn',
      ENV_FILE: path.join(dataDir, 'settings.env'),
    }
    this.write('')
  }

  static async create(): Promise<PortalProcess> {
    const dataDir = mkdtempSync(path.join(os.tmpdir(), 'portal-kill-'))
    // As root the database runs as another user, who must be able to enter the folder.
    chmodSync(dataDir, 0o755)
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()] as const
    return new PortalProcess(dataDir, ports)
  }

  /** Another portal on the same folder, with ports of its own. */
  async beside(): Promise<PortalProcess> {
    return new PortalProcess(this.dataDir, [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ])
  }

  /** Writes its `.env`. */
  write(settings: string): void {
    writeFileSync(path.join(this.dataDir, 'settings.env'), settings, { mode: 0o600 })
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Resolves when it is ready. Rejects with its output when it ends before. */
  async start(settings: Record<string, string> = {}): Promise<void> {
    this.#output = ''
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        // The same flags as for the tests themselves (vitest.config.ts).
        '--liftoff-only',
        '--wasm-lazy-validation',
        programOfRelease(this.release, 'main'),
      ],
      {
        cwd: this.release,
        env: { ...this.#env, ...settings },
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    this.#child = child
    this.#wanted = true
    child.once('exit', (code, signal) => {
      if (this.#wanted)
        this.fell =
          `the portal ended by itself or by a stranger's hand (${signal ?? code}): ` +
          `${this.#output}`
    })
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-20_000)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    await eventually(
      'the start of the portal',
      async () => {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`the portal ended: ${this.#output}`)
        // A machine without the portal has no page to request.
        if (settings['ROLES'] !== undefined && !/api|worker/.test(settings['ROLES']))
          return this.#output.includes('Ready.')
        return (await fetch(`${this.url}/readyz`).catch(() => undefined))?.status === 200
      },
      60,
    )
  }

  /**
   * kill -9 of the whole process group. `database`: also every other process of this portal at the
   * same moment. `guard`: also the guard that would have ended the database, which is left behind
   * as an orphan.
   */
  async kill(also: 'nothing else' | 'database' | 'guard'): Promise<void> {
    const child = this.#child
    if (!child) return
    this.#wanted = false
    const gone = new Promise((resolve) => child.once('close', resolve))
    const others =
      also === 'nothing else'
        ? []
        : this.processes().filter(
            ({ command }) => also === 'database' || command.includes('pg-guard'),
          )
    process.kill(-this.pid, 'SIGKILL')
    for (const { pid } of others) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended with its parent.
      }
    }
    await gone
    this.#child = undefined
  }

  /** Runs an operator's command for it; returns exit code and output. */
  async command(
    name: string,
    env: Record<string, string> = {},
    options: readonly string[] = [],
  ): Promise<{ code: number | null; said: string }> {
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        programOfRelease(this.release, 'command'),
        name,
        ...options,
      ],
      {
        cwd: this.release,
        env: { ...this.#env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    return await new Promise((resolve) => child.once('close', (code) => resolve({ code, said })))
  }

  /** Sends SIGTERM; returns the exit code. */
  async terminate(): Promise<number | null> {
    const child = this.#child
    if (!child) return null
    this.#wanted = false
    const ended = new Promise<number | null>((resolve) =>
      child.once('exit', (code) => resolve(code)),
    )
    child.kill('SIGTERM')
    const code = await ended
    this.#child = undefined
    return code
  }

  /**
   * Every process that has this portal's folder or sites in its command line, works in the folder,
   * or belongs to the portal's group.
   */
  processes(): Found[] {
    const found: Found[] = []
    for (const name of readdirSync('/proc')) {
      const pid = Number(name)
      if (!Number.isInteger(pid) || pid === process.pid) continue
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
        if (command === '') continue
        const group = Number(
          readFileSync(`/proc/${pid}/stat`, 'utf8')
            .replace(/^.*\) /, '')
            .split(' ')[2],
        )
        const ours =
          command.includes(this.dataDir) ||
          readlinkSync(`/proc/${pid}/cwd`).startsWith(this.dataDir) ||
          group === this.pid ||
          [...this.sites].some((id) => command.includes(id))
        if (ours) found.push({ pid, command })
      } catch {
        // The process ended meanwhile.
      }
    }
    return found
  }

  /** The URL of the portal's own database, for checking the ledger. */
  async database(): Promise<string> {
    const folder = path.join(this.dataDir, 'postgres')
    const password = readFileSync(path.join(folder, 'password'), 'utf8').trim()
    return (
      `postgresql://portal:${password}@localhost/portal?host=` +
      `${encodeURIComponent(path.join(folder, 'run'))}&port=5432`
    )
  }

  async rows<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    const client = new pg.Client({ connectionString: await this.database() })
    await client.connect()
    try {
      return (await client.query<T>(text, values)).rows
    } finally {
      await client.end()
    }
  }

  get output(): string {
    return this.#output
  }

  discard(): void {
    for (const { pid } of this.processes()) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // The process has ended.
      }
    }
    rmSync(this.dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}
