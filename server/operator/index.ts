/**
 * The operator's desk: search, customers, and acts, each with a name, a reason and a place in the
 * trail (decisions 91 and 92).
 */
export { defineEndedProposals } from './ended-proposals.ts'
export { forgetAtDesk, forgetClosed } from './forget.ts'
export { commandActor, type ActNeeds } from './acts.ts'
export { previewImport } from './import-preview.ts'
export { previewOf } from './catalog-preview.ts'
export { carryOut, endpointOf, perform, wantedOf } from './perform.ts'
export { routes } from './routes.ts'
export { holdTrail, listActs, verifyTrail } from './trail.ts'
export { identifyView } from './views.ts'
