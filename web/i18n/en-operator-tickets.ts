import type { ActName } from '../../contract/operator-acts.ts'
import type { Priority } from '../../contract/tickets-desk.ts'
import type { Ticket, TicketObjectKind } from '../../contract/tickets.ts'
import { plural } from './plural.ts'

export const enTicketActs = {
  'ticket.answer': 'Answer',
  'ticket.note': 'Write a note',
  'ticket.assign': 'Assign',
  'ticket.priority': 'Change priority',
  'ticket.label': 'Label',
  'ticket.unlabel': 'Remove label',
  'ticket.close': 'Close',
  'ticket.reopen': 'Open again',
  'ticket.merge': 'Merge',
  'ticket.give': 'Give to a customer',
  'ticket.save_canned': 'Save canned answer',
  'ticket.delete_canned': 'Delete canned answer',
} satisfies Partial<Record<ActName, string>>

export const enTicketExplain = {
  'ticket.close': 'The customer gets an email. Whatever they write opens it again.',
  'ticket.merge': 'All that was written here moves there. This cannot be undone.',
  'ticket.give':
    'The customer reads all of it from then on. Make sure that they wrote it: a sender’s address ' +
    'can be forged.',
  'ticket.save_canned':
    '{name}, {object} and {reference} are replaced by the customer’s name, what the ticket is ' +
    'about, and its number.',
  'ticket.delete_canned': 'Answers that were sent stay as they are.',
}

/** Tickets at the desk. */
export const enDeskTickets = {
  title: 'Tickets',
  sub: 'The most urgent first, then what waits longest.',
  empty: 'No ticket is in this list.',
  queue: 'State',
  states: { open: 'To answer', answered: 'Answered', closed: 'Closed' } as Record<
    Ticket['state'],
    string
  >,
  priority: 'Priority',
  priorities: { low: 'Low', normal: 'Normal', high: 'High', urgent: 'Urgent' } as Record<
    Priority,
    string
  >,
  objects: {
    server: 'Server',
    domain: 'Domain',
    invoice: 'Invoice',
    payment: 'Top-up',
  } as Record<TicketObjectKind, string>,
  assignee: 'Assigned to',
  everybody: 'Everybody',
  mine: 'Me',
  nobody: 'Unassigned',
  any: 'Any',
  label: 'Label',
  since: (time: string) => `· since ${time}`,
  noCustomer: 'No customer yet',
  unproven: 'Not proven',
  unprovenText:
    'Nothing proves who wrote this. Tell nothing about an account until you know who it is.',
  byMail: 'by email',
  note: 'Note for the staff',
  customer: 'Customer',
  about: 'About',
  back: 'All tickets',
  openedAt: 'Opened',
  details: 'Details',
  others: 'Other tickets of the same person',
  mergeInto: (number: number) => `Merge into #${number}`,
  rated: 'Rating',
  rating: { good: 'The answer helped', bad: 'The answer did not help' },
  leftOut: (names: string) => `Left out, too large or too many: ${names}`,
  gone: 'deleted',
  removeLabel: (label: string) => `Remove the label ${label}`,
  write: 'Your answer',
  writeNote: 'A note for the staff',
  modes: { answer: 'Answer', note: 'Note' },
  mode: 'What you write',
  canned: 'Canned answer',
  chooseCanned: 'Choose one …',
  inLanguage: (language: string) => `The customer is written to in ${language}.`,
  closeToo: 'Close the ticket with this answer',
  send: 'Send answer',
  saveNote: 'Save note',
  attach: 'Attach files',
  detach: (name: string) => `Remove ${name}`,
  uploading: 'Uploading …',
  tooLarge: (name: string) => `${name} is larger than 10 MB.`,
  tooMany: 'A message has five files at most.',
  noFiles: 'Files go to customers with an account only.',
  manage: 'Canned answers',
  manageSub: 'Ready to be chosen when you answer a ticket.',
  newCanned: 'New canned answer',
  edit: 'Edit',
  remove: 'Delete',
  noCanned: 'There is no canned answer yet.',
  changedBy: (name: string, time: string) => `${name}, ${time}`,
  vietnamese: 'Vietnamese',
  english: 'English',
  count: (n: number) => plural(n, 'ticket', 'tickets'),
}
