/**
 * Payments: topping up the wallet through gateways. Only a verified update of a gateway credits.
 */
export { moneyInSuspense, paymentStatuses, recentPayments, undecidedRefunds } from './counts.ts'
export type { WaitingMoney } from './counts.ts'
export { updateOutcomes, type PaymentDriver } from './driver.ts'
export { createLetters } from './letters.ts'
export { openOperatorTools, openPayments } from './open.ts'
export { NotRefundable } from './refunds.ts'
export { reconcile } from './reconcile.ts'
export { routes } from './routes.ts'
export { assignSuspense, NotAssignable } from './suspense.ts'
export { titles } from './titles.ts'
export { available, cardsOf, takesRegion, tokensOf } from './routing.ts'
export { dropForgedWebhooks, type WebhookObserver } from './webhooks.ts'
