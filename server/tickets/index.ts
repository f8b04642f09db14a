/** Tickets: customers' requests to the operator's staff, and the answers (decision 112). */
export { deleteCanned, saveCanned } from './canned.ts'
export type { ObjectNames, TicketDeps } from './deps.ts'
export { countOpenTickets, findTickets, oldestOpenTicketMs, ticketsOfCustomer } from './desk.ts'
export { takeLetter, type IntakeDeps } from './mail/intake.ts'
export { createLetterListener } from './mail/listener.ts'
export { createReplyAddresses, type ReplyAddresses } from './mail/reply-address.ts'
export { forgetTickets } from './forget.ts'
export { routes } from './routes.ts'
export {
  answerTicket,
  assignTicket,
  closeTicket,
  giveTicket,
  labelTicket,
  mergeTicket,
  noteTicket,
  releaseTickets,
  reopenTicket,
  setPriority,
  unlabelTicket,
} from './staff-work.ts'
export { closeQuietTickets, dropOldTickets } from './tidy.ts'
export { titles } from './titles.ts'
