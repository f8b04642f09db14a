/** What an order takes of the wallet, its review, and the question before it is left. */
import { plural } from './plural.ts'

export const enReview = {
  review: {
    title: 'Confirm information',
    text: 'Check your order. We charge your wallet when you confirm.',
    region: 'Data center',
    plan: 'Configuration',
    mail: 'Email',
    anHour: (count: string) => `up to ${count} an hour`,
    mirror: 'Mirror',
    mirrored: 'copy on a second machine',
    disk: 'SSD disk',
    mariadb: 'MariaDB',
    user: 'User name',
    password: 'Password',
    containers: 'Containers',
    monthly: 'Monthly cost',
    older: 'Older unpaid invoices',
    left: 'Left in your wallet',
    enough: (balance: string, months: number) =>
      `Wallet ${balance} · enough for ${plural(months, 'month', 'months')}`,
    short: (balance: string, short: string) => `Wallet ${balance} · short by ${short}`,
    shortWithOlder: (balance: string, short: string, alone: string) =>
      `Wallet ${balance} · short by ${alone}, or ${short} with older invoices`,
    confirmShort: (amount: string) => `Confirm, then top up ${amount}`,
    confirm: (price: string) => `Confirm · ${price}`,
    shortNote: "Your balance is too low. We'll start your server as soon as you top up.",
    olderNote: (alone: string) =>
      'The amount pays your older invoices as well. This order alone is short by ' +
      `${alone}, but money pays an older invoice first wherever it covers that one.`,
    coupon: {
      have: 'I have a coupon',
      label: 'Coupon code',
      apply: 'Apply',
      empty: 'Enter a code.',
      remove: 'Remove',
      applied: (code: string, off: string) => `Coupon ${code}: ${off} off the first month.`,
      first: 'First month',
    },
    leaveTitle: 'Leave this page?',
    leaveText: 'The order is not placed yet. What you have filled in will be lost.',
    leaveStay: 'Stay',
    leaveGo: 'Leave page',
    sqliteNote:
      'WordPress runs on SQLite here, in the place of MariaDB: plugins that need MySQL itself ' +
      'do not work.',
  },
}
