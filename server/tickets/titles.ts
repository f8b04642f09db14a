/** Titles of notifications about tickets. */
import type { Titles } from '../realtime/index.ts'

const told = (payload: unknown): string => {
  const { ticket } = payload as { ticket?: { number?: number; subject?: string } }
  return `#${ticket?.number ?? ''} ${ticket?.subject ?? ''}`.trim()
}

export const titles = {
  'ticket.opened': (payload, language) =>
    language === 'vi' ? `Đã tạo yêu cầu ${told(payload)}` : `Ticket ${told(payload)} was opened`,
  'ticket.answered': (payload, language) =>
    language === 'vi'
      ? `Yêu cầu ${told(payload)} đã có câu trả lời`
      : `Ticket ${told(payload)} was answered`,
  'ticket.closed': (payload, language) =>
    language === 'vi' ? `Đã đóng yêu cầu ${told(payload)}` : `Ticket ${told(payload)} was closed`,
  'ticket.reopened': (payload, language) =>
    language === 'vi'
      ? `Đã mở lại yêu cầu ${told(payload)}`
      : `Ticket ${told(payload)} is open again`,
} satisfies Partial<Titles>
