/**
 * Files of tickets: uploaded first, then named by a message. They may come from anybody, so they
 * are never opened, never shown in a page, and served as downloads only.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { fold } from '../../contract/fold.ts'
import { mostFileBytes, mostFiles, type TicketFile } from '../../contract/tickets.ts'
import type { Clock } from '../platform/clock.ts'
import { isUuid, transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { FileAnswer } from '../platform/http.ts'
import { lockKeys } from '../platform/lock-keys.ts'

const sentences = {
  large: {
    en: 'A file may have 10 MB at most.',
    vi: 'Mỗi tệp tối đa 10 MB.',
  },
  empty: { en: 'This file is empty.', vi: 'Tệp này trống.' },
  unused: {
    en: 'You have uploaded 100 MB without sending it. Send your message, or try again tomorrow.',
    vi: 'Bạn đã tải lên 100 MB nhưng chưa gửi. Hãy gửi tin nhắn trước, hoặc thử lại vào ngày mai.',
  },
  kept: {
    en: 'The files of your tickets have 1 GB together, which is the most. Write without this file.',
    vi: 'Các tệp trong yêu cầu của bạn đã đạt mức tối đa 1 GB. Vui lòng viết không kèm tệp này.',
  },
  unknown: {
    en: 'A file was not uploaded, or too long ago. Please choose it again.',
    vi: 'Có tệp chưa được tải lên hoặc đã quá hạn. Vui lòng chọn lại tệp.',
  },
} satisfies Record<string, Sentence>
const no = (sentence: Sentence): Refusal =>
  new Refusal('invalid_input', { fields: { files: sentence } })

/** The customer or the member of staff that uploaded it. */
export type Uploader = { readonly customerId: string } | { readonly staffId: string }
const column = (by: Uploader) =>
  'customerId' in by
    ? ({ name: 'customer_id', id: by.customerId } as const)
    : ({ name: 'staff_id', id: by.staffId } as const)

/** Limit of one uploader's files that no message uses, bytes. */
const mostUnused = 100_000_000
/** Limit of all tickets of a customer, bytes. */
const mostKept = 1_000_000_000

const longestName = 120
/** The file name without its folders, and without characters that do not show as they are. */
export function fileName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? ''
  const shown = last
    .replace(/[\p{Cc}\u{200E}\u{200F}\u{061C}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu, '')
    .toWellFormed()
    .trim()
  return [...shown].slice(0, longestName).join('') || 'file'
}

/** Refuses with invalid_input when the file is empty or too large. */
export async function receive(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of chunks) {
    bytes += piece.length
    // Read to its end, so that the refusal is an answer and not a broken connection.
    if (bytes <= mostFileBytes) pieces.push(piece)
    else pieces.length = 0
  }
  if (bytes > mostFileBytes) throw no(sentences.large)
  if (bytes === 0) throw no(sentences.empty)
  return Buffer.concat(pieces)
}

/** How many bytes files in tickets of a customer may still have. */
export async function roomOf(db: Queryable, customerId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('ticket as t')
    .innerJoin('ticket_message as m', 'm.ticket_id', 't.id')
    .innerJoin('ticket_file as f', 'f.message_id', 'm.id')
    .select(sql<bigint>`coalesce(sum(f.bytes), 0)`.as('bytes'))
    .where('t.customer_id', '=', customerId)
    .where('m.kind', '=', 'customer')
    .where('f.content', 'is not', null)
    .executeTakeFirstOrThrow()
  return mostKept - Number(bytes)
}

async function unusedOf(tx: Tx, by: Uploader): Promise<number> {
  const { name: owner, id: ownerId } = column(by)
  const { bytes } = await tx
    .selectFrom('ticket_file')
    .select(sql<bigint>`coalesce(sum(bytes), 0)`.as('bytes'))
    .where('message_id', 'is', null)
    .where(owner, '=', ownerId)
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

/**
 * Refuses with invalid_input where the uploader has more than 100 MB in no message, or the tickets
 * of a customer more than 1 GB. A file of this id is kept once.
 */
export async function keepUpload(
  db: Database,
  clock: Clock,
  by: Uploader,
  file: { readonly id: string; readonly name: string; readonly content: Buffer },
): Promise<TicketFile> {
  const { name: owner, id: ownerId } = column(by)
  const { id } = file
  const [name, bytes] = [fileName(file.name), file.content.length]
  await transaction(db, async (tx) => {
    // Serialize one uploader's uploads: parallel ones would each see the same free space.
    const lock = sql`select pg_advisory_xact_lock(${lockKeys.ticketUploads}, hashtext(${ownerId}))`
    await lock.execute(tx)
    const unused = await unusedOf(tx, by)
    if (unused + bytes > mostUnused) throw no(sentences.unused)
    if ('customerId' in by && unused + bytes > (await roomOf(tx, by.customerId)))
      throw no(sentences.kept)
    await tx
      .insertInto('ticket_file')
      .values({
        id,
        [owner]: ownerId,
        name,
        bytes,
        content: file.content,
        created_at: clock.now(),
      } as never)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
  })
  return { id, name, bytes, kept: true }
}

/** Gives uploads to a message. Refuses with invalid_input those that are not the uploader's own. */
export async function giveFiles(
  tx: Tx,
  by: Uploader,
  messageId: string,
  ids: readonly string[] | undefined,
): Promise<void> {
  const wanted = [...new Set(ids ?? [])]
  if (wanted.length === 0) return
  const { name: owner, id: ownerId } = column(by)
  if (!wanted.every(isUuid)) throw no(sentences.unknown)
  const { numUpdatedRows } = await tx
    .updateTable('ticket_file')
    .set({ message_id: messageId })
    .where('id', 'in', wanted)
    .where(owner, '=', ownerId)
    .where('message_id', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows !== BigInt(wanted.length)) throw no(sentences.unknown)
}

/**
 * Selects a letter's files. Answers the names of those that are too large, or too much for the
 * space left.
 */
export function judgeFiles<F extends { readonly name: string; readonly content: Buffer }>(
  files: readonly F[],
  room: number,
): { readonly kept: readonly F[]; readonly leftOut: readonly string[] } {
  const kept: F[] = []
  let left = room
  for (const file of files) {
    const { length } = file.content
    if (length === 0 || length > Math.min(mostFileBytes, left) || kept.length === mostFiles)
      continue
    kept.push(file)
    left -= length
  }
  const others = files.filter((file) => file.content.length > 0 && !kept.includes(file))
  return { kept, leftOut: others.slice(0, 20).map(({ name }) => fileName(name)) }
}

/** Adds the files of a letter to its message. */
export async function addFiles(
  tx: Tx,
  clock: Clock,
  messageId: string,
  files: readonly { readonly name: string; readonly content: Buffer }[],
): Promise<void> {
  for (const { name, content } of files)
    await tx
      .insertInto('ticket_file')
      .values({
        id: randomUUID(),
        message_id: messageId,
        name: fileName(name),
        bytes: content.length,
        content,
        created_at: clock.now(),
      })
      .execute()
}

/** An ASCII name for the header; the page gives the file its own. */
const headerName = (name: string): string => fold(name).replace(/[^A-Za-z0-9._-]+/g, '_') || 'file'

/**
 * Reads a file for download, whatever type it claims. Files of notes are for the staff alone.
 * Refuses with not_found, also when the file was deleted.
 */
export async function readTicketFile(
  db: Queryable,
  of: { readonly ticketId: string; readonly fileId: string; readonly withNotes: boolean },
): Promise<FileAnswer> {
  let query = db
    .selectFrom('ticket_file as f')
    .innerJoin('ticket_message as m', 'm.id', 'f.message_id')
    .select(['f.name', 'f.content'])
    .where('f.id', '=', of.fileId)
    .where('m.ticket_id', '=', of.ticketId)
  if (!of.withNotes) query = query.where('m.kind', '!=', 'note')
  const row = isUuid(of.fileId) ? await query.executeTakeFirst() : undefined
  if (!row?.content) throw new Refusal('not_found')
  const { content } = row
  return {
    name: headerName(row.name),
    type: 'application/octet-stream',
    bytes: content.length,
    chunks: (async function* () {
      yield content
    })(),
  }
}
