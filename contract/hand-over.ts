/** Handing a server or domain over to another customer, who accepts it (decision 108). */
import * as z from 'zod/mini'
import { email } from './auth.ts'
import { endpoint, idParam } from './endpoint.ts'
import { currency, minor } from './money.ts'

/** Days for which an offer is valid. */
export const offerDays = 7
/** Days for which an accepted offer is listed. */
export const listedDays = 90

const kind = z.enum(['server', 'domain'])
export const HandOver = z.object({
  id: z.string(),
  kind,
  name: z.string(),
  /** The customer who is to accept. */
  email: z.string(),
  createdAt: z.string(),
  expiresAt: z.string(),
  acceptedAt: z.nullable(z.string()),
})
export type HandOver = z.output<typeof HandOver>

export const listHandOvers = endpoint({
  method: 'GET',
  path: '/api/v1/hand-overs',
  access: 'customer',
  seen: true,
  summary: 'What is offered to other customers, and what they accepted in the last 90 days',
  result: z.array(HandOver),
})
export const offer = endpoint({
  method: 'POST',
  path: '/api/v1/hand-overs',
  access: 'customer',
  asksAgain: true,
  summary: 'Offer a server or a domain to another customer, by e-mail',
  body: z.strictObject({
    kind,
    id: z.string().check(z.maxLength(100)),
    email,
    password: z.string().check(z.minLength(1), z.maxLength(128)),
  }),
  result: HandOver,
  status: 201,
})
export const takeBackOffer = endpoint({
  method: 'DELETE',
  path: '/api/v1/hand-overs/:id',
  access: 'customer',
  summary: 'Take an offer back: its link opens nothing any more',
  params: idParam,
  result: z.null(),
})

const token = z.string().check(z.minLength(1), z.maxLength(100))
export const lookAtOffer = endpoint({
  method: 'POST',
  path: '/api/v1/hand-overs/look',
  access: 'customer',
  summary: 'What is offered, by the token of its link, and what it costs from its renewal on',
  body: z.strictObject({ token }),
  result: z.object({
    kind,
    name: z.string(),
    from: z.string(),
    expiresAt: z.string(),
    /** The monthly price of a server; null: a domain costs nothing. */
    monthly: z.nullable(z.object({ price: minor, currency, renewsAt: z.string() })),
  }),
})
export const acceptOffer = endpoint({
  method: 'POST',
  path: '/api/v1/hand-overs/accept',
  access: 'customer',
  asksAgain: true,
  summary: 'Accept what is offered: it is the caller’s from then on, and renews at their cost',
  body: z.strictObject({
    token,
    /** The monthly price that the caller was shown; another price is refused with conflict. */
    price: z.optional(minor),
  }),
  result: z.object({ kind, id: z.string(), name: z.string() }),
})
