/** Rows of tickets, as the customer's side and the desk's both read and write them. */
import { randomUUID } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import type { Ticket, TicketFile, TicketObjectKind } from '../../contract/tickets.ts'
import type { DB } from '../platform/db-types.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'

export type TicketRow = Selectable<DB['ticket']>
export type MessageRow = Selectable<DB['ticket_message']>

/** A ticket that is longer than this is no conversation any more. */
export const mostMessages = 300
const full: Sentence = {
  en: 'This ticket has become too long. Please open a new one.',
  vi: 'Yêu cầu này đã quá dài. Vui lòng tạo yêu cầu mới.',
}

export const referenceOf = ({ number }: Pick<TicketRow, 'number'>): string => `#${number}`

/**
 * Locks the ticket until the transaction ends; for a merged one, the ticket that it was merged
 * into. Refuses with not_found.
 */
export async function lockTicket(tx: Tx, id: string): Promise<TicketRow> {
  const row = isUuid(id)
    ? await tx.selectFrom('ticket').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  return row.merged_into === null ? row : await lockTicket(tx, row.merged_into)
}

/** The same for its customer alone. */
export async function lockOwnTicket(tx: Tx, customerId: string, id: string): Promise<TicketRow> {
  const row = await lockTicket(tx, id)
  if (row.customer_id !== customerId) throw new Refusal('not_found')
  return row
}

/** Undefined: no such ticket. For a merged one, the ticket that it was merged into. */
export async function findTicket(db: Queryable, id: string): Promise<TicketRow | undefined> {
  if (!isUuid(id)) return undefined
  const row = await db.selectFrom('ticket').selectAll().where('id', '=', id).executeTakeFirst()
  return row === undefined || row.merged_into === null ? row : findTicket(db, row.merged_into)
}

/** Bidirectional controls make a text read as another one; the rest of them is no text. */
const unfit = /(?![\n\t])\p{Cc}|[\u{200E}\u{200F}\u{061C}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu
/** The text without invisible characters. */
export const plainText = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').replace(unfit, '').toWellFormed()

export interface NewMessage {
  readonly kind: 'customer' | 'staff' | 'note'
  readonly author: string
  /** The person, if it is a member who works in the customer's account. */
  readonly personId?: string | undefined
  readonly staffId?: string | undefined
  readonly text: string
  readonly at: Date
  readonly byMail?: boolean
  readonly proven?: boolean
  readonly letter?: Buffer
  readonly leftOut?: readonly string[]
}

/** The caller holds the ticket. Refuses with invalid_input once it is too long. */
export async function addMessage(tx: Tx, ticketId: string, of: NewMessage): Promise<string> {
  const { numUpdatedRows } = await tx
    .updateTable('ticket')
    .set({ messages: sql`messages + 1` })
    .where('id', '=', ticketId)
    .where('messages', '<', mostMessages)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Refusal('invalid_input', { fields: { text: full } })
  const id = randomUUID()
  await tx
    .insertInto('ticket_message')
    .values({
      id,
      ticket_id: ticketId,
      at: of.at,
      kind: of.kind,
      author: of.author,
      staff_id: of.staffId ?? null,
      person_id: of.personId ?? null,
      text: plainText(of.text),
      by_mail: of.byMail ?? false,
      proven: of.proven ?? true,
      letter: of.letter ?? null,
      left_out: [...(of.leftOut ?? [])],
    })
    .execute()
  return id
}

type State = Ticket['state']
/**
 * Changes whose turn it is and sets `waiting_since`. An open ticket that stays open keeps its time,
 * because the customer has waited since then; another answer begins the times of `tidy.ts` anew.
 */
export async function setState(tx: Tx, row: TicketRow, state: State, at: Date): Promise<void> {
  if (row.state === 'open' && state === 'open') return
  await tx
    .updateTable('ticket')
    .set({ state, waiting_since: at, closed_at: state === 'closed' ? at : null })
    .where('id', '=', row.id)
    .execute()
}

export const shownTicket = (row: TicketRow): Ticket => ({
  id: row.id,
  number: Number(row.number),
  subject: row.subject,
  state: row.state as State,
  object:
    row.object_kind === null
      ? null
      : {
          kind: row.object_kind as TicketObjectKind,
          id: row.object_id ?? '',
          name: row.object_name ?? '',
        },
  openedAt: row.opened_at.toISOString(),
  since: row.waiting_since.toISOString(),
  rating: row.rating as Ticket['rating'],
})

/** The messages, oldest first, with their files. */
export async function messagesOf(
  db: Queryable,
  ticketId: string,
): Promise<(MessageRow & { readonly files: TicketFile[] })[]> {
  const rows = await db
    .selectFrom('ticket_message')
    .selectAll()
    .where('ticket_id', '=', ticketId)
    .orderBy('seq')
    .execute()
  const files = await db
    .selectFrom('ticket_file as f')
    .innerJoin('ticket_message as m', 'm.id', 'f.message_id')
    .select(['f.id', 'f.message_id', 'f.name', 'f.bytes'])
    .select(sql<boolean>`f.content is not null`.as('kept'))
    .where('m.ticket_id', '=', ticketId)
    .orderBy('f.seq')
    .execute()
  const byMessage = Map.groupBy(files, (file) => file.message_id)
  return rows.map((row) => ({
    ...row,
    files: (byMessage.get(row.id) ?? []).map(({ id, name, bytes, kept }) => ({
      id,
      name,
      bytes,
      kept,
    })),
  }))
}
