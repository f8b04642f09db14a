/** Billing: invoices and subscriptions, charged from the wallet. */
export { createBilling, type Billing } from './billing.ts'
export {
  findInvoices,
  invoiceName,
  invoicesOfCustomer,
  openInvoices,
  paidForAnother,
} from './desk.ts'
export { deskInvoice, deskInvoiceFile } from './desk-invoice.ts'
export { createDeskSubscriptions, type DeskSubscriptions } from './desk-subscriptions.ts'
export { giveSubscription, holdForHandOver, type Terms } from './hand-over.ts'
export { jobNames } from './context.ts'
export { couponLine, listCoupons, makeCoupon, stopCoupon } from './coupons.ts'
export { countOverdue, overduePage } from './overdue.ts'
export { outlookOf } from './outlook.ts'
export { plannedOf, type Offer, type Product, type Subject } from './product.ts'
export { routes } from './routes.ts'
export { createInvoiceLinks, type InvoiceLinks } from './links.ts'
export { holdToPrice } from './other-price.ts'
export { dayIn } from './period.ts'
export { titles } from './titles.ts'
export { accountingCsv } from './accounting.ts'
export { changeCreditLine, type ChangeCreditLine } from './credit-lines.ts'
