/** The operator's desk: queries about accounts, and acts on them. */
import { sql } from 'kysely'
import type { Me } from '../../contract/auth.ts'
import type { Language } from '../../contract/errors.ts'
import { fold } from '../../contract/fold.ts'
import type { RegionCode } from '../../contract/money.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import type { Clock } from '../platform/clock.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { refuseProven } from './addresses.ts'
import { endChallengesOf } from './challenges.ts'
import { languageOfCustomer } from './language.ts'
import type { EndPrograms } from './needs.ts'
import { noteFormer } from './former-addresses.ts'
import { shownPhone } from './imported.ts'
import { hasFactor } from './second-factor.ts'
import { endSessions, listSessions, type EndLive } from './session.ts'
import { dropDenialsOf } from './sign-in-letter.ts'
import { listSignIns } from './sign-ins.ts'
import { forgetDevices } from './trusted-devices.ts'

/** The short form of a customer for lists. */
export interface ShownCustomer {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly blocked: boolean
}

const shownSignIns = 10
/** A tsquery lexeme for a prefix. */
const beginning = (word: string): string =>
  `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}':*`

/** Typed numbers in E.164, for each country that the number may be of. */
function phonesOf(text: string): string[] {
  if (!/^\+?[\d\s().-]{4,24}$/.test(text)) return []
  const digits = text.replaceAll(/\D/g, '')
  if (digits.length < 4) return []
  const national = digits.replace(/^0+/, '')
  return digits.startsWith('0')
    ? ['84', '61', '49', '1'].map((country) => `+${country}${national}`)
    : [`+${digits}`]
}

/**
 * Finds customers: each word of the text is a prefix of the name (without accents), the email
 * address, its domain or the phone; or the text is the customer's id.
 */
export async function findCustomers(
  db: Queryable,
  text: string,
  limit: number,
): Promise<{ readonly id: string }[]> {
  if (isUuid(text))
    return await db.selectFrom('customer').select('id').where('id', '=', text).execute()
  // Splits names as customer_search_terms does (migration 0090).
  const words = fold(text)
    .split(/[\s,.'’-]+/)
    .filter(Boolean)
  // A prefix of an email address, or of the part after its @.
  const isWhole = !/\s/.test(text)
  const terms = [
    ...phonesOf(text).map(beginning),
    ...(words.length === 0 ? [] : [`(${words.map(beginning).join(' & ')})`]),
    ...(isWhole ? [beginning(text.toLowerCase())] : []),
  ]
  if (terms.length === 0) return []
  const wanted = terms.join(' | ')
  const { rows } = await sql<{ id: string }>`
    select id from customer
    where customer_search_terms(name, email, phone) @@ ${wanted}::tsquery
    limit ${limit}`.execute(db)
  return rows
}

/** By id; unknown ids are missing. */
export async function showCustomers(
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ShownCustomer>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('customer')
    .select(['id', 'name', 'email', 'blocked_at'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(
    rows.map(({ id, name, email, blocked_at }) => [
      id,
      { id, name, email, blocked: blocked_at !== null },
    ]),
  )
}

/** A customer's address for letters, language and time zone. */
export async function letterAddress(
  db: Queryable,
  languageOf: (region: RegionCode) => Me['language'],
  customerId: string,
): Promise<{
  readonly email: string
  readonly language: Language
  readonly regionCode: RegionCode
  readonly timeZone: string | null
}> {
  const row = await db
    .selectFrom('customer')
    .select(['email', 'language', 'region_code', 'time_zone'])
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
  return {
    email: row.email,
    language: languageOfCustomer(row, languageOf),
    regionCode: row.region_code as RegionCode,
    timeZone: row.time_zone,
  }
}

type AccountPart = Pick<
  CustomerStory,
  | 'id'
  | 'name'
  | 'email'
  | 'phone'
  | 'region'
  | 'language'
  | 'company'
  | 'taxCode'
  | 'active'
  | 'createdAt'
  | 'blockedAt'
  | 'secondFactor'
  | 'sessions'
  | 'signIns'
>

/** Refuses with not_found. */
export async function accountStory(
  db: Queryable,
  clock: Clock,
  customerId: string,
): Promise<AccountPart> {
  const row = isUuid(customerId)
    ? await db.selectFrom('customer').selectAll().where('id', '=', customerId).executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  const { id } = row
  const factors = await db
    .selectNoFrom((eb) => [
      eb
        .selectFrom('totp')
        .select((of) => of.fn.countAll<bigint>().as('n'))
        .where('customer_id', '=', id)
        .where('confirmed_at', 'is not', null)
        .as('apps'),
      eb
        .selectFrom('passkey')
        .select((of) => of.fn.countAll<bigint>().as('n'))
        .where('customer_id', '=', id)
        .as('passkeys'),
      eb
        .selectFrom('recovery_code')
        .select((of) => of.fn.countAll<bigint>().as('n'))
        .where('customer_id', '=', id)
        .as('codes'),
    ])
    .executeTakeFirstOrThrow()
  const sessions = await listSessions(db, clock, { customerId: id, sessionId: '' })
  const { signIns } = await listSignIns(db, id, { limit: shownSignIns, before: null })
  return {
    id,
    name: row.name,
    email: row.email,
    phone: shownPhone(row.phone),
    region: row.region_code,
    language: row.language,
    company: row.company,
    taxCode: row.tax_code,
    active: row.active,
    createdAt: row.created_at.toISOString(),
    blockedAt: row.blocked_at?.toISOString() ?? null,
    secondFactor: {
      app: (factors.apps ?? 0n) > 0n,
      passkeys: Number(factors.passkeys ?? 0n),
      recoveryCodes: Number(factors.codes ?? 0n),
    },
    sessions: sessions.map(({ id: session, ip, userAgent, lastUsedAt }) => ({
      id: session,
      ip: ip ?? '',
      userAgent: userAgent ?? '',
      lastUsedAt,
    })),
    signIns,
  }
}

/** The desk's acts on an account; each runs in the transaction of its act. */
export interface AccountActs {
  /**
   * Answers the number of ended sessions. Refuses with not_found, and with conflict if the customer
   * is blocked.
   */
  block(tx: Tx, customerId: string): Promise<number>
  /** Refuses with not_found, and with conflict if the customer is not blocked. */
  unblock(tx: Tx, customerId: string): Promise<void>
  /** Answers how many ended. Refuses with not_found. */
  endSessions(tx: Tx, customerId: string): Promise<number>
  /** Ends tokens and webhooks; answers how many. Refuses with not_found. */
  endPrograms(tx: Tx, customerId: string): Promise<number>
  /**
   * Answers the removed factors. Refuses with not_found, and with conflict if the customer has
   * none.
   */
  resetSecondFactor(
    tx: Tx,
    customerId: string,
  ): Promise<{ app: boolean; passkeys: number; sessions: number }>
  /**
   * Refuses with not_found, with conflict if the address is theirs already or the account is
   * closed, and with email_taken.
   */
  refuseEmail(tx: Tx, customerId: string, email: string): Promise<void>
  /**
   * Sets another email address for a customer who has lost the mailbox. Ends everything sent to the
   * former address and every waiting challenge. Answers the number of ended sessions. Refuses as
   * `refuseEmail` does.
   */
  changeEmail(tx: Tx, customerId: string, email: string): Promise<number>
  /** Answers the previous language. Refuses with not_found. */
  changeLanguage(tx: Tx, customerId: string, language: 'en' | 'vi' | 'aud'): Promise<string | null>
}

export function createAccountActs(needs: {
  clock: Clock
  endLive: EndLive
  endPrograms: EndPrograms
  /** Ends everything that members have open in the account. */
  endTeam: (tx: Tx, customerId: string) => Promise<void>
}): AccountActs {
  const { clock } = needs
  /** Locks the customer: of two parallel acts the second sees the first one's result. */
  const held = async (tx: Tx, customerId: string) => {
    const row = isUuid(customerId)
      ? await tx
          .selectFrom('customer')
          .select(['id', 'blocked_at', 'closed_at', 'language', 'email'])
          .where('id', '=', customerId)
          .forUpdate()
          .executeTakeFirst()
      : undefined
    if (!row) throw new Refusal('not_found')
    return row
  }
  const closedAlready = () =>
    new Refusal('conflict', {
      fields: {
        customer: {
          en: 'The customer has closed this account.',
          vi: 'Khách hàng đã đóng tài khoản này.',
        },
      },
    })
  const acts: AccountActs = {
    async block(tx, customerId) {
      const { id, blocked_at: since } = await held(tx, customerId)
      if (since !== null)
        throw new Refusal('conflict', {
          fields: {
            customer: { en: 'This customer is blocked already.', vi: 'Khách hàng này đã bị khoá.' },
          },
        })
      await tx
        .updateTable('customer')
        .set({ blocked_at: clock.now() })
        .where('id', '=', id)
        .execute()
      await endChallengesOf(tx, id)
      await needs.endPrograms(tx, id)
      await needs.endTeam(tx, id)
      return await endSessions(tx, needs, { customerId: id })
    },
    async unblock(tx, customerId) {
      const { id, blocked_at: since, closed_at: closed } = await held(tx, customerId)
      if (closed !== null) throw closedAlready()
      if (since === null)
        throw new Refusal('conflict', {
          fields: {
            customer: { en: 'This customer is not blocked.', vi: 'Khách hàng này không bị khoá.' },
          },
        })
      await tx.updateTable('customer').set({ blocked_at: null }).where('id', '=', id).execute()
    },
    async endSessions(tx, customerId) {
      const { id } = await held(tx, customerId)
      return await endSessions(tx, needs, { customerId: id })
    },
    async endPrograms(tx, customerId) {
      const { id } = await held(tx, customerId)
      return await needs.endPrograms(tx, id)
    },
    async resetSecondFactor(tx, customerId) {
      const { id } = await held(tx, customerId)
      if (!(await hasFactor(tx, id)))
        throw new Refusal('conflict', {
          fields: {
            customer: {
              en: 'This customer has no second factor.',
              vi: 'Khách hàng này chưa bật xác thực hai lớp.',
            },
          },
        })
      const gone = async (table: 'totp' | 'passkey' | 'recovery_code'): Promise<number> => {
        const { numDeletedRows } = await tx
          .deleteFrom(table)
          .where('customer_id', '=', id)
          .executeTakeFirst()
        return Number(numDeletedRows)
      }
      const app = (await gone('totp')) > 0
      const passkeys = await gone('passkey')
      await gone('recovery_code')
      await forgetDevices(tx, id)
      await endChallengesOf(tx, id)
      return { app, passkeys, sessions: await endSessions(tx, needs, { customerId: id }) }
    },
    async refuseEmail(tx, customerId, email) {
      const { email: former, closed_at: closed } = await held(tx, customerId)
      if (closed !== null) throw closedAlready()
      if (email === former)
        throw new Refusal('conflict', {
          fields: {
            email: {
              en: 'This is the customer’s address already.',
              vi: 'Đây đã là địa chỉ của khách hàng.',
            },
          },
        })
      await refuseProven(tx, { email })
    },
    async changeEmail(tx, customerId, email) {
      await acts.refuseEmail(tx, customerId, email)
      const { email: address } = await held(tx, customerId)
      await tx.deleteFrom('one_time_code').where('customer_id', '=', customerId).execute()
      // A link in the former mailbox would give the former address back.
      await dropDenialsOf(tx, customerId)
      await endChallengesOf(tx, customerId)
      await forgetDevices(tx, customerId)
      // A member typed it: nothing from this mailbox was used yet (decision 156).
      await tx
        .updateTable('customer')
        .set({ email, email_proven_at: null })
        .where('id', '=', customerId)
        .execute()
      await noteFormer(tx, clock, customerId, { kind: 'email', address })
      return await endSessions(tx, needs, { customerId })
    },
    async changeLanguage(tx, customerId, language) {
      const { id, language: before } = await held(tx, customerId)
      await tx.updateTable('customer').set({ language }).where('id', '=', id).execute()
      return before
    },
  }
  return acts
}
