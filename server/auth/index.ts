/**
 * Customers' identity: registration, activation by a code to the phone, sign-in, recovery; and
 * changes that customers make to their accounts.
 */
export { actingOf, actingUntil, beginActing, endActingOf, sessionsOpenTo } from './acting.ts'
export { createAccounts, customersByIds, type Accounts } from './accounts.ts'
export type { AuthNeeds } from './needs.ts'
export { tidyAuth } from './tidy.ts'
export { accountsThatAre, closedName, eraseAccount, holdAccount } from './close-account.ts'
export type { EndLive } from './session.ts'
export { accountRoutes } from './account-routes.ts'
export {
  accountStory,
  createAccountActs,
  findCustomers,
  letterAddress,
  showCustomers,
  type AccountActs,
} from './desk.ts'
export {
  activeCustomer,
  customerOfMailbox,
  customerOfRecipient,
  holdOpenAccount,
  isActivated,
} from './find-account.ts'
export { listCustomers } from './desk-list.ts'
export { formerOwners } from './former-addresses.ts'
export { addressesHeld, createImported, shownPhone } from './imported.ts'
export { createProfile } from './profile.ts'
export { routes } from './routes.ts'
export { createBreachCheck, type RefuseBreached } from './breached-passwords.ts'
export { refuseCommon } from './password-rules.ts'
export { hashPassword, spendVerification, verifyPassword } from './password.ts'
export { identify, openSessionOf } from './session.ts'
export { createDelays } from './sign-in-delays.ts'
export { matchingStep, newTotpSecret, otpauthUri } from './totp.ts'
export { isProven } from './second-factor.ts'
export { secondFactorRoutes } from './second-factor-routes.ts'
export { endViews, openView, prepareView, viewOf } from './views.ts'
