/** What the front end must know before sign-in. */
import * as z from 'zod/mini'
import { endpoint, pageQuery } from './endpoint.ts'
import { currency, minor, regionCode } from './money.ts'

const flag = z.boolean()

export const Config = z.object({
  products: z.object({
    wordpress: flag,
    antiDdos: flag,
    hosting: flag,
    dns: flag,
    paas: flag,
    svm: flag,
    smsOtp: flag,
    cloudDatabase: flag,
  }),
  regions: z.array(z.object({ code: regionCode, currency, language: z.enum(['en', 'vi', 'aud']) })),
  /** Empty texts where no card provider is configured. */
  cards: z.object({ provider: z.string(), publishableKey: z.string(), scriptUrl: z.string() }),
  square: z.nullable(z.object({ applicationId: z.string(), locationId: z.string() })),
  realtime: z.object({
    key: z.string(),
    wsHost: z.string(),
    wsPort: z.int(),
    forceTLS: z.boolean(),
    authEndpoint: z.string(),
  }),
  sandbox: z.boolean(),
  /** Where customers ask for help; null where the operator names none. */
  support: z.object({ email: z.nullable(z.string()), url: z.nullable(z.string()) }),
  /**
   * Days after an unpaid invoice's due day: when reminders are sent, and when the service is
   * suspended and deleted.
   */
  unpaid: z.object({ reminderDays: z.array(z.int()), suspendDays: z.int(), deleteDays: z.int() }),
  /** Where a person reads messages sent in the sandbox; null: there is no sandbox. */
  sandboxInbox: z.nullable(z.string()),
  /** An addition to the required minimum: what /payment offers, by region. */
  payments: z.record(
    z.string(),
    z.object({
      presets: z.array(minor),
      min: minor,
      max: minor,
      /** The payment types that have a gateway here, with the body of the checkout call. */
      types: z.array(
        z.object({
          id: z.int(),
          name: z.object({ en: z.string(), vi: z.string() }),
          type: z.union([z.literal(1), z.literal(2)]),
          method: z.nullable(z.string()),
        }),
      ),
      cards: z.boolean(),
    }),
  ),
  /** What the WordPress runtime supports, so that the screen offers nothing else. */
  wordpress: z.object({
    maxContainers: z.int(),
    /** The largest plan, in cores and MB; null: the runtime has no limit. */
    maxCpu: z.nullable(z.int()),
    maxRamMb: z.nullable(z.int()),
    /** Ids of the data centres that accept servers; null: every one of the catalogue. */
    regions: z.nullable(z.array(z.int())),
    database: z.enum(['sqlite', 'mariadb']),
    /** Days for which the backups of a deleted server can still be downloaded. */
    backupsKeptDays: z.int(),
    diskPerGb: z.record(z.string(), minor),
    mariadbDiskPerGb: z.record(z.string(), minor),
  }),
})
export type Config = z.output<typeof Config>

export const config = endpoint({
  method: 'GET',
  path: '/api/config',
  whileClosed: true,
  access: 'public',
  summary: 'Product flags, regions, payment types, realtime address',
  result: Config,
})

export const Location = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(['province', 'city', 'district']),
  country: z.string(),
})

export const searchLocations = endpoint({
  method: 'GET',
  path: '/api/locations/search',
  access: 'public',
  summary: 'Places by name, accents ignored',
  query: z.object({ search: z._default(z.string().check(z.maxLength(100)), ''), ...pageQuery }),
  result: z.array(Location),
  paged: true,
})

export const legalPages = ['terms', 'privacy', 'cookies'] as const
export type LegalPage = (typeof legalPages)[number]

export const legalPage = endpoint({
  method: 'GET',
  path: '/api/legal/:page',
  access: 'public',
  summary: "The operator's terms, privacy policy or cookie policy, in the caller's language",
  params: z.object({ page: z.enum(legalPages) }),
  /** Paragraphs; one that begins with `# ` is a heading. */
  result: z.object({ paragraphs: z.array(z.string()) }),
})
