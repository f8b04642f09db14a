/**
 * People who work in a customer's account: inviting, listing, changing and removing them (decision
 * 107).
 */
import * as z from 'zod/mini'
import { email } from './auth.ts'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { limitedRoles, memberRoles } from './member-roles.ts'

/** Most members and open invitations of one account together. */
export const mostMembers = 50
/** Most servers, or domains, that one member may be limited to. */
export const mostMemberLimits = 100
export const invitationDays = 7
/** Days for which members' acts are kept. */
export const actDays = 180

const role = z.enum(memberRoles)
/** Empty: none. */
const ids = z.array(z.string().check(z.maxLength(100))).check(z.maxLength(mostMemberLimits))
const rights = {
  role,
  /** Null: all. */
  servers: z.optional(z.nullable(ids)),
  domains: z.optional(z.nullable(ids)),
}
const password = z.string().check(z.minLength(1), z.maxLength(128))
const limitsFit = z.refine<{
  role: (typeof memberRoles)[number]
  servers?: string[] | null | undefined
  domains?: string[] | null | undefined
}>(
  ({ role: of, servers, domains }) =>
    limitedRoles.has(of) || ((servers ?? null) === null && (domains ?? null) === null),
  {
    path: ['role'],
    params: {
      en: 'This role reaches the whole account. Choose another one to set limits.',
      vi: 'Vai trò này áp dụng cho toàn bộ tài khoản. Hãy chọn vai trò khác để giới hạn.',
    },
  },
)

const shownRights = {
  role,
  servers: z.nullable(z.array(z.string())),
  domains: z.nullable(z.array(z.string())),
}
export const Member = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  ...shownRights,
  joinedAt: z.string(),
  /** Accurate to five minutes; null: never. */
  lastUsedAt: z.nullable(z.string()),
})
export type Member = z.output<typeof Member>
export const Invitation = z.object({
  id: z.string(),
  email: z.string(),
  ...shownRights,
  createdAt: z.string(),
  expiresAt: z.string(),
})
export type Invitation = z.output<typeof Invitation>

export const listTeam = endpoint({
  method: 'GET',
  path: '/api/v1/team/members',
  access: 'customer',
  seen: true,
  summary: 'Who works in this account, and who is invited',
  result: z.object({ members: z.array(Member), invitations: z.array(Invitation) }),
})
export const invite = endpoint({
  method: 'POST',
  path: '/api/v1/team/invitations',
  access: 'customer',
  asksAgain: true,
  summary: 'Invite somebody by e-mail; a newer invitation replaces an older one',
  body: z.strictObject({ email, ...rights, password }).check(limitsFit),
  result: Invitation,
  status: 201,
})
export const takeBack = endpoint({
  method: 'DELETE',
  path: '/api/v1/team/invitations/:id',
  access: 'customer',
  summary: 'Take an invitation back: its link opens nothing any more',
  params: idParam,
  result: z.null(),
})
export const changeMember = endpoint({
  method: 'PUT',
  path: '/api/v1/team/members/:id',
  access: 'customer',
  asksAgain: true,
  summary: 'Change what a member may do; it counts from the next call on',
  params: idParam,
  body: z.strictObject({ ...rights, password }).check(limitsFit),
  result: Member,
})
export const removeMember = endpoint({
  method: 'DELETE',
  path: '/api/v1/team/members/:id',
  access: 'customer',
  summary: 'Remove a member; access ends at once',
  params: idParam,
  result: z.null(),
})

export const MemberAct = z.object({
  id: z.string(),
  at: z.string(),
  /** The member's name at that time. */
  name: z.string(),
  /** A sentence in the caller's language. */
  what: z.string(),
  /** The server or domain concerned; `name` null: it is no longer known. */
  subject: z.nullable(
    z.object({ kind: z.enum(['server', 'domain']), id: z.string(), name: z.nullable(z.string()) }),
  ),
  ip: z.string(),
})
export type MemberAct = z.output<typeof MemberAct>
export const listActs = endpoint({
  method: 'GET',
  path: '/api/v1/team/acts',
  access: 'customer',
  seen: true,
  summary: 'What members did here in the last 180 days, the newest first',
  query: z.object(pageQuery),
  result: z.array(MemberAct),
  paged: true,
})

const token = z.string().check(z.minLength(1), z.maxLength(100))
export const lookAtInvitation = endpoint({
  method: 'POST',
  path: '/api/v1/team/invitations/look',
  access: 'customer',
  summary: 'What an invitation is for, by the token of its link',
  body: z.strictObject({ token }),
  result: z.object({ from: z.string(), role, limited: z.boolean(), expiresAt: z.string() }),
})
export const acceptInvitation = endpoint({
  method: 'POST',
  path: '/api/v1/team/invitations/accept',
  access: 'customer',
  summary: 'Accept an invitation, signed in under the e-mail address that was invited',
  body: z.strictObject({ token }),
  result: z.object({ id: z.string(), name: z.string(), role }),
})

/** An account of another customer in which the caller may work. */
export const OtherAccount = z.object({
  id: z.string(),
  name: z.string(),
  ...shownRights,
  joinedAt: z.string(),
})
export type OtherAccount = z.output<typeof OtherAccount>
export const listAccounts = endpoint({
  method: 'GET',
  path: '/api/v1/team/accounts',
  access: 'customer',
  member: 'self',
  summary: 'Accounts of others in which the caller may work',
  result: z.array(OtherAccount),
})
export const enterAccount = endpoint({
  method: 'POST',
  path: '/api/v1/team/accounts/:id/enter',
  access: 'customer',
  member: 'self',
  summary: 'A token by which the caller works in that account, for twelve hours at most',
  params: idParam,
  result: z.object({ token: z.string(), expiresAt: z.string(), account: OtherAccount }),
})
export const leaveAccount = endpoint({
  method: 'DELETE',
  path: '/api/v1/team/accounts/:id',
  access: 'customer',
  summary: 'Leave an account for good; its owner is told',
  params: idParam,
  result: z.null(),
})
