/**
 * The letter about a sign-in from an unknown origin. Its link lets the owner say that it was not
 * them: then every session, the password, and everything added since end, and the account gets back
 * the email and phone that it had when the letter was sent.
 */
import { createHash, randomBytes } from 'node:crypto'
import { deviceOf } from '../../contract/device.ts'
import type { Language } from '../../contract/errors.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import { dropOld } from '../platform/batches.ts'
import { onCommit, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { provenByOthers } from './addresses.ts'
import { endChallengesOf } from './challenges.ts'
import { noteFormer } from './former-addresses.ts'
import type { Guards } from './guards.ts'
import { forgetOrigins } from './known-origins.ts'
import { languageOfCustomer } from './language.ts'
import type { AuthNeeds } from './needs.ts'
import { endSessions, type Origin } from './session.ts'
import { forgetDevices } from './trusted-devices.ts'

const keptMs = days(7)
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

interface Told {
  readonly device: string
  readonly ip: string
  readonly at: string
  readonly link: string
}
const texts = {
  en: {
    subject: 'New sign-in to your account',
    unknown: 'an unknown device',
    on: (browser: string, system: string) => `${browser} on ${system}`,
    text: ({ device, ip, at, link }: Told) =>
      `Your account was signed in to from ${device}, network address ${ip}, at ${at}.\nIf it ` +
      'was you, there is nothing to do.\nIf it was not you, open this link within seven days. ' +
      `It signs out every device and lets you choose a new password:\n${link}`,
  },
  vi: {
    subject: 'Đăng nhập mới vào tài khoản của bạn',
    unknown: 'một thiết bị không xác định',
    on: (browser: string, system: string) => `${browser} trên ${system}`,
    text: ({ device, ip, at, link }: Told) =>
      `Tài khoản của bạn vừa được đăng nhập từ ${device}, địa chỉ mạng ${ip}, lúc ${at}.\nNếu ` +
      'đó là bạn, bạn không cần làm gì.\nNếu không phải bạn, hãy mở liên kết này trong vòng ' +
      'bảy ngày. Mọi thiết bị sẽ bị đăng xuất và bạn có thể đặt mật khẩu ' +
      `mới:\n${link}`,
  },
} as const

export interface SignInLetter {
  send(tx: Tx, customerId: string, from: Origin): Promise<void>
  /** Checks that a link is valid. Refuses with link_expired. */
  check(token: string): Promise<void>
  /**
   * The owner says that it was not them. `passwordHash`: of a password that nobody knows. Answers
   * the email, for the recovery that follows. Refuses with link_expired; and with address_lost if
   * the email that the letter went to now belongs to another account. Everything has ended then
   * too, and nobody can sign in before the staff has helped.
   */
  deny(tx: Tx, token: string, passwordHash: string): Promise<string>
}

export function createSignInLetter(needs: AuthNeeds, guards: Guards): SignInLetter {
  const { clock, log } = needs
  return {
    async send(tx, customerId, from) {
      const now = clock.now()
      const { link, email, language } = await denialLink(tx, needs, customerId, now)
      const { subject, unknown, on, text } = texts[language]
      // A user agent is free text: the letter contains only names that we know.
      const { browser, system } = deviceOf(from.userAgent)
      const device =
        browser !== undefined && system !== undefined
          ? on(browser, system)
          : (browser ?? system ?? unknown)
      const at = `${now.toISOString().slice(0, 19).replace('T', ' ')} UTC`
      const told = { device, ip: from.ip, at, link }
      await needs.sendMail(tx, email, subject, text(told))
    },

    async check(token) {
      const found = await needs.db
        .selectFrom('sign_in_denial')
        .select('customer_id')
        .where('token_hash', '=', hashOf(token))
        .where('expires_at', '>', clock.now())
        .executeTakeFirst()
      if (!found) throw new Refusal('link_expired')
    },

    async deny(tx, token, passwordHash) {
      const row = await tx
        .deleteFrom('sign_in_denial')
        .where('token_hash', '=', hashOf(token))
        .where('expires_at', '>', clock.now())
        .returning(['customer_id', 'signed_in_at', 'email', 'phone'])
        .executeTakeFirst()
      if (!row) throw new Refusal('link_expired')
      const { customer_id: customerId, signed_in_at: since } = row
      // Later letters may have gone to the thief's address: their links would give that address
      // back.
      await tx
        .deleteFrom('sign_in_denial')
        .where('customer_id', '=', customerId)
        .where('signed_in_at', '>=', since)
        .execute()
      // First, so that a concurrent change to a new address is written before we read the address.
      await guards.codes.drop(tx, customerId, 'email', 'phone', 'recover')
      await tx
        .updateTable('customer')
        .set({ password_hash: passwordHash })
        .where('id', '=', customerId)
        .execute()
      const { email, isLost } = await reachAsBefore(tx, clock, customerId, row)
      for (const table of ['totp', 'passkey'] as const)
        await tx
          .deleteFrom(table)
          .where('customer_id', '=', customerId)
          .where('created_at', '>=', since)
          .execute()
      await forgetDevices(tx, customerId)
      await endChallengesOf(tx, customerId)
      await forgetOrigins(tx, customerId)
      await endSessions(tx, needs, { customerId })
      await needs.endPrograms(tx, customerId)
      await needs.endTeamSince(tx, { customerId, since })
      await needs.endKeysSince(tx, { customerId, since })
      await needs.takeBackOffers(tx, customerId)
      onCommit(tx, () =>
        log.warn(
          { event: 'sign_in_denied', customer: customerId },
          'a sign-in was not the owner’s',
        ),
      )
      if (isLost) throw new Refusal('address_lost', { keepsWrites: true })
      return email
    },
  }
}

/**
 * Makes a link by which the owner says that the acts since then were not theirs; valid for seven
 * days. Answers the link, and the letter's address and language.
 */
export async function denialLink(
  tx: Tx,
  needs: Pick<AuthNeeds, 'clock' | 'languageOf' | 'portalUrl'>,
  customerId: string,
  since: Date,
): Promise<{ link: string; email: string; language: Language }> {
  const customer = await tx
    .selectFrom('customer')
    .select(['email', 'phone', 'language', 'region_code'])
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
  const token = randomBytes(32).toString('base64url')
  await tx
    .insertInto('sign_in_denial')
    .values({
      token_hash: hashOf(token),
      customer_id: customerId,
      signed_in_at: since,
      email: customer.email,
      phone: customer.phone,
      expires_at: later(needs.clock.now(), keptMs),
    })
    .execute()
  return {
    link: `${needs.portalUrl}/auth/not-me?token=${token}`,
    email: customer.email,
    language: languageOfCustomer(customer, needs.languageOf),
  }
}

/**
 * Gives an account back the email and phone that it had when the letter was sent, because the
 * present ones may be the thief's and would allow a recovery. One that another account has proven
 * since is left out. Without the email the account is blocked (`isLost`), or the thief could
 * recover it.
 */
async function reachAsBefore(
  tx: Tx,
  clock: Clock,
  customerId: string,
  before: { readonly email: string | null; readonly phone: string | null },
): Promise<{ email: string; isLost: boolean }> {
  const now = await tx
    .selectFrom('customer')
    .select(['email', 'phone'])
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
  const email = before.email ?? now.email
  const phone = before.phone ?? now.phone
  const held = await provenByOthers(tx, customerId, { email, phone })
  const isLost = held.email && email !== now.email
  const kept = isLost ? now.email : email
  const number = held.phone ? now.phone : phone
  if (kept !== now.email)
    await noteFormer(tx, clock, customerId, { kind: 'email', address: now.email })
  if (number !== now.phone)
    await noteFormer(tx, clock, customerId, { kind: 'phone', address: now.phone })
  await tx
    .updateTable('customer')
    .set({
      email: kept,
      phone: number,
      ...(kept !== now.email && { email_proven_at: null }),
      ...(isLost && { blocked_at: clock.now() }),
    })
    .where('id', '=', customerId)
    .execute()
  return { email: kept, isLost }
}

/** Ends the links of letters sent to an address that is no longer the customer's. */
export async function dropDenialsOf(tx: Tx, customerId: string): Promise<void> {
  await tx.deleteFrom('sign_in_denial').where('customer_id', '=', customerId).execute()
}

export const dropOldDenials = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'sign_in_denial')
