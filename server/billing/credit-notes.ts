/**
 * Credit notes: every refunded amount has one. It names the invoice that it corrects and the lines
 * there, and is numbered in a series of its own (contract.md section 8).
 */
import type { Selectable } from 'kysely'
import type { Currency, RegionCode } from '../../contract/money.ts'
import { shareOf } from '../../contract/pricing.ts'
import type { DB } from '../platform/db-types.ts'
import type { Tx } from '../platform/db.ts'
import type { BillingContext } from './context.ts'
import { takenOff } from './coupons.ts'
import { draftEvent } from './events.ts'
import type { Party } from './invoice-pdf.ts'
import { numberDrafts, writeInvoices, type Line } from './issue.ts'
import type { SubscriptionRow } from './payment.ts'
import { secondsBetween } from './period.ts'
import type { InvoiceRow } from './store.ts'
import { basisOf, offerFromJson, subjectOf, type Basis, type Product } from './product.ts'

type LineRow = Selectable<DB['invoice_line']>

/**
 * Refunds into the wallet: writes the credit note, posts the refund under `key` once, and publishes
 * the event. The sum of the lines is negative, minor units. Throws if the customer does not exist.
 */
export async function credit(
  context: BillingContext,
  tx: Tx,
  of: {
    invoice: InvoiceRow
    lines: readonly Line[]
    key: (noteId: string) => string
    reason?: string
  },
): Promise<void> {
  const { invoice, lines, reason } = of
  const customer = (await context.customers(tx, [invoice.customer_id])).get(invoice.customer_id)
  if (!customer) throw new Error(`no customer ${invoice.customer_id}`)
  const now = context.clock.now()
  const subject = subjectOf(invoice.subject)
  const [note] = await numberDrafts(
    tx,
    context.catalog,
    [
      {
        kind: 'credit',
        corrects: invoice.id,
        customer: { ...customer, regionCode: invoice.region_code as RegionCode },
        // The buyer and the tax rate come from the corrected invoice.
        buyer: invoice.buyer as Party,
        tax: { name: invoice.tax_name, rate: invoice.tax_rate },
        currency: invoice.currency as Currency,
        product: invoice.product,
        subject,
        subscriptionId: invoice.subscription_id,
        period: null,
        starts: null,
        sets: null,
        lines,
      },
    ],
    now,
  )
  if (!note || note.total >= 0n) throw new Error('a credit note gives something back')
  await writeInvoices(tx, context.catalog, [{ ...note, paid: true }], now)
  await context.ledger.refund(tx, {
    key: of.key(note.id),
    customerId: invoice.customer_id,
    product: invoice.product,
    amount: -note.total,
    currency: invoice.currency as Currency,
    details: {
      invoice: note.number,
      ...(subject && { subject: subject.name }),
      ...(reason !== undefined && { reason }),
    },
    paidAt: invoice.paid_at ?? invoice.created_at,
  })
  await context.outbox.publishEvents(tx, [draftEvent(context, 'invoice.create', note, note.total)])
}

const linesOf = (tx: Tx, invoiceId: string): Promise<LineRow[]> =>
  tx
    .selectFrom('invoice_line')
    .selectAll()
    .where('invoice_id', '=', invoiceId)
    .orderBy('position')
    .execute()

const withBasis = (basis: Basis | null) => (basis ? { basis } : {})

/** Refunds a paid invoice completely into the wallet, once: the credit note has every line. */
export async function creditWhole(
  context: BillingContext,
  tx: Tx,
  invoice: InvoiceRow,
  reason: string,
): Promise<void> {
  const lines = (await linesOf(tx, invoice.id)).map((row): Line => ({
    description: { en: row.description_en, vi: row.description_vi },
    quantity: -row.quantity,
    unitPrice: row.unit_price,
    period:
      row.period_start && row.period_end ? { start: row.period_start, end: row.period_end } : null,
    corrects: row.position,
    ...withBasis(basisOf(row.basis)),
  }))
  await credit(context, tx, { invoice, lines, reason, key: () => `invoice:${invoice.id}:refund` })
}

/**
 * An invoice of the running period: `price`: the monthly price since its payment; `total`: the
 * charged amount. Minor units.
 */
export interface Charged {
  readonly price: bigint
  readonly total: bigint
}

/**
 * Splits the unused amount over the period's invoices, the one that began the period first. A
 * growth's invoice gets the unused share of the growth, at most its own total; the first invoice
 * gets the rest. All amounts are minor units; the parts sum to `unused`.
 */
export function splitUnused(
  unused: bigint,
  share: (monthly: bigint) => bigint,
  charged: readonly Charged[],
): bigint[] {
  const grown = charged.slice(1).map(({ price, total }, index) => {
    const more = share(price) - share(charged[index]?.price ?? 0n)
    if (more < 0n) return 0n
    return more > total ? total : more
  })
  return [unused - grown.reduce((sum, part) => sum + part, 0n), ...grown]
}

/** The basis with another number of seconds, if it still explains the amount. */
function basisFor(
  product: Product | undefined,
  stored: unknown,
  { seconds, ofSeconds, amount }: { seconds: number; ofSeconds: number; amount: bigint },
) {
  const known = basisOf(stored)
  if (!known || !product) return {}
  const basis: Basis = { ...known, seconds, of_seconds: ofSeconds }
  return shareOf(product.pricing.monthly(basis), seconds, ofSeconds) === amount ? { basis } : {}
}

/**
 * Credits the unused part of the running period, `unused` minor units, to the wallet, with a credit
 * note for each invoice that charged a part of it. Answers the customers credited: after a
 * hand-over the former owner has paid.
 */
export async function creditUnused(
  context: BillingContext,
  tx: Tx,
  row: SubscriptionRow,
  unused: bigint,
): Promise<ReadonlySet<string>> {
  const credited = new Set<string>()
  const now = context.clock.now()
  const first = await tx
    .selectFrom('invoice')
    .selectAll()
    .where('id', '=', row.invoice_id)
    .executeTakeFirstOrThrow()
  const upgrades = await tx
    .selectFrom('invoice')
    .selectAll()
    .where('subscription_id', '=', row.id)
    .where('kind', '=', 'proration')
    .where('status', '=', 'paid')
    .where('total', '>', 0n)
    .where('seq', '>', first.seq)
    .orderBy('seq')
    .execute()
  const seconds = secondsBetween(now, row.period_end)
  const ofSeconds = secondsBetween(row.period_start, row.period_end)
  const share = (monthly: bigint): bigint => shareOf(monthly, seconds, ofSeconds)
  const charged = [
    // Growths were charged against the full price, so the coupon's discount is added back.
    { price: first.total + (await takenOff(tx, first.id)), total: first.total },
    ...upgrades.map(({ sets, total }) => ({ price: offerFromJson(sets).price, total })),
  ]
  const parts = splitUnused(unused, share, charged)
  const period = { start: now, end: row.period_end }
  for (const [index, invoice] of [first, ...upgrades].entries()) {
    const part = parts[index] ?? 0n
    if (part === 0n) continue
    const rows = await linesOf(tx, invoice.id)
    const product = context.products.get(row.product)
    const line = (position: number, quantity: 1n | -1n, unitPrice: bigint): Line => {
      const of = rows[position] ?? rows[0]
      if (!of) throw new Error(`invoice ${invoice.id} has no lines`)
      const bare = (text: string): string => text.replace(/: [^:]*$/, '')
      const [en, vi] =
        index === 0
          ? [of.description_en, of.description_vi]
          : [bare(of.description_en), bare(of.description_vi)]
      return {
        description: { en: `${en}: unused`, vi: `${vi}: chưa dùng` },
        quantity,
        unitPrice,
        period,
        corrects: of.position,
        ...basisFor(product, of.basis, { seconds, ofSeconds, amount: unitPrice }),
      }
    }
    const [costs, before] = [
      share(charged[index]?.price ?? 0n),
      share(charged[index - 1]?.price ?? 0n),
    ]
    const lines =
      index > 0 && costs - before === part
        ? [line(0, -1n, costs), line(1, 1n, before)]
        : [line(0, -1n, part)]
    await credit(context, tx, { invoice, lines, key: (noteId) => `invoice:${noteId}` })
    credited.add(invoice.customer_id)
  }
  return credited
}
