/**
 * The explanation of one entry of a wallet: what a charge was computed from, where a top-up came
 * from, and its place in the chain.
 */
import type { Language } from '../../contract/errors.ts'
import type { ExplainedInvoice, ExplainedTransaction } from '../../contract/wallet-proof.ts'
import type { Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { describe, walletAccount } from './entries.ts'
import type { Details, PostingKind } from './posting.ts'

/** Other modules' explanations of an entry; null: the module does not know the entry. */
export interface Explainers {
  invoice(
    db: Queryable,
    customerId: string,
    number: string,
    language: Language,
  ): Promise<ExplainedInvoice | null>
  topUpBegunAt(db: Queryable, customerId: string, code: string): Promise<string | null>
}

/** Somebody else's entry and one that is not there are both unknown. */
export async function explainEntry(
  db: Queryable,
  explainers: Explainers,
  of: { customerId: string; id: string; language: Language },
): Promise<ExplainedTransaction> {
  const account = await walletAccount(db, of.customerId)
  const row = /^[1-9]\d{0,17}$/.test(of.id)
    ? await db
        .selectFrom('ledger_entry as e')
        .innerJoin('ledger_transfer as t', 't.id', 'e.transfer_id')
        .select([
          'e.id',
          'e.version',
          'e.amount',
          'e.ending_balance',
          'e.hash',
          't.kind',
          't.details',
          't.created_at',
        ])
        .where('e.id', '=', BigInt(of.id))
        .where('e.account_id', '=', account.id)
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  const previous = await db
    .selectFrom('ledger_entry')
    .select('hash')
    .where('account_id', '=', account.id)
    .where('version', '=', row.version - 1n)
    .executeTakeFirst()
  const kind = row.kind as PostingKind
  const details = row.details as Details
  const createdAt = row.created_at.toISOString()
  return {
    id: String(row.id),
    kind,
    description: describe(kind, details, of.language),
    amount: Number(row.amount),
    currency: account.currency,
    created: Math.floor(row.created_at.getTime() / 1000),
    createdAt,
    opening_balance: Number(row.ending_balance - row.amount),
    ending_balance: Number(row.ending_balance),
    chain: {
      account: account.code,
      version: Number(row.version),
      hash: row.hash.toString('hex'),
      previous_hash: previous?.hash.toString('hex') ?? '',
    },
    reason: details.reason ?? null,
    topup:
      kind === 'topup'
        ? {
            provider: details.provider ?? '',
            transactionCode: details.code ?? null,
            begunAt:
              details.code === undefined
                ? null
                : await explainers.topUpBegunAt(db, of.customerId, details.code),
            creditedAt: createdAt,
          }
        : null,
    invoice:
      details.invoice === undefined
        ? null
        : await explainers.invoice(db, of.customerId, details.invoice, of.language),
  }
}
