/** The list of customers, and the first page. */
export const enDeskCustomers = {
  all: 'All customers',
  show: 'Show',
  empty: 'No customers here.',
  customer: 'Customer',
  region: 'Region',
  balance: 'Balance',
  servers: 'Servers',
  state: 'State',
  since: 'Since',
  states: {
    all: 'All',
    active: 'Active',
    blocked: 'Blocked',
    not_activated: 'Never activated',
    closed: 'Closed',
  },
}
