/**
 * Writes invoices. Tax, buyer and seller are fixed when the row is written. The number is given
 * when the invoice is paid or falls due, whichever comes first; from then on nothing changes.
 */
import { randomUUID } from 'node:crypto'
import type { Language } from '../../contract/errors.ts'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { halfEven } from '../../contract/pricing.ts'
import type { Catalog } from '../catalog/index.ts'
import { timeZoneOf } from '../catalog/index.ts'
import type { Tx } from '../platform/db.ts'
import type { Party } from './invoice-pdf.ts'
import { nextNumbers, type Series } from './numbers.ts'
import { yearIn } from './period.ts'
import {
  offerToJson,
  subjectToRow,
  type Basis,
  type Offer,
  type Starts,
  type Subject,
  type Text,
} from './product.ts'

export interface Line {
  readonly description: Text
  readonly quantity: bigint
  /** Minor units, tax contained. */
  readonly unitPrice: bigint
  readonly period: { readonly start: Date; readonly end: Date } | null
  /** What the unit price was computed from; stored with the line. */
  readonly basis?: Basis
  /** For a credit note: the position of the corrected line, from 0. */
  readonly corrects?: number
}
export interface Customer {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly address?: string
  /** The buyer's company, if there is one. */
  readonly company?: string
  readonly taxCode?: string
  readonly regionCode: RegionCode
  /** The language of letters. */
  readonly language: Language
  /** The customer's chosen time zone. */
  readonly timeZone?: string | null
}

export interface Bill {
  readonly customer: Customer
  readonly currency: Currency
  /** A product's name, which is part of the ledger's revenue account. */
  readonly product: string
  readonly lines: readonly Line[]
  /** The subject in events and in the transaction log. */
  readonly subject: Subject | null
  readonly subscriptionId: string | null
  /** The job to add in the transaction of the payment. */
  readonly starts: Starts | null
}

export interface Draft extends Bill {
  /**
   * The buyer to print if not the customer's present details: a credit note names its invoice's
   * buyer.
   */
  readonly buyer?: Party
  readonly kind: 'order' | 'renewal' | 'proration' | 'credit'
  /** For a credit note: the invoice that it corrects. */
  readonly corrects?: string
  /**
   * The tax if not the region's present one: a credit note has the rate of its invoice. Hundredths
   * of a percent.
   */
  readonly tax?: { readonly name: string; readonly rate: number }
  /** The period that the invoice pays for. */
  readonly period: { readonly start: Date; readonly end: Date } | null
  /** The subscription's price from the payment on. */
  readonly sets: Offer | null
}

/** A draft in the form that is written. */
export interface Prepared extends Draft {
  readonly id: string
  /** Null: an order that is not paid yet. */
  readonly number: string | null
  /** Minor units, never zero. */
  readonly total: bigint
}
/** An invoice with its number. */
export interface Numbered extends Prepared {
  readonly number: string
}

const amountOf = ({ quantity, unitPrice }: Line): bigint => quantity * unitPrice

/** The tax contained in an amount, rounded once per line. `rate` in hundredths of a percent. */
export function taxIn(amount: bigint, rate: number): bigint {
  const tax = halfEven((amount < 0n ? -amount : amount) * BigInt(rate), BigInt(10_000 + rate))
  return amount < 0n ? -tax : tax
}

/** Minor units of all lines together. */
export const totalOf = (lines: readonly Line[]): bigint =>
  lines.reduce((sum, line) => sum + amountOf(line), 0n)

/**
 * Completes a draft, without a number. Throws for a total of zero, because there is nothing to
 * document.
 */
export function prepare(draft: Draft): Prepared & { readonly number: null } {
  const total = totalOf(draft.lines)
  if (total === 0n) throw new Error('no document has a total of zero')
  return { ...draft, id: randomUUID(), number: null, total }
}

/** Gives drafts consecutive numbers. Counters are locked in one order everywhere. */
export async function numberDrafts(
  tx: Tx,
  catalog: Catalog,
  drafts: readonly Draft[],
  now: Date,
): Promise<Numbered[]> {
  const prepared = drafts.map(prepare)
  const seriesOf = ({ kind }: Draft): Series => (kind === 'credit' ? 'credit' : 'invoice')
  const counterOf = (draft: Draft): string => `${draft.customer.regionCode} ${seriesOf(draft)}`
  const waiting = new Map<string, string[]>()
  const counters = [...Map.groupBy(drafts, counterOf)]
  for (const [counter, own] of counters.toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const [draft] = own
    if (!draft) continue
    const region = draft.customer.regionCode
    const year = yearIn(timeZoneOf(catalog, region), now)
    waiting.set(counter, await nextNumbers(tx, seriesOf(draft), region, year, own.length))
  }
  return prepared.map((draft) => {
    const number = waiting.get(counterOf(draft))?.shift()
    if (number === undefined) throw new Error('a draft got no number')
    return { ...draft, number }
  })
}

const buyerOf = ({ name, email, address, company, taxCode }: Customer): Party => ({
  name: company ?? name,
  email,
  ...(address !== undefined && { address }),
  ...(taxCode !== undefined && { taxCode }),
})

/** Writes invoices. `paid`: the invoice is settled already, and nothing is due. */
export async function writeInvoices(
  tx: Tx,
  catalog: Catalog,
  invoices: readonly (Prepared & { readonly paid: boolean; readonly lapsesAt?: Date })[],
  now: Date,
): Promise<void> {
  if (invoices.length === 0) return
  const taxOf = ({ customer, tax }: Draft) => tax ?? catalog.regions[customer.regionCode].tax
  await tx
    .insertInto('invoice')
    .values(
      invoices.map((invoice) => ({
        id: invoice.id,
        number: invoice.number,
        issued_at: invoice.number === null ? null : now,
        lapses_at: invoice.lapsesAt ?? null,
        kind: invoice.kind,
        corrects_id: invoice.corrects ?? null,
        customer_id: invoice.customer.id,
        subscription_id: invoice.subscriptionId,
        region_code: invoice.customer.regionCode,
        product: invoice.product,
        currency: invoice.currency,
        total: invoice.total,
        amount_paid: invoice.paid ? invoice.total : 0n,
        status: invoice.paid ? 'paid' : 'open',
        paid_at: invoice.paid ? now : null,
        // A snapshot at the time of issue: the customer's name, the seller and the tax.
        buyer: JSON.stringify(invoice.buyer ?? buyerOf(invoice.customer)),
        seller: JSON.stringify(catalog.seller),
        tax_name: taxOf(invoice).name,
        tax_rate: taxOf(invoice).rate,
        starts: invoice.starts ? JSON.stringify(invoice.starts) : null,
        subject: invoice.subject ? JSON.stringify(subjectToRow(invoice.subject)) : null,
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
          corrects_position: line.corrects ?? null,
        })),
      ),
    )
    .execute()
}
