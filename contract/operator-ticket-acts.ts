/** Acts on tickets (decision 112), and on the answers that are ready to be chosen. */
import * as z from 'zod/mini'
import { needed, unneeded } from './operator-act.ts'
import { oneLine } from './text.ts'
import { priorities } from './tickets-desk.ts'
import { messageFiles, messageText } from './tickets.ts'

const id = z.string().check(z.maxLength(100))
const ticket = { ticket: id }
const label = oneLine(1, 40)
const text = messageText

export const ticketActs = {
  'ticket.answer': unneeded('ticket.answer', 'tickets', 'Answer a ticket, by letter as well', {
    ...ticket,
    text,
    /** Ids of files that were uploaded before. */
    files: messageFiles,
    /** Whether this answer closes the ticket; no if absent. */
    close: z.optional(z.enum(['no', 'yes'])),
  }),
  'ticket.note': unneeded('ticket.note', 'tickets', 'Write a note that the staff alone reads', {
    ...ticket,
    text,
    files: messageFiles,
  }),
  'ticket.assign': unneeded('ticket.assign', 'tickets', 'Say which member answers a ticket', {
    ...ticket,
    /** Without it the ticket is assigned to nobody. */
    member: z.optional(id),
  }),
  'ticket.priority': unneeded('ticket.priority', 'tickets', 'Say how urgent a ticket is', {
    ...ticket,
    priority: z.enum(priorities),
  }),
  'ticket.label': unneeded('ticket.label', 'tickets', 'Give a ticket a label', {
    ...ticket,
    label,
  }),
  'ticket.unlabel': unneeded('ticket.unlabel', 'tickets', 'Take a label away from a ticket', {
    ...ticket,
    label,
  }),
  'ticket.close': unneeded('ticket.close', 'tickets', 'Close a ticket', ticket),
  'ticket.reopen': unneeded('ticket.reopen', 'tickets', 'Open a closed ticket again', ticket),
  'ticket.merge': needed(
    'ticket.merge',
    'tickets',
    'Move all that was written in a ticket into another one of the same customer',
    {
      ...ticket,
      /** The ticket that remains. */
      into: id,
    },
  ),
  'ticket.give': needed(
    'ticket.give',
    'tickets',
    'Give a ticket that is nobody’s yet to a customer, who reads all of it from then on',
    {
      ...ticket,
      /** The customer’s e-mail address or id. */
      to: oneLine(3, 254),
    },
  ),
  'ticket.save_canned': unneeded(
    'ticket.save_canned',
    'tickets',
    'Make an answer that is ready to be chosen, or change it',
    {
      /** Without it a new one is made. */
      canned: z.optional(id),
      name: oneLine(2, 80),
      textEn: text,
      textVi: text,
    },
  ),
  'ticket.delete_canned': needed(
    'ticket.delete_canned',
    'tickets',
    'Delete an answer that was ready to be chosen',
    { canned: id },
  ),
} as const
