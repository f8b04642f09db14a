/** Begins an import, and the letters of one. The job does the work. */
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { hours, later, type Clock } from '../platform/clock.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { approvedOf, judgeImport, type Judged } from './preview.ts'
import type { CurrencyOf } from './rows.ts'

export const importJob = 'import-customers'
/** Time between two letters of the same import. */
const lettersAgainMs = hours(24)

const conflict = (field: string, text: Sentence) =>
  new Refusal('conflict', { fields: { [field]: text } })

/**
 * The upload, judged again: accounts may have been made since the preview. Refuses with not_found,
 * and with conflict what was begun already, has a bad row or has nobody who is new.
 */
export async function judgeUpload(
  db: Queryable,
  currencyOf: CurrencyOf,
  id: string,
): Promise<Judged & { readonly fileName: string; readonly sha256: string }> {
  const row = isUuid(id)
    ? await db.selectFrom('customer_import').selectAll().where('id', '=', id).executeTakeFirst()
    : undefined
  if (!row)
    throw new Refusal('not_found', {
      fields: {
        upload: {
          en: 'This file is kept no longer: upload it again.',
          vi: 'Tệp này không còn được lưu: hãy tải lên lại.',
        },
      },
    })
  if (row.started_at !== null || row.file === null)
    throw conflict('upload', {
      en: 'This file was imported already.',
      vi: 'Tệp này đã được nhập.',
    })
  const judged = await judgeImport(db, currencyOf, row.file, row.fresh_lines)
  const [fault] = judged.faults
  if (fault)
    throw conflict('upload', {
      en: `Line ${fault.line}: ${fault.text.en}`,
      vi: `Dòng ${fault.line}: ${fault.text.vi}`,
    })
  if (judged.fresh.length === 0)
    throw conflict('upload', {
      en: 'Every customer of this file has an account already: there is nothing to import.',
      vi: 'Mọi khách hàng trong tệp đều đã có tài khoản: không có gì để nhập.',
    })
  return { ...judged, fileName: row.file_name, sha256: row.sha256 }
}

/** Refuses as `judgeUpload` does. */
export async function startImport(
  tx: Tx,
  needs: {
    readonly clock: Clock
    readonly jobs: Pick<Jobs, 'add'>
    readonly currencyOf: CurrencyOf
  },
  of: { readonly id: string; readonly letters: boolean; readonly by: string },
): Promise<Awaited<ReturnType<typeof judgeUpload>>> {
  // Of two members who press at once, the second sees that it was begun.
  if (isUuid(of.id))
    await tx
      .selectFrom('customer_import')
      .select('id')
      .where('id', '=', of.id)
      .forUpdate()
      .execute()
  const judged = await judgeUpload(tx, needs.currencyOf, of.id)
  const now = needs.clock.now()
  await tx
    .updateTable('customer_import')
    .set({
      started_at: now,
      started_by: of.by,
      letters_asked_at: of.letters ? now : null,
      // What was counted now, and the act's trail says: the job creates nothing else.
      ...approvedOf(judged.fresh),
    })
    .where('id', '=', of.id)
    .execute()
  await needs.jobs.add(tx, importJob, { importId: of.id })
  return judged
}

/**
 * How many customers of an import have chosen no password. Refuses with not_found, and with
 * conflict before the import has ended, within a day of the last letters, and when everybody came.
 */
export async function lettersDue(tx: Tx, clock: Clock, id: string): Promise<number> {
  const row = isUuid(id)
    ? await tx
        .selectFrom('customer_import')
        .select(['done_at', 'stopped_at', 'letters_asked_at'])
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  if (row.done_at === null && row.stopped_at === null)
    throw conflict('import', {
      en: 'The import is not done yet.',
      vi: 'Việc nhập chưa hoàn tất.',
    })
  if (row.letters_asked_at !== null && row.letters_asked_at > later(clock.now(), -lettersAgainMs))
    throw conflict('import', {
      en: 'Letters to these customers were sent within the last 24 hours.',
      vi: 'Thư cho các khách hàng này đã được gửi trong 24 giờ qua.',
    })
  const { n } = await tx
    .selectFrom('imported_customer')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('import_id', '=', id)
    .where('came_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (n === 0n)
    throw conflict('import', {
      en: 'Every customer of this import has chosen a password.',
      vi: 'Mọi khách hàng của lần nhập này đã đặt mật khẩu.',
    })
  return Number(n)
}

/** Has letters sent to those of an import who have chosen no password. Refuses as `lettersDue`. */
export async function askLetters(
  tx: Tx,
  needs: { readonly clock: Clock; readonly jobs: Pick<Jobs, 'add'> },
  id: string,
): Promise<number> {
  const due = await lettersDue(tx, needs.clock, id)
  await tx
    .updateTable('customer_import')
    .set({ letters_asked_at: needs.clock.now() })
    .where('id', '=', id)
    .execute()
  await needs.jobs.add(tx, importJob, { importId: id })
  return due
}
