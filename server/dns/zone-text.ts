/** A domain as a zone file: export, and import of all or nothing. */
import { randomUUID } from 'node:crypto'
import {
  absoluteName,
  readRecord,
  recordRuleText,
  relativeName,
  ttlLimits,
  type RecordFaults,
  type RecordType,
} from '../../contract/dns-records.ts'
import { asTyped } from '../../contract/dns-text.ts'
import type { ImportPlan } from '../../contract/dns-changes.ts'
import type { Language } from '../../contract/errors.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { judge, viewOf, writeEdit } from './edit.ts'
import { apexTtlSeconds, soaTimes } from './publish.ts'
import type { RecordDeps } from './records.ts'
import { allRecords, lockZone, stateOf, type KeptRecord, type ZoneRow } from './store.ts'
import {
  readZoneFile,
  writeZoneFile,
  type ZoneFileRecord,
  type ZoneRecord,
} from './zone-file/index.ts'

/** The maximum of reported faults per file. */
const maxFaultsShown = 20

const written = (zone: string, record: KeptRecord): ZoneRecord => {
  const at = { name: absoluteName(record.name, zone), ttlSeconds: record.ttl }
  return record.type === 'MX'
    ? {
        ...at,
        type: 'MX',
        data: record.content === '.' ? '' : record.content,
        priority: record.priority ?? 0,
      }
    : { ...at, type: record.type, data: record.content }
}

/**
 * A BIND zone file with the domain's own SOA and NS records. `contact`: the SOA's mailbox, as a
 * name.
 */
export async function exportZone(db: Queryable, zone: ZoneRow, contact: string): Promise<string> {
  const records = await allRecords(db, zone.id)
  return writeZoneFile({
    origin: zone.name,
    soa: {
      primary: zone.name_servers[0] ?? '',
      mailbox: contact,
      serial: Number(zone.serial),
      refreshSeconds: soaTimes.refresh,
      retrySeconds: soaTimes.retry,
      expireSeconds: soaTimes.expire,
      minimumSeconds: soaTimes.minimum,
      ttlSeconds: apexTtlSeconds,
    },
    records: [
      ...zone.name_servers.map((data): ZoneRecord => ({
        name: zone.name,
        type: 'NS',
        data,
        ttlSeconds: apexTtlSeconds,
      })),
      ...records.map((record) => written(zone.name, record)),
    ],
  })
}

const setOf = ({ name, type }: { name: string; type: RecordType }): string => `${name} ${type}`
const valueOf = (record: {
  name: string
  type: RecordType
  content: string
  priority: number | null
}): string => `${setOf(record)} ${record.priority} ${record.content}`

interface ReadFile {
  /** Each with its line in the file. */
  readonly records: readonly { readonly record: KeptRecord; readonly line: number }[]
  readonly skipped: ImportPlan['skipped']
  readonly adjusted: ImportPlan['adjusted']
}

const kept = (ttlSeconds: number): number =>
  Math.min(ttlLimits.maxSeconds, Math.max(ttlLimits.minSeconds, ttlSeconds))

/** Undefined: the record gets the TTL of the file. */
function adjustedTtl(
  read: ZoneFileRecord,
  record: KeptRecord,
  language: Language,
): ImportPlan['adjusted'][number] | undefined {
  const [from, to] = [read.writtenTtlSeconds, record.ttl]
  if (from === to) return undefined
  const { minSeconds: min, maxSeconds: max } = ttlLimits
  const of = `${record.name} ${record.type}`
  const reason =
    kept(from) === to
      ? {
          en: `a TTL is ${min} to ${max} seconds here`,
          vi: `vì ở đây TTL phải từ ${min} đến ${max} giây`,
        }
      : {
          en: `the ${record.type} records of a name share the TTL of the first`,
          vi: `vì các bản ghi ${record.type} cùng tên dùng chung TTL của bản ghi đầu tiên`,
        }
  const text = {
    en: `Line ${read.line}: ${of} gets a TTL of ${to} seconds instead of ${from}: ${reason.en}.`,
    vi: `Dòng ${read.line}: TTL của ${of} đổi từ ${from} thành ${to} giây, ${reason.vi}.`,
  }
  return { line: read.line, name: record.name, type: record.type, from, to, text: text[language] }
}

/** Parses the file by our rules. Refuses with all faults and their lines. */
function readFile(text: string, zone: ZoneRow, deps: RecordDeps, language: Language): ReadFile {
  const file = readZoneFile(text, { origin: zone.name, defaultTtl: ttlLimits.defaultSeconds })
  const faults = file.errors.map(({ line, message }) => ({ line, text: message[language] }))
  const skipped: ImportPlan['skipped'] = []
  const adjusted: ImportPlan['adjusted'] = []
  const values = new Map<string, { record: KeptRecord; line: number }>()
  for (const read of file.records) {
    const own = skips(read, zone.name)
    if (own) skipped.push({ line: read.line, text: own })
    if (own || read.type === 'SOA') continue
    const content = read.type === 'TXT' ? asTyped(read.data) : read.data
    const answer = readRecord(
      {
        name: relativeName(read.name, zone.name) ?? `${read.name}.`,
        type: read.type,
        content: read.type === 'MX' && read.data === '' ? '.' : content,
        ttl: kept(read.ttlSeconds),
        priority: read.type === 'MX' ? read.priority : null,
      },
      zone.name,
      deps.capabilities,
    )
    if ('faults' in answer) {
      faults.push({ line: read.line, text: firstText(answer.faults, language) })
      continue
    }
    const record = { ...answer.record, id: randomUUID(), version: 1 }
    if (!values.has(valueOf(record))) values.set(valueOf(record), { record, line: read.line })
    const ttl = adjustedTtl(read, record, language)
    if (ttl) adjusted.push(ttl)
  }
  refuseWith(faults, language)
  return { skipped, adjusted, records: [...values.values()] }
}

/** We generate the SOA and the apex's NS. */
const skips = (read: ZoneFileRecord, zone: string): string | undefined =>
  read.type === 'SOA' || (read.type === 'NS' && read.name === zone)
    ? `${read.name}. ${read.type} ${read.data}`.trim()
    : undefined

const firstText = (faults: RecordFaults, language: Language): string => {
  const [rule] = Object.values(faults)
  return rule === undefined ? '' : recordRuleText(rule, language)
}

function refuseWith(faults: readonly { line: number; text: string }[], language: Language): void {
  if (faults.length === 0) return
  const word = language === 'vi' ? 'Dòng' : 'Line'
  const lines = faults
    .toSorted((a, b) => a.line - b.line)
    .slice(0, maxFaultsShown)
    .map(({ line, text }) => `${word} ${line}: ${text}`)
  throw new Refusal('invalid_input', { fields: { content: lines.join('\n') } })
}

/**
 * Imports a file. `merge` adds its values and removes nothing; `sets` replaces the sets that it
 * names; `replace` also removes all other sets. Answers the changes; with `preview` nothing is
 * written. One fault refuses the whole file, with its line.
 */
export async function importZone(
  tx: Tx,
  deps: RecordDeps,
  of: {
    customerId: string
    zoneId: string
    language: Language
    content: string
    mode: 'merge' | 'sets' | 'replace'
    preview: boolean
  },
): Promise<ImportPlan> {
  const zone = await lockZone(tx, of.customerId, of.zoneId)
  const file = readFile(of.content, zone, deps, of.language)
  const present = await allRecords(tx, zone.id)
  const wanted = new Map(file.records.map((one) => [valueOf(one.record), one]))
  const named = new Set(file.records.map(({ record }) => setOf(record)))
  const proxied = new Map(present.map((record) => [setOf(record), record.proxied]))

  // A set has one TTL (RFC 2181, section 5.2): the file's, if it names an existing value.
  const ttls = new Map<string, number>()
  for (const record of present) {
    const entry = wanted.get(valueOf(record))
    if (entry) ttls.set(setOf(record), entry.record.ttl)
    else if (!ttls.has(setOf(record)) && of.mode === 'merge') ttls.set(setOf(record), record.ttl)
  }

  const removed: KeptRecord[] = []
  const changed: { before: KeptRecord; after: KeptRecord }[] = []
  const stays: KeptRecord[] = []
  for (const record of present) {
    const isNamed = wanted.delete(valueOf(record))
    const goes =
      !isNamed && (of.mode === 'replace' || (of.mode === 'sets' && named.has(setOf(record))))
    const ttl = ttls.get(setOf(record)) ?? record.ttl
    if (goes) removed.push(record)
    else if (ttl === record.ttl) stays.push(record)
    else changed.push({ before: record, after: { ...record, ttl, version: record.version + 1 } })
  }
  const added = [...wanted.values()].map(({ record, line }) => ({
    record: {
      ...record,
      proxied: proxied.get(setOf(record)) ?? false,
      ttl: ttls.get(setOf(record)) ?? record.ttl,
    },
    line,
  }))
  const lines = new Map(added.map(({ record, line }) => [record.id, line]))
  const after = [...changed.map((one) => one.after), ...added.map(({ record }) => record)]
  const wrong = await judge(viewOf([...stays, ...after]), zone.name, after, maxFaultsShown)
  refuseWith(
    wrong.map(({ record, faults }) => ({
      line: lines.get(record.id) ?? 1,
      text: `${record.name}: ${firstText(faults, of.language)}`,
    })),
    of.language,
  )
  const before = [...removed, ...changed.map((one) => one.before)]
  const applied = !of.preview
  if (applied && before.length + after.length > 0)
    await writeEdit(tx, deps, zone, { customerId: of.customerId, action: 'import', before, after })
  return {
    applied,
    added: added.map(({ record }) => stateOf(record)),
    changed: changed.map((one) => ({ before: stateOf(one.before), after: stateOf(one.after) })),
    removed: removed.map(stateOf),
    unchanged: stays.length,
    skipped: file.skipped,
    adjusted: file.adjusted,
  }
}
