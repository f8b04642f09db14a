/**
 * Domains and their records (contract.md section 5, portal.md section 7). A record is one value:
 * `data` holds exactly one, so that each has its own id, priority and Delete. Records of the same
 * name and type form a set (RFC 2181) with one TTL and one `proxied`: writing one of them sets both
 * for all.
 */
import * as z from 'zod/mini'
import { recordTypes } from './dns-types.ts'
import { endpoint, idParam, pageQuery } from './endpoint.ts'

const text = (length: number) => z.string().check(z.maxLength(length))
const recordParams = z.object({ id: text(100), recordId: text(100) })

export const Domain = z.object({
  id: z.string(),
  /** As typed, in lower case; may be Unicode. */
  name: z.string(),
  /** The name in A-labels. */
  ascii: z.string(),
  active: z.boolean(),
  /** The exact pair that the parent zone must name. */
  nameserver: z.array(z.string()),
  createdAt: z.string(),
  verification: z.object({
    expected: z.array(z.string()),
    /** The name servers in the parent zone at the last check. */
    found: z.array(z.string()),
    checkedAt: z.nullable(z.string()),
  }),
  /** Since when an active domain is delegated elsewhere; null: it is not. */
  movedAt: z.nullable(z.string()),
  /** What the configured name server supports. */
  capabilities: z.object({ proxied: z.boolean(), apexFlattening: z.boolean() }),
})
export type Domain = z.output<typeof Domain>

export const Record = z.object({
  id: z.string(),
  /** `@`, or relative to the domain. */
  name: z.string(),
  type: z.enum(recordTypes),
  data: z.array(z.string()),
  /** Seconds. */
  ttl: z.int(),
  proxied: z.boolean(),
  /** MX only. */
  priority: z.nullable(z.int()),
  /**
   * Grows with every change of the record. Sent back with a PUT or DELETE, it keeps one tab from
   * overwriting another's change.
   */
  version: z.int(),
})
export type Record = z.output<typeof Record>

/** A written record, as the answer to a write. */
const WrittenRecord = z.object({
  ...Record.shape,
  /**
   * Other records of the same name and type whose TTL and `proxied` were changed to match (RFC
   * 2181, 5.2); absent when there are none.
   */
  alsoChanged: z.optional(z.array(Record)),
  /** What is probably a mistake, in the caller's language; absent when there is nothing. */
  warnings: z.optional(z.array(z.object({ code: z.string(), text: z.string() }))),
})

/** contract/dns-records.ts checks `content` and `name`. */
export const RecordBody = z.strictObject({
  /** The domain's id, as in the path. */
  id: z.optional(text(100)),
  name: z.string().check(z.minLength(1), z.maxLength(300)),
  type: z.enum(recordTypes),
  content: z.string().check(z.minLength(1), z.maxLength(70_000)),
  ttl: z.int(),
  proxied: z._default(z.boolean(), false),
  priority: z.optional(z.nullable(z.int())),
})
export type RecordBody = z.output<typeof RecordBody>

/** Why a delegation check failed: the six reasons of contract.md. */
export const checkReasons = [
  'not_registered',
  'other_nameservers',
  'extra_nameservers',
  'not_answering',
  'stale_ds',
  'public_suffix',
] as const
export type CheckReason = (typeof checkReasons)[number]

export const Check = z.object({
  isValid: z.boolean(),
  expected: z.array(z.string()),
  found: z.array(z.string()),
  reason: z.optional(z.enum(checkReasons)),
  /** What to change and where, in the caller's language. */
  advice: z.optional(z.string()),
  /** Problems that do not stop the activation. */
  warnings: z.array(z.object({ code: z.string(), text: z.string() })),
})
export type Check = z.output<typeof Check>

export const listDomains = endpoint({
  method: 'GET',
  path: '/api/dns',
  access: 'customer',
  member: 'domains:read',
  seen: true,
  scope: 'domains:read',
  narrows: true,
  summary: "The customer's domains, newest first; `search` looks in names",
  query: z.object({ ...pageQuery, search: z.optional(text(253)) }),
  result: z.object({ data: z.array(Domain) }),
  paged: true,
})
export const createDomain = endpoint({
  method: 'POST',
  path: '/api/dns',
  access: 'customer',
  member: 'domains:write',
  scope: 'domains:write',
  summary:
    'Add a domain; it becomes active once the parent zone names exactly its two name servers',
  body: z.strictObject({ name: z.string().check(z.minLength(1), z.maxLength(300)) }),
  result: Domain,
  status: 201,
})
export const checkDomain = endpoint({
  method: 'GET',
  path: '/api/dns/check',
  access: 'customer',
  // A GET, as the specification has it, and yet it activates what it finds.
  member: 'domains:write',
  scope: 'domains:write',
  // Judged by the domain that is found.
  narrows: true,
  summary:
    "Ask the parent zone's own servers how the domain is delegated; activates it when that is " +
    'right',
  query: z.object({ domain: z.string().check(z.minLength(1), z.maxLength(300)) }),
  result: Check,
})
export const getDomain = endpoint({
  method: 'GET',
  path: '/api/dns/:id',
  access: 'customer',
  member: 'domains:read',
  seen: true,
  scope: 'domains:read',
  summary: 'One domain',
  params: idParam,
  result: Domain,
})
export const deleteDomain = endpoint({
  method: 'DELETE',
  path: '/api/dns/:id',
  access: 'customer',
  member: 'orders',
  summary: 'Delete a domain and its records; added again it gets other name servers',
  params: idParam,
  result: z.object({ id: z.string() }),
  asksAgain: true,
})

export const listRecords = endpoint({
  method: 'GET',
  path: '/api/dns/:id/records',
  access: 'customer',
  member: 'domains:read',
  seen: true,
  scope: 'domains:read',
  summary:
    "A domain's records, newest first; `search` looks in full names and values, `name` is one " +
    'name exactly',
  params: idParam,
  query: z.object({
    ...pageQuery,
    /** Empty, as a form sends it, means every type. */
    type: z.optional(z.enum([...recordTypes, ''])),
    search: z.optional(text(253)),
    name: z.optional(text(300)),
  }),
  result: z.object({
    data: z.array(Record),
    /**
     * The domain's serial, read before the records: `changedRecords` from this serial misses no
     * change.
     */
    serial: z.int(),
  }),
  paged: true,
})
export const changedRecords = endpoint({
  method: 'GET',
  path: '/api/dns/:id/changed-records',
  access: 'customer',
  member: 'domains:read',
  seen: true,
  scope: 'domains:read',
  summary: 'What changed in the records since a serial, for who keeps a copy of them',
  params: idParam,
  query: z.object({ since: z.coerce.number().check(z.int(), z.gte(0)) }),
  result: z.object({
    serial: z.int(),
    /**
     * The changed records as they are now, newest first; null when there are too many changes, and
     * the list must be read again.
     */
    data: z.nullable(z.array(Record)),
    /** Ids of records that were deleted. */
    gone: z.array(z.string()),
  }),
})
export const addRecord = endpoint({
  method: 'POST',
  path: '/api/dns/:id/records',
  access: 'customer',
  member: 'domains:write',
  scope: 'domains:write',
  summary: 'Add a record',
  params: idParam,
  body: RecordBody,
  result: WrittenRecord,
  status: 201,
})
export const getRecord = endpoint({
  method: 'GET',
  path: '/api/dns/:id/records/:recordId',
  access: 'customer',
  member: 'domains:read',
  seen: true,
  scope: 'domains:read',
  summary: 'One record',
  params: recordParams,
  result: Record,
})
export const updateRecord = endpoint({
  method: 'PUT',
  path: '/api/dns/:id/records/:recordId',
  access: 'customer',
  member: 'domains:write',
  scope: 'domains:write',
  summary: 'Change a record; with `version`, only if nobody changed it since (otherwise 409)',
  params: recordParams,
  body: z.strictObject({ ...RecordBody.shape, version: z.optional(z.int()) }),
  result: WrittenRecord,
})
export const deleteRecord = endpoint({
  method: 'DELETE',
  path: '/api/dns/:id/records/:recordId',
  access: 'customer',
  member: 'domains:write',
  scope: 'domains:write',
  summary: 'Delete a record; with `?version=`, only if nobody changed it since (otherwise 409)',
  params: recordParams,
  query: z.object({ version: z.optional(z.coerce.number().check(z.int())) }),
  result: z.object({ id: z.string(), changeId: z.string() }),
})
export const deleteRecords = endpoint({
  method: 'POST',
  path: '/api/dns/:id/records/delete',
  access: 'customer',
  member: 'domains:write',
  scope: 'domains:write',
  summary: 'Delete many records in one change: all of them or none',
  params: idParam,
  body: z.strictObject({ ids: z.array(text(100)).check(z.minLength(1), z.maxLength(5000)) }),
  result: z.object({ deleted: z.int(), changeId: z.string() }),
})
