/**
 * Outgoing webhooks: what happens to a customer, told to addresses of theirs (decision 103), and
 * what happens to all of them, to addresses of the operator (decision 131).
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
