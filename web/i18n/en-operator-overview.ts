/** The list of customers, and the first page. */
import { plural } from './plural.ts'

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

export const enDeskOverview = {
  nav: 'Overview',
  title: 'Overview',
  faults: 'Is everything well?',
  well: 'Everything is well',
  wrong: (n: number) => `${plural(n, 'line', 'lines')} to look at`,
  waiting: 'What waits for somebody',
  inShell: '`npm run ledger:check` on the machine says which.',
  fault: {
    ledger: 'Broken rules of the ledger',
    nodes: 'Nodes that do not answer',
    serversDown: 'Servers that do not answer',
    stuck: 'Work on servers that does not end',
    jobs: 'Jobs that gave up',
    certificates: 'Certificates that fail',
    backups: 'Servers without a backup since one failed',
    letters: 'Letters and SMS that gave up within a day',
  },
  waits: {
    proposals: 'Approvals',
    tickets: 'Open tickets',
    dataRequests: 'Data requests',
    suspense: 'Unmatched money',
    differences: 'Open differences',
    disputes: 'Disputes',
    overdueInvoices: 'Overdue invoices',
  },
  overdue: {
    title: 'Overdue invoices',
    sub: 'Renewals that are not paid, the longest due first.',
    empty: 'No invoice is overdue.',
    due: (day: string) => `due ${day}`,
    suspended: (day: string) => `suspended, due ${day}`,
  },
}
