/**
 * The roles of people who work in somebody else's account, and what each may do there (decision
 * 107). A call says itself what it needs (`member` in its endpoint); one that says nothing is
 * closed to every role.
 */
import { subjectOf } from './token-scopes.ts'

/** `owner`: may do what the account's owner does, but for what is the owner's own. */
export const memberRoles = ['owner', 'billing', 'technical', 'read_only'] as const
export type MemberRole = (typeof memberRoles)[number]

/** Roles that may be limited to some servers and domains; money and orders name them all. */
export const limitedRoles: ReadonlySet<MemberRole> = new Set(['technical', 'read_only'])

/**
 * What a call needs. `look`: the frame of the portal; `orders`: whatever begins, changes or ends
 * something that costs; `zones`: changes of DNS that a server asks for; `events`: what the account
 * is told; `self`: the call is about whoever makes it, and not about the account.
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

/** What somebody may do in an account of another. */
export interface MemberRights {
  readonly role: MemberRole
  /** Ids; null: all of the account, also later ones. */
  readonly servers: readonly string[] | null
  readonly domains: readonly string[] | null
}

/** What an endpoint says of members. */
interface OpenedCall {
  readonly path: string
  readonly member?: MemberPermission
  readonly narrows?: true
}

const isLimited = ({ servers, domains }: MemberRights): boolean =>
  servers !== null || domains !== null

/** Whether these rights reach what names no single server or domain. */
const reaches = (rights: MemberRights, endpoint: OpenedCall, id: string | undefined): boolean => {
  const room = endpoint.member ?? ''
  if (room === 'look' || endpoint.narrows === true) return true
  const limit = room.startsWith('servers:') ? rights.servers : rights.domains
  if (!/^(servers|domains):/.test(room)) return !isLimited(rights)
  return (
    limit === null || (subjectOf(endpoint) !== undefined && id !== undefined && limit.includes(id))
  )
}

/** Why a member may not make a call; undefined: may. `self` is not asked here. */
export function memberRefusal(
  rights: MemberRights,
  endpoint: OpenedCall,
  id: string | undefined,
): 'closed' | 'role' | 'limit' | undefined {
  if (endpoint.member === undefined || endpoint.member === 'self') return 'closed'
  if (!memberRolesThatMay[endpoint.member].includes(rights.role)) return 'role'
  return reaches(rights, endpoint, id) ? undefined : 'limit'
}

/** What these rights open of something: a limited member never reaches what names everything. */
export const permissionsOf = (rights: MemberRights): MemberPermission[] =>
  (Object.keys(memberRolesThatMay) as MemberPermission[]).filter(
    (room) =>
      memberRolesThatMay[room].includes(rights.role) &&
      (!isLimited(rights) || /^(look$|self$|servers:|domains:)/.test(room)),
  )

/** Whether a member sees wallet and invoices. */
export const seesMoney = (rights: MemberRights): boolean =>
  memberRolesThatMay['money:read'].includes(rights.role) && !isLimited(rights)
