/** Payments: topping up the wallet through gateways. Only a gateway's own verified word credits. */
export type { PaymentDriver } from './driver.ts'
export { openOperatorTools, openPayments } from './open.ts'
export { NotRefundable } from './refunds.ts'
export { reconcile } from './reconcile.ts'
export { routes } from './routes.ts'
export { assignSuspense, NotAssignable } from './suspense.ts'
export { available, cardsOf, takesRegion, tokensOf } from './routing.ts'
export { dropForgedNotices } from './webhooks.ts'
