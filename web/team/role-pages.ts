/** The parts of the layout for which a role has no use. The server refuses what is hidden here. */
import type { AccountOfTab } from './account-of-tab.ts'

const money = ['/payment', '/transactions', '/invoice', '/link-card']
const things = ['/wordpress', '/hosting', '/dns', '/paas']

const seesMoney = ({ role, limited }: AccountOfTab): boolean => role !== 'technical' && !limited
const seesThings = ({ role }: AccountOfTab): boolean => role !== 'billing'

/** The first page of such a tab: the overview needs both money and servers. */
export function firstPageOf(of: AccountOfTab): string {
  if (!seesThings(of)) return '/transactions'
  return seesMoney(of) ? '/' : '/wordpress'
}

/** Addresses whose menu entries are hidden. */
export const hiddenFrom = (of: AccountOfTab): readonly string[] => [
  ...(seesMoney(of) ? [] : money),
  ...(seesThings(of) ? [] : things),
  ...(seesMoney(of) && seesThings(of) ? [] : ['/']),
  ...(of.limited ? ['/support'] : []),
  ...(of.role === 'read_only' ? ['/payment'] : []),
]
export const hidesWallet = (of: AccountOfTab): boolean => !seesMoney(of)
/** The first entries of groups that are hidden entirely. */
export const emptyGroups = (of: AccountOfTab): readonly string[] => [
  ...(seesMoney(of) ? [] : money.slice(0, 1)),
  ...(seesThings(of) ? [] : things.slice(0, 1)),
]
/** Whether links to order something are hidden. */
export const hidesOrders = ({ role }: AccountOfTab): boolean => role !== 'owner'
/** Whether the page at an address is a form that the role may not use. */
export const isClosedForm = (of: AccountOfTab, path: string): boolean =>
  (path === '/payment' && hidesTopUps(of)) ||
  (/^\/(wordpress|hosting)\/create$/.test(path) && hidesOrders(of))
/** Whether links to top up are hidden. */
export const hidesTopUps = (of: AccountOfTab): boolean => !seesMoney(of) || of.role === 'read_only'
