type Labels = Readonly<Record<string, string>>

/** The desk's pages about money: disputes, pay-outs, what does not agree. */
export const enOperatorMoney = {
  nav: 'Money',
  tabs: 'Pages about money',
  /** Names of the pages, in the row above each. */
  pages: {
    suspense: 'Unmatched',
    disputes: 'Disputes',
  },
  disputes: {
    title: 'Disputes',
    sub: 'Card payments that a customer disputes at the bank.',
    open: 'Open',
    all: 'All',
    show: 'Which disputes',
    empty: 'No dispute is open.',
    none: 'There is no dispute.',
    states: {
      needs_evidence: 'Needs evidence',
      under_review: 'Under review',
      won: 'Won',
      lost: 'Lost',
      closed: 'Closed',
    },
    inquiry: 'Inquiry',
    due: (time: string) => `Evidence due ${time}`,
    opened: (time: string) => `opened ${time}`,
    answerStates: {
      requested: 'Being sent',
      done: 'Sent',
      refused: 'Refused by the gateway',
      unclear: 'Not known whether it was sent',
    },
    back: 'All disputes',
    facts: 'Dispute',
    amount: 'Amount',
    fee: 'Fee of the gateway',
    feeUnknown: 'The gateway does not say',
    reason: 'Reason that the bank gives',
    reference: 'Number at the gateway',
    payment: 'Transaction code',
    customer: 'Customer',
    dueAt: 'Evidence due',
    closedAt: 'Decided',
    money: 'Money',
    moneyKept: 'The gateway has moved nothing.',
    fromWallet: 'Taken from the wallet',
    owed: 'Owed by the customer',
    setOff: 'Of this set off since',
    returned: 'Given back',
    answers: 'Answers',
    noAnswers: 'Nothing was answered yet.',
    evidence: 'Evidence',
    acceptance: 'Accepted',
    noCalls: 'This gateway takes answers at its own desk only.',
    /** Of the banks' reasons those that are told often; others stand as the gateway writes them. */
    reasons: {
      fraudulent: 'Fraudulent',
      duplicate: 'Charged twice',
      product_not_received: 'Not received',
      product_unacceptable: 'Not as described',
      subscription_canceled: 'Subscription was cancelled',
      unrecognized: 'Not recognised',
      credit_not_processed: 'Refund not processed',
      general: 'General',
      NO_KNOWLEDGE: 'Not recognised',
      DUPLICATE: 'Charged twice',
      NOT_RECEIVED: 'Not received',
      NOT_AS_DESCRIBED: 'Not as described',
      CANCELLED: 'Cancelled',
    } as Labels,
  },
}
export type OperatorMoneyTexts = typeof enOperatorMoney

/** What of the acts on money stands in the dialogs and the trail. */
export const enMoneyActs = {
  names: {
    'dispute.answer': 'Send evidence',
    'dispute.accept': 'Accept dispute',
  },
  explain: {
    'dispute.answer': 'The evidence goes to the bank. It is sent once and cannot be changed.',
    'dispute.accept':
      'The money that the bank took is given up. This cannot be taken back at the gateway.',
  },
  fields: { evidence: 'Evidence for the bank' },
  facts: { state: 'State', answer: 'Answer', currency: 'Currency' },
}
