/** English: what events say, in the bell's list and as notices. */
import { plural } from './plural.ts'

export const enEvents = {
  events: {
    created: (number: string | null) =>
      number === null ? 'An order is awaiting payment.' : `Invoice ${number} was issued.`,
    lapsed: 'An order has lapsed because it was not paid in time.',
    paid: (number: string) => `Invoice ${number} is paid.`,
    paymentFailed: (number: string | null, due: string) =>
      `${number === null ? 'An order' : `Invoice ${number}`} could not be paid: ${due} due.`,
    subscribed: 'A subscription was started.',
    subscriptionChanged: 'A subscription was changed.',
    credited: 'Money added to your wallet.',
    creditedAmount: (amount: string) => `${amount} added to your wallet.`,
    status: (name: string, status: string) => `${name}: ${status}`,
    failed: (name: string) =>
      `${name} could not be set up. What you paid for it is back in your wallet.`,
    deleted: 'Deleted',
    /** A group's outcome comes first; this opens its steps. */
    steps: (count: number) => `All ${plural(count, 'step', 'steps')}`,
    walletLow: (days: number) =>
      days === 0
        ? 'Your balance runs out within a day.'
        : `Your balance runs out in ${plural(days, 'day', 'days')}.`,
  },
}
