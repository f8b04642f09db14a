/** HTTPS of a customer's server: its certificates, and whether browsers must use HTTPS. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

/**
 * Why there is no certificate, or no new one. `not_pointed`: the name does not lead to the server.
 * `dns`, `connection`, `unauthorized`: the authority's check of the name failed in this way. `caa`:
 * the domain's CAA record names other authorities. `rate_limited`: the authority's limit of
 * certificates is used up. `refused`: the authority issues none for this name. `unavailable`: the
 * authority did not answer. Only the provider can resolve the last two. `account`: the authority
 * refuses the provider's account. `zone_elsewhere`: the zone is not on the provider's name servers.
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
   * `issued`: visitors use HTTPS. `pending`: a certificate is being requested. `failed`: there is
   * no certificate, and the last attempt failed. `expired`: the last certificate has expired.
   */
  state: z.enum(['issued', 'pending', 'failed', 'expired']),
  /** Who issued the certificate; null: none was issued yet. */
  issuer: z.nullable(z.string()),
  issuedAt: z.nullable(z.string()),
  expiresAt: z.nullable(z.string()),
  /** Why the last attempt failed, including the renewal of a certificate that is still valid. */
  problem: z.nullable(
    z.object({
      code: z.enum(certificateProblems),
      /** The authority's own words, or what the portal found. */
      detail: z.string(),
      at: z.string(),
    }),
  ),
  /** When the next attempt or renewal is due. */
  nextAt: z.string(),
})
export type CertificateState = z.output<typeof CertificateState>

export const SiteHttps = z.object({
  /** False: HTTPS is handled elsewhere, and the portal knows nothing about certificates. */
  enabled: z.boolean(),
  /** True: browsers that came by HTTPS once use only HTTPS for a year; null: never chosen. */
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
