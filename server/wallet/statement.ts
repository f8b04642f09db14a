/** Reading the wallet: its entries newest first, and what each one says in the reader's language. */
import type { Language } from '../../contract/errors.ts'
import { currency as currencySchema } from '../../contract/money.ts'
import type { Transaction } from '../../contract/wallet.ts'
import type { Queryable } from '../platform/db.ts'
import type { Details, PostingKind } from './ledger.ts'

/** The sentence of the transaction log for one posting. */
export function describe(kind: PostingKind, details: Details, language: Language): string {
  const vi = language === 'vi'
  const subject = details.subject === undefined ? '' : ` · ${details.subject}`
  const invoice = details.invoice === undefined ? '' : ` (${details.invoice})`
  switch (kind) {
    case 'topup':
      return vi ? `Nạp ví qua ${details.provider ?? ''}` : `Top-up via ${details.provider ?? ''}`
    case 'charge':
      return (vi ? 'Thanh toán' : 'Payment') + subject + invoice
    case 'refund':
      return (vi ? 'Hoàn tiền' : 'Refund') + subject + invoice
    case 'suspense':
      return vi ? 'Khoản chờ đối soát' : 'Held for reconciliation'
    case 'withdrawal':
    case 'paid_out':
      return vi ? `Hoàn về nguồn qua ${details.provider ?? ''}` : `Returned to source via ${details.provider ?? ''}`
    case 'withdrawal_undone':
      return vi ? `Không hoàn được qua ${details.provider ?? ''}` : `Return refused by ${details.provider ?? ''}`
    case 'chargeback':
      return vi ? `${details.provider ?? ''} thu hồi khoản nạp` : `Top-up taken back by ${details.provider ?? ''}`
    case 'chargeback_won':
      return vi ? `${details.provider ?? ''} trả lại khoản thu hồi` : `Top-up given again by ${details.provider ?? ''}`
  }
}

/**
 * One page of a wallet's entries, newest first, by keyset on the entry's version: the time of a page does not grow with the wallet.
 * `before` is the version to continue below; `next` continues after this page.
 */
export async function statementPage(
  db: Queryable,
  of: { customerId: string; limit: number; before: bigint | null; direction: 'in' | 'out' | undefined; language: Language },
): Promise<{ items: Transaction[]; next: bigint | null }> {
  const account = await db
    .selectFrom('ledger_account')
    .select(['id', 'currency'])
    .where('customer_id', '=', of.customerId)
    .executeTakeFirstOrThrow()
  let query = db
    .selectFrom('ledger_entry as e')
    .innerJoin('ledger_transfer as t', 't.id', 'e.transfer_id')
    .select(['e.id', 'e.version', 'e.amount', 'e.ending_balance', 't.kind', 't.details', 't.created_at'])
    .where('e.account_id', '=', account.id)
    .orderBy('e.version', 'desc')
    .limit(of.limit + 1)
  if (of.before !== null) query = query.where('e.version', '<', of.before)
  if (of.direction === 'in') query = query.where('e.amount', '>', 0n)
  if (of.direction === 'out') query = query.where('e.amount', '<', 0n)
  const rows = await query.execute()
  const page = rows.slice(0, of.limit)
  const unit = currencySchema.parse(account.currency)
  return {
    items: page.map((row) => ({
      id: String(row.id),
      description: describe(row.kind as PostingKind, row.details as Details, of.language),
      amount: Number(row.amount),
      currency: unit,
      created: Math.floor(row.created_at.getTime() / 1000),
      ending_balance: Number(row.ending_balance),
    })),
    next: rows.length > of.limit ? (page.at(-1)?.version ?? null) : null,
  }
}
