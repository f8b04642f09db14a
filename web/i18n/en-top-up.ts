/** English: topping up, and its result. */
import { plural } from './plural.ts'

export const enTopUp = {
  topUp: {
    title: 'Top up wallet',
    sub: 'Add money to your prepaid wallet to pay for all services. No fees.',
    voucher: {
      title: 'Have a voucher?',
      label: 'Voucher code',
      use: 'Use it',
      empty: 'Enter the code of the voucher.',
      done: (amount: string) => `${amount} added to your wallet`,
    },
    amountStep: 'Amount',
    amountLabel: (currency: string) => `Amount in ${currency}`,
    amountHint: (min: string, max: string) =>
      `From ${min} to ${max}. Enter any amount or choose one below.`,
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
    owed: 'Pays what you owe',
    next: 'New balance',
    pay: (amount: string) => `Top up ${amount}`,
    payEmpty: 'Enter an amount',
    payMethod: 'Choose a payment method',
    waiting: (amount: string) => `Pending transfer: ${amount}`,
    waitingOpen: 'View details',
    safe: 'Payments are handled by a licensed provider. We never see your card number.',
    leaving: 'Taking you to the payment page…',
    notOffered: 'Top-up is not offered in your region yet.',
    notOfferedText:
      'We are looking for a payment partner in your region. Your servers and invoices work ' +
      'as usual.',
  },
  payment: {
    title: 'Payment',
    succeeded: 'Top-up complete',
    succeededText: 'The money was added to your wallet.',
    pending: 'Waiting for the payment',
    pendingText:
      'Your bank has not confirmed the payment yet. This page updates automatically; you ' +
      'can also leave it.',
    failed: 'Payment not completed',
    failedText: 'No money was added to your wallet. You can try again.',
    reasons: {
      cancelled: 'You cancelled the payment.',
      not_in_time: 'The time to pay ran out.',
      insufficient_funds: 'Your account or card balance is too low. Use another one.',
      limit:
        'This is over the daily limit of your account or card. Try VietQR or a smaller amount.',
      wrong_details: 'Card or account details were wrong. Check them and try again.',
      wrong_code: 'The one-time code or password was wrong. Try again.',
      needs_confirmation: 'Your bank wants you to confirm this payment yourself.',
      blocked: 'Your bank has locked this card or account. Use another one or ask your bank.',
      not_enrolled:
        'This card or account cannot pay online. Try another way to pay, such as VietQR.',
      bank_unavailable:
        'Your bank is not available at the moment. Try again later or use another way.',
      declined: 'Your bank declined the payment. Use another card or ask your bank.',
    },
    expired: 'Payment expired',
    expiredText:
      'The time to pay ran out. If you did pay, do not pay again. We credit your wallet ' +
      'once the bank confirms, or check the payment ourselves.',
    held: "The amount doesn't match",
    heldText: (arrived: string, ordered: string) =>
      `We received ${arrived}, but this payment is for ${ordered}. We hold the money until ` +
      'our staff have checked it. You need not pay again.',
    paidTwice: (amount: string) =>
      `We received another ${amount} for this payment. We hold it until our staff have checked it.`,
    setOff: (amount: string) => `${amount} of it paid what you owed.`,
    unknown: 'Payment not found',
    unknownText:
      'You have no payment with this code. If you paid, we credit your wallet once the ' +
      'gateway confirms.',
    signedOut: 'Sign in to see this payment',
    signedOutText: 'Only the owner can see this payment. Your top-up continues in the meantime.',
    code: 'Transaction code',
    amount: 'Amount',
    content: 'Content',
    time: 'Time',
    checked: (seconds: number) => `Checked ${plural(seconds, 'second', 'seconds')} ago`,
    again: 'Top up again',
    toServer: 'View server setup',
    signIn: 'Sign in',
  },
}
