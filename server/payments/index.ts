/**
 * Payments: topping up the wallet through gateways. Only a gateway's verified update credits a
 * wallet.
 */
export {
  moneyInSuspense,
  paymentStatuses,
  paymentsUnderWay,
  recentPayments,
  undecidedRefunds,
} from './counts.ts'
export { autoTopUpOfCustomer } from './auto-top-up-desk.ts'
export { createOnCharged } from './auto-top-up-run.ts'
export { forgetAddresses, forgetAutoTopUp } from './forget.ts'
export { forgetCardsJob } from './forget-cards.ts'
export type { WaitingMoney } from './counts.ts'
export {
  customerOfPayment,
  findBankReferences,
  findPayments,
  paymentName,
  paymentOf,
  paymentsOfCustomer,
  refundOf,
  suspenseOf,
  waitingInSuspense,
} from './desk.ts'
export { compareJob, settleDifferenceJob } from './differences.ts'
export { soonestEvidence } from './dispute-letters.ts'
export { countOpenDisputes, disputeMoney, disputeOf, listDisputes } from './dispute-desk.ts'
export { NotAnswerable, type Answered, type DisputeAnswers } from './disputes.ts'
export { updateOutcomes, type PaymentDriver } from './driver.ts'
export { createLetters, type Letters } from './letters.ts'
export { listNotices, noticeOf } from './notice-desk.ts'
export { openOperatorTools, openPayments } from './open.ts'
export { NotRefundable, type BegunRefund, type Refunds, type RefundWay } from './refund-terms.ts'
export { reconcile } from './reconcile.ts'
export { closeQuestion, openQuestions, questionOf } from './open-questions.ts'
export { holdingsOfGateways, listPayouts, payoutOf } from './payout-desk.ts'
export { linesOfFile, NotReadable } from './payout-file.ts'
export { matchPayout } from './payout-match.ts'
export { PaidOutBefore, readPayoutsJob, recordPayout } from './payouts.ts'
export { routes } from './routes.ts'
export { assignSuspenseIn, customerMeant, NotAssignable, returnSuspenseIn } from './suspense.ts'
export { titles } from './titles.ts'
export { available, cardsOf, takesRegion, tokensOf } from './routing.ts'
export { createVouchers, listVouchers, makeVoucher, stopVoucher } from './vouchers.ts'
export { dropForgedWebhooks, replayNotice, type WebhookObserver } from './webhooks.ts'
