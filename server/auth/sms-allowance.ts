/**
 * Which SMS are sent. Each costs money, and fraudsters request SMS to expensive numbers to earn by
 * it (SMS pumping). So: only countries of the region's list, one per number and minute, ten per
 * number and day, and a daily total. Anybody can make accounts, so those that are not activated
 * have only a share of the total; the rest is for customers.
 */
import { sql } from 'kysely'
import { countryOf, type CountryCode } from '../../contract/phone.ts'
import type { Language } from '../../contract/errors.ts'
import type { RegionCode } from '../../contract/money.ts'
import { seconds, type Clock } from '../platform/clock.ts'
import { dropOld } from '../platform/batches.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Limits } from '../platform/limits.ts'
import type { Log } from '../platform/log.ts'

const otherCountry = {
  en: 'We send no codes to numbers of this country. Use one of a country that your region serves.',
  vi:
    'Chúng tôi không gửi mã tới số của quốc gia này. Hãy dùng số của quốc gia thuộc khu vực bạn ' +
    'chọn.',
}
const gapMs = seconds(60)
/** Accounts that are not activated get one part in this many of the day's SMS. */
const newcomersPart = 5
/** The limit's day is a day in UTC. A limit that is reached is checked again in an hour. */
const retryAfterSeconds = 3600

export interface SmsAllowance {
  /** Refuses with invalid_input a number whose country is not in the region's list. */
  refuseCountry(number: string, region: RegionCode, language: Language): void
  /**
   * The time at which the next SMS to this number may be sent: now, or a minute after the last one.
   * Undefined: one waits for that time already. Refuses with rate_limited above the daily limit of
   * a number or of all accounts that are not activated (`isNewcomer`), and with unavailable above
   * the daily total.
   */
  reserve(tx: Tx, number: string, of: { readonly isNewcomer: boolean }): Promise<Date | undefined>
}

export function createSmsAllowance(deps: {
  clock: Clock
  log: Log
  limits: Limits
  aDay: number
  countriesOf: (region: RegionCode) => readonly CountryCode[]
}): SmsAllowance {
  const { clock, log, aDay } = deps
  const ofNumber = deps.limits.limit('sms-number')
  const ofNewcomers = Math.max(1, Math.floor(aDay / newcomersPart))
  return {
    refuseCountry(number, region, language) {
      const country = countryOf(number)
      if (country === undefined || !deps.countriesOf(region).includes(country))
        throw new Refusal('invalid_input', {
          fields: { phone: otherCountry[language] },
        })
    },
    async reserve(tx, number, { isNewcomer }) {
      const now = clock.now()
      const slot = await sql<{ at: Date }>`
        insert into sms_slot as s (number, at) values (${number}, ${now})
        on conflict (number) do update
          set at = greatest(s.at + make_interval(secs => ${gapMs / 1000}), ${now})
          where s.at <= ${now}
        returning at`.execute(tx)
      const at = slot.rows[0]?.at
      if (at === undefined) return undefined
      await ofNumber.take(number)
      const newcomers = isNewcomer ? 1 : 0
      const day = sql`(${now} at time zone 'UTC')::date`
      const counted = await sql`
        insert into sms_day as d (day, sent, newcomers) values (${day}, 1, ${newcomers})
        on conflict (day) do update
          set sent = d.sent + 1, newcomers = d.newcomers + ${newcomers}
          where d.sent < ${aDay} and (${newcomers} = 0 or d.newcomers < ${ofNewcomers})
        returning sent`.execute(tx)
      if (counted.rows.length === 0) {
        const { rows } = await sql`
          select from sms_day where day = ${day} and sent < ${aDay}`.execute(tx)
        if (rows.length > 0) {
          log.error(
            { event: 'sms_share_reached', ofNewcomers },
            'no more SMS today for accounts that are not activated: their share is used up',
          )
          throw new Refusal('rate_limited', { retryAfterSeconds })
        }
        log.error({ event: 'sms_cap_reached', aDay }, 'no more SMS today: the daily cap is reached')
        throw new Refusal('unavailable', { retryAfterSeconds })
      }
      return at
    },
  }
}

export async function dropOldSmsCounts(db: Queryable, clock: Clock): Promise<void> {
  await dropOld(db, clock, 'sms_slot')
  await dropOld(db, clock, 'sms_day')
}
