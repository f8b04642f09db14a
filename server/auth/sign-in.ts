/** Sign-in and sign-out, and the lock of a session. */
import type { Clock } from '../platform/clock.ts'
import { onCommit, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { endActing } from './acting.ts'
import { makeChallenge } from './challenges.ts'
import type { Guards } from './guards.ts'
import { knownOrigin, knowsOrigin, rememberOrigin } from './known-origins.ts'
import type { AuthNeeds } from './needs.ts'
import { spendVerification, verifyPassword } from './password.ts'
import {
  endHeld,
  endSessions,
  lockSession,
  openSession,
  renewSession,
  type Caller,
  type Opened,
  type Origin,
} from './session.ts'
import { hasFactor, noteProof } from './second-factor.ts'
import type { SignInLetter } from './sign-in-letter.ts'
import { noteSignIn, wasSignedIn } from './sign-ins.ts'
import { isTrusted } from './trusted-devices.ts'

/** A person who knew an account's password when it was checked. */
export interface Proven {
  readonly id: string
  readonly email: string
  readonly active: boolean
  readonly passwordHash: string
  /** The key under which its failures are counted. */
  readonly failures: string
}
/** A sign-in screen's input besides the password. */
interface Wish {
  /** Keep the session for 30 days; undefined: the caller is no screen that asks. */
  readonly remember?: boolean | undefined
  /** The browser's present cookie; the new session replaces its session. */
  readonly cookie?: string | undefined
  /** The cookie of a device that is not asked for the second factor. */
  readonly device?: string | undefined
}

export interface SignIn {
  /**
   * Checks an email and password, outside a transaction. Refuses with bad_credentials (in the same
   * time for an unknown email), with rate_limited and with unavailable.
   */
  prove(email: string, password: string, from: Origin): Promise<Proven>
  /**
   * Refuses with account_inactive, with bad_credentials if the password changed meanwhile, with
   * account_blocked, and with second_factor_required, whose challenge `enter` continues.
   */
  login(tx: Tx, proven: Proven, from: Origin, wish: Wish): Promise<Opened>
  /**
   * Opens the session of a customer whose last factor was just proven, and tells the owner of a
   * sign-in from an unknown origin. Refuses with account_blocked.
   */
  enter(tx: Tx, customerId: string, from: Origin, wish: Wish): Promise<Opened>
  logout(tx: Tx, caller: Caller): Promise<void>
  /** From now on the session is open to unlock and sign-out only. */
  lock(tx: Tx, caller: Caller): Promise<void>
  /** Proves that a session's customer knows the password. Refuses as `prove` does. */
  proveAgain(caller: Caller, password: string): Promise<Proven>
  /** Continues the same session under a new token and a new cookie. */
  unlock(tx: Tx, caller: Caller, proven: Proven): Promise<Opened>
}

/**
 * The account of an email. If none is proven, the newest registration that names the email, first
 * of all those made from this origin: a stranger's does not replace the owner's.
 */
export const accountOf = (db: Queryable, clock: Clock, email: string, from?: Origin) =>
  db
    .selectFrom('customer')
    .selectAll()
    .where('email', '=', email)
    .orderBy('active', 'desc')
    .$if(from !== undefined, (rows) => rows.orderBy(knowsOrigin(clock, from!), 'desc'))
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()

/**
 * Refuses if the password has changed since it was verified: the change has ended the sessions that
 * existed then.
 */
export async function refuseOvertaken(
  tx: Tx,
  { id, passwordHash }: Pick<Proven, 'id' | 'passwordHash'>,
): Promise<void> {
  const still = await tx
    .selectFrom('customer')
    .select('password_hash')
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst()
  if (still?.password_hash !== passwordHash) throw new Refusal('bad_credentials')
}

/**
 * Refuses with account_blocked. The row stays locked until the session is written: a concurrent
 * block waits, and then ends this session too.
 */
async function refuseBlocked(tx: Tx, customerId: string): Promise<void> {
  const row = await tx
    .selectFrom('customer')
    .select('blocked_at')
    .where('id', '=', customerId)
    .forShare()
    .executeTakeFirst()
  if (row?.blocked_at) throw new Refusal('account_blocked')
}

/**
 * Wrong passwords of a signed-in customer have their own count: those at the sign-in, which anybody
 * can cause, do not delay the owner.
 */
export const failuresOfCustomer = (customerId: string): string => `customer:${customerId}`

export function createSignIn(needs: AuthNeeds, guards: Guards, letter: SignInLetter): SignIn {
  const { clock, log } = needs
  const db: Database = needs.db
  const { delays, failuresOfNetwork } = guards
  /**
   * The email's fingerprint for the log: the same address always gives the same text, which does
   * not reveal it.
   */
  const hashed = (email: string): string =>
    needs.secrets.fingerprint('log-email', email).toString('base64url').slice(0, 16)

  async function open(
    tx: Tx,
    customerId: string,
    from: Origin,
    { remember, cookie }: Wish,
  ): Promise<Opened> {
    const isNews =
      (await knownOrigin(tx, clock, customerId, from)) === undefined &&
      (await wasSignedIn(tx, clock, customerId))
    await noteSignIn(tx, clock, customerId, from, 'succeeded')
    await rememberOrigin(tx, clock, customerId, from)
    if (isNews) await letter.send(tx, customerId, from)
    // A program that stores cookies may sign in many times; a browser has one session.
    if (remember !== undefined && cookie !== undefined) await endHeld(tx, needs, cookie)
    const opened = await openSession(tx, clock, needs.endLive, customerId, from, remember)
    onCommit(tx, () =>
      log.info(
        { event: 'signed_in', customer: customerId, network: from.network },
        'a customer signed in',
      ),
    )
    return opened
  }

  return {
    async prove(email, password, from) {
      await failuresOfNetwork.check(from.network)
      const customer = await accountOf(db, clock, email, from)
      const known = customer && (await knownOrigin(db, clock, customer.id, from))
      const failures = known === undefined ? email : `${email} ${known}`
      await delays.check(failures)
      if (!customer) await spendVerification(password)
      if (!customer || !(await verifyPassword(customer.password_hash, password))) {
        log.info(
          {
            event: 'sign_in_failed',
            account: hashed(email),
            known: !!customer,
            network: from.network,
          },
          'a sign-in failed',
        )
        // Not awaited: otherwise the answer would take longer for an account that exists.
        if (customer) {
          noteSignIn(db, clock, customer.id, from, 'failed').catch((error: unknown) =>
            log.warn({ err: error }, 'noting a failed sign-in'),
          )
        }
        const [, seconds] = await Promise.all([
          failuresOfNetwork.take(from.network),
          delays.fail(failures),
        ])
        throw new Refusal('bad_credentials', { ...(seconds && { retryAfterSeconds: seconds }) })
      }
      // Check again: parallel guesses that were still being verified when a delay began must not
      // count.
      await delays.check(failures)
      const { id, active, password_hash: passwordHash } = customer
      return { id, email, active, passwordHash, failures }
    },

    async login(tx, proven, from, wish) {
      if (!proven.active) throw new Refusal('account_inactive')
      await refuseOvertaken(tx, proven)
      await delays.forget(proven.failures, tx)
      await refuseBlocked(tx, proven.id)
      if (
        (await hasFactor(tx, proven.id)) &&
        !(await isTrusted(tx, clock, proven.id, wish.device))
      ) {
        const { remember } = wish
        const challenge = await makeChallenge(tx, clock, {
          purpose: 'sign_in',
          customerId: proven.id,
          remember,
        })
        throw new Refusal('second_factor_required', { challenge, keepsWrites: true })
      }
      return await open(tx, proven.id, from, wish)
    },

    async enter(tx, customerId, from, wish) {
      await refuseBlocked(tx, customerId)
      const opened = await open(tx, customerId, from, wish)
      await noteProof(tx, clock, opened.id)
      return opened
    },

    async logout(tx, { customerId, sessionId, member }) {
      // A member at work in another account returns to their own.
      if (member) {
        await endActing(tx, member.actingId)
        return await needs.endLogsOf(tx, [customerId])
      }
      await endSessions(tx, needs, { customerId, only: sessionId })
    },

    lock: (tx, { sessionId }) => lockSession(tx, clock, needs.endLive, sessionId),

    async proveAgain({ customerId }, password) {
      const failures = failuresOfCustomer(customerId)
      await delays.check(failures)
      const { id, email, active, password_hash } = await db
        .selectFrom('customer')
        .select(['id', 'email', 'active', 'password_hash'])
        .where('id', '=', customerId)
        .executeTakeFirstOrThrow()
      if (!(await verifyPassword(password_hash, password))) {
        log.info({ event: 'unlock_failed', customer: id }, 'a session was not unlocked')
        await delays.fail(failures)
        throw new Refusal('bad_credentials')
      }
      await delays.check(failures)
      return { id, email, active, passwordHash: password_hash, failures }
    },

    async unlock(tx, { sessionId }, proven) {
      await refuseOvertaken(tx, proven)
      await delays.forget(proven.failures, tx)
      return await renewSession(tx, clock, sessionId)
    },
  }
}
