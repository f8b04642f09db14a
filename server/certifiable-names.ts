/** The host names of the portal and of customers' servers that need certificates. */
import type { CertifiableNames } from './certificates/index.ts'
import type { Config } from './config.ts'
import { isLoopback } from './platform/loopback.ts'
import type { Database } from './platform/db.ts'
import { namesOfSite, namesToCertify, type Domains } from './wordpress/index.ts'

export function certifiableNames(
  config: Pick<Config, 'SITES_DOMAIN' | 'portalBehindEdge'>,
  db: Database,
  domains: Pick<Domains, 'standing'>,
): CertifiableNames {
  const own = [
    ...(config.portalBehindEdge?.split(' ').slice(0, 1) ?? []),
    ...(config.SITES_DOMAIN === undefined ? [] : [`*.${config.SITES_DOMAIN}`]),
  ]
  return {
    own,
    page: (after, limit) => namesToCertify(db, after, limit),
    ofSite: (siteId) => namesOfSite(db, siteId),
    standing: async (name) => (own.includes(name) ? { is: 'ready' } : await domains.standing(name)),
  }
}

/**
 * Whether a call came from the edge on this machine, which states the visitor's address.
 * @param host the portal's listening address, from which the edge calls
 */
export const isOwnEdge =
  (host: string) =>
  (address: string): boolean =>
    isLoopback(address.replace(/^::ffff:/, '')) || address === host
