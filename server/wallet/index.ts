/** The wallet: a customer's account in the double-entry ledger. Nothing else writes the ledger's tables. */
export { checkLedger, type LedgerFinding } from './check.ts'
export { createLedger, type Details, type Ledger, type Outcome } from './ledger.ts'
export { routes } from './routes.ts'
