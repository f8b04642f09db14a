/**
 * The signed statement: an unbroken range of a wallet's chain. Signed is the head alone, which
 * names the hash before the first entry and the hash of the last; everything in between follows
 * from the hashes, so a statement of any length is written as it is read.
 */
import { sql } from 'kysely'
import {
  statementFormat,
  type StatementEntry,
  type StatementHead,
} from '../../contract/wallet-proof.ts'
import type { Queryable } from '../platform/db.ts'
import { byteOrderMark, csvRow } from './csv.ts'
import { versionBefore, walletAccount } from './entries.ts'
import type { StatementKey } from './statement-key.ts'

const entriesAtOnce = 1000

export interface SignedStatement {
  readonly head: StatementHead
  readonly signature: string
  /** Oldest first, a batch at a time. */
  readonly entries: AsyncIterable<readonly StatementEntry[]>
}

export async function signedStatement(
  db: Queryable,
  key: StatementKey,
  of: {
    seller: { name: string; taxCode: string }
    customer: { id: string; name: string }
    from: Date
    to: Date
    now: Date
  },
): Promise<SignedStatement> {
  const account = await walletAccount(db, of.customer.id)
  const opening = await versionBefore(db, account, of.from)
  const closing = await versionBefore(db, account, of.to)
  const at = async (version: bigint) => {
    if (version === 0n) return { balance: 0, hash: '' }
    const row = await db
      .selectFrom('ledger_entry')
      .select(['ending_balance', 'hash'])
      .where('account_id', '=', account.id)
      .where('version', '=', version)
      .executeTakeFirstOrThrow()
    return { balance: Number(row.ending_balance), hash: row.hash.toString('hex') }
  }
  const [first, last] = [await at(opening), await at(closing)]
  const head: StatementHead = {
    format: statementFormat,
    seller: of.seller.name,
    seller_tax_code: of.seller.taxCode,
    customer_id: of.customer.id,
    customer_name: of.customer.name,
    account: account.code,
    currency: account.currency,
    from: of.from.toISOString(),
    to: of.to.toISOString(),
    issuedAt: of.now.toISOString(),
    opening_version: Number(opening),
    opening_balance: first.balance,
    opening_hash: first.hash,
    closing_version: Number(closing),
    closing_balance: last.balance,
    closing_hash: last.hash,
    public_key: key.publicKey,
    key_fingerprint: key.fingerprint,
  }
  return {
    head,
    signature: key.sign(JSON.stringify(head)),
    entries: batches(db, account.id, opening, closing),
  }
}

async function* batches(
  db: Queryable,
  accountId: bigint,
  opening: bigint,
  closing: bigint,
): AsyncIterable<StatementEntry[]> {
  for (let done = opening; done < closing;) {
    const rows = await db
      .selectFrom('ledger_entry as e')
      .innerJoin('ledger_transfer as t', 't.id', 'e.transfer_id')
      .select([
        'e.version',
        sql<string>`to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as(
          'createdAt',
        ),
        't.kind',
        't.key',
        sql<string>`t.details::text`.as('details'),
        'e.amount',
        'e.ending_balance',
        'e.hash',
      ])
      .where('e.account_id', '=', accountId)
      .where('e.version', '>', done)
      .where('e.version', '<=', closing)
      .orderBy('e.version')
      .limit(entriesAtOnce)
      .execute()
    const last = rows.at(-1)
    // A hole at the end of the chain: the statement is short, and its verifier says so.
    if (!last) return
    yield rows.map((row) => ({
      ...row,
      version: Number(row.version),
      amount: Number(row.amount),
      ending_balance: Number(row.ending_balance),
      hash: row.hash.toString('hex'),
    }))
    done = last.version
  }
}

/** `{…head, signature, entries}` without white space. */
export async function* statementJson({
  head,
  signature,
  entries,
}: SignedStatement): AsyncIterable<string> {
  yield `${JSON.stringify({ ...head, signature }).slice(0, -1)},"entries":[`
  let comma = ''
  for await (const batch of entries) {
    yield comma + batch.map((entry) => JSON.stringify(entry)).join(',')
    comma = ','
  }
  yield ']}'
}

const columns = [
  'version',
  'createdAt',
  'kind',
  'key',
  'details',
  'amount',
  'ending_balance',
  'hash',
] as const satisfies readonly (keyof StatementEntry)[]

/**
 * A line for each field of the head and for the signature, then the names of the columns, then a
 * line an entry.
 */
export async function* statementCsv({
  head,
  signature,
  entries,
}: SignedStatement): AsyncIterable<string> {
  const lines = Object.entries({ ...head, signature }).map((field) => csvRow(field))
  yield byteOrderMark + lines.join('') + csvRow(columns)
  for await (const batch of entries)
    yield batch.map((entry) => csvRow(columns.map((column) => entry[column]))).join('')
}
