/**
 * What proves a wallet's entries: one entry explained, and the signed statement of a period
 * (contract.md section 3, docs/statement.md).
 */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'
import { currency, minor } from './money.ts'
import { period, Transaction } from './wallet.ts'

/** The kinds of postings in the ledger. */
const postingKind = z.enum([
  'topup',
  'charge',
  'refund',
  'suspense',
  'unpark',
  'withdrawal',
  'withdrawal_undone',
  'paid_out',
  'chargeback',
  'chargeback_won',
  'set_off',
  'adjustment',
  'opening',
  'lent',
  'repaid',
])

/** The same as `Terms` in contract/pricing.ts. */
export const Terms = z.object({
  plan: z.string(),
  price: minor,
  /** 0: no sale. */
  sale_price: minor,
  /** MB; 1 GB = 1024 MB. */
  disk: z.int(),
  disk_per_gb: minor,
  mariadb_disk_size: z.int(),
  mariadb_per_gb: minor,
  /** Containers. */
  replicate: z.int(),
})
export const Basis = z.object({
  ...Terms.shape,
  /** Seconds that are charged, and the seconds of the month that they belong to. */
  seconds: z.int(),
  of_seconds: z.int().check(z.gt(0)),
})
/** quantity x unit_price / per, rounded up for disks and half to even for a share of the month. */
const Step = z.object({
  part: z.enum(['plan', 'disk', 'mariadb_disk', 'containers', 'share']),
  quantity: z.int(),
  unit_price: minor,
  per: z.int(),
  amount: minor,
  rounded_up: z.boolean(),
  rounded_down: z.boolean(),
})
/** An invoice's line, what it was computed from when it was issued, and the sum recomputed. */
const ExplainedLine = z.object({
  description: z.string(),
  quantity: z.int(),
  unit_price: minor,
  amount: minor,
  period_start: z.nullable(z.string()),
  period_end: z.nullable(z.string()),
  /** Null for a line that is just quantity x unit price. */
  basis: z.nullable(Basis),
  steps: z.array(Step),
  /**
   * Computed from the basis by contract/pricing.ts, or quantity x unit price where there is no
   * basis.
   */
  recomputed: minor,
})
const ExplainedInvoice = z.object({
  id: z.string(),
  number: z.string(),
  status: z.string(),
  hosted_invoice_url: z.string(),
  total: minor,
  lines: z.array(ExplainedLine),
  /** The sum of the recomputed lines. */
  recomputed: minor,
})
export type ExplainedLine = z.output<typeof ExplainedLine>
export type ExplainedInvoice = z.output<typeof ExplainedInvoice>

const ExplainedTopUp = z.object({
  provider: z.string(),
  transactionCode: z.nullable(z.string()),
  /** When the customer began to pay; null: the money belongs to none of our orders. */
  begunAt: z.nullable(z.string()),
  creditedAt: z.string(),
})

export const ExplainedTransaction = z.object({
  ...Transaction.shape,
  kind: postingKind,
  createdAt: z.string(),
  /** Minor units, before this entry. */
  opening_balance: minor,
  /** Its place in the account's chain of SHA-256 hashes (hex); see docs/statement.md. */
  chain: z.object({
    account: z.string(),
    version: z.int(),
    hash: z.string(),
    previous_hash: z.string(),
  }),
  reason: z.nullable(z.string()),
  topup: z.nullable(ExplainedTopUp),
  invoice: z.nullable(ExplainedInvoice),
})
export type ExplainedTransaction = z.output<typeof ExplainedTransaction>

export const getTransaction = endpoint({
  method: 'GET',
  path: '/api/payments/stripe/transactions/:id',
  access: 'customer',
  member: 'money:read',
  seen: true,
  scope: 'wallet:read',
  summary:
    'One entry explained: every input of a charge and the sum recomputed, or the gateway of a ' +
    'top-up; and its place in the chain',
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
  /** SHA-256 over the previous hash and this entry's text, hex. */
  hash: z.string(),
})
export type StatementEntry = z.output<typeof StatementEntry>

export const statementFormat = 'wallet-statement/1'
/**
 * What is signed: these fields in this order, as JSON without white space, UTF-8. The signature
 * covers the entries through their hashes.
 */
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
  /** The hash of the entry before the first one; empty when there is none. */
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
  member: 'money:read',
  scope: 'wallet:read',
  summary:
    'The signed statement of a period (by default the current month, UTC). `format`, else ' +
    'Accept, chooses: JSON in the usual envelope, or CSV. scripts/verify-statement.mjs checks ' +
    'either file offline',
  query: z.object({ ...period, format: z.optional(z.enum(['json', 'csv'])) }),
  result: z.object({
    ...StatementHead.shape,
    signature: z.string(),
    entries: z.array(StatementEntry),
  }),
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

/** The verifier, a file that anybody may download; it is not an API call. */
export const verifierAddress = '/api/verify-statement.mjs'
