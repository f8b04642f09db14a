/**
 * Fields about a person: name, phone, password, address. Separate from the calls, which not every
 * screen needs.
 */
import * as z from 'zod/mini'
import { oneLine } from './text.ts'

export const password = z
  .string()
  .check(
    z.minLength(8, { error: 'password_length' }),
    z.maxLength(128, { error: 'password_length' }),
  )
/** E.164, or a local form that phone.ts reads. Spaces, dots, dashes and brackets are allowed. */
export const phone = z
  .string()
  .check(z.trim(), z.maxLength(32), z.regex(/^\+?[\d\s().-]{8,24}$/, { error: 'phone' }))
export const otp = z.string().check(z.trim(), z.regex(/^\d{6}$/, { error: 'otp_form' }))

export const personName = oneLine(1, 100)

/** A street, and a place that `searchLocations` finds. */
export const Address = z.strictObject({
  line: oneLine(0, 200),
  locationId: z.string().check(z.maxLength(100)),
})
