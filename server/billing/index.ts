/** Billing: invoices and subscriptions, charged from the wallet. */
export { createBilling, type Billing } from './billing.ts'
export { findInvoices, invoiceName, invoicesOfCustomer, openInvoices } from './desk.ts'
export { jobNames } from './context.ts'
export type { Offer, Product, Subject } from './product.ts'
export { routes } from './routes.ts'
export { createInvoiceLinks, type InvoiceLinks } from './links.ts'
export { titles } from './titles.ts'
export { accountingCsv } from './accounting.ts'
