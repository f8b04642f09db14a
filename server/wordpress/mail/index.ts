/** E-mail of sites: taken from their nodes, sent by the portal's relay, watched. */
export { createMailCollector } from './collect.ts'
export { countMail, mailOfSites } from './counts.ts'
export { suspensionCauses } from './letters.ts'
export { openMailOperator, type MailOperator } from './operator.ts'
export { mailRoutes } from './routes.ts'
export { defineSending } from './send.ts'
export { mechanismFor } from './spf.ts'
export { dropOldMail } from './store.ts'
