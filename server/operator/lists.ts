/** The desk's work lists: each reads one page, or few rows, by an index. */
import {
  gatewayNotices as noticesApi,
  operatorCustomerLists as ofCustomer,
  operatorCustomers,
  operatorInvoices as invoicesApi,
  operatorOverview,
  operatorNodes,
  operatorWork as api,
} from '../../contract/index.ts'
import { listCustomers, showCustomers } from '../auth/index.ts'
import { deskInvoice, deskInvoiceFile, invoicesOfCustomer, overduePage } from '../billing/index.ts'
import type { Catalog } from '../catalog/index.ts'
import { failingNames } from '../certificates/index.ts'
import { waitingDomains } from '../dns/index.ts'
import { listMessages } from '../messages/index.ts'
import { listNotices, noticeOf, paymentsOfCustomer, type PaymentDriver } from '../payments/index.ts'
import type { Clock } from '../platform/clock.ts'
import {
  decodeTimeCursor,
  encodeCursor,
  encodeTimeCursor,
  pageRequest,
} from '../platform/cursor.ts'
import { isUuid, type Database, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Http } from '../platform/http.ts'
import type { Ledger } from '../wallet/index.ts'
import {
  capacityOf,
  everyDataCentre,
  failedBackups,
  listServers,
  lossOf,
  ownedServersOf,
  serversOfCustomer,
} from '../wordpress/index.ts'
import { overviewOf } from './overview.ts'

export interface ListNeeds {
  readonly db: Database
  readonly clock: Clock
  readonly catalog: Catalog
  readonly ledger: Pick<Ledger, 'balancesOf'>
  readonly drivers: ReadonlyMap<string, PaymentDriver>
}

const usualLimit = 50

async function* onePiece(bytes: Buffer): AsyncIterable<Buffer> {
  yield bytes
}

/** Says of each row whose it is. */
export async function withCustomers<R extends { readonly customerId: string | null }>(
  db: Queryable,
  rows: readonly R[],
) {
  const customers = await showCustomers(
    db,
    rows.flatMap(({ customerId }) => customerId ?? []),
  )
  return rows.map(({ customerId, ...row }) => ({
    ...row,
    customer: customers.get(customerId ?? '') ?? null,
  }))
}

/** Refuses with not_found. */
async function knownCustomer(db: Queryable, id: string): Promise<string> {
  const customers = isUuid(id) ? await showCustomers(db, [id]) : new Map<string, unknown>()
  if (!customers.has(id)) throw new Refusal('not_found')
  return id
}

export function listRoutes(http: Http, needs: ListNeeds): void {
  const { db, clock, catalog, drivers, ledger } = needs
  http.read(operatorCustomers.customers, async ({ query, language }) => {
    const { rows, next } = await listCustomers(db, query.state, {
      limit: query.limit ?? usualLimit,
      before: decodeTimeCursor(query.cursor, language),
    })
    const ids = rows.map(({ id }) => id)
    const [wallets, servers] = await Promise.all([
      ledger.balancesOf(db, ids),
      ownedServersOf(db, ids),
    ])
    const shown = rows.map((row) => {
      const wallet = wallets.get(row.id)
      return {
        ...row,
        wallet: wallet ? { currency: wallet.currency, balance: Number(wallet.balance) } : null,
        servers: servers.get(row.id) ?? 0,
      }
    })
    return new Page(shown, encodeTimeCursor(next))
  })
  http.read(ofCustomer.customerPayments, async ({ params, query, language }) => {
    const customerId = await knownCustomer(db, params.id)
    const { rows, next } = await paymentsOfCustomer(db, drivers, customerId, {
      limit: query.limit ?? usualLimit,
      before: decodeTimeCursor(query.cursor, language),
      code: query.code,
    })
    return new Page(rows, encodeTimeCursor(next))
  })
  http.read(ofCustomer.customerInvoices, async ({ params, query, language }) => {
    const customerId = await knownCustomer(db, params.id)
    const { rows, next } = await invoicesOfCustomer(db, customerId, pageRequest(query, language))
    return new Page(rows, encodeCursor(next))
  })
  http.read(ofCustomer.customerServers, async ({ params, query, language }) => {
    const customerId = await knownCustomer(db, params.id)
    const { rows, next } = await serversOfCustomer(db, customerId, pageRequest(query, language))
    return new Page(rows, encodeCursor(next))
  })
  http.read(operatorOverview.overview, () => overviewOf(needs))
  http.read(operatorOverview.overdueInvoices, async ({ query, language }) => {
    const { rows, next } = await overduePage(db, {
      limit: query.limit ?? usualLimit,
      after: decodeTimeCursor(query.cursor, language),
    })
    return new Page(await withCustomers(db, rows), encodeTimeCursor(next))
  })
  http.read(invoicesApi.invoiceAtDesk, async ({ params, language }) => {
    const [shown] = await withCustomers(db, [await deskInvoice(db, params.id, language)])
    if (!shown) throw new Refusal('not_found')
    return shown
  })
  http.file(invoicesApi.invoicePdfAtDesk, async ({ params, query, language }) => {
    const file = await deskInvoiceFile(db, catalog, params.id, query.lang ?? language)
    return { name: file.name, type: 'application/pdf', chunks: onePiece(file.bytes) }
  })
  http.read(api.servers, async ({ query, language }) => {
    const { rows, next } = await listServers(db, query.state, pageRequest(query, language))
    return new Page(await withCustomers(db, rows), encodeCursor(next))
  })
  http.read(api.letters, async ({ query, language }) => {
    const before = decodeTimeCursor(query.cursor, language)
    const { rows, next } = await listMessages(db, query.state, {
      limit: query.limit ?? usualLimit,
      before,
    })
    return new Page(rows, encodeTimeCursor(next))
  })
  http.read(api.upkeep, async () => {
    const [certificates, backups, domains] = await Promise.all([
      failingNames(db),
      failedBackups(db),
      waitingDomains(db),
    ])
    return {
      certificates: await withCustomers(db, certificates),
      backups: await withCustomers(db, backups),
      domains: await withCustomers(db, domains),
    }
  })
  http.read(api.capacity, () => capacityOf(db, everyDataCentre(catalog), clock.now()))
  http.read(operatorNodes.nodeLoss, ({ params }) => lossOf(db, params.id))
  http.read(noticesApi.notices, async ({ query, language }) => {
    const page = pageRequest(query, language)
    const { rows, next } = await listNotices(db, drivers, page, query.show === 'trouble')
    return new Page(rows, encodeCursor(next))
  })
  http.read(noticesApi.notice, ({ params }) => noticeOf(db, drivers, params.id))
}
