/** HTTPS of a customer's server: its certificates, and whether browsers come by HTTPS alone. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

/**
 * Why there is no certificate, or no new one. `not_pointed`: the name does not lead to the server.
 * `dns`, `connection`, `unauthorized`: what the authority saw when it looked. `caa`: the domain's
 * CAA record names other authorities. `rate_limited`: as many as it allows were issued. `refused`:
 * it issues none for this name. `unavailable`: it did not answer. `account`: it refuses the
 * provider's account, and `zone_elsewhere`: the zone is not on the provider's name servers, which
 * only the provider can mend.
 */
export const certificateProblems = [
  'not_pointed',
  'dns',
  'connection',
  'unauthorized',
  'caa',
  'rate_limited',
  'refused',
  'unavailable',
  'account',
  'zone_elsewhere',
] as const
export type CertificateProblem = (typeof certificateProblems)[number]

export const CertificateState = z.object({
  /** The host name that visitors type. */
  name: z.string(),
  /**
   * `issued`: visitors come by HTTPS. `pending`: it is being asked for. `failed`: there is none,
   * and the last try came to nothing. `expired`: there was one.
   */
  state: z.enum(['issued', 'pending', 'failed', 'expired']),
  /** Who issued it; null until somebody has. */
  issuer: z.nullable(z.string()),
  issuedAt: z.nullable(z.string()),
  expiresAt: z.nullable(z.string()),
  /** Why the last try, or the renewal of one that is still valid, came to nothing. */
  problem: z.nullable(
    z.object({
      code: z.enum(certificateProblems),
      /** In the authority's own words, or what was found. */
      detail: z.string(),
      at: z.string(),
    }),
  ),
  /** When it is tried again, or renewed. */
  nextAt: z.string(),
})
export type CertificateState = z.output<typeof CertificateState>

export const SiteHttps = z.object({
  /** False: the provider speaks HTTPS elsewhere, and nothing is known of certificates here. */
  enabled: z.boolean(),
  /** Browsers that came by HTTPS once come by it alone for a year; null: never chosen. */
  httpsOnly: z.nullable(z.boolean()),
  certificates: z.array(CertificateState),
})
export type SiteHttps = z.output<typeof SiteHttps>

export const getHttps = endpoint({
  method: 'GET',
  path: '/api/wp/:id/https',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: "The certificates of a server's names, and why one is missing",
  params: idParam,
  result: SiteHttps,
})
export const changeHttps = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/https',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Whether browsers are told to come by HTTPS alone (HSTS), for a year',
  params: idParam,
  body: z.strictObject({ httpsOnly: z.boolean() }),
  result: SiteHttps,
})
export const retryCertificate = endpoint({
  method: 'POST',
  path: '/api/wp/:id/https/:name/retry',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Ask for a certificate now, and not only when its next try is due',
  params: z.object({
    id: z.string().check(z.maxLength(100)),
    name: z.string().check(z.maxLength(300)),
  }),
  result: SiteHttps,
})
