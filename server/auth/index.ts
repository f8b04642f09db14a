/** Who a customer is: registration, activation by a code to the phone, sign-in, recovery. */
export { createAccounts } from './accounts.ts'
export { routes } from './routes.ts'
export { hashPassword } from './password.ts'
export { dropExpired, identify } from './session.ts'
