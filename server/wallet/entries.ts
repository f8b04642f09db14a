/**
 * Reading the wallet: its entries newest first, filtered and searched, and what each one says in
 * the reader's language.
 */
import { sql } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import { currency as currencySchema, type Currency } from '../../contract/money.ts'
import type { Transaction } from '../../contract/wallet.ts'
import { firstOf, newestFirst, type PageRequest } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'
import { fold } from '../../contract/fold.ts'
import type { Details, PostingKind } from './posting.ts'
import type { Period } from './period.ts'

/** The sentence of the transaction log for one posting. */
export function describe(kind: PostingKind, details: Details, language: Language): string {
  const vi = language === 'vi'
  const subject = details.subject === undefined ? '' : ` · ${details.subject}`
  const invoice = details.invoice === undefined ? '' : ` (${details.invoice})`
  switch (kind) {
    case 'topup':
      if (details.automatic)
        return vi
          ? `Tự động nạp ví qua ${details.provider ?? ''}`
          : `Automatic top-up via ${details.provider ?? ''}`
      return vi ? `Nạp ví qua ${details.provider ?? ''}` : `Top-up via ${details.provider ?? ''}`
    case 'charge':
      return (vi ? 'Thanh toán' : 'Payment') + subject + invoice
    case 'refund':
      return (vi ? 'Hoàn tiền' : 'Refund') + subject + invoice
    case 'suspense':
      return vi ? 'Khoản chờ đối soát' : 'Held for reconciliation'
    case 'unpark':
      return vi ? 'Khoản chờ đã đối soát' : 'No longer held for reconciliation'
    case 'withdrawal':
    case 'paid_out':
      return vi
        ? `Hoàn về nguồn qua ${details.provider ?? ''}`
        : `Returned to source via ${details.provider ?? ''}`
    case 'withdrawal_undone':
      return vi
        ? `Không hoàn được qua ${details.provider ?? ''}`
        : `Return refused by ${details.provider ?? ''}`
    case 'chargeback':
      return vi
        ? `${details.provider ?? ''} thu hồi khoản nạp`
        : `Top-up taken back by ${details.provider ?? ''}`
    case 'chargeback_won':
      return vi
        ? `${details.provider ?? ''} hoàn lại khoản nạp đã thu hồi`
        : `Chargeback reversed by ${details.provider ?? ''}`
    case 'set_off':
      if (details.debt === 'refund')
        return (
          (vi ? 'Bù trừ khoản nạp đã được hoàn' : 'Settled against a top-up that was refunded') +
          subject +
          invoice
        )
      return (
        (vi ? 'Bù trừ khoản nạp đã bị thu hồi' : 'Settled against a top-up that was taken back') +
        subject +
        invoice
      )
    case 'lent':
      return (vi ? 'Ghi nợ theo hạn mức công nợ' : 'Lent on your credit line') + subject + invoice
    case 'repaid':
      return vi ? 'Trả nợ hạn mức công nợ' : 'Paid back to your credit line'
    case 'opening':
      return vi ? 'Số dư chuyển sang' : 'Balance brought over'
    case 'adjustment': {
      const reason = details.reason === undefined ? '' : ` · ${details.reason}`
      return (vi ? 'Điều chỉnh số dư' : 'Balance adjustment') + reason
    }
  }
}

/** Whether every word of the search occurs in the entry's texts, in either language. */
export function matches(search: string, kind: PostingKind, details: Details): boolean {
  const known = fold(
    [
      describe(kind, details, 'en'),
      describe(kind, details, 'vi'),
      ...Object.values(details as object),
    ].join('\n'),
  )
  return fold(search)
    .split(/\s+/)
    .every((word) => known.includes(word))
}

export interface Filter {
  readonly customerId: string
  readonly direction: 'in' | 'out' | undefined
  readonly search: string
  readonly period: Period
  readonly language: Language
}
/** One entry as the list shows it, and its version in the chain. */
export interface ListedEntry extends Transaction {
  readonly version: bigint
}
export interface Account {
  readonly id: bigint
  readonly code: string
  readonly currency: Currency
}

export async function walletAccount(db: Queryable, customerId: string): Promise<Account> {
  const row = await db
    .selectFrom('ledger_account')
    .select(['id', 'code', 'currency'])
    .where('customer_id', '=', customerId)
    .executeTakeFirstOrThrow()
  return { id: row.id, code: row.code, currency: currencySchema.parse(row.currency) }
}

/** The newest version before a moment, by halving the chain; 0 when there is none. */
export async function versionBefore(
  db: Queryable,
  account: Account,
  moment: Date,
): Promise<bigint> {
  const { rows } = await sql<{
    version: bigint
  }>`select ledger_version_before(${account.id}, ${moment}) as version`.execute(db)
  return rows[0]?.version ?? 0n
}

/**
 * Entries per read of a search. It reads on until `searchMs` are over, so that its time does not
 * grow with the wallet. Transfers of one wallet are scattered on the disk: one read may take 0.15
 * s.
 */
const searchedAtOnce = 400
const searchMs = 50
/** An invoice's number or a transaction code, whole. */
const referenceForm = /^[0-9a-z][0-9a-z-]{7,63}$/i

/**
 * One page of a wallet's entries, newest first, by keyset on the entry's version: its time does not
 * grow with the wallet. `before`: only entries below this version; `next` continues after this
 * page. A page of a search may be short or empty without being the last.
 */
export async function entryPage(
  db: Queryable,
  of: Filter & PageRequest,
): Promise<{ items: ListedEntry[]; next: bigint | null }> {
  const account = await walletAccount(db, of.customerId)
  let query = db
    .selectFrom('ledger_entry as e')
    .innerJoin('ledger_transfer as t', 't.id', 'e.transfer_id')
    .select([
      'e.id',
      'e.version',
      'e.amount',
      'e.ending_balance',
      't.kind',
      't.details',
      't.created_at',
    ])
    .where('e.account_id', '=', account.id)
  // Literals and not parameters: each direction has its own partial index.
  if (of.direction !== undefined)
    query = query.where(
      of.direction === 'in' ? sql<boolean>`e.amount > 0` : sql<boolean>`e.amount < 0`,
    )
  if (of.period.from)
    query = query.where('e.version', '>', await versionBefore(db, account, of.period.from))
  if (of.period.to)
    query = query.where('e.version', '<=', await versionBefore(db, account, of.period.to))

  const shown = (row: Awaited<ReturnType<typeof query.execute>>[number]): ListedEntry => ({
    id: String(row.id),
    version: row.version,
    description: describe(row.kind as PostingKind, row.details as Details, of.language),
    amount: Number(row.amount),
    currency: account.currency,
    created: Math.floor(row.created_at.getTime() / 1000),
    ending_balance: Number(row.ending_balance),
  })
  const search = of.search.trim()
  if (search !== '') {
    if (referenceForm.test(search)) {
      const exact = query.where(
        sql`upper(coalesce(t.details ->> 'invoice', t.details ->> 'code'))`,
        '=',
        search.toUpperCase(),
      )
      const { rows, next } = await newestFirst(exact, 'e.version', of)
      if (rows.length > 0) return { items: rows.map(shown), next }
    }
    const found: Awaited<ReturnType<typeof query.execute>> = []
    const began = performance.now()
    let unread: bigint | null = of.before
    do {
      const at: PageRequest = { before: unread, limit: searchedAtOnce }
      const read = await newestFirst(query, 'e.version', at)
      unread = read.next
      for (const row of read.rows)
        if (matches(search, row.kind as PostingKind, row.details as Details)) found.push(row)
    } while (unread !== null && found.length < of.limit && performance.now() - began < searchMs)
    const { rows, next } = firstOf(found, of.limit, (row) => row.version)
    return { items: rows.map(shown), next: next ?? unread }
  }
  const { rows, next } = await newestFirst(query, 'e.version', of)
  return { items: rows.map(shown), next }
}
