/**
 * What the edge needs to speak HTTPS: certificates, the authorities' challenges, and which hosts
 * tell browsers to come by HTTPS alone. The portal sends all of it (CertificateFeed).
 */
import type { OutgoingHttpHeaders } from 'node:http'
import {
  createCertificateStore,
  type CertificateStore,
  type EdgeCertificate,
} from './certificates.ts'
import { createChallenges, isChallenge, type Challenge, type Challenges } from './challenges.ts'
import type { VisitorRequest } from './http2.ts'

export interface EdgeHttps {
  /** 0: the system chooses. */
  readonly port: number
  readonly certificates: CertificateStore
  readonly challenges: Challenges
  /** Seconds for Strict-Transport-Security; undefined where its owner has not chosen. */
  secondsFor(host: string): number | undefined
}

/** What the portal says. Every call may be repeated. */
export interface CertificateFeed {
  /**
   * All certificates that there are from now on, and the hosts whose owners have chosen for how
   * many seconds browsers come by HTTPS alone. Answers the names whose certificate is wanted.
   * `readAt` grows with the database: what was read before the last one, by another process, is
   * old, and changes nothing.
   */
  compare(
    list: readonly Pick<EdgeCertificate, 'name' | 'version'>[],
    httpsOnly: readonly (readonly [host: string, seconds: number])[],
    readAt: number,
  ): string[]
  put(certificates: readonly EdgeCertificate[]): void
  challenge(challenge: Challenge): void
  dropChallenge(token: string): void
}

/** Beyond so long an older reading is of a database that was restored. */
const orderedMs = 60_000

/** `port`: of HTTPS; 0: the system chooses. `openAtOnce`: certificates that are kept ready. */
export function createHttps(
  port: number,
  log: { warn(detail: object, message: string): void },
  openAtOnce?: number,
): EdgeHttps & { readonly feed: CertificateFeed } {
  const certificates = createCertificateStore(log, openAtOnce)
  const challenges = createChallenges()
  let httpsOnly: ReadonlyMap<string, number> = new Map()
  let last = { readAt: 0, at: 0 }
  return {
    port,
    certificates,
    challenges,
    secondsFor: (host) => httpsOnly.get(host),
    feed: {
      compare(list, hosts, readAt) {
        const now = performance.now()
        if (readAt < last.readAt && now - last.at < orderedMs) return []
        last = { readAt, at: now }
        httpsOnly = new Map(hosts)
        return certificates.compare(list)
      },
      put: certificates.put,
      challenge: challenges.put,
      dropChallenge: challenges.drop,
    },
  }
}

/** An answer that the edge gives in the site's place. */
export interface Instead {
  readonly status: 200 | 301 | 308
  readonly headers: OutgoingHttpHeaders
  readonly body: string
}

export function challengeOf(
  { challenges }: EdgeHttps,
  name: string,
  path: string,
): Instead | undefined {
  const body = challenges.answerTo(name, path)
  if (body === undefined) return undefined
  const headers = { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(body) }
  return { status: 200, headers, body }
}

/**
 * Where a visitor by HTTP is sent: to HTTPS, when the host has a certificate. Authorities ask by
 * HTTP, for a site's own challenges, too. Who named a port came by that of HTTP, which is not 80:
 * then that of HTTPS is not 443 either.
 */
export function redirectOf(
  { certificates, port }: EdgeHttps,
  name: string,
  target: { readonly host: string; readonly path: string },
  request: VisitorRequest,
): Instead | undefined {
  if (isChallenge(target.path) || !certificates.covers(name)) return undefined
  const place = /:\d+$/.test(target.host) && port !== 443 ? `:${port}` : ''
  // 308 keeps the method and the body (RFC 9110, 15.4.9); older programs know 301 alone.
  const status = request.method === 'GET' || request.method === 'HEAD' ? 301 : 308
  const location = `https://${name}${place}${target.path}`
  const headers: OutgoingHttpHeaders = { location, 'content-length': 0 }
  if (!request.complete) headers['connection'] = 'close'
  return { status, headers, body: '' }
}
