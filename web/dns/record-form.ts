/** The record form's values. Pure. */
import type { RecordField } from '../../contract/dns-records.ts'
import type { Record } from '../../contract/dns.ts'
import { asTyped } from '../../contract/dns-text.ts'
import { priorityLimits, ttlLimits, type RecordType } from '../../contract/dns-types.ts'

/** As typed. */
export interface RecordForm {
  name: string
  type: RecordType
  content: string
  ttl: string
  proxied: boolean
  priority: string
}

export const emptyForm: RecordForm = {
  name: '',
  type: 'A',
  content: '',
  ttl: String(ttlLimits.defaultSeconds),
  proxied: true,
  priority: String(priorityLimits.default),
}

export const formOf = (record: Record): RecordForm => ({
  name: record.name,
  type: record.type,
  content: record.type === 'TXT' ? asTyped(record.data.join('')) : record.data.join(''),
  ttl: String(record.ttl),
  proxied: record.proxied,
  priority: String(record.priority ?? priorityLimits.default),
})

/**
 * Empty required fields. The specification checks these first: name, content and TTL, and the
 * priority where the form asks for it.
 */
export const missingFrom = (form: RecordForm, withPriority: boolean): RecordField[] =>
  (['name', 'content', 'ttl', ...(withPriority ? (['priority'] as const) : [])] as const).filter(
    (field) => form[field].trim() === '',
  )
