/** WordPress servers (contract.md section 4, portal.md sections 5 and 9). */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

export const diskLimits = { minMb: 10_240, maxMb: 200_000, presetsGb: [10, 20, 40] } as const
export const containerLimits = { min: 1, max: 50 } as const

/**
 * portal.md section 5: at least 8 characters, a non-letter, a digit, and one of ! @ # $ % ^ & *.
 */
export const passwordChecks = {
  length: (text: string) => text.length >= 8,
  nonLetter: (text: string) => /[^A-Za-z]/.test(text),
  digit: (text: string) => /\d/.test(text),
  special: (text: string) => /[!@#$%^&*]/.test(text),
} as const
export const passwordHolds = (text: string): boolean =>
  Object.values(passwordChecks).every((check) => check(text))

export const adminPassword = z
  .string()
  .check(z.maxLength(128), z.refine(passwordHolds, { error: 'wordpress_password' }))
/**
 * WordPress's own rule (sanitize_user, strict): ASCII letters, digits, single spaces and _ . - @,
 * up to 60 characters.
 */
export const adminUser = z
  .string()
  .check(
    z.minLength(1, { error: 'wordpress_user' }),
    z.maxLength(60, { error: 'wordpress_user' }),
    z.regex(/^[A-Za-z0-9_.\-@]+(?: [A-Za-z0-9_.\-@]+)*$/, { error: 'wordpress_user' }),
  )
export const diskMb = z
  .int()
  .check(
    z.gte(diskLimits.minMb, { error: 'disk_minimum' }),
    z.lte(diskLimits.maxMb, { error: 'disk_maximum' }),
  )

export const Order = z.strictObject({
  size: z.int(),
  region: z.int(),
  disk: diskMb,
  mariadb_disk_size: diskMb,
  user: adminUser,
  password: adminPassword,
  replicate: z._default(z.int().check(z.gte(containerLimits.min), z.lte(containerLimits.max)), 1),
  /** A code that lowers the price of the first month. */
  coupon: z.optional(z.string().check(z.maxLength(40))),
  /**
   * The monthly price that the screen showed, minor units; refused (409) if the price has changed.
   */
  total: z.optional(z.int()),
})

export const Status = z.enum([
  'pending_payment',
  'provisioning',
  'running',
  'suspended',
  'failed',
  'deleting',
])
export type Status = z.output<typeof Status>

export const Server = z.object({
  id: z.string(),
  name: z.string(),
  status: Status,
  /** Why the server failed; null: it did not. */
  reason: z.nullable(z.string()),
  /**
   * Since when and why the operator has suspended it by hand; payments do not release it. Null: not
   * held. The reason is null where it was not kept.
   */
  held: z.nullable(z.object({ since: z.string(), reason: z.nullable(z.string()) })),
  /** A requested restart is under way; the site keeps answering. */
  restarting: z.boolean(),
  /** vCPU. */
  cpu: z.number(),
  /** MB; 1000 MB are shown as 1 GB. */
  ram: z.int(),
  /** MB; 1024 MB are shown as 1 GB. */
  disk: z.int(),
  mariadb_disk_size: z.int(),
  replicate: z.int(),
  size: z.int(),
  domain: z.string(),
  /** The address that opens the site in a browser. */
  url: z.string(),
  /** The customer's own domain names, oldest first. */
  domains: z.array(z.string()),
  /**
   * The domain to which visitors of all other names are redirected; null: each name answers itself.
   */
  primaryDomain: z.nullable(z.string()),
  /** The copy on a second machine contains all writes up to this time; null: there is none. */
  mirroredAt: z.nullable(z.string()),
  /** Since when a running server has not answered visitors; null while it answers. */
  downSince: z.nullable(z.string()),
  /** Whether each domain pointed here at its last check. */
  domainStates: z.array(
    z.object({
      name: z.string(),
      verified: z.boolean(),
      /** Whether it led to the server at its last check; null: not checked yet. */
      pointed: z.nullable(z.boolean()),
      checkedAt: z.string(),
    }),
  ),
  configs: z.object({ region: z.object({ id: z.int(), name: z.string() }) }),
  /** What the server changes to at the renewal; null: nothing. */
  planned: z.nullable(
    z.object({
      size: z.int(),
      replicate: z.int(),
      /** The plan's name, even where it is no longer sold; null where the plan no longer exists. */
      plan: z.nullable(z.string()),
    }),
  ),
  /** Monthly, minor units. */
  price: minor,
  currency,
  createdAt: z.string(),
  renewsAt: z.nullable(z.string()),
  /** The subscription that pays for it: GET /api/subscriptions/{id}. */
  subscriptionId: z.nullable(z.string()),
  /**
   * The newest invoice of the order or a renewal, as it is now. The progress page shows it until
   * the first event arrives.
   */
  invoice: z.nullable(
    z.object({
      id: z.string(),
      /** Null until the order is paid. */
      number: z.nullable(z.string()),
      status: z.string(),
      amount_paid: minor,
      amount_due: minor,
      currency,
      hosted_invoice_url: z.string(),
    }),
  ),
})
export type Server = z.output<typeof Server>

export const Region = z.object({
  id: z.int(),
  name: z.string(),
  /** ISO 3166 country of the data centre. */
  country: z.string(),
  /** Smallest SSD disk here, MB. */
  minDisk: z.int(),
})
export const Plan = z.object({
  id: z.int(),
  name: z.string(),
  cpu: z.number(),
  ram: z.int(),
  /** E-mails that a server may send per hour, each recipient counted. */
  mailAnHour: z.int(),
  /** A server has a copy on a second machine that is at most a minute old. */
  mirrored: z.boolean(),
  price: minor,
  sale_price: minor,
  currency,
  /** Whether a machine can run it. An order of a plan that none can run is refused. */
  offered: z.boolean(),
})
export type Plan = z.output<typeof Plan>

export const listRegions = endpoint({
  method: 'GET',
  path: '/api/wp/regions',
  access: 'customer',
  member: 'look',
  seen: true,
  scope: 'servers:read',
  narrows: true,
  summary: 'Data centres for WordPress',
  query: z.object({ ...pageQuery }),
  result: z.object({ data: z.array(Region) }),
  paged: true,
})
export const listHostingRegions = endpoint({
  method: 'GET',
  path: '/api/regions/cpanel',
  access: 'customer',
  member: 'look',
  seen: true,
  scope: 'servers:read',
  narrows: true,
  summary: 'Data centres for hosting',
  query: z.object({ ...pageQuery }),
  result: z.object({ data: z.array(Region) }),
  paged: true,
})
export const listPlans = endpoint({
  method: 'GET',
  path: '/api/wp/sizes',
  access: 'customer',
  member: 'look',
  seen: true,
  scope: 'servers:read',
  narrows: true,
  summary: "Size plans with prices in the customer's currency (minor units a month)",
  query: z.object({ ...pageQuery }),
  result: z.array(Plan),
  paged: true,
})
export const listServers = endpoint({
  method: 'GET',
  path: '/api/wp',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  narrows: true,
  summary: "The customer's WordPress servers, newest first; `search` looks in names and domains",
  query: z.object({ ...pageQuery, search: z.optional(z.string().check(z.maxLength(253))) }),
  result: z.array(Server),
  paged: true,
})
export const getServer = endpoint({
  method: 'GET',
  path: '/api/wp/:id',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'One WordPress server',
  params: idParam,
  result: Server,
})
export const placeOrder = endpoint({
  method: 'POST',
  path: '/api/wp',
  access: 'customer',
  member: 'orders',
  summary: 'Order a WordPress server; invoice and subscription exist when it answers',
  body: Order,
  result: z.object({ id: z.string() }),
  status: 201,
})
export const logTicket = endpoint({
  method: 'GET',
  path: '/api/wp/:id/log',
  access: 'customer',
  member: 'servers:write',
  summary: 'A WebSocket address with a one-use ticket (60 s) for the live log',
  params: idParam,
  result: z.string(),
})
