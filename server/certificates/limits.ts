/**
 * The limits of certificate authorities, counted here: a refused request would use up the limit for
 * nothing. Let's Encrypt's limits are in docs/operate.md.
 */
import { parse } from 'tldts'
import { days, hours, later, type Clock } from '../platform/clock.ts'
import { dropOld } from '../platform/batches.ts'
import type { Database } from '../platform/db.ts'
import { mostForNew, type AskedFor } from './turns.ts'

export interface AcmeLimits {
  /** Orders of one account in three hours. */
  readonly ordersIn3Hours: number
  /** New certificates for one registrable domain in a week. */
  readonly aWeek: number
}

export interface OrderLimits {
  /** Undefined if an order may be made now; otherwise the time from which it may. */
  freeAt(of: OrderOf): Promise<Date | undefined>
  /** Customers' recent orders at an authority, for their shares. */
  asked(directory: string): Promise<AskedFor>
  count(of: OrderOf): Promise<void>
  dropOld(): Promise<void>
}
interface OrderOf {
  readonly directory: string
  readonly name: string
  readonly isRenewal: boolean
  /** Null: the portal's own. */
  readonly customerId: string | null
}

const shortMs = hours(3)
const weekMs = days(7)

/** The domain by which authorities count: the one right below a public suffix. */
export const registrableOf = (name: string): string =>
  parse(name.replace(/^\*\./, ''), { allowPrivateDomains: true }).domain ?? name

export function createOrderLimits(db: Database, clock: Clock, limits: AcmeLimits): OrderLimits {
  /** When the oldest of the last `limit` orders stops counting. Undefined: there are fewer. */
  async function freeWith(
    limit: number,
    spanMs: number,
    of: { readonly directory: string; readonly domain?: string },
  ): Promise<Date | undefined> {
    const row = await db
      .selectFrom('acme_order')
      .select('at')
      .where('directory', '=', of.directory)
      .where('at', '>', later(clock.now(), -spanMs))
      .$if(of.domain !== undefined, (query) =>
        query.where('domain', '=', of.domain ?? '').where('is_renewal', '=', false),
      )
      .orderBy('at', 'desc')
      .offset(limit - 1)
      .limit(1)
      .executeTakeFirst()
    return row && later(row.at, spanMs)
  }
  return {
    async freeAt({ directory, name, isRenewal, customerId }) {
      const most =
        isRenewal || customerId === null ? limits.ordersIn3Hours : mostForNew(limits.ordersIn3Hours)
      const inAll = await freeWith(most, shortMs, { directory })
      // A renewal of the same name does not count towards the domain's limit.
      if (isRenewal) return inAll
      const domain = registrableOf(name)
      const ofDomain = await freeWith(limits.aWeek, weekMs, { directory, domain })
      if (inAll === undefined || ofDomain === undefined) return inAll ?? ofDomain
      return inAll > ofDomain ? inAll : ofDomain
    },
    async asked(directory) {
      const rows = await db
        .selectFrom('acme_order')
        .select(['customer_id', 'is_renewal'])
        .select((eb) => eb.fn.countAll<bigint>().as('orders'))
        .where('directory', '=', directory)
        .where('at', '>', later(clock.now(), -shortMs))
        .groupBy(['customer_id', 'is_renewal'])
        .execute()
      return {
        limit: limits.ordersIn3Hours,
        inAll: rows.reduce((sum, { orders }) => sum + Number(orders), 0),
        newOf: new Map(
          rows.flatMap(({ customer_id: holder, is_renewal: isRenewal, orders }) =>
            holder === null || isRenewal ? [] : [[holder, Number(orders)] as const],
          ),
        ),
      }
    },
    async count({ directory, name, isRenewal, customerId }) {
      await db
        .insertInto('acme_order')
        .values({
          directory,
          domain: registrableOf(name),
          is_renewal: isRenewal,
          customer_id: customerId,
          at: clock.now(),
        })
        .execute()
    },
    dropOld: () => dropOld(db, clock, 'acme_order'),
  }
}
