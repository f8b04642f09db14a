/** Recovery without the password: a code by mail, and a new password. */
import type { Language } from '../../contract/errors.ts'
import { days, later } from '../platform/clock.ts'
import { onCommit, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { endChallengesOf } from './challenges.ts'
import { tellOfReset } from './factor-letters.ts'
import type { Guards } from './guards.ts'
import { forgetOrigins, knownOrigin, rememberOrigin } from './known-origins.ts'
import { languageOfCustomer } from './language.ts'
import type { AuthNeeds } from './needs.ts'
import type { Requester } from './one-time-code.ts'
import { refuseCommon } from './password-rules.ts'
import { hashPassword } from './password.ts'
import { endFactorsSince } from './second-factor.ts'
import { endSessions, type Origin } from './session.ts'
import { accountOf, failuresOfCustomer } from './sign-in.ts'
import { forgetDevices } from './trusted-devices.ts'

interface PreparedCode {
  readonly by: Requester
  readonly send: boolean
}

export interface Recovery {
  /** Counts a request for a code. Refuses with rate_limited. */
  prepare(email: string, from: Origin): Promise<PreparedCode>
  /** Sends the code; an unknown email gets the same answer. */
  recover(tx: Tx, email: string, input: PreparedCode): Promise<void>
  /** The hash of a new password. Refuses with invalid_input, rate_limited, unavailable. */
  prepareReset(email: string, password: string, language: Language, from: Origin): Promise<string>
  /**
   * Sets the new password. Ends every session, and factors added in the seven days before. The
   * owner is told what ended and what stays. Refuses with otp_invalid, otp_expired, rate_limited.
   */
  reset(
    tx: Tx,
    input: { email: string; code: string; passwordHash: string },
    from: Origin,
  ): Promise<void>
}

/** A factor added this shortly before the password was lost may be a thief's. */
const doubtedMs = days(7)
const subject = { en: 'Your password recovery code', vi: 'Mã khôi phục mật khẩu' }
const text = {
  en: (code: string) =>
    `Your password recovery code is ${code}.\nIt expires in 10 minutes. If you did not ask ` +
    'for it, you can ignore this message.',
  vi: (code: string) =>
    `Mã khôi phục mật khẩu của bạn là ${code}.\nMã có hiệu lực trong 10 phút. Nếu bạn không ` +
    'yêu cầu, hãy bỏ qua thư này.',
}

export function createRecovery(needs: AuthNeeds, guards: Guards): Recovery {
  const { db, clock, log } = needs
  return {
    async prepare(email, from) {
      const customer = await accountOf(db, clock, email)
      const known = customer && (await knownOrigin(db, clock, customer.id, from))
      const by = { network: from.network, trusted: known !== undefined }
      return { by, send: await guards.mayAsk('recover', email, by) }
    },

    async recover(tx, email, { by, send }) {
      if (!send) return
      const customer = await accountOf(tx, clock, email)
      if (!customer) {
        await guards.codes.issue(tx, { email }, 'recover', by)
        return
      }
      const language = languageOfCustomer(customer, needs.languageOf)
      const { code, expiresAt } = await guards.codes.issue(
        tx,
        { customerId: customer.id },
        'recover',
        by,
      )
      await needs.sendMail(tx, customer.email, subject[language], text[language](code), expiresAt)
    },

    async prepareReset(email, password, language, from) {
      refuseCommon(password, language, { email })
      await guards.resets.take(from.network)
      await needs.refuseBreached(password, language)
      return await hashPassword(password)
    },

    async reset(tx, { email, code, passwordHash }, from) {
      const customer = await accountOf(tx, clock, email)
      const of = customer ? { customerId: customer.id } : { email }
      await guards.codes.redeem(tx, [of], 'recover', code, from.network)
      if (!customer) throw new Refusal('otp_expired')
      await tx
        .updateTable('customer')
        // The mailbox's reader has the account from now on.
        .set({ password_hash: passwordHash, email_proven_at: clock.now() })
        // Several unproven registrations may share this email, and we cannot tell which is the
        // owner's. So all of them get the new password: the reader of the mailbox can sign in from
        // any network.
        .where((eb) =>
          customer.active
            ? eb('id', '=', customer.id)
            : eb.and([eb('email', '=', email), eb('active', '=', false)]),
        )
        .execute()
      if (customer.active) await needs.notePassword(tx, customer.id)
      await guards.codes.drop(tx, customer.id, 'email', 'phone')
      await endChallengesOf(tx, customer.id)
      await forgetDevices(tx, customer.id)
      await endSessions(tx, needs, { customerId: customer.id })
      // The next sign-in from elsewhere causes a letter, even from a known origin: a thief's
      // passkey may be older than the factors that are ended here.
      await forgetOrigins(tx, customer.id)
      await rememberOrigin(tx, clock, customer.id, from)
      const ended = await endFactorsSince(tx, customer.id, later(clock.now(), -doubtedMs))
      await tellOfReset(tx, needs, customer, ended)
      // A person who knew the old password may have made the offers; the owner can make them again.
      await needs.takeBackOffers(tx, customer.id)
      await guards.delays.forget(email, tx)
      await guards.delays.forget(failuresOfCustomer(customer.id), tx)
      onCommit(tx, () =>
        log.info(
          { event: 'password_reset', customer: customer.id, network: from.network },
          'a password was reset',
        ),
      )
    },
  }
}
