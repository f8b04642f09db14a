/**
 * The edge against nginx in front of the same upstream, in turns: requests per second, the 99th
 * percentile, and the proxy's CPU time. Two upstreams: a site's static file, served by the
 * WordPress runtime, and a bare server that answers at once, which shows the proxy alone. Needs
 * nginx and ab (apache2-utils).
 */
import { execFile, fork, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { createEdge } from '../server/edge/index.ts'
import { cpuSecondsOf, freePort, median, orderSite, report, signIn, startPortal } from './portal.ts'

const rounds = 5
const requests = 6000
const clients = 16

async function child(...args: string[]): Promise<{ process: ChildProcess; port: number }> {
  const process_ = fork(import.meta.filename, args, {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const port = await new Promise<number>((resolve) =>
    process_.once('message', (said) => resolve(Number(said))),
  )
  return { process: process_, port }
}

/**
 * nginx with the usual settings of a site's proxy: kept connections to the upstream, one worker
 * like the edge.
 */
async function startNginx(
  folder: string,
  upstream: number,
): Promise<{ process: ChildProcess; port: number }> {
  const port = await freePort()
  const file = path.join(folder, `nginx-${port}.conf`)
  writeFileSync(
    file,
    `daemon off; master_process off; worker_processes 1;
pid ${folder}/nginx-${port}.pid; error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream site { server 127.0.0.1:${upstream}; keepalive 64; }
  server { listen 127.0.0.1:${port}; location / {
    proxy_pass http://site; proxy_http_version 1.1; proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto http;
  } }
}
`,
  )
  const process_ = spawn('/usr/sbin/nginx', ['-c', file, '-p', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  for (;;) {
    if (process_.exitCode !== null) throw new Error('nginx does not start')
    const open = await new Promise<boolean>((resolve) => {
      const probe = net
        .connect(port, '127.0.0.1', () => resolve(probe.destroy() && true))
        .once('error', () => resolve(false))
    })
    if (open) return { process: process_, port }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

interface Run {
  readonly perSecond: number
  readonly p99Ms: number
  readonly cpuMicros: number
}
async function load(
  proxy: { process: ChildProcess; port: number },
  host: string,
  target: string,
  count: number,
): Promise<Run> {
  const before = cpuSecondsOf(proxy.process.pid ?? 0)
  const { stdout } = await promisify(execFile)('ab', [
    '-q',
    '-k',
    '-n',
    String(count),
    '-c',
    String(clients),
    '-H',
    `Host: ${host}`,
    `http://127.0.0.1:${proxy.port}${target}`,
  ])
  const failed =
    Number(/Non-2xx responses:\s+(\d+)/.exec(stdout)?.[1] ?? 0) +
    Number(/Failed requests:\s+(\d+)/.exec(stdout)?.[1] ?? 0)
  if (failed > 0) throw new Error(stdout)
  return {
    perSecond: Number(/Requests per second:\s+([\d.]+)/.exec(stdout)?.[1]),
    p99Ms: Number(/\s99%\s+(\d+)/.exec(stdout)?.[1]),
    cpuMicros: ((cpuSecondsOf(proxy.process.pid ?? 0) - before) / count) * 1e6,
  }
}

async function against(
  name: string,
  upstream: number,
  folder: string,
  host: string,
  target: string,
  count: number,
): Promise<void> {
  const edge = await child('edge', String(upstream))
  const nginx = await startNginx(folder, upstream)
  try {
    const runs = { edge: [] as Run[], nginx: [] as Run[] }
    for (const proxy of [edge, nginx]) await load(proxy, host, target, count)
    for (let round = 0; round < rounds; round++) {
      // The order alternates.
      for (const which of round % 2 === 0
        ? (['edge', 'nginx'] as const)
        : (['nginx', 'edge'] as const))
        runs[which].push(await load(which === 'edge' ? edge : nginx, host, target, count))
    }
    const of = (which: 'edge' | 'nginx', read: (run: Run) => number): number =>
      median(runs[which].map(read))
    for (const which of ['edge', 'nginx'] as const)
      console.log(
        `      ${name}, ${which}: ${of(which, (run) => run.perSecond).toFixed(0)} a second, ` +
          `p99 ${of(which, (run) => run.p99Ms)} ms, ` +
          `${of(which, (run) => run.cpuMicros).toFixed(0)} µs CPU a request`,
      )
    report(
      `${name}: requests a second, edge / nginx`,
      of('edge', (run) => run.perSecond) / of('nginx', (run) => run.perSecond),
      0.7,
      'x',
      true,
    )
    report(
      `${name}: p99, edge / nginx`,
      of('edge', (run) => run.p99Ms) /
        Math.max(
          1,
          of('nginx', (run) => run.p99Ms),
        ),
      2,
      'x',
    )
  } finally {
    edge.process.kill()
    nginx.process.kill()
  }
}

async function compare(): Promise<void> {
  if (spawnSync('ab', ['-V']).error || spawnSync('/usr/sbin/nginx', ['-v']).error) {
    console.log('      left out: there is no nginx or no ab here to compare with')
    return
  }
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-edge-'))
  const bare = await child('upstream')
  const portal = await startPortal()
  try {
    const token = await signIn(portal)
    const { id, domain } = await orderSite(portal, token)
    const container = await containerPort(id)
    await against(
      'a site’s static file',
      container,
      folder,
      domain,
      '/wp-includes/css/dashicons.min.css',
      1500,
    )
    await against('a bare upstream', bare.port, folder, domain, '/', requests)
  } finally {
    bare.process.kill()
    await portal.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The port on which the site's container serves pages, found as an operator finds it: the container
 * also listens for PHP's own sockets.
 */
async function containerPort(siteId: string): Promise<number> {
  const pid = spawnSync('pgrep', ['-f', '--', `--site ${siteId}`], { encoding: 'utf8' })
    .stdout.trim()
    .split('\n')[0]
  const listening = spawnSync('ss', ['-ltnpH'], { encoding: 'utf8' }).stdout
  for (const line of listening.split('\n').filter((one) => one.includes(`pid=${pid},`))) {
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1])
    // The pages' port redirects a request for another name to the site's own; the other port
    // refuses.
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' })
    if (status < 400) return port
  }
  throw new Error('the container serves nowhere')
}

/** This file as a child process: only the edge, or the bare upstream. */
const [role, upstreamPort] = process.argv.slice(2)
if (role === 'edge') {
  const addresses = [{ host: '127.0.0.1', port: Number(upstreamPort) }]
  const edge = createEdge({
    resolve: () => ({ id: 'site', state: 'running', addresses }),
    port: 0,
    host: '127.0.0.1',
    log: { warn: () => {} },
    note: () => {},
  })
  process.send?.(await edge.listen())
} else if (role === 'upstream') {
  const body = 'x'.repeat(2048)
  const server = http
    .createServer((_request, response) => response.end(body))
    .listen(0, '127.0.0.1', () => {
      process.send?.((server.address() as net.AddressInfo).port)
    })
} else await compare()
