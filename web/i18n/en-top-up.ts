/** English: topping up, and what became of it. */
import { plural } from './plural.ts'

export const enTopUp = {
  topUp: {
    title: 'Top up wallet',
    sub: 'Money goes into your prepaid wallet and pays for every product. No fees.',
    amountStep: 'Amount',
    amountLabel: (currency: string) => `Amount in ${currency}`,
    amountHint: (min: string, max: string) =>
      `From ${min} to ${max}. Type any amount or choose one below.`,
    amountBad: 'Enter an amount as a plain number.',
    amountLow: (min: string) => `The smallest top-up is ${min}.`,
    amountHigh: (max: string) => `The largest top-up is ${max}.`,
    presets: 'Quick amounts',
    custom: 'Other amount',
    typeStep: 'Payment method',
    local: 'Local Payment',
    methods: {
      2: 'Choose bank, card or instalments at Alepay',
      3: 'Scan with any banking app; in your wallet within seconds',
      4: 'Domestic bank card with internet banking',
      5: 'Visa, Mastercard, JCB, Amex',
      6: 'VNPAY-QR or VNPAY wallet',
      bank: 'Transfer from your bank with a code; no account needed',
    },
    fastest: 'Fastest',
    summary: 'Summary',
    current: 'Current balance',
    added: 'Top-up',
    fee: 'Fee',
    next: 'New balance',
    pay: (amount: string) => `Top up ${amount}`,
    payEmpty: 'Enter an amount',
    payMethod: 'Choose a payment method',
    waiting: (amount: string) => `A transfer of ${amount} waits for your money.`,
    waitingOpen: 'Show how to make it',
    safe: 'You pay at a licensed gateway. We never see your card number.',
    leaving: 'Taking you to the payment page…',
    notOffered: 'Top-up is not offered in your region yet.',
    notOfferedText:
      'We are working on a payment partner for your region. Your servers and invoices work as ' +
      'usual.',
  },
  payment: {
    title: 'Payment',
    succeeded: 'Payment received',
    succeededText: 'The money is in your wallet.',
    pending: 'Waiting for the payment',
    pendingText:
      'Your bank or gateway has not confirmed yet. This page updates by itself; you may also ' +
      'leave it.',
    failed: 'Payment not completed',
    failedText: 'No money was added to your wallet. You can try again.',
    reasons: {
      cancelled: 'You cancelled the payment.',
      not_in_time: 'The time to pay ran out.',
      insufficient_funds: 'Your account or card does not hold enough money. Use another one.',
      limit:
        'This is over the daily limit of your account or card. Try VietQR or a smaller amount.',
      wrong_details: 'Card or account details were wrong. Check them and try again.',
      wrong_code: 'The one-time code or password was wrong. Try again.',
      blocked: 'Your bank has locked this card or account. Use another one or ask your bank.',
      not_enrolled:
        'This card or account cannot pay online. Try another way to pay, such as VietQR.',
      bank_unavailable:
        'Your bank is not available at the moment. Try again later or use another way.',
      declined: 'Your bank declined the payment. Use another card or ask your bank.',
    },
    expired: 'Payment expired',
    expiredText:
      'The time for this payment has run out. If you did pay, do not pay again: the money is ' +
      'credited when the bank confirms it, or checked by us.',
    held: 'Money came, but does not match',
    heldText: (arrived: string, ordered: string) =>
      `${arrived} arrived, and this payment is for ${ordered}. The money is held safely until ` +
      'our staff have looked at it; you need not pay again.',
    paidTwice: (amount: string) =>
      `${amount} came on top of it. That money is held safely until our staff have looked at it.`,
    setOff: (amount: string) =>
      `${amount} of it settled what was owed because an earlier payment had been taken back ` +
      'by the bank.',
    unknown: 'Payment not found',
    unknownText:
      'We know no payment of yours with this code. If money left your account, it reaches ' +
      'your wallet once the gateway confirms.',
    signedOut: 'Sign in to see this payment',
    signedOutText: 'Only the owner of a payment can see it. Your top-up goes on in the meantime.',
    code: 'Transaction code',
    amount: 'Amount',
    content: 'Content',
    time: 'Time',
    checked: (seconds: number) => `Checked ${plural(seconds, 'second', 'seconds')} ago`,
    again: 'Top up again',
    toServer: 'See the server being set up',
    signIn: 'Sign in',
  },
}
