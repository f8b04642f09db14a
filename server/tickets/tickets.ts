/** A customer's actions on tickets: open, write, close, reopen, rate. */
import { randomUUID } from 'node:crypto'
import type { Ticket, TicketObjectKind, TicketWithMessages } from '../../contract/tickets.ts'
import { ticketObjects } from '../../contract/tickets.ts'
import { holdOpenAccount } from '../auth/index.ts'
import { newestFirst, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { TicketDeps } from './deps.ts'
import { giveFiles } from './files.ts'
import { publish, sendLetter, tellOperator } from './letters.ts'
import { tellStaff, type StaffLetterDeps } from './staff-letters.ts'
import {
  addMessage,
  findTicket,
  lockOwnTicket,
  lockTicket,
  messagesOf,
  plainText,
  setState,
  shownTicket,
  type NewMessage,
  type TicketRow,
} from './store.ts'

const sentences = {
  object: {
    en: 'We could not find what this is about. Please choose it again.',
    vi: 'Không tìm thấy đối tượng của yêu cầu này. Vui lòng chọn lại.',
  },
  unanswered: {
    en: 'There is no answer to rate yet.',
    vi: 'Chưa có câu trả lời để đánh giá.',
  },
} satisfies Record<string, Sentence>

/** A customer's own alone; refuses with not_found. Notes are left out. */
export async function ownTicket(
  db: Queryable,
  customerId: string,
  id: string,
): Promise<TicketWithMessages> {
  const row = await findTicket(db, id)
  if (!row || row.customer_id !== customerId) throw new Refusal('not_found')
  const messages = await messagesOf(db, row.id)
  return {
    ...shownTicket(row),
    rateable: messages.some(({ kind }) => kind === 'staff'),
    messages: messages
      .filter(({ kind }) => kind !== 'note')
      .map((one) => ({
        id: one.id,
        at: one.at.toISOString(),
        from: one.kind === 'staff' ? 'staff' : 'customer',
        author: one.author,
        text: one.text,
        byMail: one.by_mail,
        proven: one.proven,
        files: one.files,
        leftOut: one.left_out,
      })),
  }
}

/** The newest first, those that were merged into another one left out. */
export async function ownTickets(
  db: Queryable,
  customerId: string,
  page: PageRequest,
): Promise<KeysetPage<Ticket>> {
  const query = db
    .selectFrom('ticket')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('merged_into', 'is', null)
  const { rows, next } = await newestFirst(query, 'number', page)
  return { rows: rows.map(shownTicket), next }
}

/** The name of a ticket's object. Refuses with not_found. */
export async function nameObject(
  db: Queryable,
  { objects }: Pick<TicketDeps, 'objects'>,
  customerId: string,
  of: { readonly kind: string; readonly id: string },
): Promise<{ kind: TicketObjectKind; id: string; name: string }> {
  const kind = ticketObjects.find((one) => one === of.kind)
  const name = kind && (await objects[kind](db, customerId, of.id))
  if (kind === undefined || name === undefined) throw new Refusal('not_found')
  return { kind, id: of.id, name }
}

export interface NewTicket {
  /** Null: no customer yet. */
  readonly customerId: string | null
  readonly sender?: { readonly email: string; readonly name: string }
  readonly subject: string
  readonly object?: { readonly kind: TicketObjectKind; readonly id: string; readonly name: string }
  readonly message: Omit<NewMessage, 'kind' | 'at'>
}

/**
 * Opens a ticket; answers it and the id of its first message. Only a customer with a proven account
 * gets a receipt, because otherwise a forged address would get one. Refuses with account_blocked a
 * customer who has closed the account meanwhile: nothing would delete the ticket.
 */
export async function beginTicket(
  tx: Tx,
  deps: TicketDeps,
  { customerId, sender, subject, object, message }: NewTicket,
): Promise<{ row: TicketRow; messageId: string }> {
  if (customerId !== null && !(await holdOpenAccount(tx, customerId)))
    throw new Refusal('account_blocked')
  const at = deps.clock.now()
  const id = randomUUID()
  await tx
    .insertInto('ticket')
    .values({
      id,
      customer_id: customerId,
      sender_email: sender?.email ?? null,
      sender_name: sender?.name ?? null,
      subject: plainText(subject),
      state: 'open',
      object_kind: object?.kind ?? null,
      object_id: object?.id ?? null,
      object_name: object?.name ?? null,
      opened_at: at,
      waiting_since: at,
    })
    .execute()
  const messageId = await addMessage(tx, id, { ...message, kind: 'customer', at })
  const row = await lockTicket(tx, id)
  if (customerId !== null) {
    await publish(tx, deps, 'ticket.opened', id)
    await sendLetter(tx, deps, row, { kind: 'received' })
  } else await tellOperator(tx, deps, 'ticket.opened', row)
  await tellStaff(tx, deps, row)
  return { row, messageId }
}

/** The customer's side has written: it is the staff's turn. The caller has locked the ticket. */
export async function customerWrote(
  tx: Tx,
  deps: StaffLetterDeps & Pick<TicketDeps, 'outbox'>,
  row: TicketRow,
  message: Omit<NewMessage, 'kind' | 'at'>,
): Promise<string> {
  const at = deps.clock.now()
  const messageId = await addMessage(tx, row.id, { ...message, kind: 'customer', at })
  await setState(tx, row, 'open', at)
  await tellOperator(tx, deps, 'ticket.customer_wrote', { ...row, state: 'open' })
  await tellStaff(tx, deps, row)
  return messageId
}

/** The ticket's customer, and the writer if it is a member who works in the account. */
interface Writer {
  readonly customerId: string
  readonly member?: { readonly personId: string; readonly name: string } | undefined
}
const authorOf = async (
  tx: Tx,
  deps: TicketDeps,
  { customerId, member }: Writer,
): Promise<Pick<NewMessage, 'author' | 'personId'>> => ({
  author: member?.name ?? (await deps.customer(tx, customerId)).name,
  personId: member?.personId,
})

interface Written {
  readonly text: string
  readonly files?: readonly string[] | undefined
}

/**
 * Opens a ticket from the portal. Refuses with invalid_input when its object is not the customer's.
 */
export async function openTicket(
  tx: Tx,
  deps: TicketDeps,
  by: Writer,
  wish: Written & {
    readonly subject: string
    readonly object?: { readonly kind: TicketObjectKind; readonly id: string } | undefined
  },
): Promise<TicketWithMessages> {
  const { customerId } = by
  const author = await authorOf(tx, deps, by)
  const object =
    wish.object &&
    (await nameObject(tx, deps, customerId, wish.object).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'not_found')
        throw new Refusal('invalid_input', { fields: { object: sentences.object } })
      throw error
    }))
  const { row, messageId } = await beginTicket(tx, deps, {
    customerId,
    subject: wish.subject,
    ...(object && { object }),
    message: { ...author, text: wish.text },
  })
  await giveFiles(tx, { customerId }, messageId, wish.files)
  return await ownTicket(tx, customerId, row.id)
}

/** Refuses with not_found, and with invalid_input. */
export async function writeInTicket(
  tx: Tx,
  deps: TicketDeps,
  by: Writer,
  { id, text, files }: Written & { readonly id: string },
): Promise<TicketWithMessages> {
  const { customerId } = by
  const row = await lockOwnTicket(tx, customerId, id)
  const author = await authorOf(tx, deps, by)
  const messageId = await customerWrote(tx, deps, row, { ...author, text })
  await giveFiles(tx, { customerId }, messageId, files)
  return await ownTicket(tx, customerId, row.id)
}

/** Refuses with not_found. */
export async function changeState(
  tx: Tx,
  deps: TicketDeps,
  customerId: string,
  { id, state }: { readonly id: string; readonly state: 'open' | 'closed' },
): Promise<TicketWithMessages> {
  const row = await lockOwnTicket(tx, customerId, id)
  // An answered ticket counts as open for its customer.
  const isThere = state === 'closed' ? row.state === 'closed' : row.state !== 'closed'
  if (!isThere) {
    await setState(tx, row, state, deps.clock.now())
    await publish(tx, deps, state === 'closed' ? 'ticket.closed' : 'ticket.reopened', row.id)
    if (state !== 'closed') await tellStaff(tx, deps, row)
  }
  return await ownTicket(tx, customerId, row.id)
}

/** Rates a ticket. Refuses with not_found, and with invalid_input a ticket without an answer. */
export async function rateTicket(
  tx: Tx,
  deps: Pick<TicketDeps, 'clock'>,
  customerId: string,
  { id, rating }: { readonly id: string; readonly rating: 'good' | 'bad' },
): Promise<TicketWithMessages> {
  const row = await lockOwnTicket(tx, customerId, id)
  const shown = await ownTicket(tx, customerId, row.id)
  if (!shown.rateable)
    throw new Refusal('invalid_input', { fields: { rating: sentences.unanswered } })
  await tx
    .updateTable('ticket')
    .set({ rating, rated_at: deps.clock.now() })
    .where('id', '=', row.id)
    .execute()
  return { ...shown, rating }
}
