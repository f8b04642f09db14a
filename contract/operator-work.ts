/**
 * What the operator's desk reads about work: servers, letters, maintenance, capacity (decision
 * 114).
 */
import * as z from 'zod/mini'
import { NamedCustomer } from './operator-customer.ts'
import { endpoint, pageQuery } from './endpoint.ts'
import { currency, minor } from './money.ts'

const time = z.string()
const who = z.nullable(NamedCustomer)

/** Most urgent first. `setting_up`: paid and not delivered. `lapsed`: never paid. */
export const serverStates = [
  'setting_up',
  'down',
  'failed',
  'unpaid',
  'suspended',
  'deleting',
  'lapsed',
  'running',
] as const
export type DeskServerState = (typeof serverStates)[number]
export const DeskServer = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(serverStates),
  customer: who,
  plan: z.string(),
  region: z.string(),
  containers: z.int(),
  orderedAt: time,
  /** Since when the server is in this state, as far as that is known. */
  since: z.nullable(time),
  /** The reason for this state: what the customer was told, or the newest failure. */
  why: z.nullable(z.string()),
  /** For a suspended server: why it is suspended. */
  suspendedFor: z.nullable(z.enum(['unpaid', 'operator'])),
  /** Failed attempts of the work on it. */
  attempts: z.int(),
  /** Whether the order is being given up and refunded. */
  givingUp: z.boolean(),
  order: z.nullable(
    z.object({
      number: z.nullable(z.string()),
      total: minor,
      currency,
      status: z.string(),
      lapsesAt: z.nullable(time),
    }),
  ),
})
export type DeskServer = z.output<typeof DeskServer>
export const servers = endpoint({
  method: 'GET',
  path: '/api/operator/servers',
  access: 'staff',
  may: 'look',
  summary: 'Orders and servers in one state, newest first, with why and since when',
  query: z.object({ ...pageQuery, state: z.enum(serverStates) }),
  result: z.array(DeskServer),
  paged: true,
})

export const letterStates = ['failed', 'waiting', 'sent'] as const
export type DeskLetterState = (typeof letterStates)[number]
export const DeskLetter = z.object({
  id: z.string(),
  at: time,
  channel: z.enum(['sms', 'mail']),
  to: z.string(),
  subject: z.nullable(z.string()),
  state: z.enum(letterStates),
  sentAt: z.nullable(time),
  /** For a one-time code: until when it is valid. */
  until: z.nullable(time),
  /** Why the newest attempt failed. */
  why: z.nullable(z.string()),
  /** A copy that the staff had sent again. */
  again: z.boolean(),
  /** Whether it can be sent again, or tried now. */
  sendable: z.boolean(),
})
export type DeskLetter = z.output<typeof DeskLetter>
export const letters = endpoint({
  method: 'GET',
  path: '/api/operator/letters',
  access: 'staff',
  may: 'look',
  summary: 'Letters and SMS in one state, newest first, never their texts',
  query: z.object({ ...pageQuery, state: z.enum(letterStates) }),
  result: z.array(DeskLetter),
  paged: true,
})

export const upkeep = endpoint({
  method: 'GET',
  path: '/api/operator/upkeep',
  access: 'staff',
  may: 'look',
  summary: 'Certificates and backups that failed, and domains that wait; at most fifty each',
  result: z.object({
    certificates: z.array(
      z.object({
        name: z.string(),
        customer: who,
        problem: z.string(),
        detail: z.string(),
        attempts: z.int(),
        nextAt: time,
        /** Until when the previous certificate is valid; null: there is none. */
        goodUntil: z.nullable(time),
      }),
    ),
    backups: z.array(
      z.object({
        id: z.string(),
        server: z.string(),
        serverId: z.string(),
        customer: who,
        at: time,
        why: z.nullable(z.string()),
        /** When a later backup of the same server was proven; null: none was. */
        provenSince: z.nullable(time),
      }),
    ),
    domains: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        customer: who,
        at: time,
        state: z.enum(['waiting', 'foreign', 'moved']),
        /** Name servers that the parent zone names. */
        found: z.array(z.string()),
        expected: z.array(z.string()),
        checkedAt: z.nullable(time),
      }),
    ),
  }),
})

export const capacity = endpoint({
  method: 'GET',
  path: '/api/operator/capacity',
  access: 'staff',
  may: 'look',
  summary: 'What nodes have free, and when data centres are sold out at the pace of 30 days',
  result: z.object({
    nodes: z.array(
      z.object({
        id: z.string(),
        state: z.enum(['active', 'draining', 'lost']),
        /** Data centres; null: every one. */
        regions: z.nullable(z.array(z.string())),
        seenSecondsAgo: z.nullable(z.number()),
        /** Servers that run there. */
        servers: z.int(),
        /** Servers that were started elsewhere, and whose old content is still on this node. */
        kept: z.int(),
        /**
         * Counted in containers: how many more fit into memory, how many orders have reserved, and
         * what is left.
         */
        room: z.int(),
        reserved: z.int(),
        free: z.int(),
      }),
    ),
    dataCentres: z.array(
      z.object({
        name: z.string(),
        free: z.int(),
        /** Containers of servers that were ordered in the last 30 days and still exist. */
        ordered: z.int(),
        /** The day on which nothing will be free; null: not within three years. */
        soldOutOn: z.nullable(z.iso.date()),
        /** Data centres that the same nodes serve, and which therefore share this capacity. */
        sharedWith: z.array(z.string()),
      }),
    ),
  }),
})
