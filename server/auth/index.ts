/**
 * Who a customer is: registration, activation by a code to the phone, sign-in, recovery; and what
 * customers change of it themselves.
 */
export { createAccounts, type Accounts } from './accounts.ts'
export type { AuthNeeds } from './needs.ts'
export { tidyAuth } from './tidy.ts'
export { accountRoutes } from './account-routes.ts'
export { createProfile } from './profile.ts'
export { routes } from './routes.ts'
export { hashPassword } from './password.ts'
export { identify } from './session.ts'
