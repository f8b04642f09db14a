/**
 * Invitations by email: a link valid once and for seven days. It proves that the letter was read;
 * the accepting person must be signed in under the address that it was sent to.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type * as z from 'zod/mini'
import type { MemberRole } from '../../contract/member-roles.ts'
import { invitationDays, mostMembers, type invite, type Invitation } from '../../contract/team.ts'
import { dropOld } from '../platform/batches.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { rightsOf, type EndWork, type OwnThings } from './members.ts'

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

const texts = {
  tooMany: {
    en: `You have ${mostMembers} members and invitations already. Remove one first.`,
    vi: `Bạn đã có ${mostMembers} thành viên và lời mời. Hãy xoá bớt trước.`,
  },
  own: {
    en: 'This is your own address.',
    vi: 'Đây là địa chỉ của chính bạn.',
  },
  already: {
    en: 'This person is a member already. Change the role in the list.',
    vi: 'Người này đã là thành viên. Hãy đổi vai trò trong danh sách.',
  },
  otherAddress: {
    en:
      'This invitation was sent to another e-mail address than that of your account. Sign in ' +
      'with the account of the address that the letter came to.',
    vi:
      'Lời mời này được gửi tới một địa chỉ email khác với email của tài khoản bạn. Hãy đăng ' +
      'nhập bằng tài khoản của địa chỉ đã nhận thư.',
  },
} satisfies Record<string, Sentence>

type Wish = Omit<z.output<typeof invite.body>, 'password'>

interface Row {
  readonly id: string
  readonly email: string
  readonly role: string
  readonly servers: string[] | null
  readonly domains: string[] | null
  readonly created_at: Date
  readonly expires_at: Date
}
const columns = ['id', 'email', 'role', 'servers', 'domains', 'created_at', 'expires_at'] as const
const present = (row: Row): Invitation => ({
  id: row.id,
  email: row.email,
  role: row.role as MemberRole,
  servers: row.servers,
  domains: row.domains,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
})

/** Open invitations, newest first. */
export async function listInvitations(
  db: Queryable,
  clock: Clock,
  ownerId: string,
): Promise<Invitation[]> {
  const rows = await db
    .selectFrom('team_invitation')
    .select(columns)
    .where('owner_id', '=', ownerId)
    .where('expires_at', '>', clock.now())
    .orderBy('created_at', 'desc')
    .execute()
  return rows.map(present)
}

/**
 * Makes an invitation; only the letter contains its token. It does not check whether the address
 * has an account, so the answer cannot reveal it. Refuses with invalid_input and conflict.
 */
export async function createInvitation(
  tx: Tx,
  needs: OwnThings & { readonly clock: Clock },
  of: { readonly ownerId: string; readonly wish: Wish },
): Promise<{ invitation: Invitation; token: string }> {
  const { clock } = needs
  const { ownerId, wish } = of
  const refuse = (field: string, sentence: Sentence): Refusal =>
    new Refusal('invalid_input', { fields: { [field]: sentence } })
  // The lock serialises invitations of one owner, so that two at once cannot evade the limit.
  const owner = await tx
    .selectFrom('customer')
    .select('email')
    .where('id', '=', ownerId)
    .forUpdate()
    .executeTakeFirstOrThrow()
  if (owner.email === wish.email) throw refuse('email', texts.own)
  const rights = await rightsOf(tx, needs, ownerId, wish)
  const now = clock.now()
  const memberEmails = await tx
    .selectFrom('team_member as m')
    .innerJoin('customer as c', 'c.id', 'm.person_id')
    .select('c.email')
    .where('m.owner_id', '=', ownerId)
    .execute()
  if (memberEmails.some(({ email }) => email === wish.email)) throw refuse('email', texts.already)
  // A newer one takes the place of an older one.
  await tx
    .deleteFrom('team_invitation')
    .where('owner_id', '=', ownerId)
    .where((eb) => eb.or([eb('email', '=', wish.email), eb('expires_at', '<=', now)]))
    .execute()
  const { n } = await tx
    .selectFrom('team_invitation')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  if (Number(n) + memberEmails.length >= mostMembers)
    throw new Refusal('conflict', { fields: { email: texts.tooMany } })
  const token = randomBytes(32).toString('base64url')
  const row = await tx
    .insertInto('team_invitation')
    .values({
      id: randomUUID(),
      owner_id: ownerId,
      email: wish.email,
      ...rights,
      token_hash: hashOf(token),
      created_at: now,
      expires_at: later(now, days(invitationDays)),
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  return { invitation: present(row), token }
}

/** Refuses with not_found. */
export async function takeBackInvitation(tx: Tx, ownerId: string, id: string): Promise<void> {
  const { numDeletedRows } = isUuid(id)
    ? await tx
        .deleteFrom('team_invitation')
        .where('id', '=', id)
        .where('owner_id', '=', ownerId)
        .executeTakeFirst()
    : { numDeletedRows: 0n }
  if (numDeletedRows === 0n) throw new Refusal('not_found')
}

const openOf = (db: Queryable, clock: Clock, token: string) =>
  db
    .selectFrom('team_invitation as i')
    .innerJoin('customer as o', 'o.id', 'i.owner_id')
    .where('i.token_hash', '=', hashOf(token))
    .where('i.expires_at', '>', clock.now())
    .where('o.blocked_at', 'is', null)

/** The content of a link. Refuses with link_expired. */
export async function lookAt(
  db: Queryable,
  clock: Clock,
  token: string,
): Promise<{ from: string; role: MemberRole; limited: boolean; expiresAt: string }> {
  const row = await openOf(db, clock, token)
    .select(['i.role', 'i.servers', 'i.domains', 'i.expires_at'])
    .select((eb) => eb.fn.coalesce('o.company', 'o.name').as('from'))
    .executeTakeFirst()
  if (!row) throw new Refusal('link_expired')
  return {
    from: row.from,
    role: row.role as MemberRole,
    limited: row.servers !== null || row.domains !== null,
    expiresAt: row.expires_at.toISOString(),
  }
}

/**
 * Makes the caller a member. Refuses with link_expired, and with forbidden an account of another
 * address than was invited.
 */
export async function acceptInvitation(
  tx: Tx,
  { clock, endWork }: { readonly clock: Clock; readonly endWork: EndWork },
  { token, personId }: { readonly token: string; readonly personId: string },
): Promise<{ id: string; ownerId: string; name: string; role: MemberRole }> {
  const known = await openOf(tx, clock, token).select('i.owner_id').executeTakeFirst()
  if (!known) throw new Refusal('link_expired')
  // The owner first, as whoever invites and closes does; a block waits for this or is seen below.
  await tx
    .selectFrom('customer')
    .select('id')
    .where('id', '=', known.owner_id)
    .forShare()
    .executeTakeFirst()
  const row = await openOf(tx, clock, token)
    .select(['i.id', 'i.owner_id', 'i.email', 'i.role', 'i.servers', 'i.domains'])
    .select((eb) => eb.fn.coalesce('o.company', 'o.name').as('name'))
    .forUpdate('i')
    .executeTakeFirst()
  if (!row) throw new Refusal('link_expired')
  const person = await tx
    .selectFrom('customer')
    .select('email')
    .where('id', '=', personId)
    .executeTakeFirstOrThrow()
  if (person.email !== row.email || row.owner_id === personId)
    throw new Refusal('forbidden', { said: texts.otherAddress })
  const rights = { role: row.role, servers: row.servers, domains: row.domains }
  // A person whose address has changed since the invitation may be a member already.
  const { id } = await tx
    .insertInto('team_member')
    .values({
      id: randomUUID(),
      owner_id: row.owner_id,
      person_id: personId,
      ...rights,
      joined_at: clock.now(),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['owner_id', 'person_id'])
        .doUpdateSet({ ...rights, rights_changed_at: clock.now() }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  await endWork(tx, [id])
  await tx.deleteFrom('team_invitation').where('id', '=', row.id).execute()
  return { id, ownerId: row.owner_id, name: row.name, role: row.role as MemberRole }
}

export const dropOldInvitations = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'team_invitation')
