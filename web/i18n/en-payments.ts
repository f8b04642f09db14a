/** English: ways to pay. */
export const enPayments = {
  transfer: {
    title: 'Bank transfer',
    sub:
      'Scan the code with any Vietnamese banking app, or type it in. This page turns to success ' +
      'by itself when the money arrives.',
    scan: 'Scan to pay',
    qr: 'QR code of the transfer',
    bank: 'Bank',
    account: 'Account number',
    name: 'Account name',
    amount: 'Amount',
    content: 'Transfer text',
    contentHint: 'Keep this text exactly. It tells us that the money is yours.',
    left: (time: string) => `Waiting for the transfer · ${time} left`,
    late: 'The time is over, but the code stays valid: a later transfer still reaches your wallet.',
    openApp: 'Open the banking app of the sandbox',
    back: 'Choose another way',
    done: 'The money has arrived',
    doneText: (amount: string) => `${amount} is in your wallet.`,
    other: (asked: string) => `You planned ${asked}. What you transferred was credited.`,
    unknown: 'There is no transfer with this code',
    unknownText: 'It may belong to another account, or it was paid another way.',
  },
}
