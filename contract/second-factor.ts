/**
 * The second factor: codes of an app (RFC 6238), passkeys, recovery codes, and trusted devices.
 * Customers without a second factor are never asked for one.
 */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'
import { SignedIn } from './session.ts'
import { oneLine } from './text.ts'

const password = z.string().check(z.minLength(1), z.maxLength(128))
/** Six digits from the app, or a recovery code. */
const code = z.string().check(z.trim(), z.minLength(6), z.maxLength(20))
const name = z.string().check(z.minLength(1), z.maxLength(100))
/** What the browser's WebAuthn answers, as JSON (W3C, Web Authentication Level 3, 5.1). */
const response = z
  .record(z.string(), z.unknown())
  // The credential is looked up by `id`.
  .check(z.refine(({ id }) => id === undefined || typeof id === 'string'))
/** The options for the browser's WebAuthn, as JSON. */
const PasskeyOptions = z.object({
  challenge: z.string(),
  options: z.record(z.string(), z.unknown()),
})

export const secondFactor = endpoint({
  method: 'POST',
  path: '/api/v1/auth/second-factor',
  access: 'public',
  summary: 'Go on with a sign-in that was answered with 403 second_factor_required',
  body: z.strictObject({
    /** `error.challenge` of that answer; valid for ten minutes and five wrong codes. */
    challenge: name,
    code,
    /** This browser is not asked for the second factor again for 30 days. */
    trust: z.optional(z.boolean()),
  }),
  result: SignedIn,
})

export const passkeyOptions = endpoint({
  method: 'POST',
  path: '/api/v1/auth/passkey/options',
  access: 'public',
  summary: 'Begin to use a passkey: to sign in without a password, or to be asked again',
  result: PasskeyOptions,
})
export const passkeySignIn = endpoint({
  method: 'POST',
  path: '/api/v1/auth/passkey',
  access: 'public',
  summary: 'Sign in with a passkey',
  body: z.strictObject({ challenge: name, response, remember: z.optional(z.boolean()) }),
  result: SignedIn,
})

export const reauthenticate = endpoint({
  method: 'POST',
  path: '/api/v1/auth/reauthenticate',
  access: 'customer',
  member: 'self',
  summary:
    'Prove the second factor again, by a code or a passkey: for ten minutes calls that are ' +
    'answered with 403 reauthentication_required are open',
  body: z.union([z.strictObject({ code }), z.strictObject({ challenge: name, response })]),
  result: z.null(),
})

export const notMe = endpoint({
  method: 'POST',
  path: '/api/v1/auth/not-me',
  access: 'public',
  whileClosed: true,
  summary: 'By the link of a letter about a sign-in: every session ends, and so does the password',
  body: z.strictObject({ token: name }),
  result: z.object({ email: z.string() }),
})

export const Passkey = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.string(),
  lastUsedAt: z.nullable(z.string()),
})
export type Passkey = z.output<typeof Passkey>
export const Security = z.object({
  /** Whether codes of an app are a factor of this account. */
  totp: z.boolean(),
  passkeys: z.array(Passkey),
  /** The origin on which passkeys work; null: the portal's address allows none. */
  passkeyOrigin: z.nullable(z.string()),
  recoveryCodesLeft: z.int(),
  /** Devices that are not asked for the second factor. */
  devices: z.array(
    z.object({
      id: z.string(),
      ip: z.string(),
      userAgent: z.string(),
      createdAt: z.string(),
      expiresAt: z.string(),
    }),
  ),
})
export type Security = z.output<typeof Security>

/** Recovery codes: given once, with the first second factor of the account; otherwise null. */
const WithCodes = z.object({ recoveryCodes: z.nullable(z.array(z.string())) })

export const security = endpoint({
  method: 'GET',
  path: '/api/v1/account/security',
  access: 'customer',
  seen: true,
  summary: 'The second factor of the signed-in customer, without any secret',
  result: Security,
})
export const beginTotp = endpoint({
  method: 'POST',
  path: '/api/v1/account/security/totp',
  access: 'customer',
  summary: 'Begin to use an app: its secret, and the same as an otpauth address for a QR code',
  body: z.strictObject({ password }),
  result: z.object({ secret: z.string(), uri: z.string() }),
  asksAgain: true,
})
export const confirmTotp = endpoint({
  method: 'POST',
  path: '/api/v1/account/security/totp/confirm',
  access: 'customer',
  summary: 'Use the app from now on: its first code proves that it has the secret',
  body: z.strictObject({ code }),
  result: WithCodes,
})
export const removeTotp = endpoint({
  method: 'DELETE',
  path: '/api/v1/account/security/totp',
  access: 'customer',
  summary: 'Use the app no longer',
  result: z.null(),
  asksAgain: true,
})
export const beginPasskey = endpoint({
  method: 'POST',
  path: '/api/v1/account/security/passkeys/options',
  access: 'customer',
  summary: 'Begin to add a passkey',
  body: z.strictObject({ password }),
  result: PasskeyOptions,
  asksAgain: true,
})
export const addPasskey = endpoint({
  method: 'POST',
  path: '/api/v1/account/security/passkeys',
  access: 'customer',
  summary: 'Add a passkey',
  body: z.strictObject({ challenge: name, response, name: oneLine(1, 60) }),
  result: WithCodes,
  status: 201,
})
export const removePasskey = endpoint({
  method: 'DELETE',
  path: '/api/v1/account/security/passkeys/:id',
  access: 'customer',
  summary: 'Remove a passkey',
  params: idParam,
  result: z.null(),
  asksAgain: true,
})
export const newRecoveryCodes = endpoint({
  method: 'POST',
  path: '/api/v1/account/security/recovery-codes',
  access: 'customer',
  summary: 'Ten new recovery codes in the place of those before',
  result: z.object({ recoveryCodes: z.array(z.string()) }),
  asksAgain: true,
})
export const forgetDevice = endpoint({
  method: 'DELETE',
  path: '/api/v1/account/security/devices/:id',
  access: 'customer',
  summary: 'Ask a device for the second factor again',
  params: idParam,
  result: z.null(),
})
