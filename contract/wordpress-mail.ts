/**
 * E-mail that a server sends: whether it may, its sender, delivery results, and the DNS records.
 */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'

/** A plain address, such as shop@example.vn: no name, no comment. */
export const mailAddress = z.string().check(
  z.trim(),
  z.maxLength(200, { error: 'mail_sender_form' }),
  z.regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9._+-]{0,62}[A-Za-z0-9])?@[^\s@<>()[\]\\,;:"]+\.[^\s@<>()[\]\\,;:"]+$/,
    {
      error: 'mail_sender_form',
    },
  ),
)

/** Why the mail of a server is suspended. */
export const suspensionCauses = ['bounces', 'complaint', 'operator'] as const
export type SuspensionCause = (typeof suspensionCauses)[number]

export const MailState = z.object({
  /** Whether the server's PHP may send. */
  enabled: z.boolean(),
  /** Null while it is not suspended. */
  suspended: z.nullable(
    z.object({
      at: z.string(),
      cause: z.enum(suspensionCauses),
      /** The provider's note about it. */
      note: z.nullable(z.string()),
    }),
  ),
  /** The sender of messages whose own sender is not on a name of the server. */
  sender: z.string(),
  /** The chosen sender; null: the default one. */
  chosenSender: z.nullable(z.string()),
  /** Domains that a sender's address may have. */
  senderDomains: z.array(z.string()),
  hour: z.object({
    /** Messages that the plan allows within an hour, each recipient counted. */
    limit: z.int(),
    used: z.int(),
  }),
  /** Recipients whose message is not sent yet. */
  waiting: z.int(),
})
export type MailState = z.output<typeof MailState>

export const recordStates = ['found', 'missing', 'differs', 'alias', 'unknown'] as const
export const MailRecord = z.object({
  kind: z.enum(['spf', 'dkim', 'dmarc']),
  /** The full name, without a dot at the end. All are TXT records. */
  name: z.string(),
  /** The value that the record should have. */
  value: z.string(),
  /**
   * `alias`: the name is a CNAME, beside which no other record may exist. `unknown`: no name server
   * answered.
   */
  state: z.enum(recordStates),
  /** The present records of this kind. */
  found: z.array(z.string()),
})
export type MailRecord = z.output<typeof MailRecord>
export const MailDomain = z.object({
  domain: z.string(),
  /** Whether the customer has the zone here, so that the records can be written at once. */
  here: z.boolean(),
  records: z.array(MailRecord),
})
export type MailDomain = z.output<typeof MailDomain>

export const mailStates = ['waiting', 'held', 'sent', 'bounced', 'failed', 'refused'] as const
export const mailReasons = [
  'hour_limit',
  'suspended',
  'off',
  'header_unreadable',
  'line_too_long',
  'address',
  'text_gone',
  'sender_lost',
  'recipient_returned',
  'trouble',
] as const
export const SentMail = z.object({
  id: z.string(),
  at: z.string(),
  from: z.string(),
  /** The sender that the program named, if it is not on a name of the server. */
  namedFrom: z.nullable(z.string()),
  to: z.string(),
  subject: z.string(),
  state: z.enum(mailStates),
  /** Why it is not sent, or not yet. */
  reason: z.nullable(z.enum(mailReasons)),
  /** The mail server's answer. */
  said: z.nullable(z.string()),
  /** When it bounced after it was sent. */
  returnedAt: z.nullable(z.string()),
  attempts: z.int(),
  /** The next attempt; null: none is planned. */
  nextAt: z.nullable(z.string()),
})
export type SentMail = z.output<typeof SentMail>

export const getMail = endpoint({
  method: 'GET',
  path: '/api/wp/:id/mail',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'Whether a server may send e-mail, from whom, and how much of its hourly limit is used',
  params: idParam,
  result: MailState,
})
export const changeMail = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/mail',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Switch e-mail of a server on or off, or choose its sender',
  params: idParam,
  body: z.strictObject({
    enabled: z.optional(z.boolean()),
    sender: z.optional(z.nullable(mailAddress)),
  }),
  result: MailState,
})
export const listMailRecords = endpoint({
  method: 'GET',
  path: '/api/wp/:id/mail/records',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: "SPF, DKIM and DMARC of a server's own names, and what the DNS says of them now",
  params: idParam,
  result: z.object({ data: z.array(MailDomain) }),
})
export const writeMailRecords = endpoint({
  method: 'POST',
  path: '/api/wp/:id/mail/records',
  access: 'customer',
  member: 'zones',
  summary: 'Write SPF, DKIM and DMARC into the zone of one of its names, where that is here',
  params: idParam,
  body: z.strictObject({ domain: z.string().check(z.maxLength(253)) }),
  result: MailDomain,
})
export const allowRecipient = endpoint({
  method: 'POST',
  path: '/api/wp/:id/mail/recipients',
  access: 'customer',
  member: 'servers:write',
  summary: 'Send again to an address that a message came back from',
  params: idParam,
  body: z.strictObject({ address: z.string().check(z.maxLength(320)) }),
  result: z.object({ address: z.string() }),
})
export const listMail = endpoint({
  method: 'GET',
  path: '/api/wp/:id/mail/messages',
  access: 'customer',
  member: 'servers:write',
  seen: true,
  summary: 'What a server sent in the last 30 days, newest first: one entry a recipient',
  params: idParam,
  query: z.object(pageQuery),
  result: z.array(SentMail),
  paged: true,
})
