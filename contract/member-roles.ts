/**
 * The roles of people who work in somebody else's account, and what each may do there (decision
 * 107). Each endpoint names the permission that it needs in `member`; without one it is closed to
 * every role.
 */
import { subjectOf } from './token-scopes.ts'

/** `owner`: may do what the account's owner may do, except for calls that are closed to members. */
export const memberRoles = ['owner', 'billing', 'technical', 'read_only'] as const
export type MemberRole = (typeof memberRoles)[number]

/** Roles that may be limited to some servers and domains. Money and orders concern all of them. */
export const limitedRoles: ReadonlySet<MemberRole> = new Set(['technical', 'read_only'])

/**
 * The permission that a call needs. `look`: the frame of the portal. `orders`: whatever begins,
 * changes or ends something that costs money. `zones`: changes of DNS that a server asks for.
 * `events`: notifications of the account. `self`: the call is about the caller, not about the
 * account.
 */
export type MemberPermission =
  | 'look'
  | 'servers:read'
  | 'servers:write'
  | 'domains:read'
  | 'domains:write'
  | 'zones'
  | 'orders'
  | 'money:read'
  | 'money:write'
  | 'tickets:read'
  | 'tickets:write'
  | 'events'
  | 'self'

export const memberRolesThatMay: Readonly<Record<MemberPermission, readonly MemberRole[]>> = {
  look: memberRoles,
  'servers:read': ['owner', 'technical', 'read_only'],
  'servers:write': ['owner', 'technical'],
  'domains:read': ['owner', 'technical', 'read_only'],
  'domains:write': ['owner', 'technical'],
  zones: ['owner', 'technical'],
  orders: ['owner'],
  'money:read': ['owner', 'billing', 'read_only'],
  'money:write': ['owner', 'billing'],
  'tickets:read': memberRoles,
  'tickets:write': ['owner', 'billing', 'technical'],
  events: ['owner', 'billing', 'read_only'],
  self: memberRoles,
}

/** What somebody may do in another's account. */
export interface MemberRights {
  readonly role: MemberRole
  /** Ids; null: all servers or domains of the account, later ones included. */
  readonly servers: readonly string[] | null
  readonly domains: readonly string[] | null
}

/** What an endpoint says about members. */
interface OpenedCall {
  readonly path: string
  readonly member?: MemberPermission
  readonly narrows?: true
}

const isLimited = ({ servers, domains }: MemberRights): boolean =>
  servers !== null || domains !== null

/** Whether these rights reach a call that names no single server or domain. */
const reaches = (rights: MemberRights, endpoint: OpenedCall, id: string | undefined): boolean => {
  const room = endpoint.member ?? ''
  if (room === 'look' || endpoint.narrows === true) return true
  const limit = room.startsWith('servers:') ? rights.servers : rights.domains
  if (!/^(servers|domains):/.test(room)) return !isLimited(rights)
  return (
    limit === null || (subjectOf(endpoint) !== undefined && id !== undefined && limit.includes(id))
  )
}

/** Why a member may not make a call; undefined: they may. `self` is not checked here. */
export function memberRefusal(
  rights: MemberRights,
  endpoint: OpenedCall,
  id: string | undefined,
): 'closed' | 'role' | 'limit' | undefined {
  if (endpoint.member === undefined || endpoint.member === 'self') return 'closed'
  if (!memberRolesThatMay[endpoint.member].includes(rights.role)) return 'role'
  return reaches(rights, endpoint, id) ? undefined : 'limit'
}

/** The permissions of these rights. A limited member gets none that concerns the whole account. */
export const permissionsOf = (rights: MemberRights): MemberPermission[] =>
  (Object.keys(memberRolesThatMay) as MemberPermission[]).filter(
    (room) =>
      memberRolesThatMay[room].includes(rights.role) &&
      (!isLimited(rights) || /^(look$|self$|servers:|domains:)/.test(room)),
  )

/** Whether a member sees the wallet and invoices. */
export const seesMoney = (rights: MemberRights): boolean =>
  memberRolesThatMay['money:read'].includes(rights.role) && !isLimited(rights)
