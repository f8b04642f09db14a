/**
 * The wallet: a customer's account in the double-entry ledger. Nothing else writes the ledger's
 * tables.
 */
export { entryPage, type Filter } from './entries.ts'
export { checkAndNote, checkLedger, lastCheck } from './check.ts'
export { ledgerFigures } from './figures.ts'
export { owesAnything } from './debts.ts'
export {
  awaitingCreditLetters,
  endCreditLine,
  shownLine,
  takeCreditLetter,
  type CreditLine,
} from './credit-lines.ts'
export { creditDebtPage } from './credit-debts.ts'
export { byteOrderMark, csvRow } from './csv.ts'
export { journalEntries, revenueAt, revenueEntries, type Span } from './journal.ts'
export { createLedger } from './ledger.ts'
export type { Balance, Ledger } from './posting.ts'
export { gatewayPostings, holdingsOf, postingOf } from './postings.ts'
export { routes } from './routes.ts'
