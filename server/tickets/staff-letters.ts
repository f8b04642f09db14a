/** Letters to the staff about tickets that wait for an answer (decision 151). */
import { days, later } from '../platform/clock.ts'
import type { Tx } from '../platform/db.ts'
import { lettersAbout } from '../staff/index.ts'
import type { TicketDeps } from './deps.ts'
import { referenceOf, type TicketRow } from './store.ts'

/** A customer who writes to it again after this time, ms, has the staff told again. */
const toldAgainMs = days(1)

export type StaffLetterDeps = Pick<TicketDeps, 'clock' | 'letter' | 'portalUrl' | 'brandName'>

/**
 * Tells the assignee, or else every member who answers tickets, that a ticket is open; at most once
 * a day until the staff has answered or closed it. The caller holds the ticket.
 */
export async function tellStaff(tx: Tx, deps: StaffLetterDeps, row: TicketRow): Promise<void> {
  const now = deps.clock.now()
  if (row.staff_told_at !== null && row.staff_told_at > later(now, -toldAgainMs)) return
  const members = await lettersAbout(tx, 'tickets', row.assignee_id)
  if (members.length === 0) return
  await tx.updateTable('ticket').set({ staff_told_at: now }).where('id', '=', row.id).execute()
  const number = referenceOf(row)
  // A member's language is unknown: the letter has both. What was written stays at the desk.
  const text =
    `Ticket ${number} waits for an answer: ${row.subject}\n` +
    `Yêu cầu ${number} đang chờ trả lời: ${row.subject}\n` +
    `${deps.portalUrl}/operator/tickets/${row.id}\n\n` +
    'Until it is answered, at most one letter a day comes about it. You can switch these letters ' +
    'off at the desk, in the menu with your name.\n' +
    'Cho đến khi được trả lời, mỗi ngày có tối đa một thư về yêu cầu này. Bạn có thể tắt các thư ' +
    'này trong menu mang tên bạn tại trang vận hành.'
  for (const to of members)
    await deps.letter(tx, {
      to,
      subject: `${deps.brandName}: ${number} ${row.subject}`,
      text,
      replyTo: undefined,
    })
}
