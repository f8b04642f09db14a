/**
 * What the operator's desk reads about money that gateways hold, take and dispute (decisions 109,
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
  /** The gateway's id of the dispute. */
  reference: z.string(),
  gateway: z.string(),
  state: z.enum(['needs_evidence', 'under_review', 'won', 'lost', 'closed']),
  /** The bank only inquires: no money has moved. */
  isInquiry: z.boolean(),
  amount: minor,
  currency,
  /** The gateway's own word. */
  reason: z.string(),
  /** The gateway's fee for it; null: unknown. */
  fee: z.nullable(minor),
  /** What the gateway has done with the money. */
  money: z.enum(['kept', 'taken', 'returned']),
  openedAt: time,
  evidenceDueAt: z.nullable(time),
  closedAt: z.nullable(time),
  /** The transaction code of the top-up. */
  payment: z.string(),
  customer: who,
  /** State of the answer to the dispute; null: there is none. */
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
    /**
     * Most characters of evidence that the gateway takes by its API; null: it takes none that way.
     */
    evidenceAtMost: z.nullable(z.int()),
    /** How the dispute was posted in the ledger; null: it was not. */
    posted: z.nullable(
      z.object({
        at: time,
        fromWallet: minor,
        /** The part that the wallet could not cover, and how much of it was set off since. */
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
  /** The gateway's id, or the reference given with the imported file. */
  reference: z.string(),
  currency,
  /** The amount that reaches the bank, and the fees that the gateway kept. */
  amount: minor,
  fees: minor,
  status: z.enum(['on_its_way', 'paid', 'failed']),
  arrivesAt: time,
  /** The file that it was imported from; null: the gateway's API reported it. */
  file: z.nullable(z.string()),
  postedAt: z.nullable(time),
  /** Lines that disagree with our records and are not closed. */
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
  /** `unknown`: we have no record of it; `amount`: our record has `expected`. */
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
    /** The sum of its lines less fees; null: the pay-out is not posted. */
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
        /** The gateway's name in the configuration. */
        name: z.string(),
        currency,
        waiting: minor,
        fees: minor,
        /** Whether its API reports pay-outs; otherwise its files are imported. */
        asked: z.boolean(),
      }),
    ),
    banks: z.array(z.object({ currency, amount: minor })),
  }),
})

export const Voucher = z.object({
  id: z.string(),
  code: z.string(),
  /** The value of each use. */
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
  /** Percent off the price; null: `amount` is the discount. */
  percent: z.nullable(z.int()),
  /** With `percent`: the largest discount on one order. Otherwise the discount itself. */
  amount: minor,
  currency,
  uses: z.int(),
  maxUses: z.int(),
  perCustomer: z.int(),
  /** Ids of plans; null: every plan. */
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
  /** The amount in our records, and at the gateway (or in the ledger); null: none. */
  here: z.nullable(minor),
  there: z.nullable(minor),
  currency,
  at: time,
  /** Up to one day, two to seven days, eight to thirty days, older. */
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
    /** The last comparison of each gateway. */
    comparisons: z.array(
      z.object({
        gateway: z.string(),
        name: z.string(),
        at: time,
        /** Whether the gateway answered every query. */
        reached: z.boolean(),
        payments: z.int(),
        queried: z.int(),
      }),
    ),
  }),
})

/** Not due yet, or days overdue: 1 to 7, 8 to 30, more. */
export const debtAges = ['current', 'week', 'month', 'older'] as const
const creditDebt = z.object({
  /** The id of the invoice that the money was lent for. */
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
  /** Days overdue, a begun day counted as whole; 0: not overdue. */
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

export const accountingExports = ['journal', 'tax', 'documents', 'deferred'] as const
export const accountingExport = endpoint({
  method: 'GET',
  path: '/api/operator/exports/:name',
  access: 'staff',
  may: 'money',
  summary:
    'Exports for accounting as CSV: the journal, tax by document, documents by line, or deferred ' +
    'revenue by month; days on the clocks of the seller, both ends included',
  params: z.object({ name: z.enum(accountingExports) }),
  query: z.object({ from: z.iso.date(), to: z.iso.date() }),
  result: z.string(),
  bare: true,
  files: ['text/csv'],
})
