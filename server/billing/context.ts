/** The dependencies of all parts of the billing module. */
import type { Catalog } from '../catalog/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queryable, Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import type { EventOutbox } from '../realtime/index.ts'
import type { Ledger } from '../wallet/index.ts'
import type { Customer } from './issue.ts'
import type { InvoiceLinks } from './links.ts'
import type { Products } from './product.ts'

export const jobNames = {
  pay: 'pay-invoice',
  payOpen: 'pay-open-invoices',
  sweep: 'bill-due',
  watch: 'watch-runways',
  announce: 'announce-prices',
  creditLetters: 'credit-line-letters',
} as const

export interface BillingDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Jobs
  readonly ledger: Ledger
  readonly outbox: EventOutbox
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly customers: (
    db: Queryable,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, Customer>>
  /** The seller, taxes, time zones, and the days of dunning. */
  readonly catalog: Catalog
  /** The catalogue is the newest until the transaction ends. */
  readonly holdCatalog?: (tx: Tx) => Promise<void>
  readonly portalUrl: string
  readonly links: InvoiceLinks
  readonly log: Log
  /**
   * Called in the transaction of each try to charge, also of a failed one, with the customers
   * concerned.
   */
  readonly onCharged?: (tx: Tx, customerIds: readonly string[]) => Promise<void>
}

export interface BillingContext extends BillingDeps {
  readonly products: Products
}
