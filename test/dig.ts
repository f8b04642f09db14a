/** Queries a name server as `dig` does, decoded by a third party's decoder. */
import dgram from 'node:dgram'
import net from 'node:net'
import {
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
  type Answer,
  type DecodedPacket,
} from 'dns-packet'

export interface DigQuery {
  readonly name: string
  readonly type: string
  readonly tcp?: boolean
  /** The size that EDNS offers; without it the query has no EDNS. */
  readonly edns?: number
  readonly recursion?: boolean
}
export interface Reply {
  readonly rcode: string
  readonly authoritative: boolean
  readonly truncated: boolean
  /**
   * `www.example.vn 300 A 203.0.113.7`; TXT with its strings joined, MX as `10 mail.example.vn`.
   */
  readonly answer: readonly string[]
  readonly authority: readonly string[]
  readonly additional: readonly string[]
  readonly bytes: number
  readonly packet: DecodedPacket & { readonly rcode: string }
}

const patienceMs = 3000

const valueOf = (record: Answer): string => {
  switch (record.type) {
    case 'MX':
      return `${record.data.preference ?? 0} ${record.data.exchange}`
    case 'TXT':
      return Buffer.concat(
        (Array.isArray(record.data) ? record.data : [record.data]).map((part) => Buffer.from(part)),
      ).toString('utf8')
    case 'SOA':
      return `${record.data.mname} ${record.data.rname} ${record.data.serial}`
    case 'A':
    case 'AAAA':
    case 'CNAME':
    case 'NS':
      return record.data
    default:
      return ''
  }
}
const lines = (records: readonly Answer[] | undefined): string[] =>
  (records ?? [])
    .filter(({ type }) => type !== 'OPT')
    .map((record) => {
      const ttl = 'ttl' in record ? record.ttl : ''
      return `${record.name} ${ttl} ${record.type} ${valueOf(record)}`.trimEnd()
    })

export function readReply(bytes: Buffer): Reply {
  // The library's types lack this field.
  const packet = decode(bytes) as DecodedPacket & { readonly rcode: string }
  const flags = packet.flags ?? 0
  return {
    rcode: packet.rcode,
    authoritative: (flags & AUTHORITATIVE_ANSWER) !== 0,
    truncated: (flags & TRUNCATED_RESPONSE) !== 0,
    answer: lines(packet.answers),
    authority: lines(packet.authorities),
    additional: lines(packet.additionals),
    bytes: bytes.length,
    packet,
  }
}

export const question = (
  { name, type, edns, recursion }: DigQuery,
  id = Math.floor(Math.random() * 65_536),
): Buffer =>
  encode({
    type: 'query',
    id,
    flags: recursion === true ? RECURSION_DESIRED : 0,
    questions: [{ name, type: type as 'A', class: 'IN' }],
    ...(edns !== undefined && {
      additionals: [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: edns,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0,
          flag_do: false,
          options: [],
        },
      ],
    }),
  })

/**
 * Sends one datagram and receives one; undefined when none arrives within `patience` milliseconds.
 */
export function sendUdp(
  port: number,
  bytes: Buffer,
  timeoutMs = patienceMs,
): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const socket = dgram.createSocket('udp4')
    const done = (answer: Buffer | undefined) => {
      clearTimeout(timer)
      socket.close(() => resolve(answer))
    }
    const timer = setTimeout(() => done(undefined), timeoutMs)
    socket.once('error', reject)
    socket.once('message', done)
    socket.send(bytes, port, '127.0.0.1')
  })
}

/**
 * Everything received on one connection, message by message, until `enough` or the other side
 * closes.
 */
export function sendTcp(
  port: number,
  bytes: Buffer,
  enough: (messages: readonly Buffer[]) => boolean,
): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const messages: Buffer[] = []
    let waiting = Buffer.alloc(0)
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setTimeout(patienceMs, () => socket.destroy(new Error('no answer over TCP')))
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      waiting = Buffer.concat([waiting, chunk])
      while (waiting.length >= 2 && waiting.length >= waiting.readUInt16BE(0) + 2) {
        const length = waiting.readUInt16BE(0)
        messages.push(waiting.subarray(2, length + 2))
        waiting = waiting.subarray(length + 2)
      }
      if (enough(messages)) socket.destroy()
    })
    socket.on('close', () => resolve(messages))
  })
}

export const framed = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])

/** The reply; rejects when there is none. */
export async function dig(port: number, asked: DigQuery): Promise<Reply> {
  const bytes = question(asked)
  const [reply] =
    asked.tcp === true
      ? await sendTcp(port, framed(bytes), ({ length }) => length > 0)
      : [await sendUdp(port, bytes)]
  if (!reply) throw new Error(`no answer for ${asked.name} ${asked.type}`)
  return readReply(reply)
}
