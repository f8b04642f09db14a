/**
 * A kept page of a real site, compared with nginx, which serves the same bytes from disk, and with
 * the page as WordPress makes it. In turns, over kept connections, compressed as browsers request
 * it. The client uses a whole core, so requests per second of CPU time are compared as well. Needs
 * nginx.
 */
import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { cpuSecondsOf, freePort, median, orderSite, report, signIn, startPortal } from './portal.ts'

const rounds = 7
const connections = 16
const keptRequests = 12_000
const madeRequests = 60
const signedIn = 'wordpress_logged_in_0=nobody'

interface Work {
  readonly port: number
  readonly requests: number
  readonly connections: number
  /** The whole HTTP request. */
  readonly text: string
}
interface Done {
  readonly seconds: number
  readonly bytes: number
  readonly failed: number
}

/** Sends requests over kept connections; every answer must have a Content-Length or be chunked. */
async function load(work: Work): Promise<Done> {
  let left = work.requests
  let bytes = 0
  let failed = 0
  const began = performance.now()
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = net.connect(work.port, '127.0.0.1')
      socket.setNoDelay(true)
      let wanted = -1
      let held = Buffer.alloc(0)
      const next = (): void => {
        if (left-- <= 0) {
          socket.end()
          resolve()
        } else socket.write(work.text)
      }
      socket.once('connect', next)
      socket.once('error', reject)
      socket.on('data', (chunk) => {
        bytes += chunk.length
        if (wanted > 0) {
          wanted -= chunk.length
          if (wanted === 0) {
            wanted = -1
            next()
          }
          return
        }
        held = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
        const end = held.indexOf('\r\n\r\n')
        if (end < 0) return
        const head = held.toString('latin1', 0, end)
        if (!head.startsWith('HTTP/1.1 200')) failed++
        const length = /content-length: (\d+)/i.exec(head)?.[1]
        if (length === undefined) {
          if (!held.subarray(-5).equals(Buffer.from('0\r\n\r\n'))) return
          held = Buffer.alloc(0)
          next()
          return
        }
        wanted = end + 4 + Number(length) - held.length
        held = Buffer.alloc(0)
        if (wanted === 0) {
          wanted = -1
          next()
        }
      })
    })
  await Promise.all(Array.from({ length: work.connections }, one))
  return { seconds: (performance.now() - began) / 1000, bytes, failed }
}

const request = (host: string, more = ''): string =>
  `GET / HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: gzip, br\r\nAccept: text/html\r\n` +
  `User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n${more}\r\n`

async function startNginx(
  folder: string,
  page: { headers: http.IncomingHttpHeaders; body: Buffer },
): Promise<{ process: ChildProcess; port: number }> {
  const port = await freePort()
  const file = path.join(folder, 'nginx.conf')
  writeFileSync(path.join(folder, 'index.html'), page.body)
  writeFileSync(
    file,
    `daemon off; master_process off; worker_processes 1;
pid ${folder}/nginx.pid; error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
  open_file_cache max=100; open_file_cache_valid 60s;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  default_type "text/html; charset=UTF-8";
  server { listen 127.0.0.1:${port}; root ${folder};
    add_header Content-Encoding ${page.headers['content-encoding'] ?? 'identity'};
    add_header Vary Accept-Encoding;
    location / { try_files /index.html =404; }
  }
}
`,
  )
  const process_ = spawn('/usr/sbin/nginx', ['-c', file, '-p', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  for (;;) {
    if (process_.exitCode !== null) throw new Error('nginx does not start')
    const isOpen = await new Promise<boolean>((resolve) => {
      const probe = net
        .connect(port, '127.0.0.1', () => resolve(probe.destroy() && true))
        .once('error', () => resolve(false))
    })
    if (isOpen) return { process: process_, port }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const get = (port: number, host: string) =>
  new Promise<{ headers: http.IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    http
      .get(
        { host: '127.0.0.1', port, headers: { host, 'accept-encoding': 'gzip, br' } },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.once('end', () =>
            resolve({ headers: answer.headers, body: Buffer.concat(chunks) }),
          )
        },
      )
      .once('error', reject)
  })

const inClient = (work: Work): Promise<Done> =>
  new Promise((resolve, reject) => {
    const client = fork(import.meta.filename, ['client'])
    client.once('message', (done) => resolve(done as Done))
    client.once('exit', (code) => code && reject(new Error('the client failed')))
    client.send(work)
  })

interface Side {
  readonly name: string
  readonly pids: readonly number[]
  readonly work: Work
  readonly perSecond: number[]
  /** Requests per second of the server's CPU time. */
  readonly perCpuSecond: number[]
}
const sideOf = (name: string, pids: readonly number[], work: Work): Side => ({
  name,
  pids,
  work,
  perSecond: [],
  perCpuSecond: [],
})

async function measure({ pids, work, perSecond, perCpuSecond }: Side): Promise<void> {
  const cpu = (): number => pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0)
  const before = cpu()
  const done = await inClient(work)
  if (done.failed > 0) throw new Error(`${done.failed} requests failed`)
  perSecond.push(work.requests / done.seconds)
  perCpuSecond.push(work.requests / (cpu() - before))
}

async function compare(): Promise<void> {
  if (spawnSync('/usr/sbin/nginx', ['-v']).error) {
    console.log('      left out: there is no nginx here to compare with')
    return
  }
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-cache-'))
  const portal = await startPortal()
  let nginx: ChildProcess | undefined
  try {
    const { id, domain } = await orderSite(portal, await signIn(portal))
    for (let visit = 0; visit < 20; visit++) await get(portal.sitesPort, domain)
    const page = await get(portal.sitesPort, domain)
    if (page.headers['x-cache'] !== 'HIT') throw new Error('the page is not kept')
    console.log(
      `      the front page: ${page.body.length} bytes, ${page.headers['content-encoding']}`,
    )
    const started = await startNginx(folder, page)
    nginx = started.process
    const container = Number(
      spawnSync('pgrep', ['-f', '--', `--site ${id}`], { encoding: 'utf8' })
        .stdout.trim()
        .split('\n')[0],
    )
    const edge = portal.process.pid ?? 0
    const kept = { connections, requests: keptRequests }
    const cached = sideOf('kept', [edge], {
      ...kept,
      port: portal.sitesPort,
      text: request(domain),
    })
    const disk = sideOf('nginx', [nginx.pid ?? 0], {
      ...kept,
      port: started.port,
      text: request('x'),
    })
    const made = sideOf('made by WordPress', [edge, container], {
      connections: 2,
      requests: madeRequests,
      port: portal.sitesPort,
      text: request(domain, `Cookie: ${signedIn}\r\n`),
    })
    for (const side of [cached, disk, made]) await measure(side)
    for (const side of [cached, disk, made]) {
      side.perSecond.length = 0
      side.perCpuSecond.length = 0
    }
    for (let round = 0; round < rounds; round++) {
      for (const side of round % 2 === 0 ? [cached, disk] : [disk, cached]) await measure(side)
      if (round % 3 === 0) await measure(made)
    }
    for (const side of [cached, disk, made])
      console.log(
        `      ${side.name}: ${median(side.perSecond).toFixed(0)} a second, ` +
          `${median(side.perCpuSecond).toFixed(0)} a second of CPU`,
      )
    const ratio = (read: (side: Side) => readonly number[], other: Side): number =>
      median(read(cached)) / median(read(other))
    report(
      'kept / nginx from disk, a second',
      ratio((one) => one.perSecond, disk),
      0.5,
      'x',
      true,
    )
    const ofCpu = ratio((one) => one.perCpuSecond, disk)
    console.log(`      kept / nginx from disk, a second of CPU: ${ofCpu.toFixed(2)} (decision 122)`)
    report(
      'kept / made, a second',
      ratio((one) => one.perSecond, made),
      200,
      'x',
      true,
    )
    report(
      'kept / made, a second of CPU',
      ratio((one) => one.perCpuSecond, made),
      200,
      'x',
      true,
    )
  } finally {
    nginx?.kill()
    await portal.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[2] === 'client')
  process.once('message', (work) => {
    void load(work as Work).then((done) => process.send?.(done, () => process.exit(0)))
  })
else await compare()
