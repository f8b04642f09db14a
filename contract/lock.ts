/** The lock of a session (contract.md section 8). */
import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { SignedIn } from './session.ts'

export const lock = endpoint({
  method: 'POST',
  path: '/api/v1/auth/lock',
  access: 'customer',
  member: 'self',
  summary: 'Lock this session: until it is unlocked it answers 401 session_locked',
  result: z.null(),
})

export const unlock = endpoint({
  method: 'POST',
  path: '/api/v1/auth/unlock',
  access: 'customer',
  summary: 'Unlock this session with the password; it goes on under a new token and cookie',
  body: z.strictObject({ password: z.string().check(z.minLength(1), z.maxLength(128)) }),
  result: SignedIn,
  whileLocked: true,
})
