/**
 * The session cookie, an alternative to the API's bearer token (contract.md section 8). No script
 * can read it. No other site's page can send it with a write (SameSite=Lax). A write by cookie also
 * carries a CSRF token in a header, which only our own pages can have read.
 */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { cookieOf } from './browser-cookie.ts'
import { sameText } from './constant-time.ts'

/** The header with the CSRF token, in requests and in responses. */
export const csrfHeader = 'x-csrf-token'

/**
 * The CSRF token of a session's cookie. It changes with the cookie, needs no row of its own, and
 * does not reveal the cookie.
 */
export const csrfTokenOf = (cookie: string): string =>
  createHash('sha256').update(`csrf:${cookie}`).digest('base64url')

export interface HostCookie {
  /** The name for the scheme of the portal's address; it is in the OpenAPI document. */
  readonly name: string
  /** The value that a request carries; undefined where there is none of ours. */
  read(request: FastifyRequest): string | undefined
  /** The header that sets the cookie: for this many seconds, or until the browser is closed. */
  kept(request: FastifyRequest, value: string, maxAgeSeconds?: number): string
  /** The header that deletes the cookie in the browser. */
  dropped(request: FastifyRequest): string
}

/**
 * `__Host-` binds the cookie to this very host and to https, so that no neighbour under the same
 * domain can set one (RFC 6265bis, 4.1.3). Without https the prefix is not allowed. Then the name
 * contains the port, because browsers share cookies between all ports of a host, and two portals on
 * one machine would overwrite each other's.
 */
export function createHostCookie(what: 'session' | 'device', portalUrl: string): HostCookie {
  const { protocol, port } = new URL(portalUrl)
  const isHttps = (request: FastifyRequest): boolean =>
    protocol === 'https:' || request.protocol === 'https'
  const nameFor = (https: boolean): string =>
    https ? `__Host-portal_${what}` : `portal_${what}_${port || '80'}`
  const header = (request: FastifyRequest, value: string, maxAgeSeconds?: number): string => {
    const https = isHttps(request)
    const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
    const secure = https ? '; Secure' : ''
    return `${nameFor(https)}=${value}; Path=/${age}; HttpOnly; SameSite=Lax${secure}`
  }
  return {
    name: nameFor(protocol === 'https:'),
    read: (request) => cookieOf(request, nameFor(isHttps(request))),
    kept: header,
    dropped: (request) => header(request, '', 0),
  }
}

/**
 * The cookie of a session of the operator's staff: sent with the desk's calls alone, and never with
 * anything that another site's page asks for. `__Host-` allows no path (RFC 6265bis, 4.1.3.2).
 */
export function createStaffCookie(portalUrl: string): HostCookie {
  const { protocol, port } = new URL(portalUrl)
  const isHttps = (request: FastifyRequest): boolean =>
    protocol === 'https:' || request.protocol === 'https'
  const nameFor = (https: boolean): string =>
    https ? '__Secure-portal_operator' : `portal_operator_${port || '80'}`
  const header = (request: FastifyRequest, value: string, maxAgeSeconds?: number): string => {
    const https = isHttps(request)
    const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`
    const secure = https ? '; Secure' : ''
    return (
      `${nameFor(https)}=${value}; Path=${staffPath}${age}; HttpOnly; ` + `SameSite=Strict${secure}`
    )
  }
  return {
    name: nameFor(protocol === 'https:'),
    read: (request) => cookieOf(request, nameFor(isHttps(request))),
    kept: header,
    dropped: (request) => header(request, '', 0),
  }
}
/** Below it are the desk's calls. */
const staffPath = '/api/operator'

/** Whether a request tells the CSRF token of the cookie that it carries. */
export function tellsCsrfToken(request: FastifyRequest, cookie: string): boolean {
  const told = request.headers[csrfHeader]
  return typeof told === 'string' && sameText(told, csrfTokenOf(cookie))
}
