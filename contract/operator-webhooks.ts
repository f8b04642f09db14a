/**
 * The operator's own outgoing webhooks: events of all customers, sent to the provider's own
 * programs (decision 131). They are called and signed like those of customers.
 */
import * as z from 'zod/mini'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { eventNames } from './events.ts'
import { needed, unneeded } from './operator-act.ts'
import { Delivery, Webhook } from './webhooks.ts'

/** Most webhooks of the operator. */
export const mostOperatorWebhooks = 10
/** Most deliveries that one act sends again. */
export const mostResent = 10_000

/** Events that customers do not receive, or not in every case. */
export const operatorOnlyEvents = [
  'customer.registered',
  'customer.closed',
  'data_request.received',
  'dispute.opened',
  'dispute.decided',
  'payment.in_suspense',
  'ticket.customer_wrote',
  'node.lost',
  'wordpress.rescue_failed',
  'proposal.made',
  'proposal.decided',
] as const
export type OperatorOnlyEvent = (typeof operatorOnlyEvents)[number]

/**
 * What the operator's outbox accepts. `ticket.opened` is for a ticket from a sender who is no
 * customer.
 */
export type OutboxOfOperator = OperatorOnlyEvent | 'ticket.opened'

export const operatorEventNames = [...eventNames, ...operatorOnlyEvents] as const
export type OperatorEventName = (typeof operatorEventNames)[number]
/** What an event is about: the first word of its name. */
export type OperatorEventGroup = OperatorEventName extends `${infer Group}.${string}`
  ? Group
  : never

const event = z.enum(operatorEventNames)
const id = z.string().check(z.maxLength(100))
const url = z.string().check(z.trim(), z.minLength(1), z.maxLength(500))
const events = z.array(event).check(z.minLength(1), z.maxLength(operatorEventNames.length))
const webhook = { webhook: id }

/** `disabled.reason` is `owner` when a member switched the webhook off. */
export const OperatorWebhook = z.extend(Webhook, { events: z.array(event) })
export type OperatorWebhook = z.output<typeof OperatorWebhook>

export const listOperatorWebhooks = endpoint({
  method: 'GET',
  path: '/api/operator/outgoing-webhooks',
  access: 'staff',
  may: 'work',
  summary: 'Addresses of the operator that are called when something happens, the newest first',
  result: z.array(OperatorWebhook),
})
export const listOperatorDeliveries = endpoint({
  method: 'GET',
  path: '/api/operator/outgoing-webhooks/:id/deliveries',
  access: 'staff',
  may: 'work',
  summary: 'What was sent to an address of the operator within 30 days, or waits, newest first',
  params: idParam,
  query: z.object({ ...pageQuery }),
  result: z.object({ webhook: OperatorWebhook, deliveries: z.array(Delivery) }),
  paged: true,
})

export const outgoingWebhookActs = {
  'outgoing_webhook.add': needed(
    'outgoing_webhook.add',
    'outgoing',
    'Send events of all customers to an address; the secret that signs is told once',
    { url, events },
  ),
  'outgoing_webhook.change': needed(
    'outgoing_webhook.change',
    'outgoing',
    'Change the address or the events of an outgoing webhook; what is not named stays',
    { ...webhook, url: z.optional(url), events: z.optional(events) },
  ),
  'outgoing_webhook.renew_secret': needed(
    'outgoing_webhook.renew_secret',
    'outgoing',
    'Sign with a new secret; for 24 hours the earlier one signs beside it',
    webhook,
  ),
  'outgoing_webhook.remove': needed(
    'outgoing_webhook.remove',
    'outgoing',
    'Call an address no more; its deliveries go with it',
    webhook,
  ),
  'outgoing_webhook.pause': needed(
    'outgoing_webhook.pause',
    'work',
    'Call an address no more until it is resumed; what waits is given up',
    webhook,
  ),
  'outgoing_webhook.resume': needed(
    'outgoing_webhook.resume',
    'work',
    'Call an address again that was paused, or that failed for too long',
    webhook,
  ),
  'outgoing_webhook.test': unneeded(
    'outgoing_webhook.test',
    'work',
    'Send the event webhook.test to an address',
    webhook,
  ),
  'outgoing_webhook.resend': unneeded(
    'outgoing_webhook.resend',
    'work',
    'Send a delivery once more, under the same webhook-id',
    { ...webhook, delivery: id },
  ),
  'outgoing_webhook.resend_failed': needed(
    'outgoing_webhook.resend_failed',
    'work',
    'Send once more what failed since a moment, the oldest first, at most 10,000 at once',
    { ...webhook, since: z.iso.datetime({ offset: true }) },
  ),
} as const
