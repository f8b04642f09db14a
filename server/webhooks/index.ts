/** Outgoing webhooks: what happens to a customer, told to addresses of theirs (decision 103). */
export { forgetEndpoints, listEndpoints, pauseEndpoints } from './endpoints.ts'
export { createReceivers, publicHttps, readReceiver } from './receiver.ts'
export { routes } from './routes.ts'
export { createSender, defineSending } from './send.ts'
export { dropOldDeliveries } from './store.ts'
