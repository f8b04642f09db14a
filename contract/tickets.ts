/** Tickets: customers' questions to the operator's staff, and the answers (decision 112). */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { oneLine } from './text.ts'

/** `open`: the staff must act; `answered`: the customer must. */
export const ticketStates = ['open', 'answered', 'closed'] as const
/** What a ticket may be about. */
export const ticketObjects = ['server', 'domain', 'invoice', 'payment'] as const
export type TicketObjectKind = (typeof ticketObjects)[number]
export const ratings = ['good', 'bad'] as const

/** Bytes of one file. */
export const mostFileBytes = 10_000_000
/** Files of one message. */
export const mostFiles = 5
export const longestMessage = 20_000

const state = z.enum(ticketStates)
const kind = z.enum(ticketObjects)
const id = z.string().check(z.minLength(1), z.maxLength(100))
export const messageText = z.string().check(z.trim(), z.minLength(1), z.maxLength(longestMessage))
export const messageFiles = z.optional(z.array(id).check(z.maxLength(mostFiles)))

const ObjectOf = z.object({
  kind,
  /** For a payment: its transaction code. */
  id: z.string(),
  /** The name as lists show it. */
  name: z.string(),
})

export const TicketFile = z.object({
  id: z.string(),
  name: z.string(),
  bytes: z.int(),
  /** False: the file was deleted after its retention time. */
  kept: z.boolean(),
})
export type TicketFile = z.output<typeof TicketFile>

export const TicketMessage = z.object({
  id: z.string(),
  at: z.string(),
  from: z.enum(['customer', 'staff']),
  /** A name, or the sender's address of a letter. */
  author: z.string(),
  text: z.string(),
  byMail: z.boolean(),
  /** False: a letter whose sender is not authenticated. */
  proven: z.boolean(),
  files: z.array(TicketFile),
  /** Names of a letter's files that were left out: too many or too large. */
  leftOut: z.array(z.string()),
})
export type TicketMessage = z.output<typeof TicketMessage>

export const Ticket = z.object({
  id: z.string(),
  /** The number that people use: #1001. */
  number: z.int(),
  subject: z.string(),
  state,
  object: z.nullable(ObjectOf),
  openedAt: z.string(),
  /** Since when the one who must act has had the turn; for a closed ticket, when it was closed. */
  since: z.string(),
  rating: z.nullable(z.enum(ratings)),
})
export type Ticket = z.output<typeof Ticket>
export const TicketWithMessages = z.extend(Ticket, {
  /** Oldest first. */
  messages: z.array(TicketMessage),
  /** Whether the staff has answered, so that the answer can be rated. */
  rateable: z.boolean(),
})
export type TicketWithMessages = z.output<typeof TicketWithMessages>

export const listTickets = endpoint({
  method: 'GET',
  path: '/api/tickets',
  access: 'customer',
  member: 'tickets:read',
  scope: 'tickets:read',
  seen: true,
  summary: 'Tickets, the newest first',
  query: z.object({ ...pageQuery }),
  result: z.array(Ticket),
  paged: true,
})
export const showTicket = endpoint({
  method: 'GET',
  path: '/api/tickets/:id',
  access: 'customer',
  member: 'tickets:read',
  scope: 'tickets:read',
  seen: true,
  summary: 'A ticket with what was written in it',
  params: idParam,
  result: TicketWithMessages,
})
export const openTicket = endpoint({
  method: 'POST',
  path: '/api/tickets',
  access: 'customer',
  member: 'tickets:write',
  scope: 'tickets:write',
  summary: 'Ask the staff, about a server, domain, invoice or payment where one is named',
  body: z.strictObject({
    subject: oneLine(3, 150),
    text: messageText,
    object: z.optional(z.strictObject({ kind, id })),
    /** Ids of files that were uploaded before. */
    files: messageFiles,
  }),
  result: TicketWithMessages,
  status: 201,
})
export const writeInTicket = endpoint({
  method: 'POST',
  path: '/api/tickets/:id/messages',
  access: 'customer',
  member: 'tickets:write',
  scope: 'tickets:write',
  summary: 'Write in a ticket; one that was closed is open again',
  params: idParam,
  body: z.strictObject({ text: messageText, files: messageFiles }),
  result: TicketWithMessages,
  status: 201,
})
export const changeTicket = endpoint({
  method: 'PUT',
  path: '/api/tickets/:id/state',
  access: 'customer',
  member: 'tickets:write',
  scope: 'tickets:write',
  summary: 'Close a ticket, or open it again',
  params: idParam,
  body: z.strictObject({ state: z.enum(['open', 'closed']) }),
  result: TicketWithMessages,
})
export const rateTicket = endpoint({
  method: 'PUT',
  path: '/api/tickets/:id/rating',
  access: 'customer',
  member: 'tickets:write',
  scope: 'tickets:write',
  summary: 'Say whether the answer helped',
  params: idParam,
  body: z.strictObject({ rating: z.enum(ratings) }),
  result: TicketWithMessages,
})
export const uploadTicketFile = endpoint({
  method: 'POST',
  path: '/api/tickets/files',
  access: 'customer',
  member: 'tickets:write',
  scope: 'tickets:write',
  summary:
    'Upload a file of at most 10 MB, for the next message; what no message has is deleted after ' +
    'a day',
  query: z.object({ name: oneLine(1, 150) }),
  takesBytes: true,
  maxUploadBytes: mostFileBytes,
  result: TicketFile,
  status: 201,
})
/** The ids of a ticket and of a file in it. */
export const fileParams = z.object({
  id: z.string().check(z.maxLength(100)),
  file: z.string().check(z.maxLength(100)),
})
export const downloadTicketFile = endpoint({
  method: 'GET',
  path: '/api/tickets/:id/files/:file',
  access: 'customer',
  member: 'tickets:read',
  scope: 'tickets:read',
  summary: 'Download a file of a ticket; it is never shown in the page',
  params: fileParams,
  result: z.null(),
  bare: true,
  files: ['application/octet-stream'],
})
export const ticketObject = endpoint({
  method: 'GET',
  path: '/api/tickets/objects/:kind/:id',
  access: 'customer',
  member: 'tickets:read',
  seen: true,
  summary: 'The name of what a ticket is to be about',
  params: z.object({
    kind: z.string().check(z.maxLength(20)),
    id: z.string().check(z.maxLength(100)),
  }),
  result: ObjectOf,
})
