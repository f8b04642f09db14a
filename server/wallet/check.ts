/**
 * The ledger's invariants, checked on live data: in tests, as a job, and by `npm run ledger:check`.
 * Chains are walked in batches; each batch sees one snapshot and takes well under a second, so a
 * ledger of any size is checked without a long statement. `ledger_checked` stores how far each
 * chain was found intact: the next check begins there, a full one at the first entry.
 */
import { sql } from 'kysely'
import { currencies } from '../../contract/money.ts'
import type { Clock } from '../platform/clock.ts'
import { transaction, type Database, type Queryable } from '../platform/db.ts'
import { lockKeys } from '../platform/lock-keys.ts'
import { lentOf } from './accounts.ts'

export interface LedgerFinding {
  readonly invariant: string
  readonly where: string
}

interface Row {
  where: string
}
type Check = readonly [invariant: string, query: ReturnType<typeof sql<Row>>]

/** Checks of the balances alone: they read one row per account and no entry. */
const balanceChecks: readonly Check[] = [
  [
    'all accounts of a currency sum to zero',
    sql<Row>`select currency || ' ' || sum(balance) as "where" from ledger_account group by currency
      having sum(balance) <> 0`,
  ],
  [
    'no wallet is negative',
    sql<Row>`select code as "where" from ledger_account where not may_be_negative and balance < 0`,
  ],
]

/** Loans are recorded twice: on an account, and as debts with a due day. */
const lentCheck: Check = [
  'what is owed on credit lines is what their account says',
  sql<Row>`select a.code as "where" from ledger_account a
    where a.code = any (${currencies.map(lentOf)}) and -a.balance <> (
      select coalesce(sum(amount - settled), 0) from wallet_debt d
      where d.account = a.code and kind = 'lent' and settled < amount)`,
]

const transfersAtOnce = 50_000n
const accountsAtOnce = 100
/** Per batch, over all its accounts. */
const entriesAtOnce = 50_000

interface Batch {
  account_id: bigint
  code: string
  invariant: string | null
  version: bigint | null
}

/**
 * Walks the next entries of up to a hundred accounts with ids from `from` on, and stores how far
 * they are intact. Answers a row per account, with the broken invariant if there is one; no row
 * when nothing is left to walk.
 */
const walk = (from: bigint, broken: readonly bigint[]) => sql<Batch>`
  with account as materialized (
    select a.id, a.code, a.balance, a.version, a.head_hash,
      coalesce(c.version, 0) as from_version, coalesce(c.balance, 0) as from_balance,
      coalesce(c.hash, '\\x') as from_hash
    from ledger_account a left join ledger_checked c on c.account_id = a.id
    where (a.version, a.balance, a.head_hash) is distinct
    from (coalesce(c.version, 0), coalesce(c.balance, 0), coalesce(c.hash, '\\x'))
      and a.id >= ${from} and not a.id = any (${broken}::bigint[])
    order by a.id limit ${accountsAtOnce}
  ), entry as materialized (
    select a.id as account_id, e.transfer_id, e.version, e.amount, e.ending_balance, e.hash,
      ledger_entry_text(a.code, e.version, t.key, t.kind, t.details, e.amount, e.ending_balance,
      t.created_at) as said,
      lag(e.ending_balance, 1, a.from_balance) over chain as balance_before,
      lag(e.hash, 1, a.from_hash) over chain as hash_before,
      a.from_version + row_number() over chain as expected
    from account a
    cross join lateral (select * from ledger_entry where account_id = a.id
    and version > a.from_version order by version
      limit (select ${entriesAtOnce}::int / greatest(count(*), 1) from account)) e
    join ledger_transfer t on t.id = e.transfer_id
    window chain as (partition by a.id order by e.version)
  ), unbalanced as materialized (
    select transfer_id from ledger_entry where transfer_id in (select transfer_id from entry)
    group by transfer_id having sum(amount) <> 0 or count(*) < 2
  ), judged as (
    select account_id, version, case
      when version <> expected or ending_balance <> balance_before + amount then
      'balances and versions follow one another without a gap'
      when hash <> sha256(hash_before || convert_to(said, 'UTF8')) then 'the hash chain is whole'
      when transfer_id in (select transfer_id from unbalanced) then 'every transfer balances'
    end as invariant
    from entry
  ), reached as (
    select distinct on (account_id) account_id, version, ending_balance, hash from entry
    order by account_id, version desc
  ), found as (
    select account_id, version, invariant from judged where invariant is not null
    union all
    -- Nothing is left of the chain: now its end must be what the account says.
    select a.id, a.version, case
      when a.balance <> coalesce(r.ending_balance, a.from_balance)
      or a.version <> coalesce(r.version, a.from_version) then 'a balance is the sum of its entries'
      else 'the newest hash is the account''s head'
    end
    from account a left join reached r on r.account_id = a.id
    where not exists (select from ledger_entry e where e.account_id = a.id
    and e.version > coalesce(r.version, a.from_version))
      and (a.balance, a.version, a.head_hash)
        is distinct from (coalesce(r.ending_balance, a.from_balance), coalesce(r.version,
        a.from_version), coalesce(r.hash, a.from_hash))
  ), kept as (
    insert into ledger_checked (account_id, version, balance, hash)
    select r.account_id, r.version, r.ending_balance, r.hash from reached r
    where r.account_id not in (select account_id from found)
    on conflict (account_id) do update
    set version = excluded.version, balance = excluded.balance, hash = excluded.hash
  )
  select a.id as account_id, a.code, f.invariant, f.version from account a left
  join found f on f.account_id = a.id order by a.id
`

/**
 * Findings named per account; the others are counted. One broken link may break all links after it.
 */
const namedOfAccount = 100

/**
 * The chains from where they were last found whole. An account in which something is broken is left
 * there, so that the next check finds it again.
 */
async function walkChains(db: Database): Promise<LedgerFinding[]> {
  const findings: LedgerFinding[] = []
  const broken = new Map<bigint, { readonly code: string; found: number }>()
  let from = 0n
  for (;;) {
    const rows = await transaction(db, async (tx) => {
      // One check walks at a time; a second one waits for each batch and continues from there.
      await sql`select pg_advisory_xact_lock(${lockKeys.walkLedger})`.execute(tx)
      return (await walk(from, [...broken.keys()]).execute(tx)).rows
    })
    if (rows[0] === undefined) break
    from = rows[0].account_id
    for (const { account_id, code, invariant, version } of rows) {
      if (invariant === null) continue
      const of = broken.get(account_id) ?? { code, found: 0 }
      broken.set(account_id, of)
      of.found += 1
      if (of.found <= namedOfAccount) findings.push({ invariant, where: `${code} v${version}` })
    }
  }
  for (const { code, found } of broken.values())
    if (found > namedOfAccount)
      findings.push({
        invariant: 'more of one account than is named',
        where: `${code}: ${found - namedOfAccount} more`,
      })
  return findings
}

/** Empty transfers carry no money and break no chain, so only a full check looks for them. */
async function emptyTransfers(db: Queryable): Promise<LedgerFinding[]> {
  const findings: LedgerFinding[] = []
  const { rows: ends } = await sql<{
    last: bigint | null
  }>`select max(id) as last from ledger_transfer`.execute(db)
  for (let from = 0n; from < (ends[0]?.last ?? 0n); from += transfersAtOnce) {
    const { rows } = await sql<Row>`
      select t.id::text as "where" from ledger_transfer t
      where t.id > ${from} and t.id <= ${from + transfersAtOnce} and not exists (select
      from ledger_entry e where e.transfer_id = t.id)
    `.execute(db)
    for (const { where } of rows) findings.push({ invariant: 'every transfer has entries', where })
  }
  return findings
}

/**
 * Runs the checks; an empty answer means an intact ledger. `full` begins every chain at its first
 * entry; `new` reads only the entries since the last check.
 */
export async function checkLedger(
  db: Database,
  how: 'full' | 'new' = 'full',
): Promise<LedgerFinding[]> {
  const findings: LedgerFinding[] = []
  for (const [invariant, query] of [...balanceChecks, lentCheck]) {
    const { rows } = await query.execute(db)
    for (const { where } of rows) findings.push({ invariant, where })
  }
  if (how === 'full') {
    await db.deleteFrom('ledger_checked').execute()
    for (const each of await emptyTransfers(db)) findings.push(each)
  }
  return [...findings, ...(await walkChains(db))]
}

/**
 * Checks the new entries and notes the outcome for the metrics, also when the check itself failed.
 */
export async function checkAndNote(db: Database, clock: Clock): Promise<LedgerFinding[]> {
  try {
    const findings = await checkLedger(db, 'new')
    await db
      .updateTable('ledger_check')
      .set({
        findings: findings.length,
        failed: false,
        ...(findings.length === 0 && { good_at: clock.now() }),
      })
      .execute()
    return findings
  } catch (error) {
    await db.updateTable('ledger_check').set({ failed: true }).execute()
    throw error
  }
}

/**
 * The noted outcome: number of findings, whether the newest check failed, and when one last found
 * nothing (unix seconds; 0 for never).
 */
export async function lastCheck(
  db: Queryable,
): Promise<{ findings: number; failed: boolean; goodAt: number }> {
  const row = await db.selectFrom('ledger_check').selectAll().executeTakeFirstOrThrow()
  return {
    findings: row.findings,
    failed: row.failed,
    goodAt: row.good_at === null ? 0 : row.good_at.getTime() / 1000,
  }
}
