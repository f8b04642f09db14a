/** Which parts of the frame a role has no use for. What is hidden here is refused by the server. */
import type { AccountOfTab } from './account-of-tab.ts'

const money = ['/payment', '/transactions', '/invoice', '/link-card']
const things = ['/wordpress', '/hosting', '/dns', '/paas']

const seesMoney = ({ role, limited }: AccountOfTab): boolean => role !== 'technical' && !limited
const seesThings = ({ role }: AccountOfTab): boolean => role !== 'billing'

/** Where a tab begins: the overview is of money and servers both. */
export function firstPageOf(of: AccountOfTab): string {
  if (!seesThings(of)) return '/transactions'
  return seesMoney(of) ? '/' : '/wordpress'
}

/** Addresses whose entries the menus leave out. */
export const hiddenFrom = (of: AccountOfTab): readonly string[] => [
  ...(seesMoney(of) ? [] : money),
  ...(seesThings(of) ? [] : things),
  ...(seesMoney(of) && seesThings(of) ? [] : ['/']),
  ...(of.limited ? ['/support'] : []),
  ...(of.role === 'read_only' ? ['/payment'] : []),
]
export const hidesWallet = (of: AccountOfTab): boolean => !seesMoney(of)
/** The first entries of groups of which none is left. */
export const emptyGroups = (of: AccountOfTab): readonly string[] => [
  ...(seesMoney(of) ? [] : money.slice(0, 1)),
  ...(seesThings(of) ? [] : things.slice(0, 1)),
]
/** Where something is ordered. */
export const hidesOrders = ({ role }: AccountOfTab): boolean => role !== 'owner'
/** Whether the page at an address is one form, which the role may not use. */
export const isClosedForm = (of: AccountOfTab, path: string): boolean =>
  (path === '/payment' && hidesTopUps(of)) ||
  (/^\/(wordpress|hosting)\/create$/.test(path) && hidesOrders(of))
/** Where money is brought. */
export const hidesTopUps = (of: AccountOfTab): boolean => !seesMoney(of) || of.role === 'read_only'
