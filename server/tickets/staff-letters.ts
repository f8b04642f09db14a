/** Letters to the staff about tickets that wait for an answer (decision 151). */
import type { Tx } from '../platform/db.ts'
import { lettersAbout } from '../staff/index.ts'
import type { TicketDeps } from './deps.ts'
import { referenceOf, type TicketRow } from './store.ts'

export type StaffLetterDeps = Pick<TicketDeps, 'clock' | 'letter' | 'portalUrl' | 'brandName'>

/**
 * Tells the assignee, or else every member who answers tickets, that a ticket is open; once until
 * the staff has answered or closed it. The caller holds the ticket.
 */
export async function tellStaff(tx: Tx, deps: StaffLetterDeps, row: TicketRow): Promise<void> {
  if (row.staff_told_at !== null) return
  const members = await lettersAbout(tx, 'tickets', row.assignee_id)
  if (members.length === 0) return
  await tx
    .updateTable('ticket')
    .set({ staff_told_at: deps.clock.now() })
    .where('id', '=', row.id)
    .execute()
  const number = referenceOf(row)
  // A member's language is unknown: the letter has both. What was written stays at the desk.
  const text =
    `Ticket ${number} waits for an answer: ${row.subject}\n` +
    `Yêu cầu ${number} đang chờ trả lời: ${row.subject}\n` +
    `${deps.portalUrl}/operator/tickets/${row.id}\n\n` +
    'No further letter comes about it until it was answered. You can switch these letters off ' +
    'at the desk, in the menu with your name.\n' +
    'Sẽ không có thêm thư nào về yêu cầu này cho đến khi nó được trả lời. Bạn có thể tắt các thư ' +
    'này trong menu mang tên bạn tại trang vận hành.'
  for (const to of members)
    await deps.letter(tx, {
      to,
      subject: `${deps.brandName}: ${number} ${row.subject}`,
      text,
      replyTo: undefined,
    })
}
