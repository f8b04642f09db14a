/** English: automatic top-up. */
import { plural } from './plural.ts'

export const enAutoTopUp = {
  title: 'Automatic top-up',
  on: 'On',
  off: 'Off',
  intro: (days: number) =>
    'Have a linked card charged before your wallet runs out, so that no server is suspended: ' +
    `when the balance falls below an amount you set, or does not cover a renewal of the next ` +
    `${plural(days, 'day', 'days')}.`,
  setUp: 'Set up',
  change: 'Change',
  switchOn: 'Switch on again',
  switchOff: 'Switch off',
  confirmOff: 'Switch off automatic top-up?',
  confirmOffText:
    'No card is charged automatically any more. Renewals are paid only from what your wallet ' +
    'holds.',
  switchedOff: 'Automatic top-up is off.',
  saved: 'Automatic top-up is on.',
  below: 'When the balance is below',
  amount: 'Top up by',
  monthLimit: 'At most in a calendar month',
  card: 'Card',
  ends: (brand: string, last4: string) => `${brand} ending in ${last4}`,
  belowHint: 'With 0 the card is charged only for renewals that your balance does not cover.',
  amountHint: (min: string, max: string) =>
    `From ${min} to ${max}. More is charged where renewals need it, within the limit of a month.`,
  monthHint: 'When it is reached, nothing more is charged until the next month.',
  consent: 'My card may be charged without asking me each time',
  consentHint: 'You can change or switch this off at any time. You get a receipt for each top-up.',
  agreed: (day: string) =>
    `You agreed on ${day} that the card is charged without asking each time.`,
  spent: 'Charged this month',
  ofLimit: (spent: string, limit: string) => `${spent} of ${limit}`,
  last: 'Last automatic top-up',
  never: 'None yet',
  states: {
    under_way: 'Under way',
    succeeded: 'Succeeded',
    declined: 'Declined',
    needs_owner: 'Needs you',
    not_charged: 'Not charged',
  },
  reasons: {
    insufficient_funds: 'There is not enough money on the card.',
    limit: 'The card has reached a limit of your bank.',
    wrong_details: 'The card has expired, or its details are no longer right.',
    needs_confirmation: 'Your bank wants you to confirm the payment: top up once yourself.',
    blocked: 'Your bank has blocked the card.',
    bank_unavailable: 'Your bank could not be reached.',
    other: 'Your bank declined the payment.',
  },
  nextTry: (at: string) => `We try again after ${at}, if your wallet still needs it.`,
  offWhy: {
    declined: 'Switched off: the card was declined three times in a row.',
    card_gone: 'Switched off: the card is not linked any more.',
    disputed: 'Switched off: your bank took back a payment that was made by card.',
    region: 'Switched off: linked cards are not offered for your account any more.',
  },
  noCard: 'Link a card first.',
  linkCard: 'Link a card',
  save: 'Agree and switch on',
  keep: 'Agree and save',
}
export type AutoTopUpTexts = typeof enAutoTopUp
