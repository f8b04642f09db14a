/** Records one by one: add, change, delete. Invalid input changes nothing. */
import { randomUUID } from 'node:crypto'
import {
  readRecord,
  recordRuleText,
  type RecordDraft,
  type RecordValue,
} from '../../contract/dns-records.ts'
import { asTyped } from '../../contract/dns-text.ts'
import type { RecordBody } from '../../contract/dns.ts'
import type { Language } from '../../contract/errors.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { DnsCapabilities } from './driver.ts'
import { edit, fieldsOf, type EditDeps } from './edit.ts'
import { lockZone, recordsById, type KeptRecord, type ZoneRow } from './store.ts'

export interface RecordDeps extends EditDeps {
  readonly capabilities: DnsCapabilities
}
interface ChangeContext {
  readonly customerId: string
  readonly zoneId: string
  readonly language: Language
}

function accepted(
  deps: RecordDeps,
  zone: ZoneRow,
  body: RecordBody,
  language: Language,
): RecordValue {
  if (body.id !== undefined && body.id !== zone.id)
    throw new Refusal('invalid_input', { fields: { id: recordRuleText('other_domain', language) } })
  const draft: RecordDraft = { ...body, priority: body.priority ?? null }
  const read = readRecord(draft, zone.name, deps.capabilities)
  if ('faults' in read)
    throw new Refusal('invalid_input', { fields: fieldsOf(read.faults, language) })
  return read.record
}

async function found(
  tx: Tx,
  zone: ZoneRow,
  recordId: string,
  version: number | undefined,
  language: Language,
): Promise<KeptRecord> {
  const [record] = await recordsById(tx, zone.id, [recordId])
  if (!record) throw new Refusal('not_found')
  if (version !== undefined && version !== record.version)
    throw new Refusal('conflict', {
      fields: { version: recordRuleText('record_changed', language) },
    })
  return record
}

/** A written record, and the records of the same name and type that got its TTL and `proxied`. */
export interface Written {
  readonly record: KeptRecord
  readonly siblings: readonly KeptRecord[]
}

export async function addRecord(
  tx: Tx,
  deps: RecordDeps,
  of: ChangeContext & { body: RecordBody },
): Promise<Written> {
  const zone = await lockZone(tx, of.customerId, of.zoneId)
  const record = { ...accepted(deps, zone, of.body, of.language), id: randomUUID(), version: 1 }
  const { siblings } = await edit(tx, deps, zone, {
    ...of,
    action: 'add',
    before: [],
    after: [record],
  })
  return { record, siblings }
}

/**
 * `version`: that of the record on which the change is based; if it has changed, the call refuses
 * with conflict.
 */
export async function changeRecord(
  tx: Tx,
  deps: RecordDeps,
  of: ChangeContext & { recordId: string; body: RecordBody; version: number | undefined },
): Promise<Written> {
  const zone = await lockZone(tx, of.customerId, of.zoneId)
  const before = await found(tx, zone, of.recordId, of.version, of.language)
  // An imported text with quotation marks is stored as it was read: the form does not strip them.
  const isSameText =
    of.body.type === 'TXT' && before.type === 'TXT' && of.body.content === before.content
  const value = accepted(
    deps,
    zone,
    isSameText ? { ...of.body, content: asTyped(before.content) } : of.body,
    of.language,
  )
  const after = { ...value, id: before.id, version: before.version + 1 }
  if (Object.entries(value).every(([field, now]) => before[field as keyof RecordValue] === now))
    return { record: before, siblings: [] }
  const { siblings } = await edit(tx, deps, zone, {
    ...of,
    action: 'edit',
    before: [before],
    after: [after],
  })
  return { record: after, siblings }
}

export async function deleteRecord(
  tx: Tx,
  deps: RecordDeps,
  of: ChangeContext & { recordId: string; version: number | undefined },
): Promise<{ id: string; changeId: bigint }> {
  const zone = await lockZone(tx, of.customerId, of.zoneId)
  const record = await found(tx, zone, of.recordId, of.version, of.language)
  const { changeId } = await edit(tx, deps, zone, {
    ...of,
    action: 'delete',
    before: [record],
    after: [],
  })
  return { id: record.id, changeId }
}

/** Deletes all of them or none, as one change. */
export async function deleteRecords(
  tx: Tx,
  deps: RecordDeps,
  of: ChangeContext & { ids: readonly string[] },
): Promise<{ deleted: number; changeId: bigint }> {
  const zone = await lockZone(tx, of.customerId, of.zoneId)
  const ids = [...new Set(of.ids)]
  const before = await recordsById(tx, zone.id, ids)
  if (before.length !== ids.length) throw new Refusal('not_found')
  const { changeId } = await edit(tx, deps, zone, { ...of, action: 'delete', before, after: [] })
  return { deleted: ids.length, changeId }
}
