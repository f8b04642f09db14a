/** One posting: checked, and written by the SQL function ledger_post in one round trip. */
import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import {
  assertBalanced,
  type Movement,
  type Outcome,
  type Posting,
  type PostingKind,
} from './posting.ts'

export interface Poster {
  readonly clock: Clock
  post(tx: Tx, posting: Posting): Promise<Outcome>
  /** Like `post`; null, a posting that moves nothing, counts as posted. */
  postIf(tx: Tx, posting: Posting | null): Promise<Outcome>
  /** `amount` from one account to another. */
  between(
    tx: Tx,
    kind: PostingKind,
    of: Pick<Movement, 'key' | 'details' | 'amount'>,
    from: string,
    to: string,
  ): Promise<Outcome>
  /**
   * Locks accounts in the order of their ids, as every posting does, so that there is no deadlock.
   * Answers their balances by code, minor units.
   */
  lock(tx: Tx, codes: readonly string[]): Promise<ReadonlyMap<string, bigint>>
}

/** Converts ledger_post's answer. Throws if the key was used for another posting. */
export function outcomeOf(
  row: { outcome: string; transfer_id: bigint | null },
  key: string,
): Outcome {
  if (row.outcome === 'short') return { outcome: 'short' }
  if ((row.outcome === 'posted' || row.outcome === 'replayed') && row.transfer_id !== null)
    return { outcome: row.outcome, transferId: row.transfer_id }
  throw new Error(`ledger key ${key} was used for another posting`)
}

export function createPoster(clock: Clock): Poster {
  async function post(tx: Tx, posting: Posting): Promise<Outcome> {
    assertBalanced(posting.lines)
    const codes = posting.lines.map((line) => line.account)
    const amounts = posting.lines.map((line) => String(line.amount))
    const { rows } = await sql<{ outcome: string; transfer_id: bigint | null }>`
      select outcome, transfer_id from ledger_post(
        ${posting.key}, ${posting.kind}, ${JSON.stringify(posting.details)}::jsonb,
        ${clock.now()}, ${codes}::text[], ${amounts}::bigint[], ${posting.reverses ?? null})
    `.execute(tx)
    const row = rows[0]
    if (!row) throw new Error('ledger_post answered nothing')
    return outcomeOf(row, posting.key)
  }

  return {
    clock,
    post,
    postIf: async (tx, posting) =>
      posting ? await post(tx, posting) : { outcome: 'replayed', transferId: 0n },
    between: (tx, kind, { key, details, amount }, from, to) =>
      post(tx, {
        key,
        kind,
        details,
        lines: [
          { account: from, amount: -amount },
          { account: to, amount },
        ],
      }),
    async lock(tx, codes) {
      const rows = await tx
        .selectFrom('ledger_account')
        .select(['code', 'balance'])
        .where('code', 'in', codes)
        .orderBy('id')
        .forUpdate()
        .execute()
      return new Map(rows.map(({ code, balance }) => [code, balance]))
    },
  }
}
