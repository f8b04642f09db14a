/**
 * The state that the edge needs for HTTPS: certificates, the authorities' challenges, and the hosts
 * that tell browsers to use HTTPS only. The portal sends all of it (CertificateFeed).
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

/** The portal's calls. Every call may be repeated. */
export interface CertificateFeed {
  /**
   * Sets the complete list of certificates, and the hosts whose owners have chosen for how many
   * seconds browsers use HTTPS only. Answers the names whose certificate is missing. `readAt` grows
   * with the database: a list that another process read before the last one is outdated and
   * ignored.
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

/** After this long, ms, an older `readAt` is accepted: the database was restored. */
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
 * The redirect of a visitor by HTTP to HTTPS, if the host has a certificate. Challenges are
 * excluded, because authorities use HTTP for a site's own challenges too. A named port is that of
 * HTTP, so it is not 80: then the port of HTTPS is not 443 either and is added.
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
