/** The variables of DNS: the server of customers' zones, and the resolvers. */
import * as z from 'zod'
import { isHostName } from '../../contract/dns-records.ts'
import {
  blankMeansFault,
  portNumber,
  address,
  choice,
  addressList,
  defaultNameServers,
  nameServersOf,
} from './rules.ts'

export const dnsVariables = {
  DNS_DRIVER: {
    about:
      'What answers DNS queries: the name server inside the portal (embedded), powerdns or ' +
      'cloudflare.',
    schema: choice('DNS_DRIVER', ['embedded', 'powerdns', 'cloudflare'], 'embedded'),
    example: 'embedded',
  },
  POWERDNS_URL: {
    about: "Where PowerDNS's HTTP API listens, without /api/v1; for DNS_DRIVER=powerdns.",
    schema: address('POWERDNS_URL').optional(),
    example: '',
  },
  POWERDNS_API_KEY: {
    about: "The api-key of PowerDNS's configuration.",
    schema: blankMeansFault('POWERDNS_API_KEY').optional(),
    example: '',
  },
  CLOUDFLARE_API_TOKEN: {
    about:
      'Token with Zone:Edit and DNS:Edit on the account; for DNS_DRIVER=cloudflare. Its ' +
      'custom name servers must be DNS_NAME_SERVERS.',
    schema: blankMeansFault('CLOUDFLARE_API_TOKEN').optional(),
    example: '',
  },
  CLOUDFLARE_ACCOUNT_ID: {
    about: 'The account that has the zones.',
    schema: blankMeansFault('CLOUDFLARE_ACCOUNT_ID').optional(),
    example: '',
  },
  DNS_NAME_SERVERS: {
    about:
      'Names of the name servers, from which each customer gets a pair: ' +
      'ns[1-64].dns.example.vn, or a list with commas. All lead to DNS_ADDRESSES, and the zone ' +
      'above them holds nothing else. The default is an example: set your own for customers.',
    schema: z
      .string()
      .default(defaultNameServers)
      .transform(nameServersOf)
      .refine(
        (names) => new Set(names).size >= 4 && names.every((name) => isHostName(name)),
        'DNS_NAME_SERVERS must be four or more host names with commas between them, such as ' +
          'ns[1-64].dns.example.vn.',
      ),
    example: defaultNameServers,
  },
  DNS_ADDRESSES: {
    about:
      'Public addresses of the name servers, with commas between them. Without it HOST, or ' +
      '127.0.0.1 where that is every address (0.0.0.0).',
    schema: addressList('DNS_ADDRESSES', false),
    example: '',
  },
  DNS_AXFR_ALLOW: {
    about: 'Addresses of secondaries that may fetch whole zones (AXFR).',
    schema: addressList('DNS_AXFR_ALLOW', false),
    example: '',
  },
  DNS_ROOT_SERVERS: {
    about:
      'Where checking a delegation begins, such as 192.0.2.1,[2001:db8::1]:5353. Without it: ' +
      "the world's root servers, or the sandbox's registry.",
    schema: addressList('DNS_ROOT_SERVERS', true),
    example: '',
  },
  SANDBOX_DNS_PORT: {
    about:
      "Port of the sandbox's registry (root and top-level domains), UDP and TCP. Without it: " +
      'any free one.',
    schema: portNumber('SANDBOX_DNS_PORT').transform(Number).optional(),
    example: '',
  },
  DNS_RESOLVERS: {
    about:
      "Resolvers that customers' names are looked up at unless our own name server knows " +
      "them, such as 1.1.1.1,9.9.9.9. Without it: the system's own.",
    schema: addressList('DNS_RESOLVERS', true),
    example: '',
  },
} as const
