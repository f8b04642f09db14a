/**
 * Outgoing webhooks: a customer's events, sent to the customer's addresses (decision 103), and all
 * customers' events, sent to the operator's addresses (decision 131).
 */
export { listEndpoints, pauseEndpoints } from './endpoints.ts'
export { forgetEndpoints } from './forget.ts'
export {
  createOutgoingWebhooks,
  listOutgoing,
  outgoingDeliveries,
  type OutgoingWebhooks,
} from './operators.ts'
export { createReceivers, publicHttps, readReceiver } from './receiver.ts'
export { routes } from './routes.ts'
export { createSender, defineSending } from './send.ts'
export { dropOfClosed, dropOldDeliveries } from './store.ts'
