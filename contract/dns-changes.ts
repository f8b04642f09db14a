/**
 * Changes of many records, and the change log: zone files, and a domain pointed at a server
 * (contract.md section 5). Separate from contract/dns.ts, so that the record list does not load
 * them.
 */
import * as z from 'zod/mini'
import { recordTypes } from './dns-types.ts'
import { Record } from './dns.ts'
import { endpoint, idParam, pageQuery } from './endpoint.ts'

/** Longest zone file, characters: ten thousand records as we write them, and room for comments. */
const zoneFileChars = 1_048_576
/** Most record states shown on each side of one change; the log keeps all. */
export const shownStates = 100

const text = (length: number) => z.string().check(z.maxLength(length))

export const RecordState = z.object({
  name: z.string(),
  type: z.enum(recordTypes),
  data: z.array(z.string()),
  ttl: z.int(),
  proxied: z.boolean(),
  priority: z.nullable(z.int()),
})
export type RecordState = z.output<typeof RecordState>

export const changeActions = ['add', 'edit', 'delete', 'import', 'point', 'undo'] as const

export const Change = z.object({
  id: z.string(),
  at: z.string(),
  /**
   * Who changed it: the name of a person or of a token. Of an owner before the present one it says
   * so, and tells no name.
   */
  who: z.string(),
  by: z.enum(['owner', 'member', 'token', 'former_owner']),
  action: z.enum(changeActions),
  /** The first states of each side; `beforeCount` and `afterCount` give the full numbers. */
  before: z.array(RecordState),
  after: z.array(RecordState),
  beforeCount: z.int(),
  afterCount: z.int(),
  undoneAt: z.nullable(z.string()),
})
export type Change = z.output<typeof Change>

/** A TTL that was changed on import. */
const AdjustedTtl = z.object({
  line: z.int(),
  name: z.string(),
  type: z.enum(recordTypes),
  /** Seconds: the TTL in the file, and the TTL of the record. */
  from: z.int(),
  to: z.int(),
  /** The reason as a sentence, in the caller's language. */
  text: z.string(),
})

export const ImportPlan = z.object({
  /** False for a preview: nothing was written. */
  applied: z.boolean(),
  added: z.array(RecordState),
  changed: z.array(z.object({ before: RecordState, after: RecordState })),
  removed: z.array(RecordState),
  unchanged: z.int(),
  /** Lines that the import does not accept: the SOA and NS records of the domain itself. */
  skipped: z.array(z.object({ line: z.int(), text: z.string() })),
  /**
   * TTLs beyond the limits, and TTLs that differ from the first record of the same name and type
   * (RFC 2181, 5.2).
   */
  adjusted: z.array(AdjustedTtl),
})
export type ImportPlan = z.output<typeof ImportPlan>

export const exportZone = endpoint({
  method: 'GET',
  path: '/api/dns/:id/zone',
  access: 'customer',
  member: 'domains:read',
  scope: 'domains:read',
  summary: 'The domain as a BIND zone file',
  params: idParam,
  result: z.string(),
  bare: true,
  files: ['text/plain'],
})
export const importZone = endpoint({
  method: 'POST',
  path: '/api/dns/:id/zone',
  access: 'customer',
  member: 'domains:write',
  scope: 'domains:write',
  summary:
    'Import a BIND zone file, all or nothing; with `preview`, only answers what would change',
  params: idParam,
  body: z.strictObject({
    content: z.string().check(z.minLength(1), z.maxLength(zoneFileChars)),
    preview: z._default(z.boolean(), false),
    /**
     * `merge` adds the file's records and removes none. `sets` replaces the records of each name
     * and type that the file contains. `replace` removes every record that is not in the file.
     */
    mode: z._default(z.enum(['merge', 'sets', 'replace']), 'merge'),
  }),
  // A character may take four bytes, and JSON escapes some.
  maxBodyBytes: 4 * zoneFileChars,
  result: ImportPlan,
})

export const listChanges = endpoint({
  method: 'GET',
  path: '/api/dns/:id/changes',
  access: 'customer',
  member: 'domains:read',
  seen: true,
  scope: 'domains:read',
  summary: 'Who changed what, newest first',
  params: idParam,
  query: z.object({ ...pageQuery }),
  result: z.object({ data: z.array(Change) }),
  paged: true,
})
export const undoChange = endpoint({
  method: 'POST',
  path: '/api/dns/:id/changes/:changeId/undo',
  access: 'customer',
  member: 'domains:write',
  scope: 'domains:write',
  summary:
    'Put back what a change took away and take away what it added; 409 when a later change ' +
    'stands in the way',
  params: z.object({ id: text(100), changeId: text(100) }),
  result: Change,
})
export const pointAtServer = endpoint({
  method: 'POST',
  path: '/api/dns/:id/point',
  access: 'customer',
  member: 'zones',
  summary:
    'Point the domain and its www at one of your WordPress servers; what stood there is ' +
    'replaced and can be undone',
  params: idParam,
  body: z.strictObject({
    wp: text(100),
    /** True: the answer says what would change, and nothing is written. */
    preview: z._default(z.boolean(), false),
  }),
  result: z.object({
    added: z.array(RecordState),
    removed: z.array(RecordState),
    changeId: z.nullable(z.string()),
    data: z.array(Record),
    domains: z.array(z.string()),
  }),
})
