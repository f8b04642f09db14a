/**
 * One question to one name server, without recursion: UDP, and TCP when the answer does not fit
 * (RFC 1035, RFC 6891, RFC 7766).
 */
import { randomInt } from 'node:crypto'
import dgram from 'node:dgram'
import net from 'node:net'
import {
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  TRUNCATED_RESPONSE,
  type Answer,
  type DecodedPacket,
  type Packet,
  type RecordType,
} from 'dns-packet'

export interface Endpoint {
  readonly address: string
  readonly port: number
}

export interface Question {
  /** A-labels, lower case, without a dot at the end; the root is ''. */
  readonly name: string
  readonly type: RecordType
}

export interface DnsAnswer {
  readonly rcode: string
  readonly isAuthoritative: boolean
  readonly answers: readonly Answer[]
  readonly authorities: readonly Answer[]
  readonly additionals: readonly Answer[]
}

/** Letters, digits, hyphens and underscores. A hostile server's other names are not queried. */
const plainName = /^(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*)?$/
const maxNameLength = 253
/** Fits every path (DNS flag day 2020). */
const udpBytes = 1232

export const isPlainName = (name: string): boolean =>
  name.length <= maxNameLength && plainName.test(name)
/** Lower case, without a dot at the end. */
export const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '')

function query({ name, type }: Question, id: number, withEdns: boolean): Buffer {
  const opt: Answer = {
    type: 'OPT',
    name: '.',
    udpPayloadSize: udpBytes,
    flags: 0,
    options: [],
    extendedRcode: 0,
    ednsVersion: 0,
    flag_do: false,
  }
  const packet: Packet = {
    type: 'query',
    id,
    flags: 0,
    questions: [{ type, name: name === '' ? '.' : name }],
  }
  return encode(withEdns ? { ...packet, additionals: [opt] } : packet)
}

/** The message if it answers this question; other packets are ignored. */
function answerTo(message: Buffer, question: Question, id: number): DecodedPacket | undefined {
  try {
    const packet = decode(message)
    const [asked] = packet.questions ?? []
    const isOurs =
      packet.type === 'response' &&
      packet.id === id &&
      asked?.type === question.type &&
      plain(asked.name) === question.name
    return isOurs ? packet : undefined
  } catch {
    // not a DNS message; the real response may still come
    return undefined
  }
}

function overUdp(
  server: Endpoint,
  question: Question,
  withEdns: boolean,
  signal: AbortSignal,
): Promise<DecodedPacket | undefined> {
  const id = randomInt(65_536)
  return new Promise((resolve) => {
    const socket = dgram.createSocket(net.isIPv6(server.address) ? 'udp6' : 'udp4')
    const done = (packet?: DecodedPacket): void => {
      signal.removeEventListener('abort', late)
      socket.removeAllListeners('message')
      socket.close()
      resolve(packet)
    }
    const late = (): void => done()
    signal.addEventListener('abort', late, { once: true })
    // refused or unreachable: nothing answers there
    socket.once('error', late)
    socket.on('message', (message) => {
      const packet = answerTo(message, question, id)
      if (packet) done(packet)
    })
    // a connected socket receives packets of this server only
    socket.connect(server.port, server.address, () => socket.send(query(question, id, withEdns)))
  })
}

function overTcp(
  server: Endpoint,
  question: Question,
  withEdns: boolean,
  signal: AbortSignal,
): Promise<DecodedPacket | undefined> {
  const id = randomInt(65_536)
  return new Promise((resolve) => {
    const socket = net.connect({ host: server.address, port: server.port })
    const done = (packet?: DecodedPacket): void => {
      signal.removeEventListener('abort', late)
      socket.destroy()
      resolve(packet)
    }
    const late = (): void => done()
    signal.addEventListener('abort', late, { once: true })
    socket.once('error', late)
    socket.once('close', late)
    const message = query(question, id, withEdns)
    const length = Buffer.alloc(2)
    length.writeUInt16BE(message.length)
    socket.write(Buffer.concat([length, message]))
    let received = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        done(answerTo(received.subarray(2, 2 + received.readUInt16BE(0)), question, id))
      }
    })
  })
}

/**
 * Sends one query. Undefined: no answer within `timeoutMs`, for whatever reason; never throws. A
 * server that does not know EDNS is queried again without it (RFC 6891, 6.2.2).
 */
export async function askServer(
  server: Endpoint,
  question: Question,
  timeoutMs: number,
): Promise<DnsAnswer | undefined> {
  if (timeoutMs <= 0 || !isPlainName(question.name)) return undefined
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), timeoutMs)
  const { signal } = deadline
  try {
    let withEdns = true
    let packet = await overUdp(server, question, withEdns, signal)
    if (packet && ['FORMERR', 'NOTIMP'].includes(rcodeOf(packet)) && !signal.aborted) {
      withEdns = false
      packet = await overUdp(server, question, withEdns, signal)
    }
    if (packet && ((packet.flags ?? 0) & TRUNCATED_RESPONSE) !== 0 && !signal.aborted)
      packet = await overTcp(server, question, withEdns, signal)
    if (!packet) return undefined
    return {
      rcode: rcodeOf(packet),
      isAuthoritative: ((packet.flags ?? 0) & AUTHORITATIVE_ANSWER) !== 0,
      answers: packet.answers ?? [],
      authorities: packet.authorities ?? [],
      additionals: packet.additionals ?? [],
    }
  } finally {
    clearTimeout(timer)
  }
}

// dns-packet decodes it, but its types lack it
const rcodeOf = (packet: DecodedPacket): string =>
  (packet as DecodedPacket & { rcode: string }).rcode
