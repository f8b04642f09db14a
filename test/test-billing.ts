/**
 * The billing module alone on real PostgreSQL and a clock that stands still, with a product that
 * only records what it is asked to do.
 */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { Currency, RegionCode } from '../contract/money.ts'
import type { Terms } from '../contract/pricing.ts'
import {
  createBilling,
  createInvoiceLinks,
  jobNames,
  type Billing,
  type InvoiceLinks,
  type Offer,
} from '../server/billing/index.ts'
import { currencyOf, loadCatalog, type Catalog } from '../server/catalog/index.ts'
import { connect, transaction, type Database } from '../server/platform/db.ts'
import type { Jobs } from '../server/platform/jobs.ts'
import { createLog } from '../server/platform/log.ts'
import type { OutboxEvent } from '../server/realtime/index.ts'
import { checkLedger, createLedger, type Ledger } from '../server/wallet/index.ts'
import { shownAndPriced } from '../server/wordpress/product.ts'
import { testDatabase } from './database.ts'
import { manualClock, type ManualClock } from './portal.ts'

export const standIn = 'stand-in'
export const termsAt = (price: number, gb = 10): Terms => ({
  plan: 'STAND-IN',
  price,
  sale_price: 0,
  disk: gb * 1024,
  disk_per_gb: 4000,
  mariadb_disk_size: 10_240,
  mariadb_per_gb: 0,
  replicate: 1,
})
export const offerAt = (price: bigint, terms: Terms | null = null): Offer => ({
  price,
  terms,
  description: { en: 'A thing', vi: 'Một thứ' },
})

const languageIn = (region: string): 'en' | 'vi' => (region === 'VN' ? 'vi' : 'en')

export interface Buyer {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly regionCode: RegionCode
  readonly language: 'en' | 'vi'
}

export interface TestBilling {
  readonly db: Database
  readonly databaseUrl: string
  readonly clock: ManualClock
  readonly ledger: Ledger
  readonly bills: Billing
  readonly catalog: Catalog
  readonly links: InvoiceLinks
  /**
   * The jobs and events that were published, in order; those of a rolled-back transaction stay in
   * the list.
   */
  readonly jobs: { name: string; payload: Record<string, unknown> }[]
  readonly published: OutboxEvent[]
  readonly mails: { to: string; subject: string; text: string }[]
  /** The offer at which the product's subscriptions renew; undefined: unchanged. */
  price: (subscriptionId: string, change: object | null) => Offer | undefined
  /** Whether the product has capacity for orders. */
  hasRoom: boolean
  /** Whether the ordered product has existed meanwhile. */
  hasBeenThere: boolean
  customer(of?: { region?: RegionCode; balance?: bigint }): Promise<Buyer>
  /** Runs the jobs that pay open invoices, as a worker would. */
  payJobs(): Promise<void>
  /** Credits a wallet, and does what a top-up triggers. */
  topUp(customer: Buyer, amount: bigint): Promise<void>
  balance(customer: Buyer): Promise<bigint>
  /** Orders and pays; returns the subscription. */
  order(customer: Buyer, offer: Offer): Promise<string>
  subscription(id: string): ReturnType<Billing['subscription']>
  /** The contents of a subscription's invoices, in order. */
  invoices(subscriptionId: string): Promise<string[]>
  ledgerHolds(): Promise<void>
  /** Another portal on the same database, or by another URL to it. */
  second(url?: string): { bills: Billing; close(): Promise<void> }
  close(): Promise<void>
}

let buyers = 0

export async function openTestBilling(
  from: string,
  changeCatalog = (catalog: Catalog): Catalog => catalog,
  { travels = false } = {},
): Promise<TestBilling> {
  const database = await testDatabase()
  // Days that nobody swept were lost, as with the wall's clock, unless it `travels`.
  const clock = manualClock(new Date(from), { travels })
  const catalog = changeCatalog(loadCatalog(path.resolve(import.meta.dirname, '../catalog.yaml')))
  const jobs: TestBilling['jobs'] = []
  const published: OutboxEvent[] = []
  const mails: TestBilling['mails'] = []

  const links = createInvoiceLinks('http://portal.example', 'a secret of tests')
  const recorder: Jobs = {
    define: () => undefined,
    add: async (_tx, name, payload) => void jobs.push({ name, payload: { ...payload } }),
    start: async () => undefined,
    stop: async () => undefined,
    health: async () => undefined,
  }
  const open = (url = database.url) => {
    const { db, close } = connect(url, 12, () => undefined)
    const ledger = createLedger(clock)
    const bills = createBilling({
      db,
      clock,
      catalog,
      ledger,
      jobs: recorder,
      outbox: {
        publishEvent: async (_tx, customerId, event, payload) =>
          void published.push({ customerId, event, payload }),
        publishEvents: async (_tx, all) => void published.push(...all),
      },
      mail: async (_tx, to, subject, text) => void mails.push({ to, subject, text }),
      async customers(reader, ids) {
        const rows = await reader
          .selectFrom('customer')
          .select(['id', 'name', 'email', 'region_code', 'time_zone'])
          .where('id', 'in', ids)
          .execute()
        return new Map(
          rows.map(({ region_code, time_zone: timeZone, ...row }) => [
            row.id,
            {
              ...row,
              timeZone,
              regionCode: region_code as RegionCode,
              language: languageIn(region_code),
            },
          ]),
        )
      },
      portalUrl: 'http://portal.example',
      links,
      log: createLog('silent'),
    })
    bills.offer({
      ...shownAndPriced,
      name: standIn,
      jobs: { suspend: 'suspend', resume: 'resume', remove: 'remove' },
      reserve: async () => billing.hasRoom,
      hasBeenThere: async () => billing.hasBeenThere,
      async offers(_db, wanted) {
        const found = wanted.map(
          ({ subscriptionId, change }) =>
            [subscriptionId, billing.price(subscriptionId, change)] as const,
        )
        return new Map(
          found.filter((entry): entry is readonly [string, Offer] => entry[1] !== undefined),
        )
      },
    })
    return { db, close, ledger, bills }
  }
  const { db, close, ledger, bills } = open()
  await ledger.prepare(db, { drivers: ['vnpay'], products: [standIn] })

  /** Number of jobs that were already run. */
  let taken = 0
  const billing: TestBilling = {
    db,
    databaseUrl: database.url,
    clock,
    ledger,
    bills,
    catalog,
    links,
    jobs,
    published: published,
    mails,
    price: () => undefined,
    hasRoom: true,
    hasBeenThere: true,
    async payJobs() {
      for (let job = jobs[taken]; job; job = jobs[taken]) {
        taken += 1
        if (job.name === jobNames.payOpen) await bills.payOpen(String(job.payload['customerId']))
      }
    },
    async customer({ region = 'VN', balance = 0n } = {}) {
      buyers += 1
      const buyer: Buyer = {
        id: randomUUID(),
        name: 'An',
        email: `buyer${buyers}@example.vn`,
        regionCode: region,
        language: languageIn(region),
      }
      await transaction(db, async (tx) => {
        await tx
          .insertInto('customer')
          .values({
            id: buyer.id,
            email: buyer.email,
            phone: `+84${buyers}`,
            name: buyer.name,
            password_hash: 'x',
            region_code: region,
            created_at: clock.now(),
          })
          .execute()
        await ledger.openWallet(tx, buyer.id, currencyOf(catalog, region))
      })
      if (balance > 0n) await billing.topUp(buyer, balance)
      return buyer
    },
    async topUp(customer, amount) {
      const currency = currencyOf(catalog, customer.regionCode)
      await transaction(db, (tx) =>
        ledger.credit(tx, {
          key: randomUUID(),
          customerId: customer.id,
          driver: 'vnpay',
          amount,
          currency,
          details: {},
        }),
      )
      await bills.payOpen(customer.id)
    },
    balance: async ({ id }) => (await ledger.balanceOf(db, id)).balance,
    async order(customer, offer) {
      const currency: Currency = currencyOf(catalog, customer.regionCode)
      const { id, invoice } = await transaction(db, async (tx) => {
        const subject = { kind: 'wp', id: randomUUID(), name: 'a-thing' }
        const opened = await bills.subscribe(tx, {
          customerId: customer.id,
          regionCode: customer.regionCode,
          product: standIn,
          offer,
          currency,
          subject,
        })
        const issued = await bills.issue(tx, {
          customer,
          currency,
          product: standIn,
          lines: [
            {
              description: offer.description,
              quantity: 1n,
              unitPrice: offer.price,
              period: opened.period,
              ...(offer.terms && { basis: { ...offer.terms, seconds: 1, of_seconds: 1 } }),
            },
          ],
          subject,
          subscriptionId: opened.id,
          starts: { job: 'begin', payload: {} },
        })
        return { id: opened.id, invoice: issued.id }
      })
      await transaction(db, (tx) => bills.pay(tx, invoice))
      return id
    },
    subscription: (id) => bills.subscription(db, id),
    async invoices(subscriptionId) {
      const rows = await db
        .selectFrom('invoice')
        .selectAll()
        .where('subscription_id', '=', subscriptionId)
        .orderBy('seq')
        .execute()
      return rows.map(
        (row) =>
          `${row.kind} ${row.total} ${row.status}` +
          `${row.period_start ? ` ${row.period_start.toISOString().slice(0, 10)}` : ''}`,
      )
    },
    async ledgerHolds() {
      const findings = await checkLedger(db)
      if (findings.length > 0)
        throw new Error(
          findings.map((finding) => `${finding.invariant}: ${finding.where}`).join('\n'),
        )
    },
    second: (url) => open(url),
    async close() {
      await close()
      await database.drop()
    },
  }
  return billing
}
