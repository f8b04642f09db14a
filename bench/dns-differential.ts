/**
 * `npm run bench -- dns-differential`: our name server, knot, nsd and PowerDNS get the same
 * queries, over UDP with and without EDNS and over TCP. Every difference from ours is printed with
 * its reason; one without a known reason fails.
 */
import dgram from 'node:dgram'
import net from 'node:net'
import { decode, encode, type Answer, type DecodedPacket, type RecordType } from 'dns-packet'
import { head, variety } from './dns-zone.ts'
import { openServers } from './dns-servers.ts'

type Manner = 'UDP' | 'UDP+EDNS' | 'TCP'
const manners: readonly Manner[] = ['UDP', 'UDP+EDNS', 'TCP']
const at = (label: string): string => (label === '' ? head.name : `${label}.${head.name}`)

const questions: readonly (readonly [string, RecordType])[] = [
  ...(['SOA', 'NS', 'A', 'AAAA', 'MX', 'TXT', 'CNAME', 'SRV', 'DS', 'CAA'] as const).map(
    (type) => ['', type] as const,
  ),
  ...(['www', 'chain', 'away', 'dangling', 'into-child'] as const).flatMap((label) =>
    (['A', 'CNAME', 'MX'] as const).map((type) => [label, type] as const),
  ),
  ['mail', 'A'],
  ['mail', 'AAAA'],
  ['MAIL', 'A'],
  ['nobody', 'A'],
  ['a.b.nobody', 'TXT'],
  ['x.wild', 'A'],
  ['x.y.wild', 'A'],
  ['x.wild', 'TXT'],
  ['x.wild', 'MX'],
  ['wild', 'A'],
  ['*.wild', 'A'],
  ['there.wild', 'A'],
  ['there.wild', 'AAAA'],
  ['below.there.wild', 'A'],
  ['x.alias', 'A'],
  ['x.alias', 'CNAME'],
  ['empty', 'A'],
  ['deep.empty', 'A'],
  ['other.empty', 'A'],
  ['child', 'NS'],
  ['child', 'A'],
  ['child', 'DS'],
  ['host.child', 'A'],
  ['ns.child', 'A'],
  ['ns.child', 'AAAA'],
  ['text', 'TXT'],
  ['_dmarc', 'TXT'],
  ['many', 'A'],
  ['many', 'AAAA'],
  ['www.mail', 'A'],
]
const absolute: readonly (readonly [string, RecordType])[] = [
  ...questions.map(([label, type]) => [at(label), type] as const),
  ['elsewhere.test', 'A'],
  ['example', 'SOA'],
  ['.', 'NS'],
  // A type that dns-packet's own list lacks.
  ...['', 'mail', 'www', 'nobody'].map((label) => [at(label), 'ANY' as RecordType] as const),
  [head.name, 'AXFR'],
]

interface DnsResponse {
  readonly rcode: string
  readonly flags: string
  readonly answer: readonly string[]
  readonly authority: readonly string[]
  readonly additional: readonly string[]
}

const text = (record: Answer): string => {
  let data
  if (record.type === 'TXT')
    data = Buffer.concat([record.data].flat().map((part) => Buffer.from(part))).toString('hex')
  else if ('data' in record) data = JSON.stringify(record.data)
  else data = ''

  return `${record.name} ${'ttl' in record ? record.ttl : ''} ${record.type} ${data}`.toLowerCase()
}
function read(message: Buffer): DnsResponse {
  const packet = decode(message) as DecodedPacket & { rcode: string }
  const section = (records: readonly Answer[] | undefined): string[] =>
    (records ?? [])
      .filter(({ type }) => type !== 'OPT')
      .map(text)
      .toSorted()
  return {
    rcode: packet.rcode,
    flags: [packet.flag_aa && 'AA', packet.flag_tc && 'TC', packet.flag_ra && 'RA']
      .filter(Boolean)
      .join(' '),
    answer: section(packet.answers),
    authority: section(packet.authorities),
    additional: section(packet.additionals),
  }
}
function ask(port: number, name: string, type: RecordType, manner: Manner): Promise<DnsResponse> {
  const opt: Answer = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: 1232,
    flags: 0,
    flag_do: false,
    options: [],
    extendedRcode: 0,
    ednsVersion: 0,
  }
  const message = encode({
    type: 'query',
    id: 77,
    questions: [{ name, type }],
    additionals: manner === 'UDP+EDNS' ? [opt] : [],
  })
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no answer for ${type} ${name}`)), 3000)
    if (manner === 'TCP') {
      const socket = net.connect(port, '127.0.0.1')
      const length = Buffer.alloc(2)
      length.writeUInt16BE(message.length)
      socket.write(Buffer.concat([length, message]))
      let got = Buffer.alloc(0)
      socket.on('data', (chunk: Buffer) => {
        got = Buffer.concat([got, chunk])
        if (got.length < 2 || got.length < 2 + got.readUInt16BE(0)) return
        clearTimeout(late)
        socket.destroy()
        resolve(read(got.subarray(2)))
      })
      socket.once('error', reject)
    } else {
      const socket = dgram.createSocket('udp4')
      socket.once('message', (answer) => {
        clearTimeout(late)
        socket.close()
        resolve(read(answer))
      })
      socket.send(message, port, '127.0.0.1')
    }
  })
}

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, index) => one === b[index])
/** The parts in which two answers differ. */
function differences(a: DnsResponse, b: DnsResponse): string[] {
  return [
    ...(a.rcode === b.rcode ? [] : [`rcode ${a.rcode}/${b.rcode}`]),
    ...(a.flags === b.flags ? [] : [`flags ${a.flags || '–'}/${b.flags || '–'}`]),
    ...(['answer', 'authority', 'additional'] as const).filter((part) => !same(a[part], b[part])),
  ]
}

interface Case {
  readonly server: string
  readonly type: string
  readonly ours: DnsResponse
  readonly theirs: DnsResponse
  readonly parts: readonly string[]
}
const isApexNs = (one: string): boolean => one.startsWith(`${head.name} ${head.apexTtlSeconds} ns `)
/** Known reasons why a server differs from ours; the first that fits is used. */
const reasons: readonly { readonly why: string; readonly fits: (of: Case) => boolean }[] = [
  {
    why:
      'ANY: each has its own short answer (RFC 8482): ours is HINFO, knot gives one set, nsd ' +
      'one set, pdns all of them and only over TCP',
    fits: ({ type }) => type === 'ANY',
  },
  {
    why:
      'AXFR: ours refuses whoever is not listed; knot and nsd say NOTIMP over UDP, knot NOTAUTH ' +
      'over TCP; pdns allows this machine',
    fits: ({ type }) => type === 'AXFR',
  },
  {
    why:
      'adds the NS set of the zone to every positive answer; ours, knot and pdns keep answers ' +
      'small',
    fits: ({ server, ours, theirs, parts }) =>
      server === 'nsd' &&
      parts.join() === 'authority' &&
      same(
        ours.authority,
        theirs.authority.filter((one) => !isApexNs(one)),
      ),
  },
  {
    why:
      'follows a CNAME that a wildcard makes although the CNAME itself was asked for; knot and ' +
      'nsd answer as ours does',
    fits: ({ server, type, parts, ours, theirs }) =>
      server === 'pdns' &&
      type === 'CNAME' &&
      parts.join() === 'answer' &&
      ours.answer.every((one) => theirs.answer.includes(one)),
  },
]

const servers = await openServers(variety)
const [ours, ...others] = servers
if (!ours) throw new Error('there is always ours')
const counts = new Map<string, number>()
let equal = 0
let unexplained = 0
try {
  for (const [name, type] of absolute) {
    for (const manner of manners) {
      const mine = await ask(ours.port, name, type, manner)
      for (const other of others) {
        const theirs = await ask(other.port, name, type, manner)
        const parts = differences(mine, theirs)
        if (parts.length === 0) {
          equal++
          continue
        }
        const reason = reasons.find(({ fits }) =>
          fits({ server: other.name, type, ours: mine, theirs, parts }),
        )
        if (reason) {
          const key = `${other.name.padEnd(5)} ${reason.why}`
          counts.set(key, (counts.get(key) ?? 0) + 1)
        } else {
          unexplained++
          console.log(`?? ${other.name} ${manner} ${type} ${name}: ${parts.join(', ')}`)
          if (process.env['SHOW']) console.log(JSON.stringify({ mine, theirs }, null, 1))
        }
      }
    }
  }
} finally {
  for (const server of servers) await server.close()
}
console.log(
  `\n${absolute.length} questions × ${manners.length} manners × ${others.length} servers: ` +
    `${equal} answers equal to ours.`,
)
for (const [key, count] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${String(count).padStart(6)}  ${key}`)
console.log(
  unexplained === 0
    ? 'Every difference has its reason.'
    : `${unexplained} differences without a reason.`,
)
process.exit(unexplained === 0 ? 0 : 1)
