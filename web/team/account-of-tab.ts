import type { MemberRole } from '../../contract/member-roles.ts'

/** What a tab that works in another's account knows of it, in its session storage. */
export interface AccountOfTab {
  /** Of the account. */
  readonly name: string
  readonly expiresAt: string
  readonly role: MemberRole
  /** To some servers and domains. */
  readonly limited: boolean
  /** The own session, whose lock and end count here. */
  readonly own?: string | undefined
}
