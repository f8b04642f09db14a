import type { MemberRole } from '../../contract/member-roles.ts'

/** What a tab that works in another's account stores about it, in session storage. */
export interface AccountOfTab {
  /** The name of the other account. */
  readonly name: string
  readonly expiresAt: string
  readonly role: MemberRole
  /** Limited to some servers and domains. */
  readonly limited: boolean
  /** The customer's own session, whose lock and end also apply here. */
  readonly own?: string | undefined
}
