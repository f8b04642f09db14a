/** Payments: topping up the wallet through gateways. Only a gateway's own verified word credits. */
export { createCheckout } from './checkout.ts'
export type { PaymentDriver } from './driver.ts'
export { routes } from './routes.ts'
export { available } from './routing.ts'
export { createSettlement } from './settle.ts'
export { dropForgedNotices } from './webhooks.ts'
