/**
 * What may be done in this tab. Everybody may do everything in their own account; who works in the
 * account of another may do what was noted when the tab entered it (decisions 107 and 140). The
 * server judges each call; here it says what is shown.
 */
import type { MemberPermission } from '../contract/member-roles.ts'

/** Where a tab that works in the account of another notes them, with commas between. */
export const permissionsKey = 'may'
// They hold for as long as the tab shows that account.
const noted = (): string[] | undefined =>
  sessionStorage.getItem('view') === null
    ? undefined
    : sessionStorage.getItem(permissionsKey)?.split(',')

/** Whether this tab works in the account of another. What is the owner's own is closed to it. */
export const isMember = (): boolean => !!noted()

/**
 * Whether who works here has the permission; `all domains`: for a call that names none of them. It
 * stays the same as long as the tab does, for the access ends with any change of the rights.
 */
export const may = (permission: MemberPermission | 'all domains'): boolean =>
  noted()?.includes(permission) ?? true
