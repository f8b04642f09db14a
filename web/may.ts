/**
 * What this tab may do. Everybody may do everything in their own account. A member in another's
 * account may do what was stored when the tab entered it (decisions 107 and 140). The server checks
 * each call; this only decides what is shown.
 */
import type { MemberPermission } from '../contract/member-roles.ts'

/** Storage key of the permissions in a tab that works in another's account, separated by commas. */
export const permissionsKey = 'may'
// They are valid while the tab shows that account.
const noted = (): string[] | undefined =>
  sessionStorage.getItem('view') === null
    ? undefined
    : sessionStorage.getItem(permissionsKey)?.split(',')

/** Whether this tab works in another's account. What belongs to the owner alone is closed to it. */
export const isMember = (): boolean => !!noted()

/**
 * Whether this tab has the permission. `all domains`: for a call that names no single domain. The
 * answer does not change while the tab lives, because any change of the rights ends the access.
 */
export const may = (permission: MemberPermission | 'all domains'): boolean =>
  noted()?.includes(permission) ?? true
