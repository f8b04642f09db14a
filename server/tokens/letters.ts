/** Letters to the owner of a token: it was made, or it soon ends. */
import { sql } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import type { Jobs } from '../platform/jobs.ts'

interface Made {
  readonly name: string
  readonly scopes: readonly string[]
  readonly until: Date
  readonly from: string
  readonly portalUrl: string
}
interface Ending {
  readonly name: string
  readonly until: Date
  readonly portalUrl: string
}
interface Letter {
  readonly subject: string
  readonly text: string
}

const page = (portalUrl: string): string => `${portalUrl}/account/programs`
const moment = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** A token was made: if it was not the owner, the letter says how to end it. */
export const letterOfMade = (of: Made, language: Language): Letter =>
  language === 'vi'
    ? {
        subject: 'Một token cho chương trình vừa được tạo trong tài khoản của bạn',
        text:
          `Token “${of.name}” vừa được tạo trong tài khoản của bạn từ địa chỉ mạng ${of.from}.\n` +
          `Token có các quyền: ${of.scopes.join(', ')}. ` +
          `Token có hiệu lực đến ${moment(of.until)}.\n` +
          'Nếu đó là bạn, bạn không cần làm gì.\n' +
          'Nếu không phải bạn, hãy thu hồi token ở trang này rồi đổi mật khẩu:\n' +
          page(of.portalUrl),
      }
    : {
        subject: 'A token for programs was made in your account',
        text:
          `A token named “${of.name}” was made in your account from network address ${of.from}.\n` +
          `It opens: ${of.scopes.join(', ')}. It is good until ${moment(of.until)}.\n` +
          'If it was you, there is nothing to do.\n' +
          'If it was not you, revoke it on this page, then change your password:\n' +
          page(of.portalUrl),
      }

const letterOfEnding = (of: Ending, language: Language): Letter =>
  language === 'vi'
    ? {
        subject: `Token “${of.name}” sắp hết hạn`,
        text:
          `Token “${of.name}” hết hạn lúc ${moment(of.until)}. Sau đó chương trình dùng token ` +
          'này sẽ bị từ chối.\nHãy tạo token mới ở trang này và đổi trong chương trình của bạn:\n' +
          page(of.portalUrl),
      }
    : {
        subject: `The token “${of.name}” soon expires`,
        text:
          `The token “${of.name}” expires at ${moment(of.until)}. The program that uses it is ` +
          'refused from then on.\nMake a new one on this page, and change it in your program:\n' +
          page(of.portalUrl),
      }

const toldBeforeMs = days(7)
const toldAtOnce = 100

export interface EndingNeeds {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'define'>
  readonly customer: (
    db: Queryable,
    id: string,
  ) => Promise<{ readonly email: string; readonly language: Language }>
  readonly mail: (tx: Tx, to: string, subject: string, text: string) => Promise<void>
  readonly portalUrl: string
}

/** Sends a letter once, a week before a token ends, if the token was ever used. */
export function defineEndingLetters(needs: EndingNeeds): void {
  const { db, clock, portalUrl } = needs
  const tellSome = (): Promise<number> =>
    transaction(db, async (tx) => {
      const now = clock.now()
      const { rows } = await sql<{ customerId: string; name: string; until: Date }>`
        update program_token set ending_told_at = ${now}
        where id = any (array(
          select id from program_token
          where expires_at > ${now} and expires_at <= ${later(now, toldBeforeMs)}
            and ending_told_at is null and last_used_at is not null
            -- Of one that was made for a few days its owner knows.
            and expires_at - created_at > interval '8 days'
          order by expires_at limit ${toldAtOnce} for update skip locked))
        returning customer_id as "customerId", name, expires_at as until`.execute(tx)
      for (const { customerId, name, until } of rows) {
        const { email, language } = await needs.customer(tx, customerId)
        const { subject, text } = letterOfEnding({ name, until, portalUrl }, language)
        await needs.mail(tx, email, subject, text)
      }
      return rows.length
    })
  needs.jobs.define({
    name: 'tell-ending-tokens',
    cron: '41 * * * *',
    async run() {
      while ((await tellSome()) === toldAtOnce);
    },
  })
}
