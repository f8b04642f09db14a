/** The staff's work on tickets; each function runs in the transaction of its act. */
import { sql } from 'kysely'
import type { Priority } from '../../contract/tickets-desk.ts'
import { priorities } from '../../contract/tickets-desk.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import { holdOpenAccount } from '../auth/index.ts'
import type { Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import { memberOf } from '../staff/index.ts'
import type { TicketDeps } from './deps.ts'
import { priorityOf } from './desk.ts'
import { giveFiles } from './files.ts'
import { publish, sendLetter } from './letters.ts'
import { tellStaff, type StaffLetterDeps } from './staff-letters.ts'
import { addMessage, lockTicket, mostMessages, setState, type TicketRow } from './store.ts'

const sentences = {
  noAccount: {
    en: 'Who wrote this has no account, and gets no files. Write without them.',
    vi: 'Người gửi không có tài khoản nên không nhận được tệp. Hãy trả lời không kèm tệp.',
  },
  noUploads: {
    en: 'Only a member who is signed in to the desk sends files.',
    vi: 'Chỉ nhân viên đã đăng nhập trang vận hành mới gửi được tệp.',
  },
  notAnswering: {
    en: 'This member cannot answer tickets.',
    vi: 'Nhân viên này không được trả lời yêu cầu hỗ trợ.',
  },
  closed: { en: 'This ticket is closed already.', vi: 'Yêu cầu này đã đóng.' },
  open: { en: 'This ticket is open already.', vi: 'Yêu cầu này đang mở.' },
  itself: {
    en: 'Choose another ticket to merge it with.',
    vi: 'Hãy chọn một yêu cầu khác để gộp.',
  },
  strangers: {
    en: 'These are tickets of two people: one would read what the other wrote.',
    vi: 'Hai yêu cầu này của hai người khác nhau: người này sẽ đọc được nội dung của người kia.',
  },
  long: {
    en: 'Together these tickets have more than 300 messages.',
    vi: 'Hai yêu cầu này có tổng cộng hơn 300 tin nhắn.',
  },
  gone: {
    en: 'This customer has closed the account.',
    vi: 'Khách hàng này đã đóng tài khoản.',
  },
  owned: { en: 'This ticket has a customer already.', vi: 'Yêu cầu này đã có khách hàng.' },
  label: { en: 'This ticket has this label.', vi: 'Yêu cầu này đã có nhãn này.' },
  labels: { en: 'A ticket has ten labels at most.', vi: 'Mỗi yêu cầu có tối đa mười nhãn.' },
} satisfies Record<string, Sentence>
const no = (code: 'invalid_input' | 'conflict', field: string, sentence: Sentence): Refusal =>
  new Refusal(code, { fields: { [field]: sentence } })

const mostLabels = 10

/** A member, or a command of the shell, which has no id. */
export interface Author {
  readonly staffId: string | null
  readonly name: string
}

interface Written {
  readonly ticket: string
  readonly text: string
  readonly files?: readonly string[] | undefined
}

async function add(
  tx: Tx,
  deps: TicketDeps,
  row: TicketRow,
  kind: 'staff' | 'note',
  by: Author,
  { text, files = [] }: Written,
): Promise<string> {
  if (by.staffId === null && files.length > 0)
    throw no('invalid_input', 'files', sentences.noUploads)
  const messageId = await addMessage(tx, row.id, {
    kind,
    author: by.staffId === null ? deps.brandName : by.name,
    staffId: by.staffId ?? undefined,
    text,
    at: deps.clock.now(),
  })
  if (by.staffId !== null) await giveFiles(tx, { staffId: by.staffId }, messageId, files)
  return messageId
}

/**
 * Sends the answer as a letter, and assigns an unassigned ticket to its author. Answers the
 * ticket's row before, and the message's id.
 */
export async function answerTicket(
  tx: Tx,
  deps: TicketDeps,
  by: Author,
  wish: Written & { readonly closes: boolean },
): Promise<{ row: TicketRow; message: string }> {
  const row = await lockTicket(tx, wish.ticket)
  const { files = [], closes } = wish
  if (row.customer_id === null && files.length > 0)
    throw no('invalid_input', 'files', sentences.noAccount)
  const message = await add(tx, deps, row, 'staff', by, wish)
  await setState(tx, row, closes ? 'closed' : 'answered', deps.clock.now())
  await tx
    .updateTable('ticket')
    .set({ assignee_id: row.assignee_id ?? by.staffId, staff_told_at: null })
    .where('id', '=', row.id)
    .execute()
  await publish(tx, deps, 'ticket.answered', row.id)
  if (closes) await publish(tx, deps, 'ticket.closed', row.id)
  const author = by.staffId === null ? deps.brandName : by.name
  const letter = { kind: 'answer', text: wish.text, author, files: files.length, closes } as const
  await sendLetter(tx, deps, row, letter)
  return { row, message }
}

/** Refuses with not_found. */
export async function noteTicket(
  tx: Tx,
  deps: TicketDeps,
  by: Author,
  wish: Written,
): Promise<{ row: TicketRow; message: string }> {
  const row = await lockTicket(tx, wish.ticket)
  return { row, message: await add(tx, deps, row, 'note', by, wish) }
}

/**
 * Assigns a ticket. Answers the row before. Refuses with invalid_input a member who may not answer.
 */
export async function assignTicket(
  tx: Tx,
  { ticket, member }: { readonly ticket: string; readonly member: string | undefined },
): Promise<{ row: TicketRow; name: string | null }> {
  const row = await lockTicket(tx, ticket)
  const found = member === undefined ? undefined : await memberOf(tx, member)
  if (found && (found.disabledAt !== null || !mayDo(found.role, 'tickets')))
    throw no('invalid_input', 'member', sentences.notAnswering)
  await tx
    .updateTable('ticket')
    .set({ assignee_id: found?.id ?? null })
    .where('id', '=', row.id)
    .execute()
  return { row, name: found?.name ?? null }
}

/**
 * Hands all tickets of a member who answers no more back to the queue; a note in each that is not
 * closed says so. Answers how many of those there are.
 */
export async function releaseTickets(
  tx: Tx,
  deps: StaffLetterDeps,
  by: Author,
  member: { readonly id: string; readonly name: string },
): Promise<number> {
  const rows = await tx
    .selectFrom('ticket')
    .selectAll()
    .where('assignee_id', '=', member.id)
    .where('state', '!=', 'closed')
    .where('merged_into', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()
  await tx
    .updateTable('ticket')
    .set({ assignee_id: null, staff_told_at: null })
    .where('assignee_id', '=', member.id)
    .execute()
  for (const row of rows) {
    // What waits is nobody's now: the others are told.
    if (row.state === 'open')
      await tellStaff(tx, deps, { ...row, assignee_id: null, staff_told_at: null })
    // A ticket that is full is handed back too, without a note.
    if (row.messages < mostMessages)
      await addMessage(tx, row.id, {
        kind: 'note',
        author: by.name,
        staffId: by.staffId ?? undefined,
        text:
          `${member.name} answers no tickets any more: this one is nobody’s.\n` +
          `${member.name} không còn trả lời yêu cầu: yêu cầu này chưa có người phụ trách.`,
        at: deps.clock.now(),
      })
  }
  return rows.length
}

/** `before` in the result is the former priority. */
export async function setPriority(
  tx: Tx,
  { ticket, priority }: { readonly ticket: string; readonly priority: Priority },
): Promise<{ row: TicketRow; before: Priority }> {
  const row = await lockTicket(tx, ticket)
  await tx
    .updateTable('ticket')
    .set({ priority: priorities.indexOf(priority) })
    .where('id', '=', row.id)
    .execute()
  return { row, before: priorityOf(row) }
}

/**
 * Refuses with conflict when the ticket has the label, and with invalid_input an eleventh label.
 */
export async function labelTicket(
  tx: Tx,
  { ticket, label }: { readonly ticket: string; readonly label: string },
): Promise<TicketRow> {
  const row = await lockTicket(tx, ticket)
  if (row.labels.includes(label)) throw no('conflict', 'label', sentences.label)
  if (row.labels.length >= mostLabels) throw no('invalid_input', 'label', sentences.labels)
  await tx
    .updateTable('ticket')
    .set({ labels: [...row.labels, label] })
    .where('id', '=', row.id)
    .execute()
  return row
}

/** Refuses with not_found when the ticket does not have the label. */
export async function unlabelTicket(
  tx: Tx,
  { ticket, label }: { readonly ticket: string; readonly label: string },
): Promise<TicketRow> {
  const row = await lockTicket(tx, ticket)
  if (!row.labels.includes(label)) throw new Refusal('not_found')
  await tx
    .updateTable('ticket')
    .set({ labels: row.labels.filter((one) => one !== label) })
    .where('id', '=', row.id)
    .execute()
  return row
}

/** Whether the sender's address is proven; other addresses get no notices. */
async function isSenderProven(tx: Tx, { id }: TicketRow): Promise<boolean> {
  const proven = await tx
    .selectFrom('ticket_message')
    .select('id')
    .where('ticket_id', '=', id)
    .where('kind', '=', 'customer')
    .where('proven', '=', true)
    .limit(1)
    .executeTakeFirst()
  return proven !== undefined
}

/**
 * Tells the customer by letter, or whoever has proven the address that it came from. Refuses with
 * conflict what is closed.
 */
export async function closeTicket(tx: Tx, deps: TicketDeps, id: string): Promise<TicketRow> {
  const row = await lockTicket(tx, id)
  if (row.state === 'closed') throw no('conflict', 'ticket', sentences.closed)
  await setState(tx, row, 'closed', deps.clock.now())
  await tx.updateTable('ticket').set({ staff_told_at: null }).where('id', '=', row.id).execute()
  await publish(tx, deps, 'ticket.closed', row.id)
  if (row.customer_id !== null || (await isSenderProven(tx, row)))
    await sendLetter(tx, deps, row, { kind: 'closed' })
  return row
}

/** Refuses with conflict when the ticket is open. */
export async function reopenTicket(
  tx: Tx,
  deps: Pick<TicketDeps, 'clock' | 'outbox'>,
  id: string,
): Promise<TicketRow> {
  const row = await lockTicket(tx, id)
  if (row.state !== 'closed') throw no('conflict', 'ticket', sentences.open)
  await setState(tx, row, 'open', deps.clock.now())
  await publish(tx, deps, 'ticket.reopened', row.id)
  return row
}

/**
 * Moves all messages of one ticket into another of the same customer, or of the same sender if
 * neither has a customer. Answers the remaining ticket.
 */
export async function mergeTicket(
  tx: Tx,
  deps: Pick<TicketDeps, 'clock' | 'outbox'>,
  { ticket, into }: { readonly ticket: string; readonly into: string },
): Promise<{ gone: TicketRow; row: TicketRow }> {
  // Lock in one order, so that two merges in opposite directions do not deadlock.
  const [first, second] = [ticket, into].toSorted()
  const held = [await lockTicket(tx, first ?? ''), await lockTicket(tx, second ?? '')]
  const [gone, row] = first === ticket ? held : held.toReversed()
  if (!gone || !row || gone.id === row.id) throw no('invalid_input', 'into', sentences.itself)
  const isOfOne =
    gone.customer_id === row.customer_id &&
    (gone.customer_id !== null || gone.sender_email === row.sender_email)
  if (!isOfOne) throw no('invalid_input', 'into', sentences.strangers)
  if (gone.messages + row.messages > mostMessages) throw no('invalid_input', 'into', sentences.long)
  const at = deps.clock.now()
  await setState(tx, gone, 'closed', at)
  // Before it points to the other: what is told is of this one.
  if (gone.state !== 'closed') await publish(tx, deps, 'ticket.closed', gone.id)
  await tx
    .updateTable('ticket_message')
    .set({ ticket_id: row.id })
    .where('ticket_id', '=', gone.id)
    .execute()
  // Tickets that were merged into it before also point to the remaining one.
  await tx
    .updateTable('ticket')
    .set({ merged_into: row.id })
    .where((eb) => eb.or([eb('id', '=', gone.id), eb('merged_into', '=', gone.id)]))
    .execute()
  await tx
    .updateTable('ticket')
    .set({
      messages: sql`messages + ${gone.messages}`,
      priority: sql`greatest(priority, ${gone.priority})`,
    })
    .where('id', '=', row.id)
    .execute()
  // Whichever of the two waited for the staff, the other waits as well.
  if (gone.state === 'open' && row.state !== 'open') {
    await setState(tx, row, 'open', at)
    await publish(tx, deps, 'ticket.reopened', row.id)
  }
  return { gone, row }
}

/**
 * Assigns a ticket to a customer, who can read all of it from now on. Refuses with conflict a
 * ticket that has a customer, and with invalid_input a customer who has closed the account.
 */
export async function giveTicket(
  tx: Tx,
  deps: Pick<TicketDeps, 'outbox'>,
  { ticket, customerId }: { readonly ticket: string; readonly customerId: string },
): Promise<TicketRow> {
  const row = await lockTicket(tx, ticket)
  if (row.customer_id !== null) throw no('conflict', 'ticket', sentences.owned)
  if (!(await holdOpenAccount(tx, customerId))) throw no('invalid_input', 'to', sentences.gone)
  await tx.updateTable('ticket').set({ customer_id: customerId }).where('id', '=', row.id).execute()
  await publish(tx, deps, 'ticket.opened', row.id)
  return row
}
