/**
 * Members of a customer's account: invitations, roles, and the record of their acts (decision 107).
 */
export { createNoteAct, dropOldActs } from './acts.ts'
export { forgetTeam } from './forget.ts'
export { dropOldInvitations } from './invitations.ts'
export { countAccounts, endTeamSince, membershipOf, type EndWork } from './members.ts'
export { quiet } from './letters.ts'
export { memberIdOf, memberIdsOf, ownersOf } from './members.ts'
export { routes } from './routes.ts'
