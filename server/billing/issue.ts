/** Writing invoices: numbers, tax, buyer and seller are settled here and never change again. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Language } from '../../contract/errors.ts'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { halfEven, type Basis } from '../../contract/pricing.ts'
import type { Catalog } from '../catalog/index.ts'
import { timeZoneOf } from '../catalog/index.ts'
import type { Tx } from '../platform/db.ts'
import type { Party } from './invoice-pdf.ts'
import { nextNumbers } from './numbers.ts'
import { yearIn } from './period.ts'
import { offerToJson, type Offer, type Starts, type Text } from './product.ts'

export interface Line {
  readonly description: Text
  readonly quantity: bigint
  /** Minor units, tax contained. */
  readonly unitPrice: bigint
  readonly period: { readonly start: Date; readonly end: Date } | null
  /** What the unit price was computed from, frozen with the line. */
  readonly basis?: Basis
}
export interface Customer {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly address?: string
  /** The buyer, where there is one. */
  readonly company?: string
  readonly taxCode?: string
  readonly regionCode: RegionCode
  /** Of letters. */
  readonly language: Language
}
export interface Subject {
  readonly wp: { readonly id: string; readonly name: string }
}

export interface Bill {
  readonly customer: Customer
  readonly currency: Currency
  /** The ledger's revenue account: wordpress. */
  readonly product: string
  readonly lines: readonly Line[]
  /** What the events carry and the transaction log names. */
  readonly subject: Subject | null
  readonly subscriptionId: string | null
  /** The job to add, in the same transaction, once it is paid. */
  readonly starts: Starts | null
}

export interface Draft extends Bill {
  /** Who is named, where that is not the customer as they are now: a credit names whom its invoice named. */
  readonly buyer?: Party
  readonly kind: 'order' | 'renewal' | 'proration' | 'credit'
  /** Of a renewal. */
  readonly period: { readonly start: Date; readonly end: Date } | null
  /** What the subscription costs from the payment on. */
  readonly sets: Offer | null
}

/** A draft that has its number. */
export interface Numbered extends Draft {
  readonly id: string
  readonly token: string
  readonly number: string
  /** Minor units. */
  readonly total: bigint
}

const amountOf = ({ quantity, unitPrice }: Line): bigint => quantity * unitPrice

/** The tax that an amount contains: one rounding a line. `rate` in hundredths of a percent. */
export function taxIn(amount: bigint, rate: number): bigint {
  const tax = halfEven((amount < 0n ? -amount : amount) * BigInt(rate), BigInt(10_000 + rate))
  return amount < 0n ? -tax : tax
}

/** Gives drafts their numbers, in their order. Counters are taken in one order by everybody. */
export async function numberDrafts(tx: Tx, catalog: Catalog, drafts: readonly Draft[], now: Date): Promise<Numbered[]> {
  const regions = Map.groupBy(drafts, ({ customer }) => customer.regionCode)
  const waiting = new Map<RegionCode, string[]>()
  for (const [region, own] of [...regions].toSorted(([one], [other]) => (one < other ? -1 : 1)))
    waiting.set(region, await nextNumbers(tx, region, yearIn(timeZoneOf(catalog, region), now), own.length))
  return drafts.map((draft) => ({
    ...draft,
    id: randomUUID(),
    token: randomBytes(24).toString('base64url'),
    number: waiting.get(draft.customer.regionCode)?.shift() ?? '',
    total: draft.lines.reduce((sum, line) => sum + amountOf(line), 0n),
  }))
}

const buyerOf = ({ name, email, address, company, taxCode }: Customer): Party => ({
  name: company ?? name,
  email,
  ...(address !== undefined && { address }),
  ...(taxCode !== undefined && { taxCode }),
})

/** `paid`: it is settled already, and nothing is due. */
export async function writeInvoices(
  tx: Tx,
  catalog: Catalog,
  invoices: readonly (Numbered & { readonly paid: boolean })[],
  now: Date,
): Promise<void> {
  if (invoices.length === 0) return
  const taxOf = ({ customer }: Draft) => catalog.regions[customer.regionCode].tax
  await tx
    .insertInto('invoice')
    .values(
      invoices.map((invoice) => ({
        id: invoice.id,
        number: invoice.number,
        token: invoice.token,
        kind: invoice.kind,
        customer_id: invoice.customer.id,
        subscription_id: invoice.subscriptionId,
        region_code: invoice.customer.regionCode,
        product: invoice.product,
        currency: invoice.currency,
        total: invoice.total,
        amount_paid: invoice.paid ? invoice.total : 0n,
        status: invoice.paid ? 'paid' : 'open',
        paid_at: invoice.paid ? now : null,
        // Frozen: what the customer was called, who sold it, and the tax when it was issued.
        buyer: JSON.stringify(invoice.buyer ?? buyerOf(invoice.customer)),
        seller: JSON.stringify(catalog.seller),
        tax_name: taxOf(invoice).name,
        tax_rate: taxOf(invoice).rate,
        starts: invoice.starts ? JSON.stringify(invoice.starts) : null,
        subject: invoice.subject ? JSON.stringify(invoice.subject) : null,
        sets: invoice.sets ? offerToJson(invoice.sets) : null,
        period_start: invoice.period?.start ?? null,
        period_end: invoice.period?.end ?? null,
        created_at: now,
      })),
    )
    .execute()
  await tx
    .insertInto('invoice_line')
    .values(
      invoices.flatMap((invoice) =>
        invoice.lines.map((line, position) => ({
          invoice_id: invoice.id,
          position,
          description_en: line.description.en,
          description_vi: line.description.vi,
          quantity: line.quantity,
          unit_price: line.unitPrice,
          amount: amountOf(line),
          tax: taxIn(amountOf(line), taxOf(invoice).rate),
          period_start: line.period?.start ?? null,
          period_end: line.period?.end ?? null,
          basis: line.basis ? JSON.stringify(line.basis) : null,
        })),
      ),
    )
    .execute()
}
