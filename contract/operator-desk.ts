/** What the operator's desk reads: search, a customer's story, the trail (decisions 91, 92). */
import * as z from 'zod/mini'
import { NamedCustomer } from './operator-customer.ts'
import { CreditLine } from './billing.ts'
import { InvoiceRow, PaymentAtDesk, ServerAtDesk } from './operator-customer-lists.ts'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'
import { staffRole } from './operator.ts'
import { Ticket } from './tickets.ts'

/** The kind of thing that a search found. */
export const foundIn = [
  'customer',
  'domain',
  'host',
  'invoice',
  'payment',
  'bank_reference',
  'suspense',
  'ticket',
  'reference',
] as const
export const Hit = z.object({
  kind: z.enum(foundIn),
  /** Null: the money belongs to no customer yet. */
  customer: z.nullable(NamedCustomer),
  /** The text that matched, as it is stored. */
  text: z.string(),
  /** For a ticket: its id. */
  ticket: z.optional(z.string()),
  /** For an invoice: its id. */
  invoice: z.optional(z.string()),
  /** For a top-up, and for a bank reference of one: its transaction code. */
  payment: z.optional(z.string()),
})
export type Hit = z.output<typeof Hit>

export const search = endpoint({
  method: 'GET',
  path: '/api/operator/search',
  access: 'staff',
  may: 'look',
  summary:
    'Find by name, e-mail, phone, domain, host name, invoice number, transaction code or bank ' +
    'reference: the beginning is enough for the first five; or a ticket by its number, or a ' +
    'customer by their id in the panel that they came from',
  query: z.object({ q: z.string().check(z.trim(), z.minLength(2), z.maxLength(254)) }),
  /** At most fifty. */
  result: z.array(Hit),
})

const time = z.string()
const act = z.object({
  seq: z.int(),
  at: time,
  /** A member's name, or `command`. */
  actor: z.string(),
  approvedBy: z.nullable(z.string()),
  address: z.string(),
  act: z.string(),
  reason: z.nullable(z.string()),
  subject: z.object({ kind: z.string(), id: z.string() }),
  customerId: z.nullable(z.string()),
  /** The customer's present name: the trail itself stores no name. */
  customerName: z.nullable(z.string()),
  before: z.nullable(z.record(z.string(), z.unknown())),
  after: z.nullable(z.record(z.string(), z.unknown())),
  /** SHA-256, hexadecimal. */
  hash: z.string(),
})
export type TrailAct = z.output<typeof act>

export const CustomerStory = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  phone: z.string(),
  region: z.string(),
  /** The customer's choice; null: the region's. */
  language: z.nullable(z.string()),
  company: z.nullable(z.string()),
  taxCode: z.nullable(z.string()),
  active: z.boolean(),
  createdAt: time,
  blockedAt: z.nullable(time),
  /** How they were brought over from another panel; null: they registered here. */
  imported: z.nullable(
    z.object({
      /** Their id there. */
      reference: z.nullable(z.string()),
      importedAt: time,
      /** When they first chose a password here; null: nobody can sign in yet. */
      cameAt: z.nullable(time),
    }),
  ),
  secondFactor: z.object({ app: z.boolean(), passkeys: z.int(), recoveryCodes: z.int() }),
  /** One per currency. */
  wallets: z.array(
    z.object({
      currency,
      balance: minor,
      creditLine: z.nullable(CreditLine),
      /** The newest ten. */
      entries: z.array(
        z.object({
          id: z.string(),
          at: time,
          text: z.string(),
          amount: minor,
          balance: minor,
        }),
      ),
    }),
  ),
  /** Null: never switched on, or switched off by the customer. Amounts are minor units. */
  autoTopUp: z.nullable(
    z.object({
      below: minor,
      amount: minor,
      monthLimit: minor,
      card: z.string(),
      /** When and why the portal switched it off; null while it is on. */
      off: z.nullable(z.object({ at: time, reason: z.string() })),
      /** The gateway's own words. */
      lastFailure: z.nullable(z.object({ at: time, detail: z.string() })),
    }),
  ),
  /** The newest ten of each; of servers fifty. */
  payments: z.array(PaymentAtDesk),
  invoices: z.array(InvoiceRow),
  servers: z.array(ServerAtDesk),
  /** Whether the customer has more of them than stand here. */
  more: z.object({ payments: z.boolean(), invoices: z.boolean(), servers: z.boolean() }),
  domains: z.array(z.object({ id: z.string(), name: z.string(), active: z.boolean() })),
  letters: z.array(
    z.object({
      id: z.string(),
      at: time,
      channel: z.enum(['sms', 'mail']),
      to: z.string(),
      subject: z.nullable(z.string()),
      state: z.enum(['waiting', 'sent', 'given_up']),
    }),
  ),
  /** The newest ten. */
  tickets: z.array(Ticket),
  sessions: z.array(
    z.object({ id: z.string(), ip: z.string(), userAgent: z.string(), lastUsedAt: time }),
  ),
  /** Tokens that have not expired; never their secrets. */
  tokens: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      begins: z.string(),
      scopes: z.array(z.string()),
      expiresAt: time,
      lastUsedAt: z.nullable(time),
      lastUsedFrom: z.nullable(z.string()),
    }),
  ),
  /** Only scheme and host: the rest of an address may contain a secret. */
  webhooks: z.array(
    z.object({
      id: z.string(),
      host: z.string(),
      createdAt: time,
      /** Why the address is not called; null: it is called. */
      disabled: z.nullable(z.enum(['owner', 'failing', 'gone', 'safety'])),
    }),
  ),
  signIns: z.array(
    z.object({
      id: z.string(),
      at: time,
      ip: z.string(),
      userAgent: z.string(),
      outcome: z.string(),
      /** For a view by the staff: when it ended, or ends at the latest. */
      until: z.nullable(time),
    }),
  ),
  notes: z.array(z.object({ id: z.string(), at: time, by: z.string(), text: z.string() })),
  labels: z.array(z.string()),
  acts: z.array(act),
})
export type CustomerStory = z.output<typeof CustomerStory>

export const customer = endpoint({
  method: 'GET',
  path: '/api/operator/customers/:id',
  access: 'staff',
  may: 'look',
  summary: "A customer's whole story on one page",
  params: idParam,
  result: CustomerStory,
})

/** Minutes after which a member's view of the portal as a customer ends. */
export const viewMinutes = 30
export const openView = endpoint({
  method: 'POST',
  path: '/api/operator/view',
  access: 'staff',
  may: 'customers',
  summary: 'Begin to see the portal as a customer does, by the ticket of the act customer.see',
  body: z.strictObject({ ticket: z.string().check(z.minLength(1), z.maxLength(100)) }),
  result: z.object({
    /** A bearer token that opens only reads. */
    token: z.string(),
    expiresAt: time,
    customer: z.object({ id: z.string(), name: z.string() }),
  }),
})

const filter = (longest: number) =>
  z.optional(z.string().check(z.trim(), z.minLength(1), z.maxLength(longest)))
export const trail = endpoint({
  method: 'GET',
  path: '/api/operator/trail',
  access: 'staff',
  may: 'look',
  summary: 'Every act of the operator, newest first, or those that match every filter given',
  query: z.object({
    ...pageQuery,
    /** A part of the name of who acted or approved; `command`: by the shell. */
    actor: filter(100),
    /** The act's name, such as `money.refund`. */
    act: filter(60),
    /**
     * What it was about: the id of a customer, a server, a payment or another subject, or a
     * customer's e-mail address.
     */
    about: filter(254),
    /** Days in Vietnam, both included. */
    from: z.optional(z.iso.date()),
    to: z.optional(z.iso.date()),
  }),
  result: z.array(act),
  paged: true,
})
export const verifyTrail = endpoint({
  method: 'GET',
  path: '/api/operator/trail/verification',
  access: 'staff',
  may: 'look',
  summary: 'Whether the chain of acts is whole',
  result: z.object({
    acts: z.int(),
    /**
     * The hash of the newest act. Keep a copy elsewhere: it shows whether the trail was rewritten.
     */
    head: z.string(),
    /** The first ten findings, in the order of the check. */
    findings: z.array(z.object({ seq: z.int(), fault: z.string() })),
  }),
})

export const Proposal = z.object({
  id: z.string(),
  act: z.string(),
  input: z.record(z.string(), z.unknown()),
  reason: z.nullable(z.string()),
  by: z.string(),
  byRole: z.nullable(staffRole),
  at: time,
  expiresAt: time,
  /** Whether the caller may decide on it. */
  mine: z.boolean(),
  decidable: z.boolean(),
  /** How many members may decide on it. */
  approvers: z.int(),
  customer: z.nullable(NamedCustomer),
})
export type Proposal = z.output<typeof Proposal>
export const proposals = endpoint({
  method: 'GET',
  path: '/api/operator/proposals',
  access: 'staff',
  may: 'look',
  summary: 'What waits for a second member',
  result: z.array(Proposal),
})
export const previewProposal = endpoint({
  method: 'GET',
  path: '/api/operator/proposals/:id/preview',
  access: 'staff',
  may: 'note',
  summary: 'What approving a proposal would change now: it is tried, and nothing of that stays',
  params: idParam,
  result: z.object({
    before: z.nullable(z.record(z.string(), z.unknown())),
    after: z.nullable(z.record(z.string(), z.unknown())),
    /** Why the act would be refused now; null: it would be done. */
    refused: z.nullable(z.string()),
  }),
})
export const approveProposal = endpoint({
  method: 'POST',
  path: '/api/operator/proposals/:id/approve',
  access: 'staff',
  may: 'note',
  summary: 'Approve what another member proposed: it is done now',
  params: idParam,
  result: z.object({ act: z.int() }),
})
export const rejectProposal = endpoint({
  method: 'POST',
  path: '/api/operator/proposals/:id/reject',
  access: 'staff',
  may: 'note',
  summary: 'Reject or withdraw what was proposed',
  params: idParam,
  body: z.strictObject({ reason: z.string().check(z.trim(), z.minLength(3), z.maxLength(500)) }),
  result: z.null(),
})

export const suspense = endpoint({
  method: 'GET',
  path: '/api/operator/suspense',
  access: 'staff',
  may: 'look',
  summary: 'Money that matches no payment, oldest first; at most a hundred',
  result: z.array(
    z.object({
      id: z.int(),
      at: time,
      gateway: z.string(),
      amount: minor,
      currency,
      reason: z.string(),
      /** The payment's name at the gateway, as the money carries it. */
      code: z.nullable(z.string()),
      /** The transaction code of the payment that has this name. */
      payment: z.nullable(z.string()),
      reference: z.string(),
      /** The number of the webhook that reported it, if that is among the newest. */
      notice: z.nullable(z.int()),
    }),
  ),
})

export const work = endpoint({
  method: 'GET',
  path: '/api/operator/work',
  access: 'staff',
  may: 'look',
  summary: 'Servers that do not answer, work that does not end, and jobs that gave up, with why',
  result: z.object({
    /** Servers that should answer their visitors and do not; at most a hundred. */
    down: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        email: z.string(),
        since: time,
        why: z.string(),
      }),
    ),
    /** Work on a server that has not finished in time; at most a hundred. */
    stuck: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        email: z.string(),
        work: z.string(),
        since: z.nullable(time),
        attempts: z.int(),
        why: z.nullable(z.string()),
      }),
    ),
    /** Newest first; at most a hundred. */
    givenUp: z.array(
      z.object({ id: z.string(), queue: z.string(), at: time, attempts: z.int(), why: z.string() }),
    ),
    /** Only queues with jobs that wait, run or gave up. */
    queues: z.array(
      z.object({
        queue: z.string(),
        ready: z.int(),
        later: z.int(),
        running: z.int(),
        givenUp: z.int(),
      }),
    ),
  }),
})
