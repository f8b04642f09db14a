/** Customers' own names for their sites (contract.md section 4). */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

const name = z.string().check(z.minLength(1), z.maxLength(253))

export const DomainRecord = z.object({
  type: z.enum(['CNAME', 'A', 'AAAA', 'TXT']),
  name: z.string(),
  /** Any of these values satisfies the check. */
  expected: z.array(z.string()),
  found: z.array(z.string()),
  /**
   * Whether the record proves the name. An address that several sites share never does. Where
   * another account holds the name, or did until recently, only the TXT record does.
   */
  counts: z.boolean(),
  /** Whether the record leads visitors to the server. */
  points: z.boolean(),
})
export type DomainRecord = z.output<typeof DomainRecord>

export const DomainCheck = z.object({
  name: z.string(),
  verified: z.boolean(),
  /** Whether the name leads to the server now. */
  pointed: z.boolean(),
  records: z.array(DomainRecord),
})
export type DomainCheck = z.output<typeof DomainCheck>

export const updateDomains = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/domain',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary:
    'Add a name: the list as it is plus the new one. Refused unless the name points here or ' +
    'holds the given TXT record',
  params: idParam,
  body: z.strictObject({
    id: z.optional(z.string()),
    /** The server's name; this call does not change it. */
    name: z.optional(z.string()),
    domains: z.array(name).check(z.maxLength(100)),
  }),
  result: z.object({ domains: z.array(z.string()) }),
})

export const removeDomain = endpoint({
  method: 'DELETE',
  path: '/api/wp/:id/domain/:name',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Let go of a name',
  params: z.object({
    id: z.string().check(z.maxLength(100)),
    name: z.string().check(z.maxLength(300)),
  }),
  result: z.object({ domains: z.array(z.string()) }),
})

export const choosePrimary = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/domain/primary',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary:
    'The name that visitors of all other names of the server are sent to; null: each answers by ' +
    'itself. It must be one of the server’s own names, proven and leading to it',
  params: idParam,
  body: z.strictObject({ name: z.nullable(name) }),
  result: z.object({ primaryDomain: z.nullable(z.string()) }),
})

/** The rewriting of addresses in the site's posts and settings to the present one. */
export const Rewrite = z.object({
  state: z.enum(['running', 'done', 'failed']),
  to: z.string(),
  from: z.array(z.string()),
  /** Values changed so far. */
  values: z.int(),
  problem: z.nullable(z.string()),
  createdAt: z.string(),
  endedAt: z.nullable(z.string()),
})
export type Rewrite = z.output<typeof Rewrite>

export const RewritePreview = z.object({
  to: z.string(),
  from: z.array(z.string()),
  values: z.int(),
  tables: z.array(z.object({ name: z.string(), values: z.int() })),
  /** Tables that are left unchanged, because their rows have no integer key. */
  skipped: z.array(z.string()),
})
export type RewritePreview = z.output<typeof RewritePreview>

export const previewRewrite = endpoint({
  method: 'POST',
  path: '/api/wp/:id/domain/rewrite/preview',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'How many stored values of the site hold another of its addresses than the present one',
  params: idParam,
  result: RewritePreview,
})

export const beginRewrite = endpoint({
  method: 'POST',
  path: '/api/wp/:id/domain/rewrite',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Write the site’s stored addresses as its present one, within serialized values too',
  params: idParam,
  status: 201,
  result: Rewrite,
})

export const getRewrite = endpoint({
  method: 'GET',
  path: '/api/wp/:id/domain/rewrite',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'How the newest writing of addresses stands; null: there was none',
  params: idParam,
  result: z.nullable(Rewrite),
})

export const checkDomain = endpoint({
  method: 'GET',
  path: '/api/wp/:id/domain/check',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'Which records would prove a name, and what the DNS says of them now',
  params: idParam,
  query: z.object({ name }),
  result: DomainCheck,
})
