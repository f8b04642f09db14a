import { permissionsOf, type MemberRights } from '../../contract/member-roles.ts'
import { enterAccount, type OtherAccount } from '../../contract/team.ts'
import { call } from '../api.ts'
import { permissionsKey } from '../may.ts'
import { session } from '../session.ts'
import type { AccountOfTab } from './account-of-tab.ts'
import { firstPageOf } from './role-pages.ts'

/**
 * The permissions that the tab stores. `all domains` is only for a member who is not limited to
 * some.
 */
const shownTo = (rights: MemberRights): string[] => [
  ...permissionsOf(rights),
  ...(rights.domains === null ? ['all domains'] : []),
]

/**
 * Enters another's account, in this tab only: its token is stored where the customer's own would
 * be. The customer's own session stays in the browser's cookie, from which it is restored later.
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
  // Removes what the tab stored for the own account.
  sessionStorage.clear()
  sessionStorage.setItem('accessToken', token)
  sessionStorage.setItem('isLogin', '1')
  sessionStorage.setItem('view', JSON.stringify(of))
  sessionStorage.setItem(permissionsKey, shownTo(account).join())
  location.replace(firstPageOf(of))
}
