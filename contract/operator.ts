/** The operator's staff: signing in, invitations and members (decision 90). */
import * as z from 'zod/mini'
import { email } from './auth.ts'
import { endpoint } from './endpoint.ts'
import { otp, password } from './person.ts'
import { staffRoles } from './staff-roles.ts'

export const staffRole = z.enum(staffRoles)
/** The token of an invitation: 32 random bytes, base64url. */
const token = z.string().check(z.minLength(1), z.maxLength(100))

export const StaffSession = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: staffRole,
  /** Whether letters about waiting tickets and disputes go to the member. */
  getsLetters: z.boolean(),
  /** For the header x-csrf-token of every call except GET. */
  csrfToken: z.string(),
  /** Eight hours after the session was opened, used or not. */
  expiresAt: z.string(),
})
export type StaffSession = z.output<typeof StaffSession>

export const staffSignIn = endpoint({
  method: 'POST',
  path: '/api/operator/sign-in',
  access: 'public',
  whileClosed: true,
  summary: 'Sign a member of the staff in: e-mail, password and a code of the app, in one call',
  body: z.strictObject({
    email,
    password: z.string().check(z.minLength(1), z.maxLength(128)),
    code: otp,
  }),
  unkept: true,
  result: StaffSession,
})
export const staffSignOut = endpoint({
  method: 'POST',
  path: '/api/operator/sign-out',
  access: 'staff',
  may: 'look',
  summary: 'End the session of the member of the staff',
  result: z.null(),
})
export const staffSession = endpoint({
  method: 'GET',
  path: '/api/operator/session',
  access: 'staff',
  may: 'look',
  summary: 'Who is signed in to the desk',
  result: StaffSession,
})

export const chooseStaffLetters = endpoint({
  method: 'PUT',
  path: '/api/operator/letters-wanted',
  access: 'staff',
  may: 'look',
  summary: 'Switch one’s own letters about waiting tickets and disputes on or off',
  body: z.strictObject({ getsLetters: z.boolean() }),
  result: z.object({ getsLetters: z.boolean() }),
})

export const openInvitation = endpoint({
  method: 'POST',
  path: '/api/operator/invitation',
  access: 'public',
  whileClosed: true,
  summary: 'What an invitation is for, and the secret of the app that its codes will come from',
  body: z.strictObject({ token }),
  result: z.object({
    name: z.string(),
    email: z.string(),
    role: staffRole,
    /** Base32; `uri` has the same secret as an otpauth address for a QR code. */
    secret: z.string(),
    uri: z.string(),
  }),
})
export const acceptInvitation = endpoint({
  method: 'POST',
  path: '/api/operator/invitation/accept',
  access: 'public',
  whileClosed: true,
  summary: 'Become a member of the staff: a password, and a code that proves the app',
  body: z.strictObject({ token, password, code: otp }),
  unkept: true,
  result: StaffSession,
  status: 201,
})

export const StaffMember = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: staffRole,
  /** CIDR; empty: from anywhere. */
  networks: z.array(z.string()),
  createdAt: z.string(),
  lastSignInAt: z.nullable(z.string()),
  disabledAt: z.nullable(z.string()),
})
export type StaffMember = z.output<typeof StaffMember>
export const StaffInvitation = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: staffRole,
  networks: z.array(z.string()),
  expiresAt: z.string(),
})
export const staff = endpoint({
  method: 'GET',
  path: '/api/operator/staff',
  access: 'staff',
  may: 'look',
  summary: 'Who works here, and whose invitation is open',
  result: z.object({ members: z.array(StaffMember), invitations: z.array(StaffInvitation) }),
})
