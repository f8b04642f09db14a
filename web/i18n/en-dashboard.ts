/** English: the overview. */
import { plural } from './plural.ts'

// Our own lists: a browser takes tens of milliseconds to load a language's day names.
export const weekdays = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
]
export const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

export const enDashboard = {
  dashboard: {
    title: 'Overview',
    today: (date: Date) =>
      `${weekdays[date.getDay()]}, ${months[date.getMonth()]} ${date.getDate()}`,
    billingRegion: 'Billing region',
    newWordpress: 'New WordPress',
    unpaid: (count: number) => plural(count, 'unpaid invoice', 'unpaid invoices'),
    stillDue: 'still due',
    payNow: 'Pay now',
    balance: 'Wallet Balance',
    prepaid: 'Prepaid',
    runwayBefore: 'Covers renewals until',
    runwayShort: 'Your balance runs out within a day.',
    runwayFar: 'Covers renewals for more than five years.',
    nothingRenews: 'No upcoming renewals.',
    owesLate: (amount: string, day: string) =>
      `You owe ${amount} on your credit line, overdue since ${day}`,
    owes: (amount: string, day: string) => `You owe ${amount} on your credit line, due by ${day}`,
    emptyWallet: 'Top up to order your first server.',
    renewsMonthly: 'Monthly renewals',
    emptyOn: 'Runs out',
    never: '—',
    topUp: 'Top up',
    seeTransactions: 'View transactions',
    chart: 'Balance, 30 days',
    chartShort: (days: number) => `Balance, last ${plural(days, 'day', 'days')}`,
    chartIn: 'Received',
    chartOut: 'Spent',
    chartNow: 'Now',
    chartText: (now: string, received: string, spent: string) =>
      `Balance over 30 days: now ${now}; received ${received}, spent ${spent}.`,
    chartTable: 'Balance after each transaction',
    received: 'Recent Received',
    spent: 'Recent Spent',
    viewDetails: 'View Details',
    allTransactions: 'Full history',
    viewInvoice: 'View Invoice',
    noneReceived: 'No money received yet.',
    noneSpent: 'No spending yet.',
    servers: 'WordPress servers',
    noServers: 'No server yet.',
    transactions: 'Transactions',
    latest: (count: number) => `Latest ${count}`,
    invoices: 'Recent Invoices',
  },
}
