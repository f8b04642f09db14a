/**
 * The rules for a DNS record (contract.md section 5). The server, every driver and the screens use
 * the same functions, so a screen gives the server's exact answer before the call.
 */
import { hasBrokenLabel, labelToAscii } from './dns-idn.ts'
import { recordRules, type RecordRule } from './dns-sentences.ts'
import { readQuoted } from './dns-text.ts'
import { priorityLimits, proxiable, ttlLimits, type RecordType } from './dns-types.ts'
import type { Language } from './errors.ts'

export { recordTypes, ttlLimits, type RecordType } from './dns-types.ts'

export const txtLimitBytes = 2048
/** Most records of one domain. */
export const recordLimit = 10_000
/** Most values of one name and type. */
export const setLimit = 100
/** Most characters of one set: with names and lengths around them they fit one DNS message. */
export const setLimitChars = 16_000

/** A record as the customer typed it. */
export interface RecordDraft {
  readonly name: string
  readonly type: RecordType
  readonly content: string
  readonly ttl: number
  readonly proxied?: boolean
  readonly priority?: number | null
}

/** A record as it is kept: names are A-labels, lower case, without a dot at the end. */
export interface RecordValue {
  /** `@`, or relative to the domain. */
  readonly name: string
  readonly type: RecordType
  /**
   * Canonical: IPv6 as RFC 5952 has it; TXT without quotation marks around it, else exactly as
   * typed.
   */
  readonly content: string
  readonly ttl: number
  readonly proxied: boolean
  /** MX only. */
  readonly priority: number | null
}

export type RecordField = 'name' | 'type' | 'content' | 'ttl' | 'priority'
export type RecordFaults = Partial<Record<RecordField, RecordRule>>

/** The sentence of a rule, in the customer's language. */
export const recordRuleText = (rule: RecordRule, language: Language): string =>
  recordRules[rule][language]

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const serviceLabel = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
const maxNameLength = 253

/**
 * A-labels, lower case; undefined when IDNA 2008 (UTS 46, as browsers implement it) rejects the
 * name.
 */
export function toAscii(typed: string): string | undefined {
  const lower = typed.normalize('NFC').toLowerCase()
  if (/^[\x21-\x7e]*$/.test(lower)) return lower
  // The host of a URL would also accept escapes, ports, paths and credentials, and read numbers as
  // addresses.
  if (/[\s%:/\\?#@[\]]/.test(lower)) return undefined
  // One label at a time: a URL's host may not end in a number, and only some browsers accept an
  // asterisk.
  const labels = lower.split(/[.\u3002\uff0e\uff61]/).map((one) => {
    return /^[\x21-\x7e]*$/.test(one) ? one : labelToAscii(one)
  })
  return labels.includes(undefined) ? undefined : labels.join('.')
}

/**
 * Whether the text is a host name of at least two labels (RFC 1123), in A-labels. An IP address is
 * not one.
 */
export const isHostName = (name: string, pattern: RegExp = label): boolean =>
  name.length <= maxNameLength &&
  name.includes('.') &&
  !/^\d+$/.test(name.slice(name.lastIndexOf('.') + 1)) &&
  name.split('.').every((one) => pattern.test(one))

/** The absolute name of a record of the domain `zone`. */
export const absoluteName = (name: string, zone: string): string =>
  name === '@' ? zone : `${name}.${zone}`
/** `@`, or the name without the domain at its end. Undefined when the name is not in the domain. */
export function relativeName(absolute: string, zone: string): string | undefined {
  if (absolute === zone) return '@'
  return absolute.endsWith(`.${zone}`) ? absolute.slice(0, -zone.length - 1) : undefined
}

/** `@`, `www`, `*.shop`, or a full name that ends in the domain `zone`, in A-labels. */
export function readName(
  typed: string,
  type: RecordType,
  zone: string,
): { name: string } | { fault: RecordRule } {
  const ascii = toAscii(typed.trim())
  if (ascii === undefined || ascii === '') return { fault: 'record_name' }
  if (hasBrokenLabel(ascii)) return { fault: 'a_label' }
  const bare = ascii.replace(/\.$/, '')
  const within = ascii === '@' ? '@' : relativeName(bare, zone)
  if (within === undefined && ascii.endsWith('.')) return { fault: 'record_name_outside' }
  const name = within ?? bare
  if (name === '@') return { name }
  const [first = '', ...rest] = name.split('.')
  const pattern = type === 'TXT' || type === 'CNAME' || type === 'NS' ? serviceLabel : label
  const firstHolds = first === '*' ? type !== 'NS' : pattern.test(first)
  const holds =
    firstHolds &&
    rest.every((one) => pattern.test(one)) &&
    absoluteName(name, zone).length <= maxNameLength
  return holds ? { name } : { fault: 'record_name' }
}

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

/** RFC 5952 form; undefined when it is no IPv6 address. */
export function canonicalIpv6(text: string): string | undefined {
  if (!/^[0-9a-f:.]{2,45}$/i.test(text) || !URL.canParse(`http://[${text}]`)) return undefined
  return new URL(`http://[${text}]`).hostname.slice(1, -1)
}

const targetFaults = {
  MX: 'record_mail_host',
  CNAME: 'record_target',
  NS: 'record_name_server',
} as const

function readTarget(
  typed: string,
  type: keyof typeof targetFaults,
  zone: string,
): { content: string } | { fault: RecordRule } {
  const text = typed.trim()
  if (text === '@' && type !== 'NS') return { content: zone }
  const ascii = toAscii(text)?.replace(/\.$/, '')
  if (ascii === undefined || !isHostName(ascii, type === 'CNAME' ? serviceLabel : label))
    return { fault: targetFaults[type] }
  return hasBrokenLabel(ascii) ? { fault: 'a_label' } : { content: ascii }
}

// C0, DEL and C1. (A lone surrogate has no UTF-8.)
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f]/

function readContent(
  draft: RecordDraft,
  zone: string,
): { content: string } | { fault: RecordRule } {
  const { type, content } = draft
  switch (type) {
    case 'A': {
      const text = content.trim()
      return ipv4.test(text) ? { content: text } : { fault: 'record_ipv4' }
    }
    case 'AAAA': {
      const address = canonicalIpv6(content.trim())
      return address === undefined ? { fault: 'record_ipv6' } : { content: address }
    }
    case 'TXT': {
      const text = readQuoted(content) ?? content
      if (readQuoted(content) === null) return { fault: 'record_text_quoted' }
      // An empty text is only accepted when it is typed as "" (RFC 1035, section 3.3).
      if (text.trim() === '' && content.trim() !== '""') return { fault: 'record_text_empty' }
      if (control.test(text) || !text.isWellFormed()) return { fault: 'record_text_control' }
      return new TextEncoder().encode(text).length > txtLimitBytes
        ? { fault: 'record_text_length' }
        : { content: text }
    }
    case 'MX': {
      // RFC 7505: "this domain takes no mail".
      if (content.trim() === '.')
        return draft.priority === 0 ? { content: '.' } : { fault: 'record_null_mx' }
      return readTarget(content, type, zone)
    }
    case 'CNAME':
    case 'NS':
      return readTarget(content, type, zone)
  }
}

/**
 * Checks one record by itself. `zone`: the domain, in A-labels. `driver.apexFlattening`: the name
 * server answers a CNAME at the apex with addresses. `checkNeighbours` checks it against other
 * records.
 */
export function readRecord(
  draft: RecordDraft,
  zone: string,
  driver: { readonly proxied: boolean; readonly apexFlattening: boolean },
): { readonly record: RecordValue } | { readonly faults: RecordFaults } {
  const { type, ttl } = draft
  const faults: RecordFaults = {}
  const named = readName(draft.name, type, zone)
  const read = readContent(draft, zone)
  if ('fault' in named) faults.name = named.fault
  else if (named.name === '@' && type === 'NS') faults.name = 'record_apex_ns'
  else if (named.name === '@' && type === 'CNAME' && !driver.apexFlattening)
    faults.name = 'record_apex_cname'
  else if ('content' in read && type === 'CNAME' && read.content === absoluteName(named.name, zone))
    faults.content = 'record_cname_self'
  if ('fault' in read) faults.content = read.fault
  if (!Number.isInteger(ttl) || ttl < ttlLimits.minSeconds || ttl > ttlLimits.maxSeconds)
    faults.ttl = 'record_ttl'
  const priority = type === 'MX' ? (draft.priority ?? priorityLimits.default) : null
  if (
    priority !== null &&
    (!Number.isInteger(priority) || priority < priorityLimits.min || priority > priorityLimits.max)
  )
    faults.priority = 'record_priority'
  if (Object.keys(faults).length > 0 || 'fault' in read || 'fault' in named) return { faults }
  const proxied = proxiable(type) && driver.proxied && (draft.proxied ?? false)
  return { record: { name: named.name, type, content: read.content, ttl, priority, proxied } }
}

/**
 * Which rule `record` breaks beside the other records of its name. `others`: every record of that
 * name except itself.
 */
export function checkNeighbours(
  record: RecordValue,
  others: readonly RecordValue[],
): RecordFaults | undefined {
  if (
    others.some(
      (other) =>
        other.type === record.type &&
        other.content === record.content &&
        other.priority === record.priority,
    )
  )
    return { content: 'record_duplicate' }
  const cname = others.some((other) => other.type === 'CNAME')
  if (record.type === 'CNAME' && others.length > 0)
    return { name: cname ? 'record_cname_second' : 'record_cname_beside' }
  if (cname) return { name: 'record_beside_cname' }
  const mail = others.filter((other) => other.type === 'MX')
  if (
    record.type === 'MX' &&
    (record.content === '.' ? mail.length > 0 : mail.some((other) => other.content === '.'))
  )
    return { content: 'record_null_mx' }
  return undefined
}
