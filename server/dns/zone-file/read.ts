/**
 * Parses master files (RFC 1035, section 5; RFC 2308 $TTL) in BIND's dialect, and reports the
 * position of each fault.
 */
import { at, readData } from './data.ts'
import { Fault, faults, type ZoneFileError } from './faults.ts'
import { absoluteName, relativeName } from './names.ts'
import { recordTypes, type RecordData, type ZoneFileRecord, type ZoneRecord } from './record.ts'
import { maxTtlSeconds, secondsOf, timeOf } from './times.ts'
import { readEntries, type Entry, type Token } from './tokens.ts'

export const zoneFileLimits = { bytes: 1_048_576, records: 10_000, errors: 100 } as const

export interface ReadOptions {
  /** The zone's name as an A-label name, without a dot at the end. */
  readonly origin: string
  /** The TTL of records in a file that gives none before them, neither by $TTL nor by SOA. */
  readonly defaultTtl?: number
}

const isType = (text: string): text is RecordData['type'] =>
  (recordTypes as readonly string[]).includes(text)
/** RFC 3597: every type can also be written with its number. */
const typeByNumber: Readonly<Record<string, RecordData['type']>> = {
  TYPE1: 'A',
  TYPE2: 'NS',
  TYPE5: 'CNAME',
  TYPE6: 'SOA',
  TYPE15: 'MX',
  TYPE16: 'TXT',
  TYPE28: 'AAAA',
}
/** Types that exist and that the portal does not support; any other word is a typing error. */
const otherTypes = new Set(
  `MD MF MB MG MR NULL WKS PTR HINFO MINFO RP AFSDB X25 ISDN RT NSAP NSAP-PTR SIG KEY PX GPOS LOC
  NXT EID NIMLOC SRV ATMA NAPTR KX CERT A6 DNAME SINK OPT APL DS SSHFP IPSECKEY RRSIG NSEC DNSKEY
  DHCID NSEC3 NSEC3PARAM TLSA SMIMEA HIP NINFO RKEY TALINK CDS CDNSKEY OPENPGPKEY CSYNC ZONEMD
  SVCB HTTPS SPF UINFO UID GID UNSPEC NID L32 L64 LP EUI48 EUI64 TKEY TSIG URI CAA AVC DOA
  AMTRELAY RESINFO WALLET CLA IPN DSYNC HHIT BRID NXNAME TA DLV ALIAS ANAME LUA`
    .split(/\s+/)
    .filter((type) => type !== ''),
)
const isClass = (text: string): boolean =>
  /^(?:in|ch|chaos|hs|hesiod|cs|none|any|class\d{1,5})$/i.test(text)
const isInternet = (text: string): boolean => /^(?:in|class0*1)$/i.test(text)

/** The state that earlier lines leave for later ones. */
interface State {
  origin: string
  owner: string | undefined
  /** From $TTL; or from an SOA record without a TTL of its own. */
  defaultTtlSeconds: number | undefined
  /** The previous record's TTL (RFC 1035, 5.1), used without $TTL. */
  lastTtlSeconds: number | undefined
}

/**
 * Parses the whole text. Records and errors are in the order of the file. If there are errors, the
 * records are those that could be parsed, for a preview. All records of one set get the TTL of the
 * first (RFC 2181, 5.2).
 */
export function readZoneFile(
  text: string,
  options: ReadOptions,
): { readonly records: readonly ZoneFileRecord[]; readonly errors: readonly ZoneFileError[] } {
  const records: ZoneFileRecord[] = []
  const errors: ZoneFileError[] = []
  if (Buffer.byteLength(text) > zoneFileLimits.bytes)
    return { records, errors: [{ line: 1, message: faults.tooLarge(zoneFileLimits.bytes) }] }
  const zone = options.origin.toLowerCase()
  const state: State = {
    origin: zone,
    owner: undefined,
    defaultTtlSeconds: undefined,
    lastTtlSeconds: options.defaultTtl,
  }
  const setTtlSeconds = new Map<string, number>()

  for (const entry of readEntries(text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'))) {
    try {
      if (entry instanceof Fault) throw entry
      const record = readEntry(entry, state, zone)
      if (!record) continue
      if (records.length === zoneFileLimits.records) {
        errors.push({ line: record.line, message: faults.tooManyRecords(zoneFileLimits.records) })
        break
      }
      const set = `${record.type} ${record.name}`
      const ttlSeconds = setTtlSeconds.get(set) ?? record.ttlSeconds
      setTtlSeconds.set(set, ttlSeconds)
      state.lastTtlSeconds = ttlSeconds
      records.push({ ...record, ttlSeconds, writtenTtlSeconds: record.ttlSeconds })
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const line = error.at?.line ?? (entry instanceof Fault ? 1 : entry.line)
      errors.push({ line, ...(error.at && { column: error.at.column }), message: error.sentence })
      if (errors.length === zoneFileLimits.errors) {
        errors.push({ line, message: faults.tooManyErrors(zoneFileLimits.errors) })
        break
      }
    }
  }
  return { records, errors }
}

/** Parses one entry to a record; undefined: it is a directive. */
function readEntry(
  entry: Entry,
  state: State,
  zone: string,
): (ZoneRecord & { readonly line: number }) | undefined {
  const [first] = entry.tokens
  if (!first) return undefined
  if (!entry.startsBlank && first.text.startsWith('$') && !first.quoted) {
    readDirective(first, entry.tokens.slice(1), state)
    return undefined
  }
  if (!entry.startsBlank) {
    // a line with a fault must not pass the previous line's name on to the next one
    state.owner = undefined
    if (first.quoted) throw new Fault(faults.quotedHere(), first)
    state.owner = at(first, () => absoluteName(first.text, state.origin))
  }
  const name = state.owner
  if (name === undefined) throw new Fault(faults.noOwner(), first)
  if (relativeName(name, zone) === undefined) throw new Fault(faults.outside(name, zone), first)

  const { ttlSeconds, typeToken, rest } = readHead(
    entry.tokens.slice(entry.startsBlank ? 0 : 1),
    entry.tokens.at(-1) ?? first,
  )
  const data = readData(typeOf(typeToken), typeToken, rest, state.origin)
  if (
    data.type === 'SOA' &&
    ttlSeconds === undefined &&
    state.defaultTtlSeconds === undefined &&
    state.lastTtlSeconds === undefined
  ) {
    state.defaultTtlSeconds = Math.min(data.soa.minimumSeconds, maxTtlSeconds)
  }
  const ttl = ttlSeconds ?? state.defaultTtlSeconds ?? state.lastTtlSeconds
  if (ttl === undefined) throw new Fault(faults.noTtl(), typeToken)
  return { ...data, name, ttlSeconds: ttl, line: entry.line }
}

/** `[class] [TTL] [class] type`. */
function readHead(
  tokens: readonly Token[],
  last: Token,
): { ttlSeconds: number | undefined; typeToken: Token; rest: readonly Token[] } {
  let next = 0
  let seenClass = false
  const takeClass = (): void => {
    const token = tokens[next]
    if (seenClass || !token || token.quoted || !isClass(token.text)) return
    if (!isInternet(token.text)) throw new Fault(faults.otherClass(token.text), token)
    seenClass = true
    next++
  }
  takeClass()
  let ttlSeconds: number | undefined
  const ttlToken = tokens[next]
  if (ttlToken && !ttlToken.quoted && timeOf(ttlToken.text) !== undefined) {
    ttlSeconds = at(ttlToken, () => secondsOf(ttlToken.text))
    next++
  }
  takeClass()
  const typeToken = tokens[next]
  if (!typeToken) throw new Fault(faults.noType(), last)
  return { ttlSeconds, typeToken, rest: tokens.slice(next + 1) }
}

function typeOf(token: Token): RecordData['type'] {
  const text = token.text.toUpperCase()
  const type = typeByNumber[text.replace(/^TYPE0+/, 'TYPE')] ?? text
  if (!token.quoted && isType(type)) return type
  if (!token.quoted && (otherTypes.has(type) || /^TYPE\d{1,5}$/.test(type)))
    throw new Fault(faults.unsupportedType(type), token)
  throw new Fault(faults.unknownType(token.text), token)
}

function readDirective(directive: Token, args: readonly Token[], state: State): void {
  const kind = directive.text.toUpperCase()
  if (kind === '$INCLUDE') throw new Fault(faults.include(), directive)
  if (kind === '$GENERATE') throw new Fault(faults.generate(), directive)
  if (kind !== '$ORIGIN' && kind !== '$TTL')
    throw new Fault(faults.directive(directive.text), directive)
  const [argument, more] = args
  const meaning =
    kind === '$TTL' ? { en: 'The time', vi: 'thời gian' } : { en: 'The name', vi: 'tên' }
  if (!argument) throw new Fault(faults.missing(meaning), directive)
  if (argument.quoted) throw new Fault(faults.quotedHere(), argument)
  if (kind === '$TTL') state.defaultTtlSeconds = at(argument, () => secondsOf(argument.text))
  else state.origin = at(argument, () => absoluteName(argument.text, state.origin))
  if (more) throw new Fault(faults.tooMuch(more.text), more)
}
