/**
 * Registration, and resetting a forgotten password (contract.md section 2). What every screen needs
 * is in auth.ts.
 */
import * as z from 'zod/mini'
import { email } from './auth.ts'
import { endpoint } from './endpoint.ts'
import { regionCode } from './money.ts'
import { normalisePhone } from './phone.ts'
import { Address, otp, password, personName, phone } from './person.ts'

/** The message for an invalid phone number, with an example of the region. */
const phoneFault = (example: string) => ({
  en: `Enter a mobile number, such as ${example}.`,
  vi: `Nhập số điện thoại di động, ví dụ ${example}.`,
})
export const phoneFaults = {
  VN: phoneFault('0912 345 678'),
  AUD: phoneFault('0412 345 678'),
  USD: phoneFault('(415) 555-0100'),
  EURO: phoneFault('+49 1512 3456789'),
}

export const Registration = z
  .strictObject({
    name: personName,
    email,
    phone,
    password,
    region_code: regionCode,
    address: z.optional(Address),
  })
  .check(({ value, issues }) => {
    if (normalisePhone(value.phone, value.region_code) !== undefined) return
    issues.push({
      code: 'custom',
      params: phoneFaults[value.region_code],
      path: ['phone'],
      input: value.phone,
    })
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
  summary:
    'Another phone for an account that is not active yet; a new code goes there (once a minute)',
  body: z.strictObject({
    email,
    password: z.string().check(z.minLength(1), z.maxLength(128)),
    phone,
  }),
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
