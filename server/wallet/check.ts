/** The ledger's invariants, run on live data: in tests, as a job, and by `npm run ledger:check`. Each answers the accounts or transfers that break it. */
import { sql } from 'kysely'
import type { Queryable } from '../platform/db.ts'

export interface LedgerFinding {
  readonly invariant: string
  readonly where: string
}

interface Row {
  where: string
}

/** Empty when the ledger is whole. Reads in one statement a check, so each sees one moment. */
export async function checkLedger(db: Queryable): Promise<LedgerFinding[]> {
  const checks: [string, ReturnType<typeof sql<Row>>][] = [
    [
      'all accounts of a currency sum to zero',
      sql<Row>`select currency || ' ' || sum(balance) as "where" from ledger_account group by currency having sum(balance) <> 0`,
    ],
    [
      'every transfer balances',
      sql<Row>`select transfer_id::text as "where" from ledger_entry group by transfer_id having sum(amount) <> 0 or count(*) < 2`,
    ],
    [
      'every transfer has entries',
      sql<Row>`select t.id::text as "where" from ledger_transfer t where not exists (select from ledger_entry e where e.transfer_id = t.id)`,
    ],
    [
      'a balance is the sum of its entries',
      sql<Row>`
      select a.code as "where" from ledger_account a left join ledger_entry e on e.account_id = a.id
      group by a.id having a.balance <> coalesce(sum(e.amount), 0) or a.version <> count(e.id)`,
    ],
    ['no wallet is negative', sql<Row>`select code as "where" from ledger_account where not may_be_negative and balance < 0`],
    [
      'balances and versions follow one another without a gap',
      sql<Row>`
      select account_id || ' v' || version as "where" from (
        select account_id, version, ending_balance, amount,
          lag(ending_balance, 1, 0::bigint) over w as before, row_number() over w as expected
        from ledger_entry window w as (partition by account_id order by version)
      ) chain where ending_balance <> before + amount or version <> expected`,
    ],
    [
      'the hash chain is whole',
      sql<Row>`
      select chain.code || ' v' || chain.version as "where" from (
        select a.code, e.version, e.hash, lag(e.hash, 1, '\\x'::bytea) over (partition by e.account_id order by e.version) as before,
          ledger_entry_text(a.code, e.version, t.key, t.kind, t.details, e.amount, e.ending_balance, t.created_at) as said
        from ledger_entry e join ledger_account a on a.id = e.account_id join ledger_transfer t on t.id = e.transfer_id
      ) chain where chain.hash <> sha256(chain.before || convert_to(chain.said, 'UTF8'))`,
    ],
    [
      "the newest hash is the account's head",
      sql<Row>`
      select a.code as "where" from ledger_account a join ledger_entry e on e.account_id = a.id and e.version = a.version where e.hash <> a.head_hash`,
    ],
  ]
  const findings: LedgerFinding[] = []
  for (const [invariant, query] of checks) {
    const { rows } = await query.execute(db)
    for (const row of rows) findings.push({ invariant, where: row.where })
  }
  return findings
}
