/** English: ways to pay. */
export const enPayments = {
  transfer: {
    title: 'Bank transfer',
    sub:
      'Scan the code with any Vietnamese banking app, or type the details in. This page ' +
      'updates when we receive your transfer.',
    scan: 'Scan to pay',
    scanHere: 'On this phone, take a screenshot and open it in your banking app.',
    qr: 'QR code of the transfer',
    bank: 'Bank',
    account: 'Account number',
    name: 'Account name',
    amount: 'Amount',
    content: 'Transfer text',
    contentHint: 'Copy this text exactly so we can match your transfer.',
    next: 'When your money arrives we add it to your wallet, even if you close this page.',
    left: (time: string) => `Waiting for the transfer · ${time} left`,
    late: 'Time is up, but the code still works. We add a later transfer to your wallet.',
    openApp: 'Open the banking app of the sandbox',
    back: 'Choose another way',
    done: 'Top-up complete',
    doneText: (amount: string) => `${amount} added to your wallet.`,
    other: (asked: string) => `You chose ${asked}. We added the amount you transferred.`,
    setOff: (amount: string) => `${amount} of it paid what you owed.`,
    unknown: 'Transfer not found',
    unknownText: 'It may belong to another account, or it was paid another way.',
  },
}
