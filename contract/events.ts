/** Names of the events that are sent to customers' browsers and programs. */
export const eventNames = [
  'invoice.create',
  'subscribe.create',
  'subscription.created',
  'subscription.updated',
  'subscription.price_announced',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.lapsed',
  'wordpress.status',
  'wordpress.disk',
  'wordpress.certificate',
  'wordpress.mail',
  'wordpress.update',
  'wordpress.domain',
  'wallet.credited',
  'wallet.low',
  'wallet.refunded',
  'wallet.refund_failed',
  'wallet.chargeback',
  'wallet.chargeback_returned',
  'wallet.adjusted',
  'wallet.credit_line',
  'wallet.auto_top_up',
  'dns.status',
  'ticket.opened',
  'ticket.answered',
  'ticket.closed',
  'ticket.reopened',
  'hand_over.given',
  'hand_over.taken',
] as const
/** How a server stands. */
export const serverStates = [
  'pending_payment',
  'provisioning',
  'running',
  'suspended',
  'failed',
  'deleting',
] as const

export type EventName = (typeof eventNames)[number]
