/** Members of the staff. The last owner who may sign in cannot be demoted or disabled. */
import type * as z from 'zod/mini'
import type { staff, StaffMember } from '../../contract/operator.ts'
import {
  mayApproveFor,
  rolesThatMay,
  type StaffPermission,
  type StaffRole,
} from '../../contract/staff-roles.ts'
import type { Clock } from '../platform/clock.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { isNetwork } from '../platform/network.ts'
import { endStaffSessions } from './sessions.ts'

export interface Member {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: StaffRole
  readonly networks: readonly string[]
  readonly disabledAt: Date | null
}

/** Refuses with not_found. `held`: locked until the transaction ends. */
export async function memberOf(db: Queryable, id: string, held = false): Promise<Member> {
  const row = isUuid(id)
    ? await db
        .selectFrom('staff')
        .select(['id', 'email', 'name', 'role', 'networks', 'disabled_at'])
        .where('id', '=', id)
        .$if(held, (query) => query.forUpdate())
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  const { id: found, email, name, networks } = row
  return {
    id: found,
    email,
    name,
    role: row.role as StaffRole,
    networks,
    disabledAt: row.disabled_at,
  }
}

/** Refuses with invalid_input when an entry is not a network. */
export function refuseNoNetwork(networks: readonly string[]): void {
  const wrong = networks.find((text) => !isNetwork(text))
  if (wrong !== undefined)
    throw new Refusal('invalid_input', {
      fields: {
        networks: {
          en: `${wrong} is no network; write 192.0.2.0/24 or 2001:db8::/32.`,
          vi: `${wrong} không phải là một mạng; hãy viết 192.0.2.0/24 hoặc 2001:db8::/32.`,
        },
      },
    })
}

/** Refuses with conflict when no other owner could sign in. */
async function refuseLastOwner(tx: Tx, member: Member): Promise<void> {
  if (member.role !== 'owner') return
  const owners = await tx
    .selectFrom('staff')
    .select('id')
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()
  if (!owners.some(({ id }) => id !== member.id))
    throw new Refusal('conflict', {
      fields: {
        member: {
          en: 'This is the last owner: make somebody else an owner first.',
          vi: 'Đây là chủ sở hữu cuối cùng: hãy chỉ định người khác làm chủ sở hữu trước.',
        },
      },
    })
}

export async function changeMember(
  tx: Tx,
  id: string,
  to: { role?: StaffRole | undefined; networks?: readonly string[] | undefined },
): Promise<{ before: Member; after: Member }> {
  const before = await memberOf(tx, id, true)
  refuseNoNetwork(to.networks ?? [])
  if (to.role !== undefined && to.role !== 'owner') await refuseLastOwner(tx, before)
  const after: Member = {
    ...before,
    role: to.role ?? before.role,
    networks: to.networks ?? before.networks,
  }
  await tx
    .updateTable('staff')
    .set({ role: after.role, networks: [...after.networks] })
    .where('id', '=', before.id)
    .execute()
  return { before, after }
}

/** Sessions end at once. Refuses with not_found, conflict. */
export async function disableMember(
  tx: Tx,
  clock: Clock,
  id: string,
): Promise<{ before: Member; sessions: number }> {
  const before = await memberOf(tx, id, true)
  if (before.disabledAt !== null)
    throw new Refusal('conflict', {
      fields: {
        member: { en: 'This member is disabled already.', vi: 'Nhân viên này đã bị vô hiệu hoá.' },
      },
    })
  await refuseLastOwner(tx, before)
  await tx
    .updateTable('staff')
    .set({ disabled_at: clock.now() })
    .where('id', '=', before.id)
    .execute()
  return { before, sessions: await endStaffSessions(tx, clock, before.id) }
}

export async function enableMember(tx: Tx, id: string): Promise<Member> {
  const before = await memberOf(tx, id, true)
  if (before.disabledAt === null)
    throw new Refusal('conflict', {
      fields: {
        member: { en: 'This member is not disabled.', vi: 'Nhân viên này không bị vô hiệu hoá.' },
      },
    })
  const other = await tx
    .selectFrom('staff')
    .select('id')
    .where('email', '=', before.email)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  if (other)
    throw new Refusal('conflict', {
      fields: {
        member: {
          en: 'Another member has this e-mail address now.',
          vi: 'Một nhân viên khác đang dùng địa chỉ email này.',
        },
      },
    })
  await tx.updateTable('staff').set({ disabled_at: null }).where('id', '=', before.id).execute()
  return before
}

/** By id; unknown ids are missing. */
export async function memberNames(
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('staff')
    .select(['id', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Email addresses of members with these roles who may sign in. */
export async function emailsOf(db: Queryable, roles: readonly StaffRole[]): Promise<string[]> {
  const rows = await db
    .selectFrom('staff')
    .select('email')
    .where('role', 'in', roles)
    .where('disabled_at', 'is', null)
    .orderBy('email')
    .execute()
  return rows.map(({ email }) => email)
}

/**
 * Whom a letter about waiting work goes to, by email address: to its assignee, where that is a
 * member who may do it; else to every member who may. Who has switched such letters off gets none.
 */
export async function lettersAbout(
  db: Queryable,
  permission: StaffPermission,
  assigneeId: string | null = null,
): Promise<string[]> {
  const rows = await db
    .selectFrom('staff')
    .select(['id', 'email', 'gets_letters'])
    .where('role', 'in', rolesThatMay[permission])
    .where('disabled_at', 'is', null)
    .orderBy('email')
    .execute()
  const assignee = rows.filter(({ id }) => id === assigneeId)
  return (assignee.length > 0 ? assignee : rows)
    .filter(({ gets_letters: wanted }) => wanted)
    .map(({ email }) => email)
}

/** Whether the member of a session gets letters about tickets and disputes. */
export async function letterChoice(db: Queryable, sessionId: string): Promise<boolean> {
  const { gets_letters: wanted } = await db
    .selectFrom('staff_session as s')
    .innerJoin('staff as m', 'm.id', 's.staff_id')
    .select('m.gets_letters')
    .where('s.id', '=', sessionId)
    .executeTakeFirstOrThrow()
  return wanted
}

/** Switches a member's own letters about tickets and disputes on or off. */
export async function chooseLetters(tx: Tx, staffId: string, wanted: boolean): Promise<void> {
  await tx.updateTable('staff').set({ gets_letters: wanted }).where('id', '=', staffId).execute()
}

/** Members who may decide on a proposal of this member, or of a command. */
export async function approversOf(
  db: Queryable,
  of: {
    readonly permission: StaffPermission
    readonly staffId: string | null
    readonly role: StaffRole | null
  },
): Promise<string[]> {
  const rows = await db
    .selectFrom('staff')
    .select(['id', 'email', 'role'])
    .where('role', 'in', rolesThatMay[of.permission])
    .where('disabled_at', 'is', null)
    .orderBy('email')
    .execute()
  return rows
    .filter(({ id, role }) => id !== of.staffId && mayApproveFor(role as StaffRole, of.role))
    .map(({ email }) => email)
}

/** Members by name, and invitations that can still be accepted. */
export async function listStaff(
  db: Queryable,
  clock: Clock,
): Promise<z.output<typeof staff.result>> {
  const members = await db
    .selectFrom('staff as m')
    .select(['m.id', 'm.name', 'm.email', 'm.role', 'm.networks', 'm.created_at', 'm.disabled_at'])
    .select((eb) =>
      eb
        .selectFrom('staff_session as s')
        .select('s.created_at')
        .whereRef('s.staff_id', '=', 'm.id')
        .orderBy('s.created_at', 'desc')
        .limit(1)
        .as('last_sign_in_at'),
    )
    .orderBy('m.name')
    .orderBy('m.id')
    .execute()
  const invitations = await db
    .selectFrom('staff_invitation')
    .select(['id', 'name', 'email', 'role', 'networks', 'expires_at'])
    .where('used_at', 'is', null)
    .where('expires_at', '>', clock.now())
    .orderBy('created_at')
    .execute()
  return {
    members: members.map((row): StaffMember => ({
      id: row.id,
      name: row.name,
      email: row.email,
      role: row.role as StaffRole,
      networks: row.networks,
      createdAt: row.created_at.toISOString(),
      lastSignInAt: row.last_sign_in_at?.toISOString() ?? null,
      disabledAt: row.disabled_at?.toISOString() ?? null,
    })),
    invitations: invitations.map((row) => ({
      id: row.id,
      name: row.name,
      email: row.email,
      role: row.role as StaffRole,
      networks: row.networks,
      expiresAt: row.expires_at.toISOString(),
    })),
  }
}
