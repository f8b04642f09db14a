/** English: the overview. */
import { plural } from './plural.ts'

// In words of our own: the browser takes tens of milliseconds to learn how a language writes its
// days.
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
    runway: (days: number) => {
      if (days === 0) return 'less than a day'
      if (days > 730) return `more than ${Math.floor(days / 365.25)} years`
      return plural(days, 'day', 'days')
    },
    runwayBefore: 'Lasts',
    runwayAfter: 'with everything that renews',
    runwayFar: 'Lasts more than five years.',
    nothingRenews: 'Nothing renews from this wallet yet.',
    emptyWallet: 'Top up to order your first server.',
    renewsMonthly: 'Renews per month',
    emptyOn: 'Empty on',
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
    viewInvoice: 'View Invoice',
    noneReceived: 'Nothing received yet.',
    noneSpent: 'Nothing spent yet.',
    servers: 'WordPress servers',
    noServers: 'No server yet.',
    transactions: 'Transactions',
    latest: (count: number) => `Latest ${count}`,
    invoices: 'Recent Invoices',
  },
}
