import type { PartyDetails } from '../../contract/billing.ts'
import { billing as api } from '../../contract/index.ts'
import { encodeCursor, pageRequest } from '../platform/cursor.ts'
import type { Currency } from '../../contract/money.ts'
import type { Catalog } from '../catalog/index.ts'
import { isUuid, type Database, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Page, type Http } from '../platform/http.ts'
import { acceptedLanguage } from '../platform/accept-language.ts'
import { invoiceFile } from './invoice-file.ts'
import type { Party } from './invoice-pdf.ts'
import type { InvoiceLinks } from './links.ts'
import type { Billing } from './billing.ts'
import {
  invoiceById,
  invoiceByToken,
  invoicePage,
  isOwner,
  presentAll,
  reissued,
  unpaidOf,
} from './store.ts'

export interface BillingRouteDeps {
  readonly db: Database
  readonly billing: Billing
  readonly catalog: Catalog
  readonly links: InvoiceLinks
  readonly balanceOf: (db: Queryable, customerId: string) => Promise<{ currency: Currency }>
}

const detailsOf = ({ address, taxCode }: Party): PartyDetails => ({
  address: address || null,
  taxCode: taxCode || null,
})

export function routes(http: Http, deps: BillingRouteDeps): void {
  const { db, billing, links } = deps

  http.read(api.listInvoices, async ({ customerId, query, language }) => {
    const { rows, next } = await invoicePage(db, {
      customerId,
      status: query.status,
      ...pageRequest(query, language),
    })
    return new Page(await presentAll(db, rows, links, language), encodeCursor(next))
  })

  http.write(api.payInvoice, async ({ tx, customerId, params, language }) => {
    const invoice = isUuid(params.id) ? await invoiceById(tx, params.id) : undefined
    if (invoice?.customer_id !== customerId) throw new Refusal('not_found')
    const outcome = await billing.pay(tx, invoice.id)
    if (outcome === 'short') throw new Refusal('insufficient_balance')
    if (outcome === 'unavailable') throw new Refusal('no_room')
    if (outcome === 'settled') throw new Refusal('invoice_not_open')
    const current = await invoiceById(tx, invoice.id)
    // A renewal that was paid after its month had ended was reissued for the month from the
    // payment.
    const paid = current?.status === 'void' ? await reissued(tx, current) : current
    const [shown] = await presentAll(tx, paid ? [paid] : [], links, language)
    if (!shown) throw new Error('a paid invoice is gone')
    return shown
  })

  http.read(api.unpaidInvoices, async ({ customerId }) => {
    const [{ count, due }, { currency }] = await Promise.all([
      unpaidOf(db, customerId),
      deps.balanceOf(db, customerId),
    ])
    return { count, amount_due: Number(due), currency }
  })

  http.read(api.getRunway, ({ customerId }) => billing.runway(db, customerId))

  /** The customer's own subscription. Undefined also for another customer's. */
  const own = async (from: Queryable, customerId: string, id: string) => {
    const found =
      isUuid(id) && (await isOwner(from, customerId, id))
        ? await billing.subscription(from, id)
        : undefined
    if (!found) throw new Refusal('not_found')
    return found
  }
  http.read(api.getSubscription, ({ customerId, params }) => own(db, customerId, params.id))
  http.write(api.cancelSubscription, async ({ tx, customerId, params, body }) => {
    await own(tx, customerId, params.id)
    await billing.cancel(tx, params.id, body.when)
    return await own(tx, customerId, params.id)
  })
  http.write(api.resumeSubscription, async ({ tx, customerId, params }) => {
    await own(tx, customerId, params.id)
    await billing.resume(tx, params.id)
    return await own(tx, customerId, params.id)
  })

  http.read(api.hostedInvoice, async ({ params, language }) => {
    const row = await invoiceByToken(db, links, params.token)
    if (!row) throw new Refusal('not_found')
    const [invoice] = await presentAll(db, [row], links, language)
    if (!invoice) throw new Refusal('not_found')
    const [buyer, seller] = [row.buyer as Party, row.seller as Party]
    return {
      invoice,
      buyer: buyer.name,
      seller: seller.name,
      details: { buyer: detailsOf(buyer), seller: detailsOf(seller) },
    }
  })

  // This is a document, not an API call: no envelope. The address on the invoice contains `?lang=`.
  http.server.get('/api/invoices/:token/pdf', async (request, reply) => {
    const { token } = request.params as { token: string }
    const { lang } = request.query as { lang?: unknown }
    const language =
      lang === 'vi' || lang === 'en' ? lang : acceptedLanguage(request.headers['accept-language'])
    const row = await invoiceByToken(db, links, token)
    if (!row) throw new Refusal('not_found')
    const { name, bytes } = await invoiceFile(db, deps.catalog, row, language)
    return reply
      .type('application/pdf')
      .header('content-disposition', `inline; filename="${name}"`)
      .header('cache-control', 'private, no-store')
      .send(bytes)
  })
}
