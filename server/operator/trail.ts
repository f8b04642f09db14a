/**
 * The trail: every act of the operator, each row chained to the one before by SHA-256. Rows are
 * only added; `verifyTrail` finds a row that was changed, removed or moved by other means. Personal
 * data in the acts on a customer is erased when the account is closed (`eraseActs`). The table
 * `operator_act_head` and a log line name the newest act.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { TrailAct } from '../../contract/operator-desk.ts'
import { accountsThatAre, customerOfRecipient, showCustomers } from '../auth/index.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { lockKeys } from '../platform/lock-keys.ts'
import { dayInVietnam } from '../platform/vietnam-time.ts'
import type { Actor } from './acts.ts'
import { canonical, type Facts } from './canonical.ts'
import {
  digestOf,
  erasure,
  format,
  hashOf,
  personalHashOf,
  remainsOf,
  type ActRow,
} from './trail-hash.ts'

export interface WrittenAct {
  readonly act: string
  readonly reason: string | null
  readonly subject: { readonly kind: string; readonly id: string }
  readonly customerId: string | null
  readonly input: Facts
  readonly before: Facts | null
  readonly after: Facts | null
  readonly key: string | null
}

/** Serializes acts: of two parallel ones, the second sees the first one's result. */
export async function holdTrail(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockKeys.operatorActs})`.execute(tx)
}

/** Adds an act; answers its number and hash. The caller holds the trail. */
export async function writeAct(
  tx: Tx,
  clock: Clock,
  actor: Actor,
  of: WrittenAct,
): Promise<{ seq: bigint; hash: Buffer }> {
  const head = await tx
    .selectFrom('operator_act_head')
    .select(['seq', 'hash'])
    .executeTakeFirstOrThrow()
  const salt = randomBytes(32)
  const content = {
    seq: head.seq + 1n,
    at: clock.now(),
    staff_id: actor.staffId,
    actor: actor.name,
    approved_by_id: actor.approvedBy?.staffId ?? null,
    approved_by: actor.approvedBy?.name ?? null,
    address: actor.address,
    act: of.act,
    reason: of.reason,
    subject_kind: of.subject.kind,
    subject_id: of.subject.id,
    customer_id: of.customerId,
    input: of.input,
    before: of.before,
    after: of.after,
    key: of.key,
    format,
    salt,
    personal_hash: null,
    erased_by: null,
  }
  const row = { ...content, personal_hash: personalHashOf(content, salt) }
  const hash = hashOf(head.hash, row)
  const json = (facts: Facts | null): string | null => facts && canonical(facts)
  await tx
    .insertInto('operator_act')
    .values({
      ...row,
      input: canonical(of.input),
      before: json(of.before),
      after: json(of.after),
      previous: head.hash,
      hash,
    })
    .execute()
  await tx.updateTable('operator_act_head').set({ seq: row.seq, hash }).execute()
  return { seq: row.seq, hash }
}

const shown = (row: ActRow, customerName: string | null): TrailAct => ({
  seq: Number(row.seq),
  at: row.at.toISOString(),
  actor: row.actor,
  approvedBy: row.approved_by,
  address: row.address,
  act: row.act,
  reason: row.reason,
  subject: { kind: row.subject_kind, id: row.subject_id },
  customerId: row.customer_id,
  customerName,
  before: row.before as Facts | null,
  after: row.after as Facts | null,
  hash: row.hash.toString('hex'),
})

/** Which acts are listed; each that is given must match. */
export interface TrailFilter {
  readonly customerId?: string | undefined
  /** A part of the name of who acted or approved. */
  readonly actor?: string | undefined
  readonly act?: string | undefined
  /** The id of a subject or a customer, or a customer's e-mail address. */
  readonly about?: string | undefined
  /** Days in Vietnam, both included. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

const partOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** Newest first. */
export async function listActs(
  db: Queryable,
  page: PageRequest,
  { customerId, actor, act, about, from, to }: TrailFilter = {},
): Promise<KeysetPage<TrailAct>> {
  let query = db.selectFrom('operator_act').selectAll()
  if (customerId !== undefined) query = query.where('customer_id', '=', customerId)
  if (act !== undefined) query = query.where('act', '=', act)
  if (actor !== undefined)
    query = query.where((eb) =>
      eb.or([eb('actor', 'ilike', partOf(actor)), eb('approved_by', 'ilike', partOf(actor))]),
    )
  if (about !== undefined) {
    const customer = about.includes('@')
      ? await customerOfRecipient(db, about.toLowerCase())
      : about
    query = query.where((eb) =>
      eb.or([
        eb('subject_id', '=', about),
        ...(customer !== null && isUuid(customer) ? [eb('customer_id', '=', customer)] : []),
      ]),
    )
  }
  if (from !== undefined) query = query.where('at', '>=', dayInVietnam(from))
  if (to !== undefined) query = query.where('at', '<', later(dayInVietnam(to), days(1)))
  const { rows, next } = await newestFirst(query, 'seq', page)
  const customers = await showCustomers(
    db,
    rows.flatMap(({ customer_id: id }) => id ?? []),
  )
  const nameOf = ({ customer_id: id }: ActRow) => customers.get(id ?? '')?.name ?? null
  return { rows: rows.map((row) => shown(row, nameOf(row))), next }
}

/** The act that was done under a key. */
export const actOfKey = (db: Queryable, key: string) =>
  db.selectFrom('operator_act').selectAll().where('key', '=', key).executeTakeFirst()

/** The acts of this name since then, newest first. */
export const actsSince = (db: Queryable, act: string, since: Date) =>
  db
    .selectFrom('operator_act')
    .select(['seq', 'at', 'input'])
    .where('act', '=', act)
    .where('at', '>', since)
    .orderBy('seq', 'desc')
    .execute()

export const actOfSeq = (db: Queryable, seq: bigint) =>
  db.selectFrom('operator_act').selectAll().where('seq', '=', seq).executeTakeFirst()

export interface TrailFinding {
  readonly seq: number
  readonly fault: string
}
const rowsAtOnce = 1000
const namedFindings = 10

/** Whether a row is unchanged; for an erased one, its erasure's digest covers the personal data. */
function isWhole(row: ActRow): boolean {
  if (row.format === 1) {
    if (row.salt !== null || row.personal_hash !== null) return false
    return row.erased_by !== null || hashOf(row.previous, row).equals(row.hash)
  }
  if (!hashOf(row.previous, row).equals(row.hash)) return false
  if (row.erased_by !== null) return row.salt === null
  return row.salt !== null && personalHashOf(row, row.salt).equals(row.personal_hash ?? row.salt)
}

const erasedBy = (db: Queryable, seq: bigint): Promise<ActRow[]> =>
  db.selectFrom('operator_act').selectAll().where('erased_by', '=', seq).orderBy('seq').execute()

/** Whether the acts that an erasure redacted are still as it left them. */
async function provesErasure(db: Queryable, { seq, after }: ActRow): Promise<boolean> {
  const rows = await erasedBy(db, seq)
  const { acts, sha256 } = (after ?? {}) as Facts
  return acts === rows.length && sha256 === digestOf(rows)
}

/** Rows that name an erasure which is none of theirs. */
const erasedByNothing = (db: Queryable): Promise<{ seq: bigint }[]> =>
  db
    .selectFrom('operator_act as a')
    .leftJoin('operator_act as e', (join) =>
      join
        .onRef('e.seq', '=', 'a.erased_by')
        .onRef('e.customer_id', '=', 'a.customer_id')
        .on('e.act', '=', erasure),
    )
    .select('a.seq')
    .where('a.erased_by', 'is not', null)
    .where('e.seq', 'is', null)
    .orderBy('a.seq')
    .limit(namedFindings)
    .execute()

/** Who erases: the customer by closing the account, or the portal later. */
export const erasers = {
  customer: { name: 'customer', address: 'account page' },
  portal: { name: 'portal', address: 'hourly job' },
} as const

/**
 * Erases data that may name a person, and the hashes' salts, from the acts on a customer who closes
 * the account or has closed it. Numbers stay, for sums. An act records how many rows, and a digest
 * of their remains, so that the trail can still be verified. The caller has locked the trail.
 */
export async function eraseActs(
  tx: Tx,
  clock: Clock,
  customerId: string,
  by: (typeof erasers)[keyof typeof erasers],
): Promise<void> {
  const rows = await tx
    .selectFrom('operator_act')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('act', '<>', erasure)
    .where('erased_by', 'is', null)
    .orderBy('seq')
    .execute()
  if (rows.length === 0) return
  const { seq } = await tx.selectFrom('operator_act_head').select('seq').executeTakeFirstOrThrow()
  const number = seq + 1n
  for (const row of rows)
    await tx
      .updateTable('operator_act')
      .set({ reason: null, salt: null, erased_by: number, ...remainsOf(row) })
      .where('seq', '=', row.seq)
      .execute()
  const left = await erasedBy(tx, number)
  await writeAct(
    tx,
    clock,
    { staffId: null, role: null, ...by },
    {
      act: erasure,
      reason: null,
      subject: { kind: 'customer', id: customerId },
      customerId,
      input: {},
      before: null,
      after: { acts: left.length, sha256: digestOf(left) },
      key: null,
    },
  )
}

/** Erasures of customers who have not closed their accounts. */
const wrongErasures = (db: Queryable, head: bigint): Promise<{ seq: bigint }[]> =>
  db
    .selectFrom('operator_act as e')
    .select('e.seq')
    .where('e.act', '=', erasure)
    .where('e.seq', '<=', head)
    .where('e.customer_id', 'in', accountsThatAre(db, 'open'))
    .orderBy('e.seq')
    .limit(namedFindings)
    .execute()

/** Walks the chain from its first act; the first ten findings are named. */
export async function verifyTrail(
  db: Queryable,
): Promise<{ acts: number; head: string; findings: TrailFinding[] }> {
  const findings: TrailFinding[] = []
  const find = (seq: bigint, fault: string): void => {
    if (findings.length < namedFindings) findings.push({ seq: Number(seq), fault })
  }
  // Read the head first: acts added meanwhile come after it and are left for the next run.
  const head = await db
    .selectFrom('operator_act_head')
    .select(['seq', 'hash'])
    .executeTakeFirstOrThrow()
  let [last, previous, acts]: [bigint, Buffer, number] = [0n, Buffer.alloc(0), 0]
  for (;;) {
    const rows = await db
      .selectFrom('operator_act')
      .selectAll()
      .where('seq', '>', last)
      .where('seq', '<=', head.seq)
      .orderBy('seq')
      .limit(rowsAtOnce)
      .execute()
    for (const row of rows) {
      if (row.seq !== last + 1n) find(last + 1n, 'acts are missing from here on')
      else if (!row.previous.equals(previous)) find(row.seq, 'does not follow the act before it')
      if (!isWhole(row)) find(row.seq, 'was changed')
      if (row.act === erasure && !(await provesErasure(db, row)))
        find(row.seq, 'what it erased was changed since')
      ;[last, previous] = [row.seq, row.hash]
      acts += 1
    }
    if (rows.length < rowsAtOnce) break
  }
  for (const { seq } of await erasedByNothing(db)) find(seq, 'was erased by no act')
  for (const { seq } of await wrongErasures(db, head.seq))
    find(seq, 'erased the acts on a customer who has not closed the account')
  if (last !== head.seq || !previous.equals(head.hash))
    find(last + 1n, 'the newest act is not the one that was written last')
  return { acts, head: head.hash.toString('hex'), findings }
}
