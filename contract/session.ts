/**
 * Sessions (contract.md sections 2 and 8), held by a bearer token, or by a cookie with a CSRF
 * token. What every screen needs is in auth.ts.
 */
import * as z from 'zod/mini'
import { email } from './auth.ts'
import { endpoint } from './endpoint.ts'

/** A session as shown to the browser that holds it. */
export const BrowserSession = z.object({
  id: z.string(),
  /** For the header X-CSRF-Token; null where no cookie holds the session. */
  csrfToken: z.nullable(z.string()),
  /** Kept for 30 days, used or not. */
  remembered: z.boolean(),
  /** When the session ends if it is not used. */
  expiresAt: z.string(),
  locked: z.boolean(),
})
export type BrowserSession = z.output<typeof BrowserSession>

/** The token of a session, and the session: the answer to signing in and to unlocking. */
export const SignedIn = z.object({
  token: z.object({ accessToken: z.string(), expiresAt: z.string() }),
  session: BrowserSession,
})
export type SignedIn = z.output<typeof SignedIn>

export const login = endpoint({
  method: 'POST',
  path: '/api/v1/auth/login',
  access: 'public',
  summary: 'Sign in: a bearer token, and a cookie (HttpOnly) that holds the same session',
  body: z.strictObject({
    email,
    password: z.string().check(z.minLength(1), z.maxLength(128)),
    /**
     * Sent by a sign-in screen. True keeps session and cookie for 30 days. False keeps them until
     * the browser is closed or was idle for twelve hours. Either way the browser's previous session
     * ends.
     */
    remember: z.optional(z.boolean()),
  }),
  result: SignedIn,
})

export const currentSession = endpoint({
  method: 'GET',
  path: '/api/v1/auth/session',
  access: 'public',
  member: 'self',
  whileClosed: true,
  seen: true,
  identifies: true,
  summary: 'The session that the token or the cookie of this call holds; null where there is none',
  result: z.nullable(BrowserSession),
  whileLocked: true,
})
