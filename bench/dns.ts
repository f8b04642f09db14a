/**
 * `npm run bench -- dns`: how fast the embedded name server answers compared with PowerDNS
 * (dnsperf), the memory of a record, how soon a change is served, how long a delegation check
 * takes. SECONDS sets the length of one dnsperf run, ROUNDS their number; PARTS selects some of
 * delegations, memory, changes and speed.
 */
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { askServer } from '../server/dns/delegation/ask.ts'
import { createDelegationCheck } from '../server/dns/delegation/index.ts'
import { openHierarchy } from '../test/dns-hierarchy.ts'
import { numbersFrom } from '../test/zone-files.ts'
import { cpuSecondsOf, openServers } from './dns-servers.ts'
import { head, hosts } from './dns-zone.ts'
import { call, freePort, median, report, signIn, startPortal } from './portal.ts'

const seconds = Number(process.env['SECONDS'] ?? 5)
const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? Number.NaN

/** Rounds of dnsperf that count. */
const rounds = Number(process.env['ROUNDS'] ?? 5)
const compared = ['ours', 'pdns']

async function speed(): Promise<void> {
  if (spawnSync('dnsperf', ['-h']).error) {
    console.log('dnsperf is not installed: queries per second are not measured.')
    return
  }
  const names = 10_000
  const folder = mkdtempSync(path.join(os.tmpdir(), 'dnsperf-'))
  const random = numbersFrom(1)
  // Every tenth query is for a name that does not exist.
  const queries = Array.from({ length: 20_000 }, () => {
    const host = Math.floor(random() * names)
    return random() < 0.1
      ? `nobody${host}.${head.name} A`
      : `host${host}.${head.name} ${random() < 0.5 ? 'A' : 'AAAA'}`
  })
  writeFileSync(path.join(folder, 'queries'), `${queries.join('\n')}\n`)
  const servers = await openServers(hosts(names))
  const figures = new Map<string, { perSecond: number[]; cpuMicros: number[] }>()
  try {
    // In turns, because the machine is seldom idle. The compared servers run directly one after the
    // other, in alternating order; the first round warms up.
    const inOrder = [
      ...servers.filter(({ name }) => compared.includes(name)),
      ...servers.filter(({ name }) => !compared.includes(name)),
    ]
    for (let round = 0; round <= rounds; round++) {
      for (const { name, port, pid } of round % 2 === 0 ? inOrder : inOrder.toReversed()) {
        const before = cpuSecondsOf(pid)
        const args = [
          '-s',
          '127.0.0.1',
          '-p',
          String(port),
          '-d',
          path.join(folder, 'queries'),
          '-l',
          String(seconds),
          '-T',
          '1',
          '-c',
          '8',
          '-q',
          '100',
        ]
        const { stdout } = spawnSync('dnsperf', args, { encoding: 'utf8' })
        const cpu = cpuSecondsOf(pid) - before
        const completed = Number(/Queries completed:\s+(\d+)/.exec(stdout)?.[1])
        const lost = Number(/Queries lost:\s+(\d+)/.exec(stdout)?.[1])
        const perSecond = Number(/Queries per second:\s+([\d.]+)/.exec(stdout)?.[1])
        if (lost > 0) console.log(`      ${name}: ${lost} of ${completed + lost} queries lost`)
        if (round === 0) continue
        const figure = figures.get(name) ?? { perSecond: [], cpuMicros: [] }
        figure.perSecond.push(perSecond)
        figure.cpuMicros.push((cpu / completed) * 1_000_000)
        figures.set(name, figure)
      }
    }
  } finally {
    for (const server of servers) await server.close()
    rmSync(folder, { recursive: true })
  }
  for (const [name, { perSecond, cpuMicros }] of figures) {
    console.log(
      `      ${name.padEnd(5)} ${perSecond.map((one) => one.toFixed(0)).join(' ')} queries/s, ` +
        `${median(cpuMicros).toFixed(1)} µs of CPU a query`,
    )
  }
  const [ours, pdns] = [figures.get('ours'), figures.get('pdns')]
  if (!ours || !pdns) return
  // Ratios within each round: other load on the machine then affects both.
  const parts = (a: readonly number[], b: readonly number[]): number =>
    median(a.map((value, round) => value / (b[round] ?? Number.NaN)))
  report(
    'queries per second, part of what PowerDNS answers',
    parts(ours.perSecond, pdns.perSecond),
    0.8,
    '×',
    true,
  )
  report(
    'CPU a query, part of what PowerDNS takes',
    parts(ours.cpuMicros, pdns.cpuMicros),
    1.2,
    '×',
  )
}

async function memory(): Promise<void> {
  const zones = 100_000
  const child = fork(
    path.join(import.meta.dirname, 'dns-embedded.ts'),
    [String(await freePort())],
    { serialization: 'advanced' },
  )
  child.send({ fill: zones })
  const [{ records, bytes, rssBytes }] = (await once(child, 'message')) as [
    { records: number; bytes: number; rssBytes: number },
  ]
  const gone = once(child, 'exit')
  child.kill()
  await gone
  console.log(
    `      ${zones} zones, ${records} records: ${(bytes / 1_048_576).toFixed(0)} MB held, the ` +
      `process grew by ${(rssBytes / 1_048_576).toFixed(0)} MB`,
  )
  report('memory a record, 100 000 zones', bytes / records, 1024, 'bytes')
}

async function changes(): Promise<void> {
  const portal = await startPortal()
  try {
    const token = await signIn(portal)
    const domain = await call<{ id: string }>(portal, 'POST', '/api/dns', token, {
      name: 'bench-change.com',
    })
    const body = (last: number): object => ({
      name: 'www',
      type: 'A',
      content: `203.0.113.${last}`,
      ttl: 60,
      proxied: false,
    })
    const { id } = await call<{ id: string }>(
      portal,
      'POST',
      `/api/dns/${domain.id}/records`,
      token,
      body(250),
    )
    const took: number[] = []
    for (let round = 0; round < 200; round++) {
      const last = round % 200
      await call(portal, 'PUT', `/api/dns/${domain.id}/records/${id}`, token, body(last))
      const answered = performance.now()
      for (;;) {
        const response = await askServer(
          { address: '127.0.0.1', port: portal.dnsPort },
          { name: 'www.bench-change.com', type: 'A' },
          1000,
        )
        if (
          response?.answers.some(
            (answer) => answer.type === 'A' && answer.data === `203.0.113.${last}`,
          )
        )
          break
        if (performance.now() - answered > 10_000) throw new Error('the change is not answered')
      }
      took.push(performance.now() - answered)
    }
    report('from the answer to a change until it is served (p99 of 200)', p99(took), 200, 'ms')
  } finally {
    await portal.stop()
  }
}

async function delegations(): Promise<void> {
  const net = openHierarchy()
  const [root, parent, own] = await Promise.all(
    ['198.51.100.1', '198.51.100.2', '198.51.100.3'].map((address) => net.server(address)),
  )
  if (!root || !parent || !own) throw new Error('three servers')
  const pair = ['ns1.dns.example', 'ns2.dns.example']
  root.zones.set('', {
    name: '',
    ns: ['a.root.test'],
    records: [],
    delegations: new Map([
      ['com', { ns: ['a.gtld.test'], glue: { 'a.gtld.test': [parent.address] } }],
    ]),
  })
  parent.zones.set('com', {
    name: 'com',
    ns: ['a.gtld.test'],
    records: [],
    delegations: new Map([['shop.com', { ns: pair }]]),
  })
  own.zones.set('shop.com', { name: 'shop.com', ns: pair, records: [], delegations: new Map() })
  const endpoint = (address: string): { address: string; port: number } =>
    net.endpointOf(address) ?? { address, port: 53 }
  const { check } = createDelegationCheck({
    roots: [endpoint(root.address)],
    port: 53,
    ourAddresses: [endpoint(own.address)],
    ourNames: pair,
    publicSuffix: (name) => name === 'com',
    endpointOf: net.endpointOf,
  })
  const took: number[] = []
  for (let round = 0; round < 500; round++) {
    const began = performance.now()
    const { isValid } = await check({ domain: 'shop.com', expected: pair })
    if (!isValid) throw new Error('the delegation is right')
    took.push(performance.now() - began)
  }
  await net.close()
  console.log(`      a delegation check: median ${median(took).toFixed(1)} ms`)
  report('a delegation check on loopback (p99 of 500)', p99(took), 1000, 'ms')
}

const parts = { delegations, memory, changes, speed }
const wanted = process.env['PARTS']?.split(',') ?? Object.keys(parts)
for (const [name, part] of Object.entries(parts)) if (wanted.includes(name)) await part()
