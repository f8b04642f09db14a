/**
 * DNS messages on the wire (RFC 1035, 4; RFC 6891). Of a query only the header, one question and
 * OPT are parsed; responses are written with compression.
 */
import { isIPv6 } from 'node:net'

export const types = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  DS: 43,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const
export const rcodes = {
  noError: 0,
  formErr: 1,
  servFail: 2,
  nxDomain: 3,
  notImp: 4,
  refused: 5,
  badVers: 16,
} as const

/**
 * The limit of responses over UDP, which fits every path without fragmentation (DNS flag day 2020).
 */
export const udpLimit = 1232
const plainLimit = 512
export const headerBytes = 12
const classIn = 1

export interface Query {
  readonly id: number
  readonly opcode: number
  readonly recursionDesired: boolean
  /** Set if the response consists of this code only. */
  readonly rcode: number
  /** The end of the question; the end of the header if there is no question to repeat. */
  readonly questionEnd: number
  /**
   * Lower case, labels joined by dots; a dot inside a label is U+FFFF, which no name of ours holds.
   * The root is ''.
   */
  readonly name: string
  readonly type: number
  readonly edns: boolean
  readonly dnssecOk: boolean
  /** The longest UDP response that the client accepts. */
  readonly limit: number
}

const dotInLabel = /\./g

/** The end of a name in wire form, which may end in a compression pointer; -1: it is malformed. */
function skipName(bytes: Buffer, from: number): number {
  let at = from
  for (;;) {
    const length = bytes[at]
    if (length === undefined) return -1
    if (length === 0) return at + 1
    if (length >= 0xc0) return at + 2 <= bytes.length ? at + 2 : -1
    if (length > 63) return -1
    at += length + 1
  }
}

interface Opt {
  readonly size: number
  readonly version: number
  readonly dnssecOk: boolean
}
/** Whether an OPT record's data consists of complete options (RFC 6891, section 6.1.2). */
function hasWholeOptions(bytes: Buffer, from: number, end: number): boolean {
  let at = from
  while (at + 4 <= end) at += 4 + bytes.readUInt16BE(at + 2)
  return at === end
}

/** Undefined: no OPT. False: the additional section is malformed or has two. */
function findOpt(bytes: Buffer, from: number, count: number): Opt | undefined | false {
  let at = from
  let opt: Opt | undefined
  for (let index = 0; index < count; index++) {
    const end = skipName(bytes, at)
    if (end < 0 || end + 10 > bytes.length) return false
    const next = end + 10 + bytes.readUInt16BE(end + 8)
    if (next > bytes.length) return false
    if (bytes.readUInt16BE(end) === types.OPT) {
      if (opt || end !== at + 1 || !hasWholeOptions(bytes, end + 10, next)) return false
      opt = {
        size: bytes.readUInt16BE(end + 2),
        version: bytes[end + 5] ?? 0,
        dnssecOk: ((bytes[end + 6] ?? 0) & 0x80) !== 0,
      }
    }
    at = next
  }
  return opt
}

/** Undefined: no response (the message is too short, or itself a response). */
export function readQuery(bytes: Buffer): Query | undefined {
  if (bytes.length < headerBytes || ((bytes[2] ?? 0) & 0x80) !== 0) return undefined
  const opcode = ((bytes[2] ?? 0) >> 3) & 15
  const base = {
    id: bytes.readUInt16BE(0),
    opcode,
    recursionDesired: ((bytes[2] ?? 0) & 1) !== 0,
    questionEnd: headerBytes,
    name: '',
    type: 0,
    edns: false,
    dnssecOk: false,
    limit: plainLimit,
  }
  if (opcode !== 0) return { ...base, rcode: rcodes.notImp }
  const bad = { ...base, rcode: rcodes.formErr }
  if (bytes.readUInt16BE(4) !== 1 || bytes.readUInt16BE(6) !== 0) return bad
  let at = headerBytes
  let name = ''
  for (;;) {
    const length = bytes[at]
    if (length === undefined || length > 63) return bad
    at++
    if (length === 0) break
    if (at + length >= bytes.length || at + length - headerBytes > 254) return bad
    const label = bytes.toString('latin1', at, at + length)
    name +=
      (name === '' ? '' : '.') + (label.includes('.') ? label.replace(dotInLabel, '\uffff') : label)
    at += length
  }
  if (at + 4 > bytes.length) return bad
  const type = bytes.readUInt16BE(at)
  const queryClass = bytes.readUInt16BE(at + 2)
  const questionEnd = at + 4
  // An IXFR has the client's SOA in the authority section; every other query has nothing there.
  const authority = bytes.readUInt16BE(8)
  if (authority !== 0 && type !== types.IXFR) return bad
  const additional = bytes.readUInt16BE(10)
  const opt =
    additional === 0 || authority !== 0 ? undefined : findOpt(bytes, questionEnd, additional)
  if (opt === false) return bad
  const query = {
    ...base,
    questionEnd,
    name: asciiLower(name),
    type,
    edns: opt !== undefined,
    dnssecOk: opt?.dnssecOk ?? false,
    limit: opt ? Math.min(udpLimit, Math.max(plainLimit, opt.size)) : plainLimit,
  }
  if (opt && opt.version !== 0) return { ...query, rcode: rcodes.badVers }
  return { ...query, rcode: queryClass === classIn ? rcodes.noError : rcodes.refused }
}

const upper = /[A-Z]/
/**
 * RFC 4343: only ASCII letters fold; `toLowerCase` would also fold bytes that are Latin-1 letters.
 */
const asciiLower = (name: string): string =>
  upper.test(name) ? name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name

/** Builds one response. Reused: `finish` copies the bytes out. */
export class Writer {
  /** Space for a message and one record that no longer fits. */
  private readonly bytes = Buffer.allocUnsafe(65_535 + 4096)
  private at = 0
  private readonly offsets = new Map<string, number>()

  get length(): number {
    return this.at
  }

  /** The header's space, and the question as received; later names point into its name. */
  begin(source: Buffer, query: Query): void {
    this.offsets.clear()
    this.at = headerBytes
    if (query.questionEnd === headerBytes) return
    source.copy(this.bytes, headerBytes, headerBytes, query.questionEnd)
    this.at = query.questionEnd
    let { name } = query
    let offset = headerBytes
    while (name !== '') {
      this.offsets.set(name, offset)
      const dot = name.indexOf('.')
      offset += (dot < 0 ? name.length : dot) + 1
      name = dot < 0 ? '' : name.slice(dot + 1)
    }
  }

  /** Truncates to an earlier length and forgets the names written since. */
  rewind(length: number): void {
    this.at = length
    for (const [name, offset] of this.offsets) if (offset >= length) this.offsets.delete(name)
  }

  private u16(value: number): void {
    this.bytes.writeUInt16BE(value, this.at)
    this.at += 2
  }
  private u32(value: number): void {
    this.bytes.writeUInt32BE(value, this.at)
    this.at += 4
  }
  private name(full: string): void {
    let name = full
    while (name !== '') {
      const known = this.offsets.get(name)
      if (known !== undefined) {
        this.u16(0xc000 | known)
        return
      }
      if (this.at < 0x3fff) this.offsets.set(name, this.at)
      const dot = name.indexOf('.')
      const label = dot < 0 ? name : name.slice(0, dot)
      this.bytes[this.at++] = label.length
      this.at += this.bytes.write(label, this.at, 'latin1')
      name = dot < 0 ? '' : name.slice(dot + 1)
    }
    this.bytes[this.at++] = 0
  }

  /**
   * Writes one record. `value` in the notation of the driver interface; SOA: seven fields separated
   * by spaces.
   */
  record(owner: string, type: number, ttlSeconds: number, value: string): void {
    this.name(owner)
    this.u16(type)
    this.u16(classIn)
    this.u32(ttlSeconds)
    const start = this.at
    this.at += 2
    this.data(type, value)
    this.bytes.writeUInt16BE(this.at - start - 2, start)
  }

  private data(type: number, value: string): void {
    switch (type) {
      case types.A:
        for (const part of value.split('.')) this.bytes[this.at++] = Number(part)
        break
      case types.AAAA:
        for (const group of groupsOf(value)) this.u16(group)
        break
      case types.NS:
      case types.CNAME:
        this.name(value)
        break
      case types.MX: {
        const space = value.indexOf(' ')
        const host = value.slice(space + 1)
        this.u16(Number(value.slice(0, space)))
        this.name(host === '.' ? '' : host)
        break
      }
      case types.TXT: {
        const text = Buffer.from(value, 'utf8')
        for (let from = 0; from < text.length || from === 0; from += 255) {
          const part = text.subarray(from, from + 255)
          this.bytes[this.at++] = part.length
          this.at += part.copy(this.bytes, this.at)
        }
        break
      }
      case types.SOA: {
        const [primary = '', contact = '', ...times] = value.split(' ')
        this.name(primary)
        this.name(contact)
        for (const time of times) this.u32(Number(time))
        break
      }
      case types.HINFO:
        this.bytes[this.at++] = value.length
        this.at += this.bytes.write(value, this.at, 'latin1')
        this.bytes[this.at++] = 0
        break
      default:
        throw new Error(`no wire form for type ${type}`)
    }
  }

  /** The complete message as a copy. */
  finish(
    query: Query,
    of: {
      rcode: number
      authoritative: boolean
      truncated: boolean
      counts: readonly [number, number, number]
    },
  ): Buffer {
    const { bytes } = this
    let [, , additional] = of.counts
    if (query.edns) {
      bytes[this.at++] = 0
      this.u16(types.OPT)
      this.u16(udpLimit)
      bytes[this.at++] = of.rcode >> 4
      bytes[this.at++] = 0
      this.u16(query.dnssecOk ? 0x8000 : 0)
      this.u16(0)
      additional++
    }
    const flags =
      0x8000 |
      (query.opcode << 11) |
      (of.authoritative ? 0x0400 : 0) |
      (of.truncated ? 0x0200 : 0) |
      (query.recursionDesired ? 0x0100 : 0) |
      (of.rcode & 15)
    bytes.writeUInt16BE(query.id, 0)
    bytes.writeUInt16BE(flags, 2)
    bytes.writeUInt16BE(query.questionEnd > headerBytes ? 1 : 0, 4)
    bytes.writeUInt16BE(of.counts[0], 6)
    bytes.writeUInt16BE(of.counts[1], 8)
    bytes.writeUInt16BE(additional, 10)
    return Buffer.from(bytes.subarray(0, this.at))
  }
}

/** The length of OPT in bytes. */
export const optBytes = 11

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  if (!isIPv6(address)) throw new Error('not an IPv6 address')
  const [head = '', tail] = address.split('::')
  const read = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  if (tail === undefined) return read(head)
  const [left, right] = [read(head), read(tail)]
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right]
}
