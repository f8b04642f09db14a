/**
 * A portal for a benchmark: the server's bundle as a child process, on free ports and a scratch
 * folder; and a customer in it.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { serverProgram } from '../scripts/bootstrap.mjs'

const ticksPerSecond = 100
const root = path.resolve(import.meta.dirname, '..')

/** The addresses at which a portal answers. */
export interface Addresses {
  readonly url: string
  readonly sandboxUrl: string
  readonly sitesPort: number
  /** UDP and TCP. */
  readonly dnsPort: number
}

export interface BenchPortal extends Addresses {
  readonly process: ChildProcess
  /** Milliseconds from the start of the process to its "Ready" line. */
  readonly readyMs: number
  stop(): Promise<void>
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as net.AddressInfo
      probe.close(() => resolve(port))
    })
  })

/** `command`: what to start; by default the server itself with the Node that runs this. */
export async function startPortal(
  options: { dataDir?: string; command?: readonly [string, ...string[]] } = {},
): Promise<BenchPortal> {
  const [port, sandboxPort, sitesPort, dnsPort] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ])
  const dataDir = options.dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'portal-bench-'))
  const [program, ...args] = options.command ?? [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    serverProgram('main'),
  ]
  const began = performance.now()
  const child = spawn(program, args, {
    cwd: root,
    env: {
      ...process.env,
      PORT: String(port),
      SANDBOX_PORT: String(sandboxPort),
      SITES_PORT: String(sitesPort),
      DNS_PORT: String(dnsPort),
      DATA_DIR: dataDir,
      WORDPRESS_MAX_CPU: '16',
      WORDPRESS_MAX_RAM_MB: '32000',
      LOG_LEVEL: 'warn',
      NODE_ENV: 'development',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const readyMs = await new Promise<number>((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('Ready in')) resolve(performance.now() - began)
    })
    child.once('exit', (code) => reject(new Error(`the portal ended with ${code}\n${said}`)))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    sandboxUrl: `http://127.0.0.1:${sandboxPort}`,
    sitesPort,
    dnsPort,
    process: child,
    readyMs,
    async stop() {
      // Waits for the pipe and not for the exit, because npm exits before the processes that it
      // started. The pipe closes when the last process has ended.
      const gone = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGTERM')
      await gone
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export async function call<T>(
  portal: Addresses,
  method: string,
  address: string,
  token?: string,
  body?: unknown,
): Promise<T> {
  const answer = await fetch(`${portal.url}${address}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const envelope = (await answer.json()) as { result: T; message: string }
  if (!answer.ok) throw new Error(`${method} ${address}: ${answer.status} ${envelope.message}`)
  return envelope.result
}

/** The demo customer's access token. */
export async function signIn(portal: Addresses): Promise<string> {
  const { token } = await call<{ token: { accessToken: string } }>(
    portal,
    'POST',
    '/api/v1/auth/login',
    undefined,
    {
      email: 'demo@letspanel.example',
      password: 'Portal-demo-2026',
    },
  )
  return token.accessToken
}

/** Orders a server of the smallest plan in a data centre; returns its id. */
export async function placeOrder(portal: Addresses, token: string, region = 1): Promise<string> {
  const { id } = await call<{ id: string }>(portal, 'POST', '/api/wp', token, {
    size: 1,
    region,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'boss',
    password: 'Another#1pass',
    replicate: 1,
  })
  return id
}

/**
 * Resolves when the server runs, polling every `everyMs`. Throws with the server's reason when it
 * has failed.
 */
export async function untilRunning(
  portal: Addresses,
  token: string,
  id: string,
  everyMs: number,
): Promise<{ domain: string }> {
  for (;;) {
    const { status, domain, reason } = await call<{
      status: string
      domain: string
      reason: string | null
    }>(portal, 'GET', `/api/wp/${id}`, token)
    if (status === 'failed') throw new Error(reason ?? 'failed')
    if (status === 'running') return { domain }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

/** Orders a server of the smallest plan; resolves when it runs. */
export async function orderSite(
  portal: Addresses,
  token: string,
  region = 1,
): Promise<{ id: string; domain: string }> {
  const id = await placeOrder(portal, token, region)
  return { id, ...(await untilRunning(portal, token, id, 200)) }
}

/** CPU time that a process has used, seconds. Linux only. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/**
 * Proportional set size of a process and its descendants, MB. Shared memory is counted once. Linux
 * only.
 */
export function memoryOf(pid: number): number {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // The process ended meanwhile.
    }
  }
  const below = (candidate: number): boolean =>
    candidate === pid ||
    (parents.has(candidate) && candidate > 1 && below(parents.get(candidate) ?? 0))
  let kb = 0
  for (const candidate of parents.keys()) {
    if (!below(candidate)) continue
    try {
      kb += Number(
        /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${candidate}/smaps_rollup`, 'utf8'))?.[1] ?? 0,
      )
    } catch {
      // The process ended, or belongs to another user.
    }
  }
  return kb / 1024
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Prints one line of the report. `value` may be at most `limit` (with `atLeast`: at least). */
export function report(
  name: string,
  value: number,
  limit: number,
  unit: string,
  atLeast = false,
): boolean {
  const holds = atLeast ? value >= limit : value <= limit
  console.log(
    `${holds ? 'ok  ' : 'OVER'}  ${name.padEnd(64)} ${value.toFixed(2).padStart(9)} ` +
      `${unit.padEnd(6)} (limit ${atLeast ? '≥' : '≤'} ${limit})`,
  )
  return holds
}
