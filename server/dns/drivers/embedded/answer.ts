/**
 * From a query to a response (RFC 1034, 4.3.2; RFC 2308; RFC 4592; RFC 8482). Pure: bytes in, bytes
 * out.
 */
import { ResponseCache } from './response-cache.ts'
import { headerBytes, optBytes, rcodes, readQuery, types, Writer, type Query } from './wire.ts'
import { setOf, type Node, type StoredSet, type Zone, type Zones } from './zones.ts'

interface Found {
  readonly owner: string
  readonly type: number
  readonly ttl: number
  readonly value: string
  /** Glue that the referral needs. */
  readonly needed?: boolean
}
interface Resolved {
  rcode: number
  authoritative: boolean
  readonly answer: Found[]
  readonly authority: Found[]
  readonly additional: Found[]
}

/** Longest chain of CNAMEs that is followed. */
const chainLimit = 8
const anyTtlSeconds = 3600
/** Types from here on are meta types (RFC 6895, 3.1), except ANY. */
const metaTypes = { from: 128, to: 254 }

const all = (owner: string, { type, ttl, values }: StoredSet): Found[] =>
  values.map((value) => ({ owner, type, ttl, value }))

/** Adds the SOA; negative answers may be cached for the lesser of its TTL and its minimum. */
function addStart(into: Found[], zone: Zone): void {
  const apex = zone.nodes.get(zone.name)
  const start = apex && setOf(apex, types.SOA)
  if (start)
    for (const found of all(zone.name, start))
      into.push({ ...found, ttl: Math.min(found.ttl, zone.head.soa.minimum) })
}

function addAddresses(into: Found[], zone: Zone, host: string, needed: boolean): void {
  const node = zone.nodes.get(host)
  if (!node) return
  for (const type of [types.A, types.AAAA]) {
    const set = setOf(node, type)
    if (set) for (const found of all(host, set)) into.push({ ...found, needed })
  }
}

/** The highest delegated name at or above `name` and below the apex. */
function cutAbove(zone: Zone, name: string): { name: string; set: StoredSet } | undefined {
  let cut: { name: string; set: StoredSet } | undefined
  for (let at = name; at !== zone.name; at = at.slice(at.indexOf('.') + 1)) {
    const node = zone.nodes.get(at)
    const set = node && setOf(node, types.NS)
    if (set) cut = { name: at, set }
  }
  return cut
}

/**
 * The wildcard for a name that does not exist: the one right below its closest existing ancestor
 * (RFC 4592, 3.3.1).
 */
function wildcardFor(zone: Zone, name: string): Node | undefined {
  let at = name
  while (at !== zone.name) {
    at = at.slice(at.indexOf('.') + 1)
    if (zone.nodes.has(at)) return zone.nodes.get(`*.${at}`)
  }
  return undefined
}

function resolve(zones: Zones, name: string, type: number): Resolved {
  const result: Resolved = {
    rcode: rcodes.noError,
    authoritative: true,
    answer: [],
    authority: [],
    additional: [],
  }
  const closest = zones.closest(name)
  // A DS record is on the parent's side of a zone cut.
  const zone =
    type === types.DS && closest?.name === name ? (zones.closest(name, true) ?? closest) : closest
  if (!zone) return { ...result, rcode: rcodes.refused, authoritative: false }
  let owner = name
  for (let hop = 0; hop <= chainLimit; hop++) {
    const cut = zone.cuts > 0 ? cutAbove(zone, owner) : undefined
    if (cut && !(type === types.DS && cut.name === owner)) {
      result.authoritative = result.answer.length > 0
      result.authority.push(...all(cut.name, cut.set))
      for (const host of cut.set.values)
        addAddresses(
          result.additional,
          zone,
          host,
          host === cut.name || host.endsWith(`.${cut.name}`),
        )
      return result
    }
    const node = zone.nodes.get(owner) ?? wildcardFor(zone, owner)
    if (!node) {
      result.rcode = rcodes.nxDomain
      addStart(result.authority, zone)
      return result
    }
    const alias = setOf(node, types.CNAME)
    // A synthesised HINFO beside a CNAME would deny the alias (RFC 8482, 4.2): there the response
    // is the CNAME itself, as stored.
    if (type === types.ANY && alias) {
      result.answer.push(...all(owner, alias))
      return result
    }
    if (type === types.ANY && node.sets.length > 0) {
      result.answer.push({ owner, type: types.HINFO, ttl: anyTtlSeconds, value: 'RFC8482' })
      return result
    }
    const set = setOf(node, type)
    if (set) {
      result.answer.push(...all(owner, set))
      if (type === types.MX || type === types.NS)
        for (const value of set.values)
          addAddresses(result.additional, zone, value.slice(value.indexOf(' ') + 1), false)
      return result
    }
    const target = alias?.values[0]
    if (!alias || target === undefined) {
      addStart(result.authority, zone)
      return result
    }
    result.answer.push(...all(owner, alias))
    // A wildcard may lead back to a name that was followed: its set is in the response already and
    // must not be repeated (RFC 2181, 5).
    if (result.answer.some((found) => found.owner === target)) return result
    // Follow the alias only within the domain: another customer's records of the target are not
    // part of this one's response.
    if (zones.closest(target) !== zone) return result
    owner = target
  }
  return result
}

const writer = new Writer()

/**
 * Writes the result. If answer and authority do not fit, it is truncated, and the client comes back
 * over TCP.
 */
function compose(source: Buffer, query: Query, found: Resolved, limit: number): Buffer {
  writer.begin(source, query)
  const room = limit - (query.edns ? optBytes : 0)
  const start = writer.length
  const sections = [found.answer, found.authority, found.additional] as const
  const counts: [number, number, number] = [0, 0, 0]
  for (const [index, section] of sections.entries()) {
    for (const { owner, type, ttl, value, needed } of section) {
      const before = writer.length
      writer.record(owner, type, ttl, value)
      if (writer.length > room) {
        if (index < 2 || needed === true) {
          writer.rewind(start)
          return writer.finish(query, { ...found, truncated: true, counts: [0, 0, 0] })
        }
        writer.rewind(before)
        return writer.finish(query, { ...found, truncated: false, counts })
      }
      counts[index as 0 | 1 | 2]++
    }
  }
  return writer.finish(query, { ...found, truncated: false, counts })
}

const nothing = (rcode: number): Resolved => ({
  rcode,
  authoritative: false,
  answer: [],
  authority: [],
  additional: [],
})

const tcpLimit = 65_535
/**
 * A transfer's message is closed once it is longer than this; the longest record still fits after
 * it.
 */
const transferMessageBytes = 16_000

export interface Answerer {
  /** Undefined: no response at all. `tcp`: the response may have the full length of a message. */
  answer(bytes: Buffer, tcp: boolean): Buffer | undefined
}

export function createAnswerer(zones: Zones): Answerer {
  const cache = new ResponseCache()
  let generation = -1
  function fresh(bytes: Buffer, query: Query, tcp: boolean): Buffer {
    const limit = tcp ? tcpLimit : query.limit
    if (query.rcode !== rcodes.noError) return compose(bytes, query, nothing(query.rcode), limit)
    const meta =
      query.type === types.OPT || (query.type >= metaTypes.from && query.type <= metaTypes.to)
    return compose(
      bytes,
      query,
      meta ? nothing(rcodes.refused) : resolve(zones, query.name, query.type),
      limit,
    )
  }
  return {
    answer(bytes, tcp) {
      if (generation !== zones.generation) {
        cache.clear()
        generation = zones.generation
      }
      const known = tcp ? undefined : cache.find(bytes)
      if (known) return known
      const query = readQuery(bytes)
      if (!query) return undefined
      const answer = fresh(bytes, query, tcp)
      if (!tcp && query.questionEnd > headerBytes) cache.store(bytes, query.questionEnd, answer)
      return answer
    },
  }
}

/**
 * A zone as a stream of messages (RFC 5936): SOA, all records, SOA. Each message is filled before
 * the next begins.
 */
export function* transfer(zone: Zone, bytes: Buffer, query: Query): Generator<Buffer> {
  const apex = zone.nodes.get(zone.name)
  const start = apex && setOf(apex, types.SOA)
  if (!start) return
  const records: Found[] = [...all(zone.name, start)]
  for (const [owner, node] of zone.nodes)
    for (const set of node.sets) if (set !== start) records.push(...all(owner, set))
  records.push(...all(zone.name, start))
  let index = 0
  while (index < records.length) {
    // Each message is written in one go, because the shared writer serves other queries between two
    // of them.
    writer.begin(bytes, query)
    let count = 0
    for (; index < records.length && writer.length < transferMessageBytes; index++, count++) {
      const record = records[index]
      if (record) writer.record(record.owner, record.type, record.ttl, record.value)
    }
    yield writer.finish(query, {
      rcode: rcodes.noError,
      authoritative: true,
      truncated: false,
      counts: [count, 0, 0],
    })
  }
}
