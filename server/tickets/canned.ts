/** Answers that are ready to be chosen, in both languages. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { CannedAnswer } from '../../contract/tickets-desk.ts'
import type { Clock } from '../platform/clock.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'

const mostAnswers = 200

/** Sorted by name. */
export async function listCanned(db: Queryable): Promise<CannedAnswer[]> {
  const rows = await db
    .selectFrom('canned_answer')
    .selectAll()
    .orderBy(sql`lower(name)`)
    .limit(mostAnswers)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    text: { en: row.text_en, vi: row.text_vi },
    changedAt: row.changed_at.toISOString(),
    changedBy: row.changed_by,
  }))
}

export interface CannedWish {
  /** Undefined: a new one. */
  readonly canned?: string | undefined
  readonly name: string
  readonly textEn: string
  readonly textVi: string
}

const conflictOf = (en: string, vi: string): Refusal =>
  new Refusal('conflict', { fields: { name: { en, vi } } })

/**
 * Answers the id and the previous name. Refuses with not_found, and with conflict a name that is
 * taken.
 */
export async function saveCanned(
  tx: Tx,
  clock: Clock,
  by: string,
  wish: CannedWish,
): Promise<{ id: string; before: string | null }> {
  const known = wish.canned === undefined ? undefined : await nameOf(tx, wish.canned)
  const taken = await tx
    .selectFrom('canned_answer')
    .select('id')
    .where('name', '=', wish.name)
    .executeTakeFirst()
  if (taken && taken.id !== wish.canned)
    throw conflictOf('Another answer has this name.', 'Đã có câu trả lời khác mang tên này.')
  const id = wish.canned ?? randomUUID()
  const values = {
    name: wish.name,
    text_en: wish.textEn,
    text_vi: wish.textVi,
    changed_at: clock.now(),
    changed_by: by,
  }
  if (known === undefined) {
    const { n } = await tx
      .selectFrom('canned_answer')
      .select((of) => of.fn.countAll<bigint>().as('n'))
      .executeTakeFirstOrThrow()
    if (n >= BigInt(mostAnswers))
      throw conflictOf(
        'There are two hundred answers already: delete one first.',
        'Đã có hai trăm câu trả lời: hãy xoá bớt trước.',
      )
    await tx
      .insertInto('canned_answer')
      .values({ id, ...values })
      .execute()
  } else await tx.updateTable('canned_answer').set(values).where('id', '=', id).execute()
  return { id, before: known ?? null }
}

/** Refuses with not_found. */
async function nameOf(tx: Tx, id: string): Promise<string> {
  const row = isUuid(id)
    ? await tx.selectFrom('canned_answer').select('name').where('id', '=', id).executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  return row.name
}

/** Answers its name. Refuses with not_found. */
export async function deleteCanned(tx: Tx, id: string): Promise<string> {
  const name = await nameOf(tx, id)
  await tx.deleteFrom('canned_answer').where('id', '=', id).execute()
  return name
}
