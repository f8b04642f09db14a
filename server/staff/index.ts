/** The operator's staff: members, their invitations and their sessions (decision 90). */
export {
  changeMember,
  disableMember,
  approversOf,
  emailsOf,
  enableMember,
  lettersAbout,
  listStaff,
  memberNames,
  memberOf,
  type Member,
} from './members.ts'
export {
  createInvitations,
  endInvitation,
  voidInvitations,
  withdrawInvitation,
  type Invitations,
} from './invitations.ts'
export { createStaffSignIn, identifyStaff, staffOfSession } from './sign-in.ts'
export { dropOldStaffSessions } from './sessions.ts'
export { routes } from './routes.ts'
