/** Members of an account: the list, their rights, and the end of their access. */
import type * as z from 'zod/mini'
import type { MemberRights, MemberRole } from '../../contract/member-roles.ts'
import type { changeMember, Member, OtherAccount } from '../../contract/team.ts'
import { minutes, type Clock } from '../platform/clock.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'

/** The last use is written at most this often. */
const lastUsedWriteMs = minutes(5)

const texts = {
  server: { en: 'Choose servers of yours.', vi: 'Hãy chọn máy chủ của bạn.' },
  domain: { en: 'Choose domains of yours.', vi: 'Hãy chọn tên miền của bạn.' },
} satisfies Record<string, Sentence>

/** Ends everything that these members have open in the account, after the commit. */
export type EndWork = (tx: Tx, memberIds: readonly string[]) => Promise<void>

export interface OwnThings {
  /** Which of these ids are servers of the customer. */
  readonly ownServers: (db: Queryable, customerId: string, ids: string[]) => Promise<string[]>
  readonly ownDomains: (db: Queryable, customerId: string, ids: string[]) => Promise<string[]>
}

type Kind = 'servers' | 'domains'
type Wish = Omit<z.output<typeof changeMember.body>, 'password'>

/**
 * The requested rights in the stored form. Refuses with invalid_input things that are not the
 * owner's; things that were in `before` and no longer exist are left out.
 */
export async function rightsOf(
  tx: Tx,
  { ownServers, ownDomains }: OwnThings,
  ownerId: string,
  wish: Wish,
  before: Pick<MemberRow, Kind> | null = null,
): Promise<{ role: MemberRole; servers: string[] | null; domains: string[] | null }> {
  const unique = (ids: readonly string[] | null | undefined): string[] | null =>
    ids ? [...new Set(ids.map((id) => id.toLowerCase()))] : null
  const ownOf = async (kind: Kind, own: OwnThings['ownServers'], sentence: Sentence) => {
    const ids = unique(wish[kind])
    if (ids === null || ids.length === 0) return ids
    const known = ids.filter(isUuid)
    const owned = new Set(known.length === 0 ? [] : await own(tx, ownerId, known))
    const [kept, others] = [ids.filter((id) => owned.has(id)), ids.filter((id) => !owned.has(id))]
    if (others.some((id) => !before?.[kind]?.includes(id)))
      throw new Refusal('invalid_input', { fields: { [kind]: sentence } })
    return kept
  }
  const servers = await ownOf('servers', ownServers, texts.server)
  const domains = await ownOf('domains', ownDomains, texts.domain)
  return { role: wish.role, servers, domains }
}

const memberColumns = [
  'm.id',
  'm.role',
  'm.servers',
  'm.domains',
  'm.joined_at',
  'm.last_used_at',
  'c.name',
  'c.email',
] as const
interface MemberRow {
  readonly id: string
  readonly role: string
  readonly servers: string[] | null
  readonly domains: string[] | null
  readonly joined_at: Date
  readonly last_used_at: Date | null
  readonly name: string
  readonly email: string
}
const present = (row: MemberRow): Member => ({
  id: row.id,
  name: row.name,
  email: row.email,
  role: row.role as MemberRole,
  servers: row.servers,
  domains: row.domains,
  joinedAt: row.joined_at.toISOString(),
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
})
const members = (db: Queryable, ownerId: string) =>
  db
    .selectFrom('team_member as m')
    .innerJoin('customer as c', 'c.id', 'm.person_id')
    .where('m.owner_id', '=', ownerId)

/** In the order of joining; there are at most fifty. */
export async function listMembers(db: Queryable, ownerId: string): Promise<Member[]> {
  const rows = await members(db, ownerId)
    .select(memberColumns)
    .orderBy('m.joined_at')
    .orderBy('m.id')
    .execute()
  return rows.map(present)
}

/** Locks the member until the transaction ends. Refuses with not_found. */
async function holdMember(
  tx: Tx,
  ownerId: string,
  id: string,
): Promise<MemberRow & { readonly person_id: string }> {
  const row = isUuid(id)
    ? await members(tx, ownerId)
        .select(memberColumns)
        .select('m.person_id')
        .where('m.id', '=', id)
        .forUpdate('m')
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  return row
}

/** Changes a member's rights from the next call on; what is open now ends. */
export async function changeRights(
  tx: Tx,
  needs: OwnThings & { readonly clock: Clock; readonly endWork: EndWork },
  of: { readonly ownerId: string; readonly id: string; readonly wish: Wish },
): Promise<{ readonly member: Member; readonly personId: string }> {
  const { ownerId, id } = of
  const row = await holdMember(tx, ownerId, id)
  const rights = await rightsOf(tx, needs, ownerId, of.wish, row)
  await tx
    .updateTable('team_member')
    .set({ ...rights, rights_changed_at: needs.clock.now() })
    .where('id', '=', row.id)
    .execute()
  await needs.endWork(tx, [row.id])
  return { member: present({ ...row, ...rights }), personId: row.person_id }
}

/** Ends a member's access at once; answers the person's id. Refuses with not_found. */
export async function removeMember(
  tx: Tx,
  { endWork }: { readonly endWork: EndWork },
  { ownerId, id }: { readonly ownerId: string; readonly id: string },
): Promise<string> {
  const row = await holdMember(tx, ownerId, id)
  await endWork(tx, [row.id])
  await tx.deleteFrom('team_member').where('id', '=', row.id).execute()
  return row.person_id
}

const accountColumns = ['m.id', 'm.role', 'm.servers', 'm.domains', 'm.joined_at'] as const
const accounts = (db: Queryable, personId: string) =>
  db
    .selectFrom('team_member as m')
    .innerJoin('customer as o', 'o.id', 'm.owner_id')
    .where('m.person_id', '=', personId)
    .where('o.blocked_at', 'is', null)

/** The accounts that a customer may work in, by name. */
export async function listAccounts(db: Queryable, personId: string): Promise<OtherAccount[]> {
  const rows = await accounts(db, personId)
    .select(accountColumns)
    .select((eb) => eb.fn.coalesce('o.company', 'o.name').as('name'))
    .orderBy('name')
    .orderBy('m.id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    role: row.role as MemberRole,
    servers: row.servers,
    domains: row.domains,
    joinedAt: row.joined_at.toISOString(),
  }))
}

/** The number of other accounts that a customer may work in. */
export async function countAccounts(db: Queryable, personId: string): Promise<number> {
  const { n } = await accounts(db, personId)
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** One of the accounts that a customer may work in. Refuses with not_found. */
export async function ownAccount(
  db: Queryable,
  personId: string,
  id: string,
): Promise<OtherAccount & { readonly ownerId: string }> {
  const row = isUuid(id)
    ? await accounts(db, personId)
        .select(accountColumns)
        .select((eb) => ['m.owner_id', eb.fn.coalesce('o.company', 'o.name').as('name')])
        .where('m.id', '=', id)
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  return {
    id: row.id,
    name: row.name,
    role: row.role as MemberRole,
    servers: row.servers,
    domains: row.domains,
    joinedAt: row.joined_at.toISOString(),
    ownerId: row.owner_id,
  }
}

/** A member goes; answers whose account it was. Refuses with not_found. */
export async function leaveAccount(
  tx: Tx,
  { endWork }: { readonly endWork: EndWork },
  personId: string,
  id: string,
): Promise<{ readonly ownerId: string; readonly role: MemberRole }> {
  const { ownerId, role } = await ownAccount(tx, personId, id)
  await endWork(tx, [id])
  await tx.deleteFrom('team_member').where('id', '=', id).execute()
  return { ownerId, role }
}

/** The present rights of a membership. */
export interface Membership extends MemberRights {
  readonly ownerId: string
  /** The person's name, for records of their acts. */
  readonly name: string
}

/** Undefined: the membership has ended, or either side is blocked. */
export async function membershipOf(
  db: Queryable,
  clock: Clock,
  { memberId, personId }: { readonly memberId: string; readonly personId: string },
): Promise<Membership | undefined> {
  const row = await db
    .selectFrom('team_member as m')
    .innerJoin('customer as o', 'o.id', 'm.owner_id')
    .innerJoin('customer as p', 'p.id', 'm.person_id')
    .select(['m.owner_id', 'm.role', 'm.servers', 'm.domains', 'm.last_used_at', 'p.name'])
    .where('m.id', '=', memberId)
    .where('m.person_id', '=', personId)
    .where('o.blocked_at', 'is', null)
    .where('p.blocked_at', 'is', null)
    .executeTakeFirst()
  if (!row) return undefined
  const now = clock.now()
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() > lastUsedWriteMs)
    await db
      .updateTable('team_member')
      .set({ last_used_at: now })
      .where('id', '=', memberId)
      .execute()
  return {
    ownerId: row.owner_id,
    name: row.name,
    role: row.role as MemberRole,
    servers: row.servers,
    domains: row.domains,
  }
}

/** The owners of the accounts of these memberships. */
export async function ownersOf(db: Queryable, memberIds: readonly string[]): Promise<string[]> {
  if (memberIds.length === 0) return []
  const rows = await db
    .selectFrom('team_member')
    .select('owner_id')
    .distinct()
    .where('id', 'in', memberIds)
    .execute()
  return rows.map((row) => row.owner_id)
}

/**
 * The membership by which a person works in an account. Undefined: there is none, or the owner is
 * blocked.
 */
export async function memberIdOf(
  db: Queryable,
  { ownerId, personId }: { readonly ownerId: string; readonly personId: string },
): Promise<string | undefined> {
  const row = await accounts(db, personId)
    .select('m.id')
    .where('m.owner_id', '=', ownerId)
    .executeTakeFirst()
  return row?.id
}

/** The memberships of an account. */
export async function memberIdsOf(db: Queryable, ownerId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('team_member')
    .select('id')
    .where('owner_id', '=', ownerId)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * A stranger was signed in to the account since then: removes members who joined or got other
 * rights meanwhile, voids every invitation, and ends the open work of the others.
 */
export async function endTeamSince(
  tx: Tx,
  endWork: EndWork,
  { customerId, since }: { readonly customerId: string; readonly since: Date },
): Promise<void> {
  // Delete invitations first: an acceptance locks one, and once it is committed its member is found
  // below.
  await tx.deleteFrom('team_invitation').where('owner_id', '=', customerId).execute()
  const rows = await tx
    .selectFrom('team_member')
    .select('id')
    .where('owner_id', '=', customerId)
    .forUpdate()
    .execute()
  await endWork(
    tx,
    rows.map(({ id }) => id),
  )
  await tx
    .deleteFrom('team_member')
    .where('owner_id', '=', customerId)
    .where((eb) => eb.or([eb('joined_at', '>=', since), eb('rights_changed_at', '>=', since)]))
    .execute()
}
