/** An invoice's PDF with the name that it is saved under. */
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'
import { timeZoneOf, type Catalog } from '../catalog/index.ts'
import type { Queryable } from '../platform/db.ts'
import { invoicePdf, type Party } from './invoice-pdf.ts'
import { noLinks, presentAll, type InvoiceRow } from './store.ts'

/** Dates are days in the time zone of the invoice's region. */
export async function invoiceFile(
  db: Queryable,
  catalog: Catalog,
  row: InvoiceRow,
  language: Language,
): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  const [invoice] = await presentAll(db, [row], noLinks, language)
  if (!invoice) throw new Error(`invoice ${row.id} is not presented`)
  const bytes = await invoicePdf(invoice, {
    seller: row.seller as Party,
    buyer: row.buyer as Party,
    language,
    timeZone: timeZoneOf(catalog, row.region_code as RegionCode),
  })
  return { name: `${row.number ?? `draft-${row.id.slice(0, 8)}`}.pdf`, bytes }
}
