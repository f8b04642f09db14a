/** The wallet's entries, their explanation, and the signed statement (contract.md section 3). The word stripe in the paths is only a name. */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'
import { Basis, Step } from './pricing.ts'

export const Transaction = z.object({
  id: z.string(),
  description: z.string(),
  /** Minor units; negative when spent. */
  amount: minor,
  currency,
  /** Unix seconds. */
  created: z.int(),
  /** Balance after this entry, minor units. */
  ending_balance: minor,
})
export type Transaction = z.output<typeof Transaction>

const momentForm = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?$/
/** A day that exists, alone or with a time of day; without an offset it is UTC. */
function isMoment(text: string): boolean {
  const day = momentForm.exec(text)?.[1]
  if (day === undefined || Number.isNaN(Date.parse(text))) return false
  const parsed = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(day)
}
const moment = z.string().check(z.refine(isMoment, { error: 'moment' }))

/** `from` belongs to the period. A `to` that is a day belongs to it whole; one with a time of day is the moment it ends before. */
const period = { from: z.optional(moment), to: z.optional(moment) }
const filter = {
  direction: z.optional(z.enum(['in', 'out'])),
  /** Any part of the note, of a code or of an invoice's number; case and accents do not matter. */
  search: z.optional(z.string().check(z.maxLength(100))),
  ...period,
}

export const listTransactions = endpoint({
  method: 'GET',
  path: '/api/payments/stripe',
  access: 'customer',
  summary:
    "The wallet's entries of every provider, newest first. A search looks through 1000 entries a call: where it found few or none and more are left, page.next goes on",
  query: z.object({ ...pageQuery, ...filter }),
  result: z.array(Transaction),
  paged: true,
})

export const exportTransactions = endpoint({
  method: 'GET',
  path: '/api/payments/stripe/export',
  access: 'customer',
  summary: 'The entries that a filter leaves, all of them, as CSV (UTF-8 with BOM; amounts in major units)',
  query: z.object(filter),
  result: z.string(),
  bare: true,
  files: ['text/csv'],
})

/** An invoice's line, what it was computed from when it was issued, and the sum done again. */
const ExplainedLine = z.object({
  description: z.string(),
  quantity: z.int(),
  unit_price: minor,
  amount: minor,
  period_start: z.nullable(z.string()),
  period_end: z.nullable(z.string()),
  /** Null for a line whose quantity and unit price say everything. */
  basis: z.nullable(Basis),
  steps: z.array(Step),
  /** From the basis by the rules of contract/pricing.ts, or quantity x unit price where there is none. */
  recomputed: minor,
})
const ExplainedInvoice = z.object({
  id: z.string(),
  number: z.string(),
  status: z.string(),
  hosted_invoice_url: z.string(),
  total: minor,
  lines: z.array(ExplainedLine),
  /** The sum of the lines recomputed. */
  recomputed: minor,
})
export type ExplainedInvoice = z.output<typeof ExplainedInvoice>

const ExplainedTopUp = z.object({
  provider: z.string(),
  transactionCode: z.nullable(z.string()),
  /** When the customer began to pay; null where no order of ours stands behind the money. */
  begunAt: z.nullable(z.string()),
  creditedAt: z.string(),
})

export const ExplainedTransaction = z.object({
  ...Transaction.shape,
  kind: z.enum(['topup', 'charge', 'refund', 'suspense']),
  createdAt: z.string(),
  /** Minor units, before this entry. */
  opening_balance: minor,
  /** Its place in the account's chain of SHA-256 hashes (hex); see docs/statement.md. */
  chain: z.object({ account: z.string(), version: z.int(), hash: z.string(), previous_hash: z.string() }),
  reason: z.nullable(z.string()),
  topup: z.nullable(ExplainedTopUp),
  invoice: z.nullable(ExplainedInvoice),
})
export type ExplainedTransaction = z.output<typeof ExplainedTransaction>

export const getTransaction = endpoint({
  method: 'GET',
  path: '/api/payments/stripe/transactions/:id',
  access: 'customer',
  summary: 'One entry explained: every input of a charge and the sum recomputed, or the gateway of a top-up; and its place in the chain',
  params: idParam,
  result: ExplainedTransaction,
})

const StatementEntry = z.object({
  /** Counts the account's entries from 1, without a gap. */
  version: z.int(),
  /** ISO 8601 UTC, with microseconds. */
  createdAt: z.string(),
  kind: z.string(),
  key: z.string(),
  /** JSON, exactly as it was hashed. */
  details: z.string(),
  amount: minor,
  ending_balance: minor,
  /** SHA-256 over the hash before and this entry's text, hex. */
  hash: z.string(),
})
export type StatementEntry = z.output<typeof StatementEntry>

export const statementFormat = 'wallet-statement/1'
/** What is signed: these fields in this order, as JSON without white space, UTF-8. The entries hang on it by their hashes. */
export const StatementHead = z.object({
  format: z.literal(statementFormat),
  seller: z.string(),
  seller_tax_code: z.string(),
  customer_id: z.string(),
  customer_name: z.string(),
  account: z.string(),
  currency,
  from: z.string(),
  /** The moment before which the period ends. */
  to: z.string(),
  issuedAt: z.string(),
  opening_version: z.int(),
  opening_balance: minor,
  /** Of the entry before the first one; empty when there is none. */
  opening_hash: z.string(),
  closing_version: z.int(),
  closing_balance: minor,
  closing_hash: z.string(),
  /** Ed25519, SPKI DER in base64. */
  public_key: z.string(),
  /** SHA-256 of that DER, hex. */
  key_fingerprint: z.string(),
})
export type StatementHead = z.output<typeof StatementHead>

export const getStatement = endpoint({
  method: 'GET',
  path: '/api/payments/stripe/statement',
  access: 'customer',
  summary:
    'The signed statement of a period (by default the current month, UTC). `format`, else Accept, chooses: JSON in the usual envelope, or CSV. scripts/verify-statement.mjs checks either file offline',
  query: z.object({ ...period, format: z.optional(z.enum(['json', 'csv'])) }),
  result: z.object({ ...StatementHead.shape, signature: z.string(), entries: z.array(StatementEntry) }),
  files: ['text/csv'],
})

export const statementKey = endpoint({
  method: 'GET',
  path: '/api/statement-key',
  access: 'public',
  summary: 'The key that this portal signs statements with',
  result: z.object({
    algorithm: z.literal('Ed25519'),
    /** PEM. */
    publicKey: z.string(),
    fingerprint: z.string(),
    seller: z.string(),
  }),
})

/** Where the verifier lies, a file of its own for anybody to keep: no call. */
export const verifierAddress = '/api/verify-statement.mjs'
