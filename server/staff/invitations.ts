/**
 * Invitations: a link valid once and for 72 hours. Its holder chooses a password and proves, by a
 * code, that an app has the secret; there is no member without a second factor.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import type { StaffRole } from '../../contract/staff-roles.ts'
import {
  hashPassword,
  matchingStep,
  newTotpSecret,
  otpauthUri,
  refuseCommon,
  type RefuseBreached,
} from '../auth/index.ts'
import { hours, later, type Clock } from '../platform/clock.ts'
import { databaseError, isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Origin } from '../platform/http.ts'
import type { Secrets } from '../platform/secrets.ts'
import { refuseNoNetwork } from './members.ts'
import { openStaffSession, type OpenedStaffSession } from './sessions.ts'

const lifeMs = hours(72)
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

/** The purpose under which the secret of a member's app is sealed. */
export const totpPurpose = (staffId: string): string => `staff-totp:${staffId}`

interface Invited {
  readonly name: string
  readonly email: string
  readonly role: StaffRole
  readonly networks?: readonly string[] | undefined
}

export interface Invitations {
  /**
   * Answers the link, which is shown once: only its hash is stored. Refuses with email_taken,
   * invalid_input.
   */
  invite(tx: Tx, of: Invited): Promise<{ id: string; link: string; expiresAt: Date }>
  /** The content of a link. Refuses with link_expired. */
  open(
    tx: Tx,
    token: string,
  ): Promise<{ name: string; email: string; role: StaffRole; secret: string; uri: string }>
  /**
   * The hash of the new member's password, made before the transaction. Refuses with link_expired,
   * invalid_input, unavailable.
   */
  prepare(token: string, password: string, language: Language): Promise<string>
  /** The new member, signed in. Refuses with link_expired, otp_invalid, email_taken. */
  accept(
    tx: Tx,
    of: { token: string; passwordHash: string; code: string; from: Origin },
  ): Promise<OpenedStaffSession & { name: string; email: string; role: StaffRole }>
}

/**
 * An end that lies before every clock's time: a concurrent acceptance may have read its clock
 * already, perhaps on another machine.
 */
const ended = { expires_at: sql<Date>`created_at` }

/** Ends those of these invitations that are still open; answers how many. */
export async function voidInvitations(
  tx: Queryable,
  clock: Clock,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0
  const now = clock.now()
  const { numUpdatedRows } = await tx
    .updateTable('staff_invitation')
    .set(ended)
    .where('id', 'in', [...ids])
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/**
 * Ends an invitation; answers its row, and whether it was still open. Refuses with not_found, and
 * with conflict if it was accepted, because the person is a member now.
 */
export async function endInvitation(
  tx: Tx,
  clock: Clock,
  id: string,
): Promise<{ email: string; role: string; expiresAt: Date; wasOpen: boolean }> {
  const row = isUuid(id)
    ? await tx
        .selectFrom('staff_invitation')
        .select(['email', 'role', 'expires_at', 'used_at'])
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  if (row.used_at !== null)
    throw new Refusal('conflict', {
      fields: {
        invitation: {
          en: 'This invitation was accepted: disable the member instead.',
          vi: 'Lời mời này đã được chấp nhận: hãy vô hiệu hoá nhân viên đó.',
        },
      },
    })
  const wasOpen = (await voidInvitations(tx, clock, [id])) > 0
  return { email: row.email, role: row.role, expiresAt: row.expires_at, wasOpen }
}

/** Refuses with not_found, and with conflict when the invitation was accepted or has expired. */
export async function withdrawInvitation(
  tx: Tx,
  clock: Clock,
  id: string,
): Promise<{ email: string; role: string; expiresAt: Date }> {
  const { wasOpen, ...known } = await endInvitation(tx, clock, id)
  if (wasOpen) return known
  throw new Refusal('conflict', {
    fields: {
      invitation: {
        en: 'This invitation has ended already.',
        vi: 'Lời mời này đã hết hiệu lực.',
      },
    },
  })
}

export function createInvitations(needs: {
  db: Queryable
  clock: Clock
  secrets: Secrets
  brandName: string
  portalUrl: string
  /** Not needed where none is accepted, as in a command. */
  refuseBreached?: RefuseBreached
}): Invitations {
  const { clock, secrets } = needs
  const refuseTaken = async (db: Queryable, email: string): Promise<void> => {
    const held = await db
      .selectFrom('staff')
      .select('id')
      .where('email', '=', email)
      .where('disabled_at', 'is', null)
      .executeTakeFirst()
    if (held) throw new Refusal('email_taken')
  }
  const open = (db: Queryable, token: string) =>
    db
      .selectFrom('staff_invitation')
      .selectAll()
      .where('token_hash', '=', hashOf(token))
      .where('used_at', 'is', null)
      .where('expires_at', '>', clock.now())

  return {
    async invite(tx, { name, email, role, networks = [] }) {
      refuseNoNetwork(networks)
      await refuseTaken(tx, email)
      const now = clock.now()
      // A newer invitation takes the place of an older one.
      await tx
        .updateTable('staff_invitation')
        .set(ended)
        .where('email', '=', email)
        .where('used_at', 'is', null)
        .where('expires_at', '>', now)
        .execute()
      const id = randomUUID()
      const token = randomBytes(32).toString('base64url')
      const expiresAt = later(now, lifeMs)
      await tx
        .insertInto('staff_invitation')
        .values({
          id,
          token_hash: hashOf(token),
          email,
          name,
          role,
          networks: [...networks],
          created_at: now,
          expires_at: expiresAt,
        })
        .execute()
      // After #, so that neither our log nor a proxy's contains it.
      return { id, link: `${needs.portalUrl}/operator/invitation#${token}`, expiresAt }
    },

    async open(tx, token) {
      const row = await open(tx, token).forUpdate().executeTakeFirst()
      if (!row) throw new Refusal('link_expired')
      const secret =
        row.totp_secret === null
          ? newTotpSecret()
          : secrets.open(totpPurpose(row.id), row.totp_secret)
      if (row.totp_secret === null)
        await tx
          .updateTable('staff_invitation')
          .set({ totp_secret: secrets.seal(totpPurpose(row.id), secret) })
          .where('id', '=', row.id)
          .execute()
      return {
        name: row.name,
        email: row.email,
        role: row.role as StaffRole,
        secret,
        uri: otpauthUri(secret, `${needs.brandName} Operator`, row.email),
      }
    },

    async prepare(token, password, language) {
      const row = await open(needs.db, token).executeTakeFirst()
      if (!row) throw new Refusal('link_expired')
      refuseCommon(password, language, row)
      await needs.refuseBreached?.(password, language)
      return await hashPassword(password)
    },

    async accept(tx, { token, passwordHash, code, from }) {
      const row = await open(tx, token).forUpdate().executeTakeFirst()
      if (!row?.totp_secret) throw new Refusal('link_expired')
      const { id, email, name, networks, totp_secret: secret } = row
      const step = matchingStep(secrets.open(totpPurpose(id), secret), code, clock.now(), 0)
      if (step === undefined) throw new Refusal('otp_invalid')
      const now = clock.now()
      try {
        await tx
          .insertInto('staff')
          .values({
            id,
            email,
            name,
            role: row.role,
            password_hash: passwordHash,
            totp_secret: secret,
            totp_last_step: BigInt(step),
            networks,
            created_at: now,
          })
          .execute()
      } catch (error) {
        if (databaseError(error)?.constraint === 'staff_email_key') throw new Refusal('email_taken')
        throw error
      }
      await tx
        .updateTable('staff_invitation')
        .set({ used_at: now, totp_secret: null })
        .where('id', '=', id)
        .execute()
      const opened = await openStaffSession(tx, clock, id, from)
      return { ...opened, name, email, role: row.role as StaffRole }
    },
  }
}
