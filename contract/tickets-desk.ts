/** What the operator's desk reads about tickets, and the files that its members send. */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { oneLine } from './text.ts'
import {
  fileParams,
  mostFileBytes,
  Ticket,
  TicketFile,
  TicketMessage,
  ticketStates,
} from './tickets.ts'

export const priorities = ['low', 'normal', 'high', 'urgent'] as const
export type Priority = (typeof priorities)[number]
const priority = z.enum(priorities)
const named = z.object({ id: z.string(), name: z.string() })

export const TicketOfDesk = z.extend(Ticket, {
  /** Null: the ticket belongs to no customer yet. */
  customer: z.nullable(z.object({ id: z.string(), name: z.string(), email: z.string() })),
  /** For a letter that belongs to no customer yet: the sender that it claims. */
  sender: z.nullable(z.object({ email: z.string(), name: z.string() })),
  priority,
  assignee: z.nullable(named),
  labels: z.array(z.string()),
})
export type TicketOfDesk = z.output<typeof TicketOfDesk>

export const ticketsOfDesk = endpoint({
  method: 'GET',
  path: '/api/operator/tickets',
  access: 'staff',
  may: 'look',
  summary:
    'Tickets in one state: of those that wait the most urgent and longest waiting first, of ' +
    'those that were closed within ninety days the newest',
  query: z.object({
    ...pageQuery,
    state: z.optional(z.enum(ticketStates)),
    /** `mine`, `nobody`, or the id of a member. */
    assignee: z.optional(z.string().check(z.maxLength(100))),
    priority: z.optional(priority),
    label: z.optional(z.string().check(z.maxLength(40))),
  }),
  result: z.array(TicketOfDesk),
  paged: true,
})

export const DeskMessage = z.extend(TicketMessage, {
  /** A note is for the staff alone. */
  from: z.enum(['customer', 'staff', 'note']),
})
export type DeskMessage = z.output<typeof DeskMessage>
export const TicketAtDesk = z.extend(TicketOfDesk, {
  messages: z.array(DeskMessage),
  /** The language in which the customer is written to. */
  language: z.enum(['en', 'vi']),
  /** Other tickets of the same customer or sender that may be merged with it; at most twenty. */
  others: z.array(Ticket),
})
export type TicketAtDesk = z.output<typeof TicketAtDesk>

export const ticketAtDesk = endpoint({
  method: 'GET',
  path: '/api/operator/tickets/:id',
  access: 'staff',
  may: 'look',
  summary: 'A ticket with all that was written in it, notes as well',
  params: idParam,
  result: TicketAtDesk,
})
export const deskTicketFile = endpoint({
  method: 'GET',
  path: '/api/operator/tickets/:id/files/:file',
  access: 'staff',
  may: 'look',
  summary: 'Download a file of a ticket',
  params: fileParams,
  result: z.null(),
  bare: true,
  files: ['application/octet-stream'],
})
export const uploadDeskFile = endpoint({
  method: 'POST',
  path: '/api/operator/tickets/files',
  access: 'staff',
  may: 'tickets',
  summary: 'Upload a file of at most 10 MB, for the next answer or note',
  query: z.object({ name: oneLine(1, 150) }),
  takesBytes: true,
  maxUploadBytes: mostFileBytes,
  result: TicketFile,
  status: 201,
})

export const CannedAnswer = z.object({
  id: z.string(),
  name: z.string(),
  text: z.object({ en: z.string(), vi: z.string() }),
  changedAt: z.string(),
  changedBy: z.string(),
})
export type CannedAnswer = z.output<typeof CannedAnswer>
/** Words in braces that are replaced when an answer is sent. */
export const placeholders = ['name', 'object', 'reference'] as const

export const cannedAnswers = endpoint({
  method: 'GET',
  path: '/api/operator/canned-answers',
  access: 'staff',
  may: 'look',
  summary: 'Answers that are ready to be chosen, by their names; at most two hundred',
  result: z.array(CannedAnswer),
})
