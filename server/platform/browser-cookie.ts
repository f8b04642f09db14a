/**
 * The cookie that identifies a browser: a random name, kept for 90 days, unreadable for scripts,
 * and sent to the sign-in endpoint only. It grants no access. A browser that signed in to an
 * account before is not delayed by other people's failed sign-ins.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

const name = 'portal_browser'
const keptSeconds = 90 * 86_400

export const newBrowser = (): string => randomBytes(32).toString('base64url')

/** 256 random bits in base64url: the form of both cookies of ours. */
const form = /^[\w-]{43}$/
/** The value of a cookie of ours in a request; undefined where there is none of that form. */
export function cookieOf(request: FastifyRequest, cookie: string): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value = ''] = pair.trim().split('=')
    if (key === cookie && form.test(value)) return value
  }
  return undefined
}

/** The name that this request's browser has; undefined where it has none of ours. */
export const browserOf = (request: FastifyRequest): string | undefined => cookieOf(request, name)

/** The header's value (RFC 6265). `https`: it is never sent in the clear. */
export const browserCookie = (browser: string, https: boolean): string =>
  `${name}=${browser}; Path=/api/v1/auth; Max-Age=${keptSeconds}; HttpOnly; SameSite=Lax` +
  `${https ? '; Secure' : ''}`
