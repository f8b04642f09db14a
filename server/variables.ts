/** Every variable of the environment: its rule, its default, and what .env.example says of it. */
import path from 'node:path'
import * as z from 'zod'
import { isHostName } from '../contract/dns-records.ts'
import { certificateVariables } from './certificate-variables.ts'
import {
  amountsOf,
  blankMeansFault,
  isHost,
  folderProblem,
  headersOf,
  portNumber,
  portOrOff,
  port,
  address,
  choice,
  listed,
  noAmounts,
  addressList,
  databaseAddress,
  wholeNumber,
  defaultNameServers,
  nameServersOf,
  everyRole,
  hostAndPort,
  isAddressAndPort,
  type Role,
} from './variable-rules.ts'

/** One row a variable: its schema and what .env.example says of it. */
export const variables = {
  ENV_FILE: {
    about:
      'Another file in the place of .env. Read from the environment alone; every start and ' +
      'command reads the file, and SIGHUP reads it anew.',
    schema: blankMeansFault('ENV_FILE').optional(),
    example: '',
  },
  ROLES: {
    about:
      'What this machine does of the portal, with commas between: api (pages, API, realtime), ' +
      'worker (jobs), dns (the name server), node (customers’ sites and their edge). ' +
      'docs/operate.md, "Several machines".',
    schema: z
      .string()
      .default(everyRole.join(','))
      .transform((text) => listed(text.toLowerCase()))
      .refine(
        (given) => given.length > 0 && given.every((one) => everyRole.includes(one as Role)),
        `ROLES must be some of ${everyRole.join(', ')}, with commas between them.`,
      )
      .transform((given): ReadonlySet<Role> => new Set(given as Role[])),
    example: everyRole.join(','),
  },
  PORTAL_PROCESSES: {
    about:
      'How many processes of the portal (api, worker) share its port on this machine. Each ' +
      'takes some 100 MB and its own connections to the database.',
    schema: z
      .string()
      .default('1')
      .refine(
        (text) => /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 32,
        'PORTAL_PROCESSES must be a number from 1 to 32.',
      )
      .transform(Number),
    example: '1',
  },
  NODE_NAME: {
    about: 'What the node of this machine is called; the first one is main.',
    schema: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9-]{0,39}$/,
        'NODE_NAME must have 1 to 40 small letters, digits and hyphens.',
      )
      .default('main'),
    example: 'main',
  },
  NODE_REGIONS: {
    about:
      'Ids of the data centres in catalog.yaml that this node stands in, with commas between ' +
      'them. Without it: every one.',
    schema: z
      .string()
      .default('')
      .refine(
        (text) => listed(text).every((one) => /^[1-9]\d{0,8}$/.test(one)),
        'NODE_REGIONS must be ids of data centres, with commas between them.',
      )
      .transform((text) => (listed(text).length === 0 ? null : listed(text).map(Number))),
    example: '',
  },
  NODE_LISTEN: {
    about:
      'Where portals of other machines reach the node and the name server of this one, ' +
      'host:port; for trusted networks, encrypted under NODE_KEY. Without it: nowhere.',
    schema: hostAndPort('NODE_LISTEN').optional(),
    example: '',
  },
  NODE_ADDRESS: {
    about: 'The address of NODE_LISTEN as other machines know it, if it is another one.',
    schema: hostAndPort('NODE_ADDRESS').optional(),
    example: '',
  },
  NODE_LEASE_MINUTES: {
    about:
      'For how long portals let a node on a machine without api and worker take writes after ' +
      'their last word; then its sites are only read. So long a lost machine is waited for. off: ' +
      'without an end; then the servers of a lost machine come up elsewhere only when somebody ' +
      'says that it is off.',
    schema: z
      .string()
      .default('60')
      .refine(
        // Longer than anything that a portal has held when it was cut off (updateHoldMs).
        (text) =>
          text === 'off' || (/^\d{1,4}$/.test(text) && Number(text) >= 15 && Number(text) <= 1440),
        'NODE_LEASE_MINUTES must be a number from 15 to 1440, or off.',
      )
      .transform((text) => (text === 'off' ? null : Number(text))),
    example: '60',
  },
  NODE_KEY: {
    about:
      'What `npm run portal -- node key <NODE_NAME>` says; for NODE_LISTEN on a machine without ' +
      'api and worker.',
    schema: z.string().min(32, 'NODE_KEY must have at least 32 characters.').optional(),
    example: '',
  },
  NODE_SITES_ADDRESS: {
    about: 'Address and port of the sites on this node, for the edges of other nodes: ip:port.',
    schema: hostAndPort('NODE_SITES_ADDRESS')
      .refine(
        (text) => isAddressAndPort(text),
        'NODE_SITES_ADDRESS must be an IP address and port.',
      )
      .optional(),
    example: '',
  },
  NAME_SERVER_ADDRESS: {
    about:
      'Where the machine with the role dns listens (its NODE_LISTEN), for a portal without that ' +
      'role.',
    schema: hostAndPort('NAME_SERVER_ADDRESS').optional(),
    example: '',
  },
  NAME_SERVER_KEY: {
    about: 'What `npm run portal -- node key <its NODE_NAME>` says.',
    schema: z.string().min(32, 'NAME_SERVER_KEY must have at least 32 characters.').optional(),
    example: '',
  },
  PORT: {
    about: 'Port of the portal: pages, API, realtime.',
    schema: port('PORT', 8080),
    example: '8080',
  },
  SANDBOX_PORT: {
    about: 'Port of the sandbox that stands in for third parties.',
    schema: port('SANDBOX_PORT', 8081),
    example: '8081',
  },
  SITES_PORT: {
    about: "Port of the customers' sites.",
    schema: port('SITES_PORT', 8082),
    example: '8082',
  },
  ...certificateVariables,
  DNS_PORT: {
    about: 'Port of the name server, UDP and TCP.',
    schema: port('DNS_PORT', 8053),
    example: '8053',
  },
  SFTP_PORT: {
    about:
      'Port of SFTP to the files of servers; off: none. Without it 8022, unless something else ' +
      'listens there.',
    schema: portOrOff('SFTP_PORT').optional(),
    example: '',
  },
  SFTP_ADDRESS: {
    about:
      "Host and port that customers are told for SFTP, where they are not PORTAL_URL's host and " +
      'SFTP_PORT.',
    schema: hostAndPort('SFTP_ADDRESS').optional(),
    example: '',
  },
  HOST: {
    about: 'Address to listen on.',
    schema: blankMeansFault('HOST')
      .refine(isHost, 'HOST must be an IP address or a host name.')
      .default('127.0.0.1'),
    example: '127.0.0.1',
  },
  DATA_DIR: {
    about: 'Folder of everything that lasts: database, sites, secret.',
    schema: blankMeansFault('DATA_DIR')
      .default('./data')
      .transform((text) => path.resolve(text))
      .refine(
        (folder) => folderProblem(folder) !== 'file',
        'DATA_DIR must be a folder, or a place where one can be made: there is a file in the way.',
      )
      .refine(
        (folder) => folderProblem(folder) !== 'closed',
        'DATA_DIR lies in a folder that this user may not enter.',
      ),
    example: './data',
  },
  DATABASE_URL: {
    about:
      'A PostgreSQL 15+ server. Without it the portal boots its own. Several hosts with commas ' +
      'between are a primary and its replicas.',
    schema: databaseAddress('DATABASE_URL').optional(),
    example: '',
  },
  DATABASE_CONNECTION_POOL_URL: {
    about:
      'The same database through a pooler (PgBouncer, pool_mode=transaction), for calls and ' +
      'jobs. What needs a session of its own goes to DATABASE_URL.',
    schema: databaseAddress('DATABASE_CONNECTION_POOL_URL').optional(),
    example: '',
  },
  DATABASE_CONNECTION_POOL_MAX: {
    about: 'Connections that a process of the portal opens for calls and jobs, at most.',
    schema: wholeNumber('DATABASE_CONNECTION_POOL_MAX', 4, 200, 20),
    example: '20',
  },
  PORTAL_URL: {
    about: 'The address that customers see. Without it: http://<HOST>:<PORT>.',
    schema: address('PORTAL_URL')
      .refine(
        (text) => !URL.canParse(text) || /^\/*$/.test(new URL(text).pathname),
        'PORTAL_URL must have no path: the pages are at /.',
      )
      .transform((text) => text.replace(/\/+$/, ''))
      .optional(),
    example: '',
  },
  SITES_CERTIFICATE_ISSUERS: {
    about:
      "Who issues certificates for customers' sites, as CAA records name them, with commas " +
      'between. A domain whose CAA forbids them is warned of.',
    schema: z.string().default('letsencrypt.org').transform(listed),
    example: 'letsencrypt.org',
  },
  SITES_DOMAIN: {
    about:
      "Domain whose sub-domains are customers' sites. Without it: <name>.localhost:<SITES_PORT>.",
    schema: z
      .string()
      .regex(
        /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/,
        'SITES_DOMAIN must be a host name such as sites.example.vn.',
      )
      .optional(),
    example: '',
  },
  NODE_ENV: {
    about: 'production refuses the sandbox unless SANDBOX=allow.',
    schema: choice('NODE_ENV', ['development', 'production', 'test'], 'development'),
    example: 'development',
  },
  SANDBOX: {
    about:
      'on: third parties without keys are stood in for; off: they are absent; allow: on, even ' +
      'in production and where other machines reach HOST.',
    schema: choice('SANDBOX', ['on', 'off', 'allow'], 'on'),
    example: 'on',
  },
  DEMO: {
    about: 'on: a demo customer is seeded into an empty database (needs the sandbox).',
    schema: choice('DEMO', ['on', 'off'], 'on'),
    example: 'on',
  },
  CATALOG: {
    about: 'What is sold, where, for how much.',
    schema: blankMeansFault('CATALOG')
      .default('./catalog.yaml')
      .transform((text) => path.resolve(text)),
    example: './catalog.yaml',
  },
  PORTAL_SECRET: {
    about: 'The secret that others are derived from. Without it one is made and kept in DATA_DIR.',
    schema: z
      .string()
      .refine((text) => text.trim().length >= 32, 'PORTAL_SECRET must have at least 32 characters.')
      .optional(),
    example: '',
  },
  PORTAL_SECRET_PREVIOUS: {
    about:
      'The secret of before, to change PORTAL_SECRET: the next start takes over what was ' +
      'sealed with it. Remove it afterwards.',
    schema: z
      .string()
      .refine(
        (text) => text.trim().length >= 32,
        'PORTAL_SECRET_PREVIOUS must have at least 32 characters.',
      )
      .optional(),
    example: '',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about:
      'Address of an OpenTelemetry collector (OTLP over HTTP, such as http://127.0.0.1:4318) ' +
      'that gets traces of calls, jobs and gateway calls; without it there are none.',
    schema: address('OTEL_EXPORTER_OTLP_ENDPOINT').optional(),
    example: '',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    about: 'Headers for the collector, name=value, between commas; values are URL-encoded.',
    schema: z.string().default('').transform(headersOf('OTEL_EXPORTER_OTLP_HEADERS')),
    example: '',
  },
  OTEL_SERVICE_NAME: {
    about: 'What the traces call the portal.',
    schema: blankMeansFault('OTEL_SERVICE_NAME').default('cloud-portal'),
    example: 'cloud-portal',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    about: 'Share of traces that are sent, from 0 to 1; a caller that traces decides for its own.',
    schema: z
      .string()
      .refine(
        (text) => /^(?:0|1|0?\.\d+|1\.0+|0\.0+)$/.test(text),
        'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.',
      )
      .default('1')
      .transform(Number),
    example: '1',
  },
  METRICS_TOKEN: {
    about:
      'Bearer token for /metrics from elsewhere than this machine, and always with TRUST_PROXY.',
    schema: blankMeansFault('METRICS_TOKEN').optional(),
    example: '',
  },
  TRUST_PROXY: {
    about:
      'on: a proxy stands in front of PORT and SITES_PORT, and what it adds to ' +
      'X-Forwarded-For is believed.',
    schema: choice('TRUST_PROXY', ['on', 'off'], 'off'),
    example: 'off',
  },
  REGISTRATIONS_PER_HOUR: {
    about:
      'How many may register from one address in an hour, for each costs an SMS; 0: as many ' +
      'as like. Without it 30, with the sandbox 0.',
    schema: z
      .string()
      .refine(
        (text) => /^\d{1,6}$/.test(text),
        'REGISTRATIONS_PER_HOUR must be a number, 0 or more.',
      )
      .transform(Number)
      .optional(),
    example: '',
  },
  SMS_A_DAY: {
    about:
      'How many SMS are sent in a day (UTC) in all, so that a flood of registrations costs no ' +
      'more than this. Beyond, who needs a code is asked to come back.',
    schema: z
      .string()
      .refine(
        (text) => /^[1-9]\d{0,6}$/.test(text),
        'SMS_A_DAY must be a number from 1 to 9999999.',
      )
      .default('5000')
      .transform(Number),
    example: '5000',
  },
  LOG_LEVEL: {
    about:
      'How much is logged: with info a line for every call to /api, with debug pages and ' +
      'probes too, with warn only what needs a look.',
    schema: choice('LOG_LEVEL', ['silent', 'error', 'warn', 'info', 'debug'], 'info'),
    example: 'info',
  },
  EMBEDDED_PG_USER: {
    about: 'User to run the embedded PostgreSQL as when the portal is root.',
    schema: blankMeansFault('EMBEDDED_PG_USER').optional(),
    example: '',
  },
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
      'ns[1-64].dns.example.vn, or a list with commas. All lead to DNS_ADDRESSES.',
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
    about: 'Public addresses of the name servers, with commas between them. Without it: HOST.',
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
  WORDPRESS_INTERNET: {
    about:
      'on: sites may reach the public internet (plugins, updates). off: their own address ' +
      'alone; no other is looked up or connected to.',
    schema: choice('WORDPRESS_INTERNET', ['on', 'off'], 'off'),
    example: 'off',
  },
  WORDPRESS_DIRECTORY: {
    about:
      'Address of the directory that updates of WordPress, plugins and themes come from, such as ' +
      'https://api.wordpress.org; off: nothing is updated. Without it: the sandbox’s where it ' +
      'stands in, else api.wordpress.org. The portal alone asks it; sites need no internet.',
    schema: z
      .string()
      .refine(
        (text) =>
          text === 'off' || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)),
        'WORDPRESS_DIRECTORY must be an http or https address, or off.',
      )
      .transform((text) => text.replace(/\/+$/, ''))
      .optional(),
    example: '',
  },
  SITES_CACHE_MB: {
    about:
      "Memory for kept pages and files of customers' sites, MB; one site takes a quarter of it " +
      'at most. 0: nothing is kept.',
    schema: z
      .string()
      .default('128')
      .refine((text) => /^\d{1,5}$/.test(text), 'SITES_CACHE_MB must be a number from 0 to 99999.')
      .transform(Number),
    example: '128',
  },
  WORDPRESS_RUNTIME: {
    about:
      'What runs the WordPress sites of this machine: the portal itself, with PHP in WebAssembly ' +
      'and SQLite (embedded), or a container engine, with PHP-FPM and MariaDB (docker).',
    schema: choice('WORDPRESS_RUNTIME', ['embedded', 'docker'], 'embedded'),
    example: 'embedded',
  },
  DOCKER_SOCKET: {
    about: 'Where the container engine of WORDPRESS_RUNTIME=docker listens.',
    schema: z
      .string()
      .default('/var/run/docker.sock')
      .refine((text) => text.startsWith('/'), 'DOCKER_SOCKET must be the path of a socket.'),
    example: '/var/run/docker.sock',
  },
  DOCKER_WORDPRESS_IMAGE: {
    about:
      'Image with PHP-FPM for WORDPRESS_RUNTIME=docker; the one that `npm run docker:images` ' +
      'makes when empty.',
    schema: z.string().optional(),
    example: '',
  },
  DOCKER_MARIADB_IMAGE: {
    about: 'Image with MariaDB, likewise.',
    schema: z.string().optional(),
    example: '',
  },
  WORDPRESS_MAX_CONTAINERS: {
    about:
      'Most containers one site may have; each takes about 320 MB, and an order that there is no ' +
      'memory for is paid back.',
    schema: z
      .string()
      .default('50')
      .refine(
        (text) => /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= 50,
        'WORDPRESS_MAX_CONTAINERS must be a number from 1 to 50.',
      )
      .transform(Number),
    example: '50',
  },
  WORDPRESS_MAX_CPU: {
    about:
      'Most processors that a WordPress plan can be given here; larger plans are not offered. ' +
      'Those of this machine when empty.',
    schema: z
      .string()
      .default('')
      .refine(
        (text) => text === '' || (/^\d{1,3}$/.test(text) && Number(text) >= 1),
        'WORDPRESS_MAX_CPU must be a number from 1 to 999, or empty.',
      )
      .transform((text) => (text === '' ? null : Number(text))),
    example: '',
  },
  WORDPRESS_MAX_RAM_MB: {
    about:
      'Most memory that a WordPress plan can be given here, MB; larger plans are not offered. ' +
      'That of this machine when empty.',
    schema: z
      .string()
      .default('')
      .refine(
        (text) => text === '' || (/^\d{3,7}$/.test(text) && Number(text) >= 512),
        'WORDPRESS_MAX_RAM_MB must be a number from 512 to 9999999, or empty.',
      )
      .transform((text) => (text === '' ? null : Number(text))),
    example: '',
  },
  WORDPRESS_PAGE_SECONDS: {
    about:
      'How long PHP may take for one page of a WordPress site; the visitor is then told that it ' +
      'was stopped. Seconds, 10 to 600.',
    schema: z
      .string()
      .default('60')
      .refine(
        (text) => /^\d{2,3}$/.test(text) && Number(text) >= 10 && Number(text) <= 600,
        'WORDPRESS_PAGE_SECONDS must be a number from 10 to 600.',
      )
      .transform(Number),
    example: '60',
  },
  OPERATOR_SECOND_PERSON_ABOVE: {
    about:
      'At the operator’s desk a credit, debit, refund or assignment of more than this waits for ' +
      'a second member. An amount and its currency each, with commas between; a currency that ' +
      'is not named: every amount.',
    schema: z
      .string()
      .default('5000000 VND, 300 AUD, 200 USD, 200 EUR')
      .refine(
        (text) => amountsOf(text) !== undefined,
        'OPERATOR_SECOND_PERSON_ABOVE must be amounts such as 5000000 VND, 300 AUD.',
      )
      .transform((text) => amountsOf(text) ?? noAmounts),
    example: '5000000 VND, 300 AUD, 200 USD, 200 EUR',
  },
  BACKUP_RETENTION: {
    about:
      'How many backups of a WordPress server are kept: so many nightly ones and so many made ' +
      'by hand.',
    schema: z
      .string()
      .default('7')
      .refine(
        (text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 365,
        'BACKUP_RETENTION must be a number from 1 to 365.',
      )
      .transform(Number),
    example: '7',
  },
  BACKUP_RETENTION_AFTER_DELETION_DAYS: {
    about:
      'How many days the proven backups of a deleted WordPress server can still be ' +
      'downloaded; 0: they go with it.',
    schema: z
      .string()
      .default('7')
      .refine(
        (text) => /^\d{1,3}$/.test(text) && Number(text) <= 365,
        'BACKUP_RETENTION_AFTER_DELETION_DAYS must be a number from 0 to 365.',
      )
      .transform(Number),
    example: '7',
  },
  SITE_BACKUPS_TO: {
    about:
      'Where the backups of customers’ sites lie: a folder, or s3://bucket/prefix. Several ' +
      'machines with portals need a place that all of them see. Without it: DATA_DIR/backups.',
    schema: blankMeansFault('SITE_BACKUPS_TO').optional(),
    example: '',
  },
  BACKUP_TO: {
    about:
      'Where the whole portal is backed up to every night, and verified: a folder on another ' +
      'disk or machine, or s3://bucket/prefix. Without it: no nightly backup of the portal.',
    schema: blankMeansFault('BACKUP_TO').optional(),
    example: '',
  },
  BACKUP_TO_KEEP: {
    about: 'How many backups of the portal are kept in BACKUP_TO.',
    schema: z
      .string()
      .default('7')
      .refine(
        (text) => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 365,
        'BACKUP_TO_KEEP must be a number from 1 to 365.',
      )
      .transform(Number),
    example: '7',
  },
  BACKUP_PASSPHRASE: {
    about:
      "Seals the portal's secret in its backups. Keep it somewhere else too: without it no " +
      'backup can be restored.',
    schema: z.string().min(12, 'BACKUP_PASSPHRASE must have at least 12 characters.').optional(),
    example: '',
  },
  S3_ENDPOINT: {
    about: 'S3: address of the server that has the bucket, if not AWS. Without a path.',
    schema: address('S3_ENDPOINT')
      .refine(
        (text) => !URL.canParse(text) || new URL(text).pathname === '/',
        'S3_ENDPOINT must have no path.',
      )
      .optional(),
    example: '',
  },
  S3_REGION: {
    about: 'S3: region that requests are signed for.',
    schema: blankMeansFault('S3_REGION').default('us-east-1'),
    example: 'us-east-1',
  },
  S3_ACCESS_KEY_ID: {
    about: 'S3: access key, which may list, read, write and delete in the bucket.',
    schema: blankMeansFault('S3_ACCESS_KEY_ID').optional(),
    example: '',
  },
  S3_SECRET_ACCESS_KEY: {
    about: 'S3: its secret key.',
    schema: blankMeansFault('S3_SECRET_ACCESS_KEY').optional(),
    example: '',
  },
  VNPAY_TMN_CODE: {
    about: 'VNPay: terminal code (8 characters). With VNPAY_HASH_SECRET it replaces the sandbox.',
    schema: z
      .string()
      .regex(/^[A-Za-z0-9]{8}$/, 'VNPAY_TMN_CODE must have 8 letters or digits.')
      .optional(),
    example: '',
  },
  VNPAY_HASH_SECRET: {
    about: 'VNPay: secret of the terminal.',
    schema: blankMeansFault('VNPAY_HASH_SECRET').optional(),
    example: '',
  },
  VNPAY_PAY_URL: {
    about: 'VNPay: payment page.',
    schema: address('VNPAY_PAY_URL').optional(),
    example: '',
  },
  VNPAY_API_URL: {
    about: 'VNPay: address of querydr and refund.',
    schema: address('VNPAY_API_URL').optional(),
    example: '',
  },
  BANK_ACCOUNT_NUMBER: {
    about:
      'Bank transfers: the account that customers transfer to. With the four below it ' +
      'replaces the sandbox.',
    schema: blankMeansFault('BANK_ACCOUNT_NUMBER').optional(),
    example: '',
  },
  BANK_ACCOUNT_NAME: {
    about: "Bank transfers: the account's name, capitals without marks.",
    schema: blankMeansFault('BANK_ACCOUNT_NAME').optional(),
    example: '',
  },
  BANK_NAME: {
    about: "Bank transfers: the bank's name.",
    schema: blankMeansFault('BANK_NAME').optional(),
    example: '',
  },
  BANK_BIN: {
    about: "Bank transfers: the bank's NAPAS number, six digits (Vietcombank 970436).",
    schema: z
      .string()
      .regex(/^\d{6}$/, 'BANK_BIN must have six digits.')
      .optional(),
    example: '',
  },
  SEPAY_WEBHOOK_SECRET: {
    about:
      'SePay: HMAC secret of the webhook <PORTAL_URL>/api/webhooks/bank. Either this or ' +
      'CASSO_WEBHOOK_SECRET tells what arrived.',
    schema: blankMeansFault('SEPAY_WEBHOOK_SECRET').optional(),
    example: '',
  },
  SEPAY_API_TOKEN: {
    about:
      'SePay: API token, to read the list of movements and find what a missed webhook would ' +
      'have reported.',
    schema: blankMeansFault('SEPAY_API_TOKEN').optional(),
    example: '',
  },
  SEPAY_API_URL: {
    about: 'SePay: address of its API, if not the public one.',
    schema: address('SEPAY_API_URL').optional(),
    example: '',
  },
  CASSO_WEBHOOK_SECRET: {
    about: 'Casso (V2): key of the webhook, the same address as for SePay.',
    schema: blankMeansFault('CASSO_WEBHOOK_SECRET').optional(),
    example: '',
  },
  ALEPAY_TOKEN_KEY: {
    about: 'Alepay: token key. With ALEPAY_CHECKSUM_KEY it replaces the sandbox.',
    schema: blankMeansFault('ALEPAY_TOKEN_KEY').optional(),
    example: '',
  },
  ALEPAY_CHECKSUM_KEY: {
    about: 'Alepay: checksum key.',
    schema: blankMeansFault('ALEPAY_CHECKSUM_KEY').optional(),
    example: '',
  },
  ALEPAY_BASE_URL: {
    about: 'Alepay: what stands before /request-payment, if not the public address.',
    schema: address('ALEPAY_BASE_URL').optional(),
    example: '',
  },
  PAYOS_CLIENT_ID: {
    about:
      'payOS: client id of the payment channel. With PAYOS_API_KEY and PAYOS_CHECKSUM_KEY it ' +
      'replaces the sandbox.',
    schema: blankMeansFault('PAYOS_CLIENT_ID').optional(),
    example: '',
  },
  PAYOS_API_KEY: {
    about: 'payOS: API key.',
    schema: blankMeansFault('PAYOS_API_KEY').optional(),
    example: '',
  },
  PAYOS_CHECKSUM_KEY: {
    about: 'payOS: checksum key.',
    schema: blankMeansFault('PAYOS_CHECKSUM_KEY').optional(),
    example: '',
  },
  PAYOS_BASE_URL: {
    about: 'payOS: address of its API without a path, if not the public one.',
    schema: address('PAYOS_BASE_URL')
      .refine(
        (text) => !URL.canParse(text) || new URL(text).pathname === '/',
        'PAYOS_BASE_URL must have no path.',
      )
      .optional(),
    example: '',
  },
  PAYOS_PAGE_URL: {
    about:
      "payOS: what stands before a payment link's id in the address of its page, if not the " +
      'public one.',
    schema: address('PAYOS_PAGE_URL').optional(),
    example: '',
  },
  STRIPE_SECRET_KEY: {
    about: 'Stripe (cards): secret key. With the two below it replaces the sandbox.',
    schema: blankMeansFault('STRIPE_SECRET_KEY').optional(),
    example: '',
  },
  STRIPE_PUBLISHABLE_KEY: {
    about: 'Stripe: publishable key, given to the browser.',
    schema: blankMeansFault('STRIPE_PUBLISHABLE_KEY').optional(),
    example: '',
  },
  STRIPE_WEBHOOK_SECRET: {
    about: 'Stripe: signing secret of the webhook <PORTAL_URL>/api/webhooks/stripe.',
    schema: blankMeansFault('STRIPE_WEBHOOK_SECRET').optional(),
    example: '',
  },
  SQUARE_ACCESS_TOKEN: {
    about: 'Square (tokens, AUD): access token. With the three below it replaces the sandbox.',
    schema: blankMeansFault('SQUARE_ACCESS_TOKEN').optional(),
    example: '',
  },
  SQUARE_APPLICATION_ID: {
    about: 'Square: application id, given to the browser.',
    schema: blankMeansFault('SQUARE_APPLICATION_ID').optional(),
    example: '',
  },
  SQUARE_LOCATION_ID: {
    about: 'Square: the location that sells. Its currency is AUD.',
    schema: blankMeansFault('SQUARE_LOCATION_ID').optional(),
    example: '',
  },
  SQUARE_WEBHOOK_KEY: {
    about: 'Square: signature key of the webhook <PORTAL_URL>/api/webhooks/square.',
    schema: blankMeansFault('SQUARE_WEBHOOK_KEY').optional(),
    example: '',
  },
  SQUARE_API_URL: {
    about:
      'Square: address of its API, if not the public one (Square’s own sandbox: ' +
      'https://connect.squareupsandbox.com).',
    schema: address('SQUARE_API_URL').optional(),
    example: '',
  },
  ESMS_API_KEY: {
    about: 'eSMS.vn: key for SMS. With ESMS_SECRET_KEY it replaces the sandbox.',
    schema: blankMeansFault('ESMS_API_KEY').optional(),
    example: '',
  },
  ESMS_SECRET_KEY: {
    about: 'eSMS.vn: secret.',
    schema: blankMeansFault('ESMS_SECRET_KEY').optional(),
    example: '',
  },
  ESMS_BRANDNAME: {
    about: 'eSMS.vn: registered sender.',
    schema: blankMeansFault('ESMS_BRANDNAME').optional(),
    example: '',
  },
  ESMS_URL: {
    about: 'eSMS.vn: address, if not the public one.',
    schema: address('ESMS_URL').optional(),
    example: '',
  },
  SMTP_URL: {
    about: 'Mail server, such as smtps://user:password@mail.example.vn. It replaces the sandbox.',
    schema: z
      .string()
      .refine((text) => /^smtps?:\/\//.test(text), 'SMTP_URL must begin with smtp:// or smtps://.')
      .optional(),
    example: '',
  },
  MAIL_FROM: {
    about: 'Sender of mails.',
    schema: blankMeansFault('MAIL_FROM')
      .refine(
        (text) => /^(?:[^<>@]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(text),
        'MAIL_FROM must hold an e-mail address, such as Portal <portal@example.vn>.',
      )
      .default('portal@localhost'),
    example: 'portal@localhost',
  },
  SUPPORT_MAIL: {
    about:
      'E-mail address of the support, such as support@help.example.vn: a letter to it opens a ' +
      'ticket. Its whole domain is for letters to the portal. docs/operate.md, "Tickets".',
    schema: z
      .string()
      .transform((text) => text.toLowerCase())
      .refine((text) => {
        const at = text.lastIndexOf('@')
        return /^[a-z0-9._-]{1,64}$/.test(text.slice(0, at)) && isHostName(text.slice(at + 1))
      }, 'SUPPORT_MAIL must be an e-mail address such as support@help.example.vn.')
      .optional(),
    example: '',
  },
  SUPPORT_MAIL_PORT: {
    about:
      'Port where letters to the support are taken (SMTP), from the mail server of the domain of ' +
      'SUPPORT_MAIL or from anywhere. Without it 8026.',
    schema: portNumber('SUPPORT_MAIL_PORT').transform(Number).optional(),
    example: '',
  },
  SITE_MAIL_SPF: {
    about:
      "SPF's mechanism for the servers that mail leaves by, for the domains of customers' sites: " +
      'such as include:_spf.mail.example.vn. The host of SMTP_URL when empty.',
    schema: z
      .string()
      .regex(
        /^(?:include|a|mx|ip4|ip6|exists):[A-Za-z0-9._:/%{}-]{1,200}$/,
        'SITE_MAIL_SPF must be one mechanism of SPF, such as include:_spf.mail.example.vn.',
      )
      .optional(),
    example: '',
  },
  SITE_MAIL_REPORTS: {
    about:
      'Domain that reports about letters of sites go to, such as returned.example.vn: what comes ' +
      'back after it was sent is shown to its owner. Without it such reports go to the sender. ' +
      'docs/operate.md, "Mail of sites".',
    schema: z
      .string()
      .transform((text) => text.toLowerCase())
      .refine(
        (text) => isHostName(text),
        'SITE_MAIL_REPORTS must be a host name such as returned.example.vn.',
      )
      .optional(),
    example: '',
  },
  SITE_MAIL_REPORTS_PORT: {
    about:
      'Port where reports about letters are taken (SMTP), from the mail server of ' +
      'SITE_MAIL_REPORTS or from anywhere. Without it 8025.',
    schema: portNumber('SITE_MAIL_REPORTS_PORT').transform(Number).optional(),
    example: '',
  },
} as const
