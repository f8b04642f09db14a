import { permissionsOf, type MemberRights } from '../../contract/member-roles.ts'
import { enterAccount, type OtherAccount } from '../../contract/team.ts'
import { call } from '../api.ts'
import { permissionsKey } from '../may.ts'
import { session } from '../session.ts'
import type { AccountOfTab } from './account-of-tab.ts'
import { firstPageOf } from './role-pages.ts'

/** What the tab shows: the domains' list is whole only for who is not limited to some. */
const shownTo = (rights: MemberRights): string[] => [
  ...permissionsOf(rights),
  ...(rights.domains === null ? ['all domains'] : []),
]

/**
 * Leads into the account of another, in this tab alone: its token stands where the customer's own
 * would be. The customer's own session stays in the browser's cookie, and is taken up again from
 * there.
 */
export async function enter({ id }: Pick<OtherAccount, 'id'>): Promise<void> {
  const { token, expiresAt, account } = await call(enterAccount, { params: { id } })
  const of: AccountOfTab = {
    name: account.name,
    expiresAt,
    role: account.role,
    limited: account.servers !== null || account.domains !== null,
    own: session.held()?.id,
  }
  // What the tab had of the own account goes.
  sessionStorage.clear()
  sessionStorage.setItem('accessToken', token)
  sessionStorage.setItem('isLogin', '1')
  sessionStorage.setItem('view', JSON.stringify(of))
  sessionStorage.setItem(permissionsKey, shownTo(account).join())
  location.replace(firstPageOf(of))
}
