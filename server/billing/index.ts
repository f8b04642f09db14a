/** Billing: invoices and subscriptions, charged from the wallet. */
export { explainInvoice } from './explain.ts'
export { createBilling, jobNames, type Billing } from './invoices.ts'
export { routes } from './routes.ts'
export { hostedUrl } from './store.ts'
