/** Becoming a customer, and coming back without the password (contract.md section 2). What every screen needs is in auth.ts. */
import * as z from 'zod/mini'
import { email } from './auth.ts'
import { endpoint } from './endpoint.ts'
import { regionCode } from './money.ts'

export const password = z.string().check(z.minLength(8, { error: 'password_length' }), z.maxLength(128, { error: 'password_length' }))
/** E.164, or a Vietnamese local form (0912…) that the server normalises. Spaces, dots, dashes and brackets are let through. */
export const phone = z.string().check(z.trim(), z.maxLength(32), z.regex(/^\+?[\d\s().-]{8,24}$/, { error: 'phone' }))
export const otp = z.string().check(z.trim(), z.regex(/^\d{6}$/, { error: 'otp_form' }))

/** +84912345678 from any accepted form, or undefined. Local Vietnamese numbers begin with 0 and have ten digits. */
export function normalisePhone(text: string): string | undefined {
  const digits = text.replace(/[\s().-]/g, '')
  if (/^0[35789]\d{8}$/.test(digits)) return `+84${digits.slice(1)}`
  if (/^84[35789]\d{8}$/.test(digits)) return `+${digits}`
  if (digits.startsWith('+84')) return /^\+84[35789]\d{8}$/.test(digits) ? digits : undefined
  return /^\+[1-9]\d{7,14}$/.test(digits) ? digits : undefined
}

/** A street and its place, one of those that `searchLocations` finds. */
export const Address = z.strictObject({
  line: z.string().check(z.trim(), z.maxLength(200)),
  locationId: z.string().check(z.maxLength(100)),
})

export const Registration = z.strictObject({
  name: z.string().check(z.trim(), z.minLength(1), z.maxLength(100)),
  email,
  phone,
  password,
  region_code: regionCode,
  address: z.optional(Address),
})

export const register = endpoint({
  method: 'POST',
  path: '/api/v1/auth/register',
  access: 'public',
  summary: 'Create an account; a one-time code goes to the phone',
  body: Registration,
  result: z.object({ id: z.string() }),
  status: 201,
})

export const activate = endpoint({
  method: 'POST',
  path: '/api/v1/auth/active',
  access: 'public',
  summary: 'Activate an account with the one-time code',
  body: z.strictObject({ email, code: otp }),
  result: z.null(),
})

export const sendCode = endpoint({
  method: 'POST',
  path: '/api/v1/auth/send',
  access: 'public',
  summary: 'Send the activation code again (once a minute)',
  body: z.strictObject({ email }),
  result: z.null(),
})

export const correctPhone = endpoint({
  method: 'POST',
  path: '/api/v1/auth/active/phone',
  access: 'public',
  summary: 'Another phone for an account that is not active yet; a new code goes there (once a minute)',
  body: z.strictObject({ email, password: z.string().check(z.minLength(1), z.maxLength(128)), phone }),
  result: z.null(),
})

export const recover = endpoint({
  method: 'POST',
  path: '/api/v1/auth/recover',
  access: 'public',
  summary: 'Send a password recovery code by email',
  body: z.strictObject({ email }),
  result: z.null(),
})

export const reset = endpoint({
  method: 'POST',
  path: '/api/v1/auth/reset',
  access: 'public',
  summary: 'Set a new password with the recovery code; every session ends',
  body: z.strictObject({ email, code: otp, password }),
  result: z.null(),
})
