/**
 * The effect that another catalogue would have on running subscriptions. It is computed by the
 * functions that price renewals and write announcements, so that the staff see exactly what
 * customers will get.
 */
import type { Currency, RegionCode } from '../../contract/money.ts'
import { timeZoneOf, type Catalog } from '../catalog/index.ts'
import type { Database, Queryable } from '../platform/db.ts'
import { firstRenewalFrom, riseLetter } from './announcements.ts'
import type { SubscriptionRow } from './payment.ts'
import { dayIn } from './period.ts'
import type { Product } from './product.ts'
import { renewalPricesOf, type RenewalPrice } from './prospects.ts'

/** Subscriptions per batch: other calls are answered between batches. */
const batchSize = 200

interface Letter {
  readonly subject: string
  readonly text: string
}
/**
 * Subscriptions whose price changes in one direction, and the days of the first and last renewal at
 * the new price.
 */
interface Group {
  readonly customers: number
  readonly subscriptions: number
  readonly firstOn: string | null
  readonly lastOn: string | null
}
export interface Outlook {
  /** Subscriptions that run and are not cancelled. */
  readonly running: number
  readonly currencies: readonly {
    readonly currency: Currency
    /** The sums of the changed prices, minor units a month. */
    readonly before: bigint
    readonly after: bigint
    readonly rises: Group
    readonly falls: Group
  }[]
  /** The letter about one rise; null: no price rises. */
  readonly letter: { readonly en: Letter; readonly vi: Letter } | null
}

/** The final price: that of an announced or coming rise, if there is one. */
const inTheEnd = ({ offer, rise }: RenewalPrice): bigint => rise?.offer.price ?? offer.price

class Tally {
  readonly customers = new Set<string>()
  subscriptions = 0
  first: string | null = null
  last: string | null = null
  add(customer: string, day: string): void {
    this.customers.add(customer)
    this.subscriptions += 1
    if (this.first === null || day < this.first) this.first = day
    if (this.last === null || day > this.last) this.last = day
  }
  get shown(): Group {
    const { subscriptions, first, last } = this
    return { customers: this.customers.size, subscriptions, firstOn: first, lastOn: last }
  }
}

/**
 * `now` prices by the catalogue in use, `next` by the other one, which takes effect at `from`. A
 * rise that the catalogue in use causes anyway is not attributed to the other one.
 */
export async function outlookOf(
  db: Database | Queryable,
  parts: { readonly catalog: Catalog; readonly portalUrl: string; readonly from: Date },
  { now, next }: { readonly now: readonly Product[]; readonly next: readonly Product[] },
): Promise<Outlook> {
  const { catalog, from } = parts
  // Announcements are sent when the catalogue takes effect, so the thirty days begin then.
  const clock = { now: () => from }
  const contextOf = (products: readonly Product[]) => ({
    clock,
    catalog,
    portalUrl: parts.portalUrl,
    products: new Map(products.map((product) => [product.name, product])),
  })
  const [before, after] = [contextOf(now), contextOf(next)]
  const found = new Map<Currency, { before: bigint; after: bigint; rises: Tally; falls: Tally }>()
  let running = 0
  let letter: Outlook['letter'] = null
  for (let last = '00000000-0000-0000-0000-000000000000'; ;) {
    const rows = await db
      .selectFrom('subscription')
      .selectAll()
      .where('status', '=', 'active')
      .where('cancel_at_period_end', '=', false)
      .where('id', '>', last)
      .orderBy('id')
      .limit(batchSize)
      .execute()
    const newest = rows.at(-1)
    if (!newest) break
    last = newest.id
    running += rows.length
    const [was, will] = [
      await renewalPricesOf(before, db, rows),
      await renewalPricesOf(after, db, rows),
    ]
    for (const row of rows) {
      const [old, fresh] = [was.get(row.id), will.get(row.id)]
      if (!old || !fresh || inTheEnd(old) === inTheEnd(fresh)) continue
      const currency = row.currency as Currency
      const sums = found.get(currency) ?? {
        before: 0n,
        after: 0n,
        rises: new Tally(),
        falls: new Tally(),
      }
      found.set(currency, sums)
      sums.before += inTheEnd(old)
      sums.after += inTheEnd(fresh)
      const isRise = inTheEnd(fresh) > inTheEnd(old)
      const acts = fresh.rise && isRise ? fresh.rise.actsAt : from
      const zone = timeZoneOf(catalog, row.region_code as RegionCode)
      const day = dayIn(zone, firstRenewalFrom(after, row, acts))
      sums[isRise ? 'rises' : 'falls'].add(row.customer_id, day)
      if (isRise) letter ??= letterAbout(after, row, fresh, day)
    }
  }
  return {
    running,
    currencies: [...found].map(([currency, sums]) => ({
      currency,
      before: sums.before,
      after: sums.after,
      rises: sums.rises.shown,
      falls: sums.falls.shown,
    })),
    letter,
  }
}

function letterAbout(
  context: Parameters<typeof riseLetter>[0],
  row: SubscriptionRow,
  prospect: RenewalPrice,
  day: string,
): Outlook['letter'] {
  const { rise } = prospect
  if (!rise) return null
  const inLanguage = (language: 'en' | 'vi'): Letter => {
    const [subject, text] = riseLetter(context, row, { prospect, rise, day, language })
    return { subject, text }
  }
  return { en: inLanguage('en'), vi: inLanguage('vi') }
}
