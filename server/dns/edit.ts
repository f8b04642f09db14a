/**
 * Every change of records goes through this file: the records before and after are validated
 * together, written together, and stored in the change log, from which a name server catches up.
 */
import {
  absoluteName,
  checkNeighbours,
  recordLimit,
  recordRuleText,
  relativeName,
  setLimit,
  setLimitChars,
  type RecordFaults,
} from '../../contract/dns-records.ts'
import type { Change } from '../../contract/dns-changes.ts'
import type { Language } from '../../contract/errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { markSurplus } from './change-log.ts'
import type { Publisher } from './publish.ts'
import {
  allRecords,
  countRecords,
  dropRecords,
  insertRecords,
  isThere,
  recordsAt,
  recordsNaming,
  rewriteRecords,
  type KeptRecord,
  type ZoneRow,
} from './store.ts'
import type { ChangedBy } from './who.ts'

/** Records in both lists, by id, are changed; only in `before`, deleted; only in `after`, new. */
export interface Edit {
  readonly before: readonly KeptRecord[]
  readonly after: readonly KeptRecord[]
}

/** The domain as it will be after the edit. */
interface View {
  at(name: string): Promise<readonly KeptRecord[]>
  /** Whether the name exists: it has records, or something below it has (RFC 8020). */
  holds(name: string): Promise<boolean>
  /** MX and NS records that name this host. */
  naming(host: string): Promise<readonly KeptRecord[]>
  count(): Promise<number>
}

function group(
  records: readonly KeptRecord[],
  by: (record: KeptRecord) => string,
): Map<string, KeptRecord[]> {
  const groups = new Map<string, KeptRecord[]>()
  for (const record of records) {
    const group = groups.get(by(record))
    if (group) group.push(record)
    else groups.set(by(record), [record])
  }
  return groups
}
/** The parent of a name relative to the domain; the last one is `@`. */
const above = (name: string): string =>
  name.includes('.') ? name.slice(name.indexOf('.') + 1) : '@'
const namesHost = ({ type }: KeptRecord): boolean => type === 'MX' || type === 'NS'

/** A whole domain in memory, for edits of many records. */
export function viewOf(records: readonly KeptRecord[]): View {
  const byName = group(records, ({ name }) => name)
  const byHost = group(records.filter(namesHost), ({ content }) => content)
  let names: Set<string> | undefined
  const allNames = (): Set<string> => {
    const every = new Set<string>()
    for (const { name } of records) for (let at = name; at !== '@'; at = above(at)) every.add(at)
    return every
  }
  return {
    at: async (name) => byName.get(name) ?? [],
    holds: async (name) => name === '@' || (names ??= allNames()).has(name),
    naming: async (host) => byHost.get(host) ?? [],
    count: async () => records.length,
  }
}

/** The database with the edit applied, for edits of few records. */
function overlay(tx: Tx, zoneId: string, { before, after }: Edit): View {
  const gone = new Set([...before, ...after].map(({ id }) => id))
  const kept = (records: readonly KeptRecord[]): KeptRecord[] =>
    records.filter(({ id }) => !gone.has(id))
  return {
    at: async (name) => [
      ...kept(await recordsAt(tx, zoneId, [name])),
      ...after.filter((record) => record.name === name),
    ],
    holds: async (name) =>
      name === '@' ||
      after.some((record) => record.name === name || record.name.endsWith(`.${name}`)) ||
      (await isThere(tx, zoneId, name, [...gone])),
    naming: async (host) => [
      ...kept(await recordsNaming(tx, zoneId, host)),
      ...after.filter((record) => namesHost(record) && record.content === host),
    ],
    count: async () => (await countRecords(tx, zoneId)) - before.length + after.length,
  }
}

/** Above this number of records it is cheaper to read the whole domain. */
const fewRecords = 30
async function wholeAfter(tx: Tx, zoneId: string, { before, after }: Edit): Promise<View> {
  const gone = new Set([...before, ...after].map(({ id }) => id))
  return viewOf([...(await allRecords(tx, zoneId)).filter(({ id }) => !gone.has(id)), ...after])
}

/** A longer chain of CNAMEs inside one domain is refused like a loop. */
const chainLimit = 8

/**
 * The name whose records are served for a name: itself, or the wildcard right below its closest
 * existing ancestor (RFC 4592, 3.3.1).
 */
async function sourceOf(view: View, name: string): Promise<string> {
  if (await view.holds(name)) return name
  let closest = above(name)
  while (!(await view.holds(closest))) closest = above(closest)
  return closest === '@' ? '*' : `*.${closest}`
}

/**
 * A loop may also arise when the last record of a target is deleted, so that a wildcard answers for
 * it. No edit is refused for that: the name server follows the chain as far as it goes.
 */
async function createsCnameLoop(view: View, zone: string, record: KeptRecord): Promise<boolean> {
  let target = record.content
  for (let hop = 0; hop < chainLimit; hop++) {
    const name = relativeName(target, zone)
    if (name === undefined) return false
    const source = await sourceOf(view, name)
    if (source === record.name) return true
    const next = (await view.at(source)).find(({ type }) => type === 'CNAME')
    if (!next) return false
    target = next.content
  }
  return true
}

async function faultsOf(
  view: View,
  zone: string,
  record: KeptRecord,
): Promise<RecordFaults | undefined> {
  const others = (await view.at(record.name)).filter(({ id }) => id !== record.id)
  const beside = checkNeighbours(record, others)
  if (beside) return beside
  const set = others.filter(({ type }) => type === record.type)
  const chars = set.reduce((sum, { content }) => sum + content.length, record.content.length)
  if (set.length >= setLimit || chars > setLimitChars) return { name: 'record_set_limit' }
  if (record.type === 'CNAME') {
    if ((await view.naming(absoluteName(record.name, zone))).length > 0)
      return { name: 'record_cname_is_target' }
    if (await createsCnameLoop(view, zone, record)) return { content: 'record_cname_loop' }
  }
  if (namesHost(record)) {
    const target = relativeName(record.content, zone)
    if (target !== undefined && (await view.at(target)).some(({ type }) => type === 'CNAME'))
      return { content: 'record_target_is_cname' }
  }
  return undefined
}

export interface JudgedRecord {
  readonly record: KeptRecord
  readonly faults: RecordFaults
}

/** The faults of the records that an edit writes; at most `limit`. */
export async function judge(
  view: View,
  zone: string,
  after: readonly KeptRecord[],
  limit = 20,
): Promise<JudgedRecord[]> {
  const found: JudgedRecord[] = []
  for (const record of after) {
    const faults = await faultsOf(view, zone, record)
    if (faults) found.push({ record, faults })
    if (found.length >= limit) break
  }
  if (found.length === 0 && after.length > 0 && (await view.count()) > recordLimit) {
    const [record] = after
    if (record) found.push({ record, faults: { name: 'record_limit' } })
  }
  return found
}

export const fieldsOf = (faults: RecordFaults, language: Language): Record<string, string> =>
  Object.fromEntries(
    Object.entries(faults).map(([field, rule]) => [field, recordRuleText(rule, language)]),
  )

/**
 * Adds the other records of the written sets: a set has one TTL and one `proxied`, taken from the
 * record that was written last.
 */
async function withSiblings(tx: Tx, zoneId: string, edit: Edit): Promise<Edit> {
  const touched = new Set([...edit.before, ...edit.after].map(({ id }) => id))
  const before: KeptRecord[] = []
  const after: KeptRecord[] = []
  const sets = new Map(edit.after.map((record) => [`${record.name} ${record.type}`, record]))
  for (const kept of await recordsAt(tx, zoneId, [
    ...new Set(edit.after.map(({ name }) => name)),
  ])) {
    const lead = sets.get(`${kept.name} ${kept.type}`)
    if (!lead || touched.has(kept.id) || (kept.ttl === lead.ttl && kept.proxied === lead.proxied))
      continue
    before.push(kept)
    after.push({ ...kept, ttl: lead.ttl, proxied: lead.proxied, version: kept.version + 1 })
  }
  return { before: [...edit.before, ...before], after: [...edit.after, ...after] }
}

export interface EditDeps {
  readonly clock: Clock
  readonly publisher: Publisher
  /** Who acts for the customer; undefined: the customer in person. */
  readonly by?: ChangedBy
}

/** Writes a validated edit. The caller has locked the zone's row. Answers the change's id. */
export async function writeEdit(
  tx: Tx,
  { clock, publisher, by }: EditDeps,
  zone: ZoneRow,
  of: Edit & { customerId: string; action: Change['action'] },
): Promise<bigint> {
  const stood = new Set(of.before.map(({ id }) => id))
  const stays = new Set(of.after.map(({ id }) => id))
  await dropRecords(
    tx,
    zone.id,
    of.before.filter(({ id }) => !stays.has(id)).map(({ id }) => id),
  )
  await rewriteRecords(
    tx,
    zone.id,
    of.after.filter(({ id }) => stood.has(id)),
  )
  await insertRecords(
    tx,
    zone.id,
    of.after.filter(({ id }) => !stood.has(id)),
  )
  const serial = await publisher.recordChange(tx, zone)
  const { id } = await tx
    .insertInto('dns_change')
    .values({
      zone_id: zone.id,
      serial,
      customer_id: of.customerId,
      person_id: by?.personId ?? null,
      token_name: by?.tokenName ?? null,
      at: clock.now(),
      action: of.action,
      before: JSON.stringify(of.before),
      after: JSON.stringify(of.after),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await markSurplus(tx, zone.id)
  return id
}

/**
 * Validates and writes records with their siblings, and logs the change. Refuses with the fields of
 * the first faulty record. Answers the change and the siblings.
 */
export async function edit(
  tx: Tx,
  deps: EditDeps,
  zone: ZoneRow,
  of: Edit & { customerId: string; action: Change['action']; language: Language },
): Promise<{ changeId: bigint; siblings: readonly KeptRecord[] }> {
  const view =
    of.after.length > fewRecords ? await wholeAfter(tx, zone.id, of) : overlay(tx, zone.id, of)
  const [wrong] = await judge(view, zone.name, of.after, 1)
  if (wrong) throw new Refusal('invalid_input', { fields: fieldsOf(wrong.faults, of.language) })
  const whole = await withSiblings(tx, zone.id, of)
  return {
    changeId: await writeEdit(tx, deps, zone, { ...of, ...whole }),
    siblings: whole.after.slice(of.after.length),
  }
}
