/**
 * Name servers to compare, each with the same zone: ours in a process of its own, and installed
 * ones of knot, nsd and PowerDNS.
 */
import { fork, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createPowerdns } from '../server/dns/drivers/powerdns/index.ts'
import { settings } from '../server/dns/drivers/powerdns/settings.ts'
import type { ZoneRecord } from '../server/dns/zone-file/index.ts'
import { askServer } from '../server/dns/delegation/ask.ts'
import { openPowerdnsServer } from '../test/powerdns-server.ts'
import { fileOf, head, setsOf } from './dns-zone.ts'
import { freePort } from './portal.ts'

export interface RunningServer {
  readonly name: string
  readonly port: number
  readonly pid: number
  close(): Promise<void>
}

const find = (program: string): string | undefined => {
  const { status, stdout } = spawnSync(
    'sh',
    ['-c', `PATH=$PATH:/usr/sbin:/usr/local/sbin command -v ${program}`],
    { encoding: 'utf8' },
  )
  return status === 0 ? stdout.trim() : undefined
}

async function answering(name: string, port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const response = await askServer(
      { address: '127.0.0.1', port },
      { name: head.name, type: 'SOA' },
      200,
    )
    if (response?.isAuthoritative && response.answers.length > 0) return
    await pause(50)
  }
  throw new Error(`${name} does not answer`)
}

async function ended(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

async function ours(records: readonly ZoneRecord[]): Promise<RunningServer> {
  const port = await freePort()
  const child = fork(path.join(import.meta.dirname, 'dns-embedded.ts'), [String(port)], {
    serialization: 'advanced',
  })
  child.send({ head, sets: setsOf(records) })
  await answering('ours', port)
  return { name: 'ours', port, pid: child.pid ?? 0, close: () => ended(child) }
}

/** A server that reads the zone from a file. */
async function fromFile(
  name: string,
  program: string,
  records: readonly ZoneRecord[],
  configuration: (folder: string, port: number) => string,
  args: readonly string[],
): Promise<RunningServer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), `${name}-`))
  const port = await freePort()
  mkdirSync(path.join(folder, 'run'))
  writeFileSync(path.join(folder, 'zone'), fileOf(records))
  writeFileSync(path.join(folder, 'conf'), configuration(folder, port))
  const child = spawn(program, [...args, '-c', path.join(folder, 'conf')], { stdio: 'ignore' })
  await answering(name, port)
  return {
    name,
    port,
    pid: child.pid ?? 0,
    async close() {
      await ended(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const knotConfiguration = (folder: string, port: number): string => `server:
  listen: 127.0.0.1@${port}
  rundir: ${folder}/run
  udp-workers: 1
  tcp-workers: 1
database:
  storage: ${folder}/run
zone:
  - domain: ${head.name}
    storage: ${folder}
    file: zone
`
const nsdConfiguration = (folder: string, port: number): string => `server:
  ip-address: 127.0.0.1
  port: ${port}
  server-count: 1
  username: ""
  zonesdir: "${folder}"
  database: ""
  pidfile: "${folder}/run/nsd.pid"
  xfrdfile: "${folder}/run/xfrd.state"
  zonelistfile: "${folder}/run/zone.list"
  rrl-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: ${head.name}
  zonefile: zone
`

async function powerdns(program: string, records: readonly ZoneRecord[]): Promise<RunningServer> {
  const server = await openPowerdnsServer(program, 'key')
  await createPowerdns(
    settings.parse({ url: server.url, apiKey: 'key', timeoutMs: 120_000 }),
  ).putZone(head, setsOf(records))
  await answering('pdns', server.dnsPort)
  return { name: 'pdns', port: server.dnsPort, pid: server.pid, close: server.close }
}

/** Ours comes first. Prints which of the others are not installed. */
export async function openServers(records: readonly ZoneRecord[]): Promise<RunningServer[]> {
  const servers = [await ours(records)]
  const programs = { knot: find('knotd'), nsd: find('nsd'), pdns: find('pdns_server') }
  for (const [name, program] of Object.entries(programs))
    if (program === undefined) console.log(`${name} is not installed: not compared.`)
  if (programs.knot !== undefined)
    servers.push(await fromFile('knot', programs.knot, records, knotConfiguration, []))
  if (programs.nsd !== undefined)
    servers.push(await fromFile('nsd', programs.nsd, records, nsdConfiguration, ['-d']))
  if (programs.pdns !== undefined) servers.push(await powerdns(programs.pdns, records))
  return servers
}

/** CPU time so far of a process and all its descendants, seconds. Linux only. */
export function cpuSecondsOf(pid: number): number {
  const processes: { pid: number; parent: number; ticks: number }[] = []
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      processes.push({
        pid: Number(name),
        parent: Number(fields[1]),
        ticks: Number(fields[11]) + Number(fields[12]),
      })
    } catch {
      // The process ended meanwhile.
    }
  }
  const ticksOf = (of: number): number => {
    const own = processes.find((one) => one.pid === of)?.ticks ?? 0
    return processes
      .filter(({ parent }) => parent === of)
      .reduce((sum, child) => sum + ticksOf(child.pid), own)
  }
  return ticksOf(pid) / 100
}
