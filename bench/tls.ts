/**
 * TLS at the edge: handshakes compared with nginx using the same certificate (P-256) and the same
 * client, in turns; and the memory and time of 10,000 certificates. The client is a Node process
 * that uses most of one core, so the server's CPU time per handshake is the fair ratio; the rate is
 * printed beside it. `CERTIFICATES=1000` uses fewer. The part with nginx is skipped where it is
 * absent.
 */
import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import tls from 'node:tls'
import { createEdge, createHttps, type EdgeCertificate } from '../server/edge/index.ts'
import { testCertificate } from '../test/certificates.ts'
import { cpuSecondsOf, freePort, median, report } from './portal.ts'

const host = 'shop.example.org'
const rounds = 5
const handshakes = 1_500
const clients = 16
const many = Number(process.env['CERTIFICATES'] ?? 10_000)

interface Server {
  readonly pid: number
  readonly port: number
  stop(): void
}

/** Full handshakes, one after the other on `clients` connections. Returns their times, ms. */
async function load(
  port: number,
  count: number,
  nameOf: (index: number) => string,
  version: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3',
): Promise<number[]> {
  const times: number[] = []
  let next = 0
  const line = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const began = performance.now()
      await new Promise<void>((resolve, reject) => {
        const socket = tls.connect({
          host: '127.0.0.1',
          port,
          servername: nameOf(index),
          rejectUnauthorized: false,
          minVersion: version,
          maxVersion: version,
          ALPNProtocols: ['http/1.1'],
        })
        socket.once('secureConnect', () => {
          times.push(performance.now() - began)
          socket.destroy()
          resolve()
        })
        socket.once('error', reject)
      })
    }
  }
  await Promise.all(Array.from({ length: clients }, line))
  return times
}

async function startEdge(certificates: readonly EdgeCertificate[]): Promise<
  Server & {
    memoryMb(): Promise<number>
    put(more: readonly EdgeCertificate[]): Promise<void>
  }
> {
  const child = fork(import.meta.filename, ['edge'], {
    execArgv: ['--disable-warning=ExperimentalWarning', '--expose-gc'],
    serialization: 'advanced',
  })
  const answer = <T>(): Promise<T> =>
    new Promise((resolve) => child.once('message', (said) => resolve(said as T)))
  const port = await answer<number>()
  const put = async (more: readonly EdgeCertificate[]): Promise<void> => {
    child.send({ put: more })
    await answer()
  }
  await put(certificates)
  return {
    pid: child.pid ?? 0,
    port,
    put,
    async memoryMb() {
      child.send({ memory: true })
      return (await answer<number>()) / 1_048_576
    },
    stop: () => child.kill(),
  }
}

async function startNginx(folder: string, { chain, key }: EdgeCertificate): Promise<Server> {
  const port = await freePort()
  const file = (name: string, text: string): string => {
    const at = path.join(folder, name)
    writeFileSync(at, text)
    return at
  }
  const [certificateFile, keyFile] = [file('chain.pem', chain), file('key.pem', key)]
  const config = file(
    'nginx.conf',
    `daemon off; master_process off; worker_processes 1;
pid ${folder}/nginx.pid; error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server { listen 127.0.0.1:${port} ssl http2; server_name ${host};
    ssl_certificate ${certificateFile}; ssl_certificate_key ${keyFile};
    ssl_protocols TLSv1.2 TLSv1.3; return 204; }
}
`,
  )
  const child: ChildProcess = spawn('/usr/sbin/nginx', ['-c', config, '-p', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  for (;;) {
    if (child.exitCode !== null) throw new Error('nginx does not start')
    const open = await new Promise<boolean>((resolve) => {
      const probe = net
        .connect(port, '127.0.0.1', () => resolve(probe.destroy() && true))
        .once('error', () => resolve(false))
    })
    if (open) return { pid: child.pid ?? 0, port, stop: () => child.kill() }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

interface Run {
  readonly perSecond: number
  readonly cpuMs: number
}
async function measure({ pid, port }: Server, version: 'TLSv1.2' | 'TLSv1.3'): Promise<Run> {
  const [cpu, began] = [cpuSecondsOf(pid), performance.now()]
  await load(port, handshakes, () => host, version)
  const seconds = (performance.now() - began) / 1000
  return {
    perSecond: handshakes / seconds,
    cpuMs: ((cpuSecondsOf(pid) - cpu) / handshakes) * 1000,
  }
}

async function againstNginx(): Promise<void> {
  if (spawnSync('/usr/sbin/nginx', ['-v']).error) {
    console.log('      left out: there is no nginx here to compare with')
    return
  }
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portal-tls-'))
  const certificate = testCertificate(host)
  const edge = await startEdge([certificate])
  const nginx = await startNginx(folder, certificate)
  try {
    for (const version of ['TLSv1.3', 'TLSv1.2'] as const) {
      const runs = { edge: [] as Run[], nginx: [] as Run[] }
      for (const server of [edge, nginx]) await measure(server, version)
      for (let round = 0; round < rounds; round++)
        for (const which of round % 2 === 0
          ? (['edge', 'nginx'] as const)
          : (['nginx', 'edge'] as const))
          runs[which].push(await measure(which === 'edge' ? edge : nginx, version))
      const of = (which: 'edge' | 'nginx', read: (run: Run) => number): number =>
        median(runs[which].map(read))
      for (const which of ['edge', 'nginx'] as const)
        console.log(
          `      ${version}, ${which}: ${of(which, (run) => run.perSecond).toFixed(0)} full ` +
            `handshakes a second, ${of(which, (run) => run.cpuMs).toFixed(2)} ms CPU each`,
        )
      report(
        `${version}: full handshakes a second of CPU, edge / nginx`,
        of('nginx', (run) => run.cpuMs) / of('edge', (run) => run.cpuMs),
        0.5,
        'x',
        true,
      )
    }
  } finally {
    edge.stop()
    nginx.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function withMany(): Promise<void> {
  const nameOf = (index: number): string => `shop${index % many}.example.org`
  const edge = await startEdge([testCertificate(host)])
  try {
    // Memory that handshakes leave behind does not depend on the number of certificates, so it is
    // used up before the measurement.
    await load(edge.port, many, () => host)
    const before = await edge.memoryMb()
    for (let at = 0; at < many; at += 500)
      await edge.put(
        Array.from({ length: Math.min(500, many - at) }, (_, index) =>
          testCertificate(nameOf(at + index)),
        ),
      )
    const held = (await edge.memoryMb()) - before
    // Every name once: each certificate is loaded, and most are unloaded again.
    const first = await load(edge.port, many, nameOf)
    const visited = (await edge.memoryMb()) - before
    const again = await load(edge.port, 1_500, (index) => nameOf(many - 1 - (index % 1_000)))
    console.log(
      `      ${many} certificates: first handshake of each ${median(first).toFixed(1)} ms, ` +
        `of one that is open ${median(again).toFixed(1)} ms (${clients} clients at once)`,
    )
    report(`${many} certificates as text, memory`, held, 60, 'MB')
    report(`${many} certificates after a visit to each, memory`, visited, 200, 'MB')
    report('first handshake / one that is open', median(first) / median(again), 2, 'x')
  } finally {
    edge.stop()
  }
}

/** This file as a child process: only the edge. */
if (process.argv[2] === 'edge') {
  const log = { warn: () => undefined }
  const https = createHttps(0, log)
  const edge = createEdge({
    resolve: () => ({ id: null, state: 'unknown', addresses: [] }),
    port: 0,
    host: '127.0.0.1',
    https,
    log,
    note: () => undefined,
  })
  await edge.listen()
  process.on('message', (said: { put?: EdgeCertificate[]; memory?: true }) => {
    if (said.put) https.feed.put(said.put)
    ;(globalThis as { gc?: () => void }).gc?.()
    process.send?.(said.memory ? process.memoryUsage.rss() : 0)
  })
  process.send?.(edge.tlsPort())
} else {
  await againstNginx()
  await withMany()
}
