/** The roles of the operator's staff, and what each may do (decision 90). */

export const staffRoles = ['owner', 'finance', 'operations', 'support', 'read_only'] as const
export type StaffRole = (typeof staffRoles)[number]

/**
 * The permission that a call of the desk needs. `look`: read. `note`: notes, labels, and sending
 * letters again. `customers`: acts on accounts. `money`: acts on wallets, and webhooks of gateways.
 * `work`: orders, servers, jobs. `staff`: the staff itself. `tickets`: answering customers. `sell`:
 * what is sold, and its prices. `outgoing`: where events of all customers are sent.
 */
export type StaffPermission =
  | 'look'
  | 'note'
  | 'customers'
  | 'money'
  | 'work'
  | 'staff'
  | 'tickets'
  | 'sell'
  | 'outgoing'

export const rolesThatMay: Readonly<Record<StaffPermission, readonly StaffRole[]>> = {
  look: staffRoles,
  note: ['owner', 'finance', 'operations', 'support'],
  customers: ['owner', 'support'],
  money: ['owner', 'finance'],
  work: ['owner', 'operations'],
  staff: ['owner'],
  tickets: ['owner', 'support'],
  sell: ['owner', 'finance'],
  outgoing: ['owner'],
}

export const mayDo = (role: StaffRole, permission: StaffPermission): boolean =>
  rolesThatMay[permission].includes(role)

/**
 * Whether a member may decide on another's proposal: an owner, one of the proposer's role, or
 * anybody where the proposer has no role (null).
 */
export const mayApproveFor = (approver: StaffRole, proposer: StaffRole | null): boolean =>
  approver === 'owner' || proposer === null || approver === proposer
