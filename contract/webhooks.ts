/**
 * Outgoing webhooks: addresses of a customer's programs that are called when something happens,
 * signed as the Standard Webhooks specification says (webhook-id, webhook-timestamp,
 * webhook-signature).
 */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { eventNames } from './events.ts'

/** Most webhooks of one customer. */
export const mostWebhooks = 10
/** The event of a test call that the customer asks for. */
export const testEvent = 'webhook.test'
/** Hours for which the previous secret still signs beside the new one. */
export const secretOverlapHours = 24
/** Days for which a delivery is kept. */
export const deliveriesKeptDays = 30

const event = z.enum(eventNames)
const url = z.string().check(z.trim(), z.minLength(1), z.maxLength(500))
const events = z.array(event).check(z.minLength(1), z.maxLength(eventNames.length))

export const Webhook = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(event),
  createdAt: z.string(),
  /** Null: the address is called. */
  disabled: z.nullable(
    z.object({
      at: z.string(),
      /**
       * `owner`: switched off; `failing`: every call failed for days; `gone`: it answered 410;
       * `safety`: the account was blocked, or somebody else was in it.
       */
      reason: z.enum(['owner', 'failing', 'gone', 'safety']),
    }),
  ),
  /** Since when every call has failed; null: the last call succeeded. */
  failingSince: z.nullable(z.string()),
  /** Until when the previous secret signs as well. */
  earlierSecretUntil: z.nullable(z.string()),
})
export type Webhook = z.output<typeof Webhook>

/** One call of an address. */
export const WebhookAttempt = z.object({
  at: z.string(),
  /** HTTP status of the answer; null: no answer came. */
  status: z.nullable(z.int()),
  /** Why the call failed, where there is no HTTP status. */
  error: z.nullable(
    z.enum(['unknown_host', 'address_refused', 'connection', 'certificate', 'timeout']),
  ),
  ms: z.int(),
})
export type WebhookAttempt = z.output<typeof WebhookAttempt>

export const Delivery = z.object({
  /** The header webhook-id, the same on every repeat. */
  id: z.string(),
  event: z.string(),
  state: z.enum(['waiting', 'delivered', 'failed']),
  createdAt: z.string(),
  /** For a waiting delivery: when it is tried next. */
  nextAt: z.nullable(z.string()),
  /** The last twenty, oldest first. */
  attempts: z.array(WebhookAttempt),
  /** The body that is sent. */
  body: z.string(),
  /** The first 1024 bytes of the last answer; null: none came. */
  answer: z.nullable(z.string()),
})
export type Delivery = z.output<typeof Delivery>

/** Only this answer contains the secret. */
const WithSecret = z.object({ webhook: Webhook, secret: z.string() })
const deliveryParams = z.object({
  id: z.string().check(z.maxLength(100)),
  delivery: z.string().check(z.maxLength(100)),
})

export const listWebhooks = endpoint({
  method: 'GET',
  path: '/api/v1/account/webhooks',
  access: 'customer',
  summary: 'Addresses that are called when something happens, the newest first',
  result: z.array(Webhook),
})
export const createWebhook = endpoint({
  method: 'POST',
  path: '/api/v1/account/webhooks',
  access: 'customer',
  asksAgain: true,
  summary: 'Have an address called; the answer alone has the secret that signs the calls',
  body: z.strictObject({ url, events }),
  result: WithSecret,
  status: 201,
})
export const changeWebhook = endpoint({
  method: 'PUT',
  path: '/api/v1/account/webhooks/:id',
  access: 'customer',
  asksAgain: true,
  summary: 'Change address or events, switch it off or on; what is not named stays',
  params: idParam,
  body: z.strictObject({
    url: z.optional(url),
    events: z.optional(events),
    enabled: z.optional(z.boolean()),
  }),
  result: Webhook,
})
export const deleteWebhook = endpoint({
  method: 'DELETE',
  path: '/api/v1/account/webhooks/:id',
  access: 'customer',
  summary: 'Call an address no more; its deliveries go with it',
  params: idParam,
  result: z.null(),
})
export const rotateSecret = endpoint({
  method: 'POST',
  path: '/api/v1/account/webhooks/:id/secret',
  access: 'customer',
  asksAgain: true,
  summary: 'Sign with a new secret; for 24 hours the earlier one signs beside it',
  params: idParam,
  result: WithSecret,
})
export const testWebhook = endpoint({
  method: 'POST',
  path: '/api/v1/account/webhooks/:id/test',
  access: 'customer',
  summary: 'Send the event webhook.test to an address',
  params: idParam,
  result: z.object({ id: z.string() }),
  status: 201,
})
export const listDeliveries = endpoint({
  method: 'GET',
  path: '/api/v1/account/webhooks/:id/deliveries',
  access: 'customer',
  summary: 'What was sent to an address within 30 days, or waits to be, the newest first',
  params: idParam,
  query: z.object({ ...pageQuery }),
  result: z.object({ webhook: Webhook, deliveries: z.array(Delivery) }),
  paged: true,
})
export const replayDelivery = endpoint({
  method: 'POST',
  path: '/api/v1/account/webhooks/:id/deliveries/:delivery/replay',
  access: 'customer',
  summary: 'Send a delivery once more, under the same webhook-id',
  params: deliveryParams,
  result: Delivery,
})
