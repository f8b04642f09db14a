/** The customer's own account: profile, password, contacts, sessions, sign-in history. */
import * as z from 'zod/mini'
import { email } from './auth.ts'
import { Address, otp, password, personName, phone } from './person.ts'
import { oneLine } from './text.ts'
import { endpoint, idParam, pageQuery } from './endpoint.ts'
import { regionCode } from './money.ts'
import { Location } from './system.ts'

/** A name of the IANA time zone database that this machine knows. */
export function isTimeZone(name: string): boolean {
  // An offset such as +07:00 is no zone: it knows no summer time.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const language = z.enum(['en', 'vi', 'aud'])
const currentPassword = z.string().check(z.minLength(1), z.maxLength(128))
/**
 * A tax or business number of any country: 0312345678-001, 51 824 753 556, DE811907980. The portal
 * does not check that the number exists.
 */
const taxCode = z.string().check(
  z.trim(),
  z.maxLength(30),
  z.refine((text) => /^[A-Za-z0-9][A-Za-z0-9 ./-]*$/.test(text), {
    params: {
      en: 'Use letters without accents, digits, spaces and . / -',
      vi: 'Dùng chữ cái không dấu, chữ số, dấu cách và . / -',
    },
  }),
)
const timeZone = z.string().check(
  z.maxLength(64),
  z.refine(isTimeZone, {
    params: {
      en: 'Choose a time zone from the list.',
      vi: 'Hãy chọn một múi giờ trong danh sách.',
    },
  }),
)

export const Account = z.object({
  name: z.string(),
  email: z.string(),
  /** Whether a code or a link sent to the address was used in this account. */
  emailProven: z.boolean(),
  phone: z.string(),
  region_code: regionCode,
  /** The customer's choice, or the region's default. */
  language,
  /** IANA; null: the browser's own time zone. */
  timeZone: z.nullable(z.string()),
  /** The address on later invoices; `location` null: the place is no longer in any list. */
  address: z.nullable(z.object({ line: z.string(), location: z.nullable(Location) })),
  /** The buyer on invoices, instead of the name. */
  company: z.nullable(z.string()),
  taxCode: z.nullable(z.string()),
  createdAt: z.string(),
})
export type Account = z.output<typeof Account>

export const account = endpoint({
  method: 'GET',
  path: '/api/v1/account',
  access: 'customer',
  member: 'money:read',
  seen: true,
  summary: 'The account of the signed-in customer',
  result: Account,
})

export const changeAccount = endpoint({
  method: 'PUT',
  path: '/api/v1/account',
  access: 'customer',
  member: 'money:write',
  summary: 'Change name, language, time zone or what invoices name; what is not named stays',
  body: z.strictObject({
    name: z.optional(personName),
    language: z.optional(language),
    timeZone: z.optional(z.nullable(timeZone)),
    address: z.optional(z.nullable(Address)),
    company: z.optional(z.nullable(oneLine(1, 150))),
    taxCode: z.optional(z.nullable(taxCode)),
  }),
  result: Account,
})

export const changePassword = endpoint({
  method: 'PUT',
  path: '/api/v1/account/password',
  access: 'customer',
  summary: 'Set a new password; every other session ends',
  body: z.strictObject({ current: currentPassword, password }),
  result: z.null(),
  asksAgain: true,
})

export const changeEmail = endpoint({
  method: 'POST',
  path: '/api/v1/account/email',
  access: 'customer',
  summary:
    'Begin to change the email address, or to confirm the present one: a code goes there (once a ' +
    'minute)',
  body: z.strictObject({ email, password: currentPassword }),
  result: z.null(),
  asksAgain: true,
})
export const confirmEmail = endpoint({
  method: 'POST',
  path: '/api/v1/account/email/confirm',
  access: 'customer',
  summary: 'Change the email address with the code, or confirm it; the old address is told',
  body: z.strictObject({ code: otp }),
  result: Account,
})

export const changePhone = endpoint({
  method: 'POST',
  path: '/api/v1/account/phone',
  access: 'customer',
  summary: 'Begin to change the phone number: a code goes to the new one (once a minute)',
  body: z.strictObject({ phone, password: currentPassword }),
  result: z.null(),
  asksAgain: true,
})
export const confirmPhone = endpoint({
  method: 'POST',
  path: '/api/v1/account/phone/confirm',
  access: 'customer',
  summary: 'Change the phone number with the code; the email address is told',
  body: z.strictObject({ code: otp }),
  result: Account,
})

export const Session = z.object({
  id: z.string(),
  /** The session that makes this call. */
  current: z.boolean(),
  ip: z.nullable(z.string()),
  userAgent: z.nullable(z.string()),
  createdAt: z.string(),
  lastUsedAt: z.string(),
  /** Kept for 30 days, used or not. */
  remembered: z.boolean(),
  /** True when a member of the operator's staff sees the portal as the customer does. */
  isView: z.boolean(),
})
export type Session = z.output<typeof Session>

export const sessions = endpoint({
  method: 'GET',
  path: '/api/v1/account/sessions',
  access: 'customer',
  seen: true,
  summary: 'Where the customer is signed in, the last used first',
  result: z.array(Session),
})
export const revokeSession = endpoint({
  method: 'DELETE',
  path: '/api/v1/account/sessions/:id',
  access: 'customer',
  summary: 'End one session; its live connections close',
  params: idParam,
  result: z.null(),
})
export const revokeOthers = endpoint({
  method: 'POST',
  path: '/api/v1/account/sessions/revoke-others',
  access: 'customer',
  summary: 'End every session but this one',
  result: z.object({ ended: z.int() }),
})

export const SignIn = z.object({
  id: z.string(),
  at: z.string(),
  ip: z.string(),
  userAgent: z.string(),
  /**
   * `viewed`: a member of the operator's staff viewed the account; such a row has no address or
   * device.
   */
  outcome: z.enum(['succeeded', 'failed', 'viewed']),
  /** With `viewed`: when the view ended, or ends at the latest. Otherwise null. */
  until: z.nullable(z.string()),
})
export type SignIn = z.output<typeof SignIn>

export const signIns = endpoint({
  method: 'GET',
  path: '/api/v1/account/sign-ins',
  access: 'customer',
  seen: true,
  summary: "Sign-ins, and looks of the operator's staff, of the last 90 days, newest first",
  query: z.object(pageQuery),
  result: z.array(SignIn),
  paged: true,
})
