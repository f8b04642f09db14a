/** What is sold, as the operator's desk shows and edits it (decision 126). */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { currency, minor } from './money.ts'

const time = z.string()
/** The text as typed. The schema of catalog.yaml checks it, and names the faulty field. */
const typed = z.string().check(z.maxLength(60))
const perCurrency = z.strictObject({ VND: typed, AUD: typed, USD: typed, EUR: typed })
/** Major units. An empty `sale` means no sale. */
const priced = z.strictObject({ price: typed, sale: typed })
const id = z.nullable(z.int().check(z.gte(1)))

export const SoldPlan = z.strictObject({
  /** Null: a new plan. */
  id,
  name: typed,
  cpu: typed,
  /** MB. */
  ram: typed,
  mailAnHour: typed,
  /** Each server has a copy on a second node, which follows it. */
  mirrored: z.boolean(),
  /** False: nobody can order it any more; customers who have it keep it at their price. */
  sold: z.boolean(),
  prices: z.strictObject({ VND: priced, AUD: priced, USD: priced, EUR: priced }),
})
export type SoldPlan = z.output<typeof SoldPlan>
export const SoldDataCentre = z.strictObject({
  id,
  name: typed,
  country: typed,
  minDiskGb: typed,
  sold: z.boolean(),
})
export type SoldDataCentre = z.output<typeof SoldDataCentre>
/** The part of the catalogue that the desk edits. The rest comes from catalog.yaml. */
export const Selling = z.strictObject({
  plans: z.array(SoldPlan).check(z.minLength(1), z.maxLength(100)),
  disks: z.strictObject({ ssdPerGb: perCurrency, mariadbPerGb: perCurrency }),
  dataCentres: z.array(SoldDataCentre).check(z.minLength(1), z.maxLength(100)),
})
export type Selling = z.output<typeof Selling>

/** One field that changed. */
export const SellingChange = z.object({
  of: z.enum(['plan', 'disk', 'dataCentre']),
  /** The new name of the plan or data centre; for disks ssdPerGb or mariadbPerGb. */
  name: z.string(),
  /** The field, such as price; `new` for a plan or data centre that was added. */
  field: z.string(),
  currency: z.nullable(currency),
  before: z.nullable(z.string()),
  after: z.nullable(z.string()),
})
export type SellingChange = z.output<typeof SellingChange>

export const publicationStates = ['waiting', 'counted', 'withdrawn', 'failed'] as const
export const Publication = z.object({
  id: z.string(),
  base: z.int(),
  /** The version that it restores; null: it was edited. */
  restores: z.nullable(z.int()),
  countsAt: time,
  by: z.string(),
  approvedBy: z.nullable(z.string()),
  reason: z.nullable(z.string()),
  madeAt: time,
  state: z.enum(publicationStates),
  version: z.nullable(z.int()),
})
export type Publication = z.output<typeof Publication>

export const versionSources = ['file', 'use', 'desk'] as const
export type VersionSource = (typeof versionSources)[number]
export const CatalogVersion = z.object({
  version: z.int(),
  at: time,
  source: z.enum(versionSources),
  /** The installation that the file came from. */
  origin: z.string(),
  publication: z.nullable(Publication),
  /** The differences from the previous version in what is sold. */
  changes: z.array(SellingChange),
  /** False: this release cannot read the version. */
  readable: z.boolean(),
})
export type CatalogVersion = z.output<typeof CatalogVersion>

export const fileStates = ['in_use', 'former', 'would_take_back'] as const
export type FileState = (typeof fileStates)[number]
export const catalog = endpoint({
  method: 'GET',
  path: '/api/operator/catalog',
  access: 'staff',
  may: 'look',
  summary: 'What is sold, the version that waits, and the newest fifty versions',
  result: z.object({
    version: z.int(),
    selling: Selling,
    waiting: z.nullable(Publication),
    /**
     * The newest publication that failed to take effect; null: there is none, or a later one took
     * effect.
     */
    failed: z.nullable(Publication),
    versions: z.array(CatalogVersion),
    /** The file of each installation at its last start. */
    files: z.array(
      z.object({
        origin: z.string(),
        state: z.enum(fileStates),
        at: time,
        /**
         * True: the file was in effect at that start, but what is sold was changed later, so it no
         * longer is.
         */
        sellsOtherwise: z.boolean(),
      }),
    ),
  }),
})

/** Exactly one of `selling` and `restores` must be given. */
export const publicationShape = {
  /** The version that the member was looking at. */
  base: z.int().check(z.gte(1)),
  selling: z.optional(Selling),
  /** The version whose plans, disks and data centres are to be sold again. */
  restores: z.optional(z.int().check(z.gte(1))),
  /** When it takes effect; now if absent. */
  from: z.optional(z.iso.datetime({ offset: true })),
}
const letter = z.object({ subject: z.string(), text: z.string() })
const group = z.object({
  customers: z.int(),
  subscriptions: z.int(),
  /** The first and the last day on which one of these subscriptions renews at the new price. */
  firstOn: z.nullable(z.iso.date()),
  lastOn: z.nullable(z.iso.date()),
})
export const CatalogPreview = z.object({
  base: z.int(),
  from: time,
  changes: z.array(SellingChange),
  /** Subscriptions that were considered: those that run and are not cancelled. */
  running: z.int(),
  /** Subscriptions whose price changes, per currency. */
  currencies: z.array(
    z.object({
      currency,
      /** Monthly totals, minor units. */
      before: minor,
      after: minor,
      rises: group,
      falls: group,
    }),
  ),
  /** Plans that are no longer sold, and how many servers keep them at their price. */
  kept: z.array(z.object({ plan: z.string(), servers: z.int() })),
  /** An example of the letter to a customer whose price rises; null: no price rises. */
  letter: z.nullable(z.object({ en: letter, vi: letter })),
  needsSecond: z.boolean(),
})
export type CatalogPreview = z.output<typeof CatalogPreview>
export const previewCatalog = endpoint({
  method: 'POST',
  path: '/api/operator/catalog/preview',
  access: 'staff',
  may: 'look',
  summary: 'What publishing this would change: lines, prices, dates and the letter',
  body: z.strictObject(publicationShape),
  result: CatalogPreview,
})
export const previewProposedCatalog = endpoint({
  method: 'GET',
  path: '/api/operator/catalog/proposals/:id',
  access: 'staff',
  may: 'look',
  summary: 'The same of a publication that waits for a second member',
  params: z.object({ id: z.string().check(z.maxLength(100)) }),
  result: CatalogPreview,
})
