/** The variables of the portal: its database, its address, its secret, and its monitoring. */
import path from 'node:path'
import * as z from 'zod'
import {
  amountsOf,
  blankMeansFault,
  headersOf,
  address,
  choice,
  listed,
  noAmounts,
  databaseAddress,
  wholeNumber,
} from './rules.ts'

export const portalVariables = {
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
    about:
      'In production there is no sandbox unless SANDBOX=allow: third parties without keys are ' +
      'absent, and SMS and mail must be set.',
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
    about:
      'What is sold, where, for how much. In production a file outside of the release’s folder, ' +
      'by its whole path: the next release brings its own sample.',
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
      'Bearer token for /metrics from elsewhere than this machine; from everywhere with ' +
      'TRUST_PROXY=on, and with SITES_TLS_PORT where PORTAL_URL is https.',
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
  PWNED_PASSWORDS_URL: {
    about:
      'Compares new passwords with those of data leaks: the address of a range API such as ' +
      'https://api.pwnedpasswords.com/range/, which is told five digits of a hash and never the ' +
      'password. Without it nobody is asked.',
    schema: address('PWNED_PASSWORDS_URL').optional(),
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
  OPERATOR_SECOND_PERSON_ABOVE: {
    about:
      'At the operator’s desk a credit, debit, refund or assignment of more than this waits for ' +
      'a second member. An amount in major units and its currency each, with commas between; a ' +
      'currency that is not named: every amount.',
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
} as const
