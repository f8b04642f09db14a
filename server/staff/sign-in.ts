/**
 * Sign-in of the staff: email, password and a code of the app in one call, so that the answer does
 * not reveal which was wrong. Wrong ones cause delays as for customers. From a network that the
 * member signed in from before they are counted separately, so strangers delay only strangers.
 */
import type { StaffRole } from '../../contract/staff-roles.ts'
import { createDelays, matchingStep, spendVerification, verifyPassword } from '../auth/index.ts'
import type { Clock } from '../platform/clock.ts'
import { onCommit, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Origin, StaffCaller } from '../platform/http.ts'
import type { Limit } from '../platform/limits.ts'
import type { Log } from '../platform/log.ts'
import { isWithin } from '../platform/network.ts'
import type { Secrets } from '../platform/secrets.ts'
import { totpPurpose } from './invitations.ts'
import {
  livingSession,
  livingSessionOf,
  openStaffSession,
  wasSeenFrom,
  type OpenedStaffSession,
} from './sessions.ts'

/** A member who knew the password when it was checked. */
interface ProvenMember {
  readonly id: string
  readonly passwordHash: string
  /** Under which wrong tries are counted. */
  readonly failures: string
}
export interface StaffSignIn {
  /**
   * Outside of a transaction. Refuses with bad_credentials, in the same time for an unknown e-mail,
   * rate_limited, unavailable.
   */
  prove(email: string, password: string, from: Origin): Promise<ProvenMember>
  /**
   * Completes the sign-in. Refuses with bad_credentials a wrong code, also a used one; with
   * rate_limited, without checking it, during a delay after wrong ones; and with forbidden a
   * network that is not the member's.
   */
  enter(
    tx: Tx,
    proven: ProvenMember,
    code: string,
    from: Origin,
  ): Promise<OpenedStaffSession & { name: string; email: string; role: StaffRole }>
}

const isFromAllowed = (networks: readonly string[], ip: string): boolean =>
  networks.length === 0 || isWithin(ip, networks)

const callerOf = (
  row: Awaited<ReturnType<typeof livingSession>>,
  ip: string,
): StaffCaller | undefined => {
  if (!row || !isFromAllowed(row.networks, ip)) return undefined
  return {
    staffId: row.staff_id,
    sessionId: row.id,
    name: row.name,
    email: row.email,
    role: row.role as StaffRole,
    expiresAt: row.expires_at,
  }
}
export const identifyStaff = async (
  db: Queryable,
  clock: Clock,
  cookie: string,
  ip: string,
): Promise<StaffCaller | undefined> => callerOf(await livingSession(db, clock, cookie), ip)
/** The member of a session, while it lives and the member may come from this address. */
export const staffOfSession = async (
  db: Queryable,
  clock: Clock,
  id: string,
  ip: string,
): Promise<StaffCaller | undefined> => callerOf(await livingSessionOf(db, clock, id), ip)

export function createStaffSignIn(needs: {
  db: Database
  clock: Clock
  log: Log
  secrets: Secrets
  /** Per network, for all members. */
  failuresOfNetwork: Limit
}): StaffSignIn {
  const { db, clock, log, secrets, failuresOfNetwork } = needs
  return {
    async prove(email, password, from) {
      await failuresOfNetwork.check(from.network)
      const delays = createDelays(db, clock)
      const member = await db
        .selectFrom('staff')
        .select(['id', 'password_hash'])
        .where('email', '=', email)
        .where('disabled_at', 'is', null)
        .executeTakeFirst()
      const isKnown = member !== undefined && (await wasSeenFrom(db, member.id, from.network))
      const failures = isKnown ? `staff:${email} ${from.network}` : `staff:${email}`
      await delays.check(failures)
      if (!member) await spendVerification(password)
      if (!member || !(await verifyPassword(member.password_hash, password))) {
        log.warn({ event: 'staff_sign_in_failed', network: from.network }, 'a sign-in failed')
        await Promise.all([failuresOfNetwork.take(from.network), delays.fail(failures)])
        throw new Refusal('bad_credentials')
      }
      // Check again: parallel guesses that were still being verified when a delay began must not
      // count.
      await delays.check(failures)
      return { id: member.id, passwordHash: member.password_hash, failures }
    },

    async enter(tx, proven, code, from) {
      const delays = createDelays(tx, clock)
      const member = await tx
        .selectFrom('staff')
        .selectAll()
        .where('id', '=', proven.id)
        .where('disabled_at', 'is', null)
        .forUpdate()
        .executeTakeFirst()
      if (member?.password_hash !== proven.passwordHash) throw new Refusal('bad_credentials')
      // Check again: parallel codes that waited for the row's lock when a delay began are not
      // checked.
      await delays.check(proven.failures)
      const secret = secrets.open(totpPurpose(member.id), member.totp_secret)
      const step = matchingStep(secret, code, clock.now(), Number(member.totp_last_step))
      if (step === undefined) {
        await delays.fail(proven.failures)
        // The caller knows the password.
        onCommit(tx, () =>
          log.warn(
            { event: 'staff_code_wrong', staff: member.id, network: from.network },
            'a sign-in with the right password had a wrong code',
          ),
        )
        throw new Refusal('bad_credentials', { keepsWrites: true })
      }
      await tx
        .updateTable('staff')
        .set({ totp_last_step: BigInt(step) })
        .where('id', '=', member.id)
        .execute()
      await delays.forget(proven.failures)
      if (!isFromAllowed(member.networks, from.ip)) {
        log.warn(
          { event: 'staff_network_refused', staff: member.id, network: from.network },
          'a member came from a network that is not theirs',
        )
        throw new Refusal('forbidden', { keepsWrites: true })
      }
      const opened = await openStaffSession(tx, clock, member.id, from)
      onCommit(tx, () =>
        log.info(
          { event: 'staff_signed_in', staff: member.id, network: from.network },
          'a member of the staff signed in',
        ),
      )
      return {
        ...opened,
        name: member.name,
        email: member.email,
        role: member.role as StaffRole,
      }
    },
  }
}
