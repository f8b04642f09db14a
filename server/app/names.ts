/** Customers' DNS zones, and certificates for the host names of their servers. */
import { certifiableNames } from '../certifiable-names.ts'
import { zoneOfReader } from '../catalog/index.ts'
import * as certificates from '../certificates/index.ts'
import { createDelegation, createDns, dnsPort, ownAddresses } from '../dns/index.ts'
import * as wordpress from '../wordpress/index.ts'
import type { Base } from './base.ts'
import type { Sites } from './sites.ts'

export type Names = ReturnType<typeof openNames>

export function openNames(base: Base, sites: Sites) {
  const { config, db, clock, log, jobs, secrets, drivers, portalUrl, realtime, notices } = base
  const { messages, accounts, catalog, registryPort, timing } = base
  const { nodes, otherNodes, domains, lookup, siteAddresses, addressing } = sites
  const nameServerAddresses = ownAddresses(config.DNS_ADDRESSES, config.HOST)
  const dns = createDns({
    db,
    clock,
    jobs,
    log,
    outbox: realtime,
    notices,
    driver: drivers.dns,
    delegation: createDelegation({
      roots:
        config.DNS_ROOT_SERVERS.length > 0 || registryPort === null
          ? config.DNS_ROOT_SERVERS
          : [`127.0.0.1:${registryPort}`],
      withSandbox: registryPort !== null,
      own:
        config.DNS_DRIVER === 'embedded'
          ? {
              addresses: ownAddresses([], config.HOST),
              port: config.DNS_PORT,
              names: config.DNS_NAME_SERVERS,
            }
          : { addresses: nameServerAddresses, port: dnsPort, names: config.DNS_NAME_SERVERS },
      sites: {
        addresses: async () => (await siteAddresses(addressing.host)) ?? [],
        certificateIssuers: config.SITES_CERTIFICATE_ISSUERS,
      },
    }),
    pool: config.DNS_NAME_SERVERS,
    addresses: nameServerAddresses,
    aliasesOf: lookup.cname,
  })

  const tls = certificates.createCertificates({
    db,
    clock,
    log,
    jobs,
    secrets,
    isEnabled: config.SITES_TLS_PORT !== undefined,
    names: certifiableNames(config, db, domains),
    edges: () =>
      nodes.reachable().flatMap(({ node }) => {
        const edge =
          node === config.NODE_NAME ? drivers.certificates : otherNodes.get(node)?.certificates
        return edge ? [edge] : []
      }),
    dns: dns.challenges,
    authorities: drivers.authorities,
    warn: (tx, of) =>
      wordpress.warnOfCertificate(
        tx,
        {
          outbox: realtime,
          portalUrl,
          mail: messages.mail,
          owner: async (from, id) => {
            const owner = await accounts.customer(from, id)
            return { ...owner, zone: zoneOfReader(catalog, owner) }
          },
        },
        of,
      ),
    contact: config.ACME_EMAIL,
    allowed: {
      ordersIn3Hours: config.ACME_ORDERS_IN_3_HOURS,
      aWeek: config.ACME_CERTIFICATES_A_WEEK,
    },
    times: timing?.certificates,
  })
  return { dns, tls }
}
