/**
 * The input of the trail's hash chain, in both formats; and the remains of an act whose customer
 * closed the account (decision 125).
 */
import { createHash } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { DB } from '../platform/db-types.ts'
import { canonical, type Facts } from './canonical.ts'

export type ActRow = Selectable<DB['operator_act']>
export type Content = Omit<ActRow, 'hash' | 'previous'>

/** The format of new acts: the chain contains personal data as a salted hash. */
export const format = 2
/** The act by which a customer's acts lost what was personal. */
export const erasure = 'customer.erased'

const kept = (row: Content): Facts => ({
  seq: Number(row.seq),
  at: row.at.toISOString(),
  staffId: row.staff_id,
  actor: row.actor,
  approvedById: row.approved_by_id,
  approvedBy: row.approved_by,
  address: row.address,
  act: row.act,
  subjectKind: row.subject_kind,
  subjectId: row.subject_id,
  customerId: row.customer_id,
  key: row.key,
})
/** The fields that may name a person. */
const personal = ({ reason, input, before, after }: Content): Facts => ({
  reason,
  input,
  before,
  after,
})

export const personalHashOf = (row: Content, salt: Buffer): Buffer =>
  createHash('sha256')
    .update(salt)
    .update(canonical(personal(row)))
    .digest()

/** The hash of a row. For format 1 only before its erasure, because it covers the plain text. */
export function hashOf(previous: Buffer, row: Content): Buffer {
  const text =
    row.format === 1
      ? canonical({ ...kept(row), ...personal(row) })
      : canonical({
          ...kept(row),
          format: row.format,
          personal: row.personal_hash?.toString('hex') ?? null,
        })
  return createHash('sha256').update(previous).update(text).digest()
}

/** Numbers, booleans and currencies: they suffice for sums and contain no text. */
const wordless = (facts: unknown): Facts =>
  Object.fromEntries(
    Object.entries((facts ?? {}) as Facts).filter(
      ([name, value]) =>
        typeof value === 'number' || typeof value === 'boolean' || name === 'currency',
    ),
  )

type Words = Pick<Content, 'input' | 'before' | 'after'>
/** The remains of an act after its erasure. */
export const remainsOf = ({ input, before, after }: Words) => ({
  input: canonical(wordless(input)),
  before: before === null ? null : canonical(wordless(before)),
  after: after === null ? null : canonical(wordless(after)),
})

/** Over all that one erasure left, in the order of the trail; the act of the erasure has it. */
export function digestOf(rows: Iterable<ActRow>): string {
  const digest = createHash('sha256')
  for (const row of rows)
    digest
      .update(canonical({ ...kept(row), ...personal(row), format: row.format }))
      .update(row.previous)
      .update(row.hash)
  return digest.digest('hex')
}
