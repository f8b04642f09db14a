/**
 * The cookie that identifies a browser: a random name, kept for 90 days, unreadable for scripts,
 * and sent to the sign-in endpoint only. It grants no access. A browser that signed in to an
 * account before is not delayed by other people's failed sign-ins.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

const name = 'portal_browser'
const keptSeconds = 90 * 86_400
const form = /^[\w-]{43}$/

export const newBrowser = (): string => randomBytes(32).toString('base64url')

/** The name that this request's browser has; undefined where it has none of ours. */
export function browserOf(request: FastifyRequest): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value = ''] = pair.trim().split('=')
    if (key === name && form.test(value)) return value
  }
  return undefined
}

/** The header's value (RFC 6265). `https`: it is never sent in the clear. */
export const browserCookie = (browser: string, https: boolean): string =>
  `${name}=${browser}; Path=/api/v1/auth; Max-Age=${keptSeconds}; HttpOnly; SameSite=Lax` +
  `${https ? '; Secure' : ''}`
