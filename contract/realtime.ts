/**
 * Events on `private-{userId}`, and the stored notifications behind them (contract.md section 4).
 */
import * as z from 'zod/mini'
import { endpoint, pageQuery } from './endpoint.ts'
import { eventNames } from './events.ts'

export type { EventName } from './events.ts'

/**
 * One stored event. `id` is also in the pushed payload (`notificationId`), so a client that hears
 * and reads the same event counts it once. `payload` is what was pushed. The screen makes its texts
 * from the event's name and payload; `title` is the server's sentence in the caller's language.
 */
export const Notification = z.object({
  id: z.string(),
  event: z.enum(eventNames),
  title: z.string(),
  payload: z.record(z.string(), z.unknown()),
  read: z.boolean(),
  createdAt: z.string(),
})
export type Notification = z.output<typeof Notification>

/** Payload of invoice.*. */
export const InvoiceEvent = z.object({
  payment: z.object({
    id: z.string(),
    /** Null: the order is not paid yet. */
    number: z.nullable(z.string()),
    amount_paid: z.int(),
    amount_due: z.int(),
    currency: z.string(),
    hosted_invoice_url: z.string(),
  }),
  wp: z.nullable(z.object({ id: z.string() })),
})

/**
 * Payload of dns.status. `active`: verified, or back where it was `moved`. `moved`: the parent zone
 * names other name servers. `pending`: it did so for a week, and the domain waits for delegation
 * again.
 */
export const DomainEvent = z.object({
  domain: z.object({
    id: z.string(),
    name: z.string(),
    status: z.enum(['active', 'moved', 'pending']),
  }),
})

/** Payload of ticket.*. */
export const TicketEvent = z.object({
  ticket: z.object({
    id: z.string(),
    number: z.int(),
    subject: z.string(),
    state: z.enum(['open', 'answered', 'closed']),
  }),
})

/** Payload of hand_over.*: the server or domain that went to another customer, or came from one. */
export const HandOverEvent = z.object({
  hand_over: z.object({ kind: z.enum(['server', 'domain']), id: z.string(), name: z.string() }),
})

const notificationId = z.string().check(z.regex(/^\d{1,18}$/))

export const listNotifications = endpoint({
  method: 'GET',
  path: '/api/notifications',
  access: 'customer',
  member: 'events',
  seen: true,
  summary: 'Stored notifications, newest first; `after` answers only those newer than a known id',
  query: z.object({ ...pageQuery, after: z.optional(z.string().check(z.maxLength(40))) }),
  result: z.object({ data: z.array(Notification), unread: z.int() }),
  paged: true,
})

export const readNotifications = endpoint({
  method: 'PUT',
  path: '/api/notifications/read',
  access: 'customer',
  summary: 'Mark notifications as read: those named, all up to one, or all',
  body: z.strictObject({
    ids: z.optional(z.array(notificationId).check(z.maxLength(500))),
    /** The newest that the caller has seen; later ones stay unread. */
    upTo: z.optional(notificationId),
  }),
  result: z.object({ unread: z.int() }),
})

export const authoriseChannel = endpoint({
  method: 'POST',
  path: '/api/v1/auth/pusher',
  access: 'customer',
  summary:
    "Authorise a private channel (form or JSON; the answer is Pusher's own, without the envelope)",
  body: z.strictObject({
    socket_id: z.string().check(z.regex(/^\d{1,10}\.\d{1,10}$/)),
    channel_name: z.string().check(z.maxLength(200)),
  }),
  result: z.object({ auth: z.string() }),
  bare: true,
  takesForms: true,
})
