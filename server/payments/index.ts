/**
 * Payments: topping up the wallet through gateways. Only a verified update of a gateway credits.
 */
export { moneyInSuspense, paymentStatuses, recentPayments, undecidedRefunds } from './counts.ts'
export type { WaitingMoney } from './counts.ts'
export {
  findBankReferences,
  findPayments,
  paymentName,
  paymentOf,
  paymentsOfCustomer,
  suspenseOf,
  waitingInSuspense,
} from './desk.ts'
export { updateOutcomes, type PaymentDriver } from './driver.ts'
export { createLetters, type Letters } from './letters.ts'
export { openOperatorTools, openPayments } from './open.ts'
export { NotRefundable, type Refunds } from './refunds.ts'
export { reconcile } from './reconcile.ts'
export { routes } from './routes.ts'
export { assignSuspense, assignSuspenseIn, NotAssignable } from './suspense.ts'
export { titles } from './titles.ts'
export { available, cardsOf, takesRegion, tokensOf } from './routing.ts'
export { dropForgedWebhooks, type WebhookObserver } from './webhooks.ts'
