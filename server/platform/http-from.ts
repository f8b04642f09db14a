/** What is known of a call before its body is read: who calls, from where, with which cookies. */
import type { FastifyRequest } from 'fastify'
import { browserCookie, browserOf, newBrowser } from './browser-cookie.ts'
import type { Caller, From } from './http-calls.ts'
import { languageOfRequest } from './http-failures.ts'
import type { StaffCaller } from './http-staff.ts'
import { networkOf } from './network.ts'
import { csrfHeader, csrfTokenOf, type HostCookie } from './session-cookie.ts'

const maxUserAgentChars = 300

export interface CookieJar {
  readonly session: HostCookie
  readonly device: HostCookie
  readonly staff: HostCookie
  /** The portal's own address is https: the browser's cookie is Secure. */
  readonly isHttps: boolean
}

/**
 * The cookies that a handler sets wait in `answerHeaders`: they are sent, and kept, with its answer
 * alone, so that nothing is handed over for work that was rolled back.
 */
export function fromOf(
  request: FastifyRequest,
  cookies: CookieJar,
  { caller, staff }: { caller: Caller | undefined; staff: StaffCaller | undefined },
): From {
  const browser = browserOf(request) ?? newBrowser()
  const answerHeaders: [string, string][] = []
  const set = (header: string): void => void answerHeaders.push(['set-cookie', header])
  const heldBy = (jar: HostCookie) => ({
    cookie: jar.read(request),
    keep: (cookie: string, maxAge?: number) => set(jar.kept(request, cookie, maxAge)),
    drop: () => set(jar.dropped(request)),
  })
  const held = heldBy(cookies.session)
  return {
    answerHeaders,
    customerId: caller?.customerId ?? '',
    caller,
    language: languageOfRequest(request),
    ip: request.ip,
    from: {
      ip: request.ip,
      network: networkOf(request.ip),
      browser,
      userAgent: (request.headers['user-agent'] ?? '').slice(0, maxUserAgentChars),
    },
    keepBrowser: () => set(browserCookie(browser, cookies.isHttps)),
    held: {
      ...held,
      keep(cookie, maxAge) {
        held.keep(cookie, maxAge)
        answerHeaders.push([csrfHeader, csrfTokenOf(cookie)])
      },
    },
    device: heldBy(cookies.device),
    staff,
    staffHeld: heldBy(cookies.staff),
  }
}
