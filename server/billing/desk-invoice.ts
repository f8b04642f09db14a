/** An invoice at the operator's desk: presented as to its customer, without public addresses. */
import type { Language } from '../../contract/errors.ts'
import type { InvoiceAtDesk, PartyAtDesk } from '../../contract/operator-invoices.ts'
import type { Catalog } from '../catalog/index.ts'
import { isUuid, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { entryPage } from '../wallet/index.ts'
import { invoiceFile } from './invoice-file.ts'
import type { Party } from './invoice-pdf.ts'
import { invoiceById, noLinks, presentAll, type InvoiceRow } from './store.ts'

const shownEntries = 20

async function known(db: Queryable, id: string): Promise<InvoiceRow> {
  const row = isUuid(id) ? await invoiceById(db, id) : undefined
  if (!row) throw new Refusal('not_found')
  return row
}

const partyOf = ({ name, email, address, taxCode }: Party): PartyAtDesk => ({
  name,
  email: email || null,
  address: address || null,
  taxCode: taxCode || null,
})

/** A draft has no number that an entry could name. */
async function entriesOf(
  db: Queryable,
  row: InvoiceRow,
  language: Language,
): Promise<InvoiceAtDesk['entries']> {
  if (row.number === null || row.status === 'open') return []
  const { items } = await entryPage(db, {
    customerId: row.customer_id,
    direction: undefined,
    search: row.number,
    period: { from: null, to: null },
    language,
    limit: shownEntries,
    before: null,
  })
  return items.map(({ id, created, description, amount }) => ({
    id,
    at: new Date(created * 1000).toISOString(),
    text: description,
    amount,
  }))
}

/** Refuses with not_found. */
export async function deskInvoice(
  db: Queryable,
  id: string,
  language: Language,
): Promise<Omit<InvoiceAtDesk, 'customer'> & { readonly customerId: string }> {
  const row = await known(db, id)
  const [presented, entries, notes] = await Promise.all([
    presentAll(db, [row], noLinks, language),
    entriesOf(db, row, language),
    db
      .selectFrom('invoice')
      .select(['id', 'number', 'created_at', 'total'])
      .where('corrects_id', '=', row.id)
      .orderBy('seq')
      .execute(),
  ])
  const [invoice] = presented
  if (!invoice) throw new Error(`invoice ${row.id} is not presented`)
  const { invoice_pdf: _pdf, hosted_invoice_url: _hosted, ...shown } = invoice
  return {
    customerId: row.customer_id,
    invoice: shown,
    seller: partyOf(row.seller as Party),
    buyer: partyOf(row.buyer as Party),
    entries,
    creditNotes: notes.map((note) => ({
      id: note.id,
      number: note.number ?? '',
      at: note.created_at.toISOString(),
      total: Number(note.total),
    })),
  }
}

/** Its PDF. Refuses with not_found. */
export const deskInvoiceFile = async (
  db: Queryable,
  catalog: Catalog,
  id: string,
  language: Language,
): ReturnType<typeof invoiceFile> => await invoiceFile(db, catalog, await known(db, id), language)
