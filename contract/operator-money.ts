/**
 * What the operator's desk reads of money that gateways hold, take and dispute (decisions 109,
 * 110).
 */
import * as z from 'zod/mini'
import { NamedCustomer } from './operator-customer.ts'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

const time = z.string()
const who = z.nullable(NamedCustomer)

const disputeFields = {
  id: z.string(),
  /** The gateway's id of it. */
  reference: z.string(),
  gateway: z.string(),
  state: z.enum(['needs_evidence', 'under_review', 'won', 'lost', 'closed']),
  /** The bank only asks: no money has moved. */
  isInquiry: z.boolean(),
  amount: minor,
  currency,
  /** In the gateway's own word. */
  reason: z.string(),
  /** What the gateway charges for it; null: it does not say. */
  fee: z.nullable(minor),
  /** What the gateway has done with the money. */
  money: z.enum(['kept', 'taken', 'returned']),
  openedAt: time,
  evidenceDueAt: z.nullable(time),
  closedAt: z.nullable(time),
  /** The transaction code of the top-up. */
  payment: z.string(),
  customer: who,
  /** How an answer stands; null: there is none. */
  answer: z.nullable(z.enum(['requested', 'done', 'refused', 'unclear'])),
}
export const Dispute = z.object(disputeFields)
export type Dispute = z.output<typeof Dispute>

export const disputes = endpoint({
  method: 'GET',
  path: '/api/operator/disputes',
  access: 'staff',
  may: 'look',
  summary: 'Disputes of card payments, newest first; with `open`, those that are not decided yet',
  query: z.object({ ...pageQuery, show: z.optional(z.enum(['open', 'all'])) }),
  result: z.array(Dispute),
  paged: true,
})
export const dispute = endpoint({
  method: 'GET',
  path: '/api/operator/disputes/:id',
  access: 'staff',
  may: 'look',
  summary: 'A dispute: what was taken from the wallet, what is owed, and what was answered',
  params: idParam,
  result: z.object({
    ...disputeFields,
    /** Characters of evidence that the gateway takes; null: it takes none by a call. */
    evidenceAtMost: z.nullable(z.int()),
    /** What the dispute was posted as; null: nothing was. */
    posted: z.nullable(
      z.object({
        at: time,
        fromWallet: minor,
        /** What the wallet did not hold, and what of it was set off since. */
        owed: minor,
        setOff: minor,
      }),
    ),
    returnedAt: z.nullable(time),
    answers: z.array(
      z.object({
        id: z.string(),
        at: time,
        kind: z.enum(['evidence', 'acceptance']),
        text: z.string(),
        status: z.enum(['requested', 'done', 'refused', 'unclear']),
        detail: z.nullable(z.string()),
      }),
    ),
  }),
})

const payoutFields = {
  id: z.string(),
  gateway: z.string(),
  /** The gateway's id, or what its file was called by. */
  reference: z.string(),
  currency,
  /** What reaches the bank, and what the gateway kept of it. */
  amount: minor,
  fees: minor,
  status: z.enum(['on_its_way', 'paid', 'failed']),
  arrivesAt: time,
  /** The file that it came from; null: the gateway was asked. */
  file: z.nullable(z.string()),
  postedAt: z.nullable(time),
  /** Lines of it that do not agree with what we know, and are not closed. */
  differences: z.int(),
}
export const Payout = z.object(payoutFields)
export type Payout = z.output<typeof Payout>

export const payouts = endpoint({
  method: 'GET',
  path: '/api/operator/payouts',
  access: 'staff',
  may: 'look',
  summary: 'Pay-outs of gateways to the bank, newest first',
  query: z.object(pageQuery),
  result: z.array(Payout),
  paged: true,
})
export const PayoutLine = z.object({
  id: z.int(),
  /** The gateway's id of the line. */
  reference: z.string(),
  kind: z.enum(['payment', 'refund', 'dispute', 'dispute_won', 'fee', 'other']),
  amount: minor,
  fee: minor,
  /** The transaction code of the payment that it is about. */
  code: z.nullable(z.string()),
  movement: z.nullable(z.string()),
  /** `unknown`: nothing of it is known here; `amount`: it was booked with `expected`. */
  fault: z.nullable(z.enum(['unknown', 'amount'])),
  expected: z.nullable(minor),
  closed: z.boolean(),
})
export const payout = endpoint({
  method: 'GET',
  path: '/api/operator/payouts/:id',
  access: 'staff',
  may: 'look',
  summary: 'A pay-out with its lines, those that do not agree first; at most five hundred',
  params: idParam,
  result: z.object({
    ...payoutFields,
    /** What its lines sum to, fees taken off; null: it is not posted. */
    lineSum: z.nullable(minor),
    lines: z.array(PayoutLine),
  }),
})
export const holdings = endpoint({
  method: 'GET',
  path: '/api/operator/holdings',
  access: 'staff',
  may: 'look',
  summary: 'What gateways hold for us and kept as fees, and what reached the bank, by the ledger',
  result: z.object({
    gateways: z.array(
      z.object({
        gateway: z.string(),
        /** Its name in the configuration. */
        name: z.string(),
        currency,
        waiting: minor,
        fees: minor,
        /** Whether it can be asked for its pay-outs; otherwise its files are imported. */
        asked: z.boolean(),
      }),
    ),
    banks: z.array(z.object({ currency, amount: minor })),
  }),
})

export const Voucher = z.object({
  id: z.string(),
  code: z.string(),
  /** For each use. */
  amount: minor,
  currency,
  uses: z.int(),
  maxUses: z.int(),
  expiresAt: z.nullable(time),
  stoppedAt: z.nullable(time),
  /** Whether it may be used now. */
  good: z.boolean(),
})
export type Voucher = z.output<typeof Voucher>
export const vouchers = endpoint({
  method: 'GET',
  path: '/api/operator/vouchers',
  access: 'staff',
  may: 'money',
  summary: 'Vouchers, newest first, with how often each was used',
  query: z.object(pageQuery),
  result: z.array(Voucher),
  paged: true,
})

export const Coupon = z.object({
  id: z.string(),
  code: z.string(),
  /** Of the price; null: `amount` is taken off. */
  percent: z.nullable(z.int()),
  /** What is taken off an order, at most. */
  amount: minor,
  currency,
  uses: z.int(),
  maxUses: z.int(),
  perCustomer: z.int(),
  /** Ids of plans; null: every one. */
  plans: z.nullable(z.array(z.int())),
  startsAt: time,
  expiresAt: z.nullable(time),
  stoppedAt: z.nullable(time),
  /** Whether it may be used now. */
  good: z.boolean(),
})
export type Coupon = z.output<typeof Coupon>
export const coupons = endpoint({
  method: 'GET',
  path: '/api/operator/coupons',
  access: 'staff',
  may: 'money',
  summary: 'Coupons, newest first, with how often each was used',
  query: z.object(pageQuery),
  result: z.array(Coupon),
  paged: true,
})

export const questionKinds = [
  'ledger_differs',
  'no_payment',
  'unknown_at_gateway',
  'paid_there',
  'not_paid_there',
  'amount_differs',
  'given_back_there',
  'refund_refused_there',
  'nothing_posted',
  'suspense',
  'refund',
  'reversal',
  'line',
  'payout',
  'payout_not_posted',
] as const
const question = z.object({
  id: z.string(),
  kind: z.enum(questionKinds),
  gateway: z.string(),
  /** A transaction code, or the gateway's own number. */
  about: z.string(),
  /** As we have it, and as the gateway (or the ledger) has it; null: nothing. */
  here: z.nullable(minor),
  there: z.nullable(minor),
  currency,
  at: time,
  /** Up to one day, two to seven, eight to thirty, older. */
  age: z.enum(['fresh', 'week', 'month', 'older']),
  file: z.nullable(z.string()),
  detail: z.nullable(z.string()),
})
export type Question = z.output<typeof question>
export const reconciliation = endpoint({
  method: 'GET',
  path: '/api/operator/reconciliation',
  access: 'staff',
  may: 'look',
  summary:
    'What gateways, payments, pay-outs and ledger do not agree on, oldest first; at most a ' +
    'hundred of each kind',
  result: z.object({
    items: z.array(question),
    /** Gateways that can be compared, by their names in the configuration. */
    gateways: z.array(z.string()),
    /** When each was last compared. */
    comparisons: z.array(
      z.object({
        gateway: z.string(),
        name: z.string(),
        at: time,
        /** Whether it answered all that it was asked. */
        reached: z.boolean(),
        payments: z.int(),
        queried: z.int(),
      }),
    ),
  }),
})

/** Not due yet, and days since it was: 1 to 7, 8 to 30, more. */
export const debtAges = ['current', 'week', 'month', 'older'] as const
const creditDebt = z.object({
  /** Of the invoice that it was lent for. */
  id: z.string(),
  customer: z.nullable(NamedCustomer),
  invoice: z.nullable(z.string()),
  /** What the invoice was for. */
  subject: z.nullable(z.string()),
  lent: minor,
  owed: minor,
  currency,
  lentAt: time,
  dueAt: time,
  /** Whole days since it was due, the begun one counted; 0: it is not. */
  daysOver: z.int(),
  age: z.enum(debtAges),
})
export type CreditDebt = z.output<typeof creditDebt>
export const creditDebts = endpoint({
  method: 'GET',
  path: '/api/operator/credit-debts',
  access: 'staff',
  may: 'look',
  summary: 'What customers owe on their credit lines, the longest due first',
  query: z.object({ ...pageQuery, age: z.optional(z.enum(debtAges)) }),
  result: z.array(creditDebt),
  paged: true,
})

export const accountingExports = ['journal', 'tax', 'deferred'] as const
export const accountingExport = endpoint({
  method: 'GET',
  path: '/api/operator/exports/:name',
  access: 'staff',
  may: 'money',
  summary:
    'Exports for accounting as CSV: the journal, tax by document, or deferred revenue by month; ' +
    'days on the clocks of the seller, both ends included',
  params: z.object({ name: z.enum(accountingExports) }),
  query: z.object({ from: z.iso.date(), to: z.iso.date() }),
  result: z.string(),
  bare: true,
  files: ['text/csv'],
})
