/**
 * The only reader of the environment. A failed start prints all faults at once, one sentence each.
 */
import type * as z from 'zod'
import { ConfigFault } from './platform/config-fault.ts'
import { isLoopback } from './platform/loopback.ts'
import { formerNames, underNewNames } from './renamed-settings.ts'
import { variables } from './variables/index.ts'

export { ConfigFault }

type Variables = typeof variables
type Values = { [K in keyof Variables]: z.output<Variables[K]['schema']> }

export interface Config extends Values {
  /** The public address of the portal, without a trailing slash. */
  readonly portalUrl: string
  readonly sandbox: boolean
  /**
   * The scheme of customers' sites in a browser. With a domain of their own, TLS ends at the edge
   * or at a proxy before it.
   */
  readonly sitesScheme: 'http' | 'https'
  /**
   * The address at which browsers reach the portal through the edge, which also speaks HTTPS for
   * its host: host name and port, such as `portal.example.vn 8080`.
   */
  readonly portalBehindEdge: string | undefined
  /** In production the demo customer must be enabled explicitly, because its password is public. */
  readonly demo: boolean
}

/** Keys that only make sense together. */
const together: readonly (readonly (keyof Variables)[])[] = [
  ['VNPAY_TMN_CODE', 'VNPAY_HASH_SECRET'],
  ['BANK_ACCOUNT_NUMBER', 'BANK_ACCOUNT_NAME', 'BANK_NAME', 'BANK_BIN'],
  ['ALEPAY_TOKEN_KEY', 'ALEPAY_CHECKSUM_KEY'],
  ['PAYOS_CLIENT_ID', 'PAYOS_API_KEY', 'PAYOS_CHECKSUM_KEY'],
  ['STRIPE_SECRET_KEY', 'STRIPE_PUBLISHABLE_KEY', 'STRIPE_WEBHOOK_SECRET'],
  ['SQUARE_ACCESS_TOKEN', 'SQUARE_APPLICATION_ID', 'SQUARE_LOCATION_ID', 'SQUARE_WEBHOOK_KEY'],
  ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
  ['ESMS_API_KEY', 'ESMS_SECRET_KEY'],
  ['POWERDNS_URL', 'POWERDNS_API_KEY'],
  ['CLOUDFLARE_API_TOKEN', 'CLOUDFLARE_ACCOUNT_ID'],
  ['NAME_SERVER_ADDRESS', 'NAME_SERVER_KEY'],
  ['ACME_EAB_KEY_ID', 'ACME_EAB_HMAC_KEY'],
  ['ACME_FALLBACK_EAB_KEY_ID', 'ACME_FALLBACK_EAB_HMAC_KEY'],
]

/** Settings for trials only: in production they would credit or show test data. */
function unfitForProduction(config: Values): string[] {
  const faults: string[] = []
  const { PORTAL_URL: url } = config
  if (url?.startsWith('http:') && !isLoopback(new URL(url).hostname))
    faults.push(
      'PORTAL_URL must begin with https:// in production: passwords and sessions would travel ' +
        'in the clear.',
    )
  if (config.SANDBOX === 'allow') return faults
  const tests: readonly (readonly [keyof Variables, boolean])[] = [
    ['STRIPE_SECRET_KEY', /^(?:sk|rk)_test_/.test(config.STRIPE_SECRET_KEY ?? '')],
    ['STRIPE_PUBLISHABLE_KEY', config.STRIPE_PUBLISHABLE_KEY?.startsWith('pk_test_') === true],
    ['VNPAY_PAY_URL', /sandbox/i.test(config.VNPAY_PAY_URL ?? '')],
    ['VNPAY_API_URL', /sandbox/i.test(config.VNPAY_API_URL ?? '')],
    ['ALEPAY_BASE_URL', /sandbox/i.test(config.ALEPAY_BASE_URL ?? '')],
    ['SQUARE_API_URL', /sandbox/i.test(config.SQUARE_API_URL ?? '')],
  ]
  for (const [name, isTest] of tests)
    if (isTest)
      faults.push(
        `${name} is for tests: in production customers would be credited with money that is none.`,
      )
  return faults
}

/** Settings that the machine's roles require. */
function rolesFaults(config: Values): string[] {
  const roles = config.ROLES
  const faults: string[] = []
  const isPortal = roles.has('api') || roles.has('worker')
  const isOnlyPart = !isPortal || !roles.has('api') || !roles.has('worker')
  if (!isPortal && (config.NODE_LISTEN === undefined || config.NODE_KEY === undefined))
    faults.push(
      'With these ROLES nobody reaches this machine: set NODE_LISTEN and NODE_KEY, or add the ' +
        'roles api and worker.',
    )
  if (isPortal && isOnlyPart && config.DATABASE_URL === undefined)
    faults.push(
      'Roles api and worker on different machines need one database: set DATABASE_URL, or both ' +
        'roles.',
    )
  if (
    isPortal &&
    !roles.has('dns') &&
    config.DNS_DRIVER === 'embedded' &&
    config.NAME_SERVER_ADDRESS === undefined
  )
    faults.push(
      'Without the role dns the portal must know where the name server is: set ' +
        'NAME_SERVER_ADDRESS and NAME_SERVER_KEY, or another DNS_DRIVER.',
    )
  return faults
}

function certificateFaults(config: Values, sandbox: boolean): string[] {
  const faults: string[] = []
  const isPortal = config.ROLES.has('api') || config.ROLES.has('worker')
  if (config.SITES_TLS_PORT !== undefined) {
    if (isPortal && config.ACME_DIRECTORY === undefined && !sandbox)
      faults.push(
        'SITES_TLS_PORT needs certificates: set ACME_DIRECTORY, such as ' +
          'https://acme-v02.api.letsencrypt.org/directory.',
      )
    if (config.TRUST_PROXY === 'on')
      faults.push(
        'SITES_TLS_PORT and TRUST_PROXY=on exclude each other: either the edge speaks HTTPS with ' +
          'visitors, or the proxy in front does.',
      )
  }
  if (config.ACME_FALLBACK_DIRECTORY !== undefined && config.ACME_DIRECTORY === undefined)
    faults.push('ACME_FALLBACK_DIRECTORY is the second authority: set ACME_DIRECTORY, too.')
  for (const name of ['ACME_DIRECTORY', 'ACME_FALLBACK_DIRECTORY'] as const) {
    const url = config[name]
    if (url?.startsWith('http:') === true && !isLoopback(new URL(url).hostname))
      faults.push(`${name} must begin with https://, unless it is on this machine.`)
  }
  return faults
}

/** Throws ConfigFault. */
export function readConfig(given: Readonly<Record<string, string | undefined>>): Config {
  const env = underNewNames(given)
  const faults: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, { schema }] of Object.entries(variables)) {
    const parsed = schema.safeParse(env[name])
    if (parsed.success) values[name] = parsed.data
    else faults.push(parsed.error.issues[0]?.message ?? `${name} is not valid.`)
  }
  const config = values as unknown as Values
  for (const group of together) {
    const missing = group.filter((name) => env[name] === undefined)
    if (missing.length > 0 && missing.length < group.length)
      faults.push(`${group.join(' and ')} must be set together: ${missing.join(', ')} is missing.`)
  }
  if (config.DATABASE_CONNECTION_POOL_URL !== undefined && config.DATABASE_URL === undefined)
    faults.push(
      'DATABASE_CONNECTION_POOL_URL needs DATABASE_URL, which leads to the same database without ' +
        'the pooler.',
    )
  if (config.BACKUP_TO !== undefined && config.BACKUP_PASSPHRASE === undefined)
    faults.push(
      'BACKUP_TO needs BACKUP_PASSPHRASE, which seals the secret in the backups of the portal.',
    )
  for (const name of ['BACKUP_TO', 'SITE_BACKUPS_TO'] as const)
    if (config[name]?.startsWith('s3:') === true && config.S3_ACCESS_KEY_ID === undefined)
      faults.push(`${name} is in S3: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.`)
  faults.push(...rolesFaults(config))
  if (config.WORDPRESS_RUNTIME === 'docker' && config.WORDPRESS_INTERNET === 'on')
    faults.push(
      'WORDPRESS_INTERNET=on is for WORDPRESS_RUNTIME=embedded: containers of sites have no ' +
        'network.',
    )
  const ports = (
    [
      'PORT',
      'SANDBOX_PORT',
      'SITES_PORT',
      'SITES_TLS_PORT',
      'DNS_PORT',
      'SFTP_PORT',
      'SANDBOX_DNS_PORT',
      'SITE_MAIL_REPORTS_PORT',
      'SUPPORT_MAIL_PORT',
    ] as const
  ).map((name) => [name, config[name]] as const)
  for (const [index, [name, number]] of ports.entries()) {
    const twin = ports.slice(0, index).find(([, other]) => other === number)
    if (twin && typeof number === 'number')
      faults.push(`${name} and ${twin[0]} are both ${number}: give each its own port.`)
  }
  if (env['NODE_ENV'] === 'production' && env['SANDBOX'] === 'on')
    faults.push(
      'SANDBOX=on is refused in production: configure the providers, or set SANDBOX=allow if ' +
        'you mean it.',
    )
  if (
    env['SANDBOX'] === undefined &&
    config.NODE_ENV !== 'production' &&
    config.PORTAL_URL?.startsWith('https:')
  ) {
    faults.push(
      'PORTAL_URL is public (https) and the sandbox would show everybody its inbox: set ' +
        'NODE_ENV=production, or SANDBOX=on if you mean it.',
    )
  }
  if (env['NODE_ENV'] === 'production') faults.push(...unfitForProduction(config))
  if (config.PORTAL_URL !== undefined && config.SITES_DOMAIN !== undefined) {
    const { hostname } = new URL(config.PORTAL_URL)
    if (hostname === config.SITES_DOMAIN || hostname.endsWith(`.${config.SITES_DOMAIN}`))
      faults.push(
        `SITES_DOMAIN ${config.SITES_DOMAIN} holds the portal's own host ${hostname}: ` +
          "customers' sites could set its cookies. Give the sites a domain of their own.",
      )
  }
  const sandbox =
    config.SANDBOX === 'allow' || (config.SANDBOX === 'on' && config.NODE_ENV !== 'production')
  if (
    sandbox &&
    config.SANDBOX !== 'allow' &&
    config.HOST !== undefined &&
    !isLoopback(config.HOST)
  )
    faults.push(
      `HOST=${config.HOST} is no loopback address, and the sandbox would show its inbox and ` +
        'its money to the network: set SANDBOX=off, or SANDBOX=allow if you mean it.',
    )
  faults.push(...certificateFaults(config, sandbox))
  // A fault names the setting by its present name.
  if (faults.length > 0) throw new ConfigFault([...faults, ...formerNames(given)])
  let shown
  if (['0.0.0.0', '::'].includes(config.HOST)) shown = 'localhost'
  else if (config.HOST.includes(':')) shown = `[${config.HOST}]`
  else shown = config.HOST

  const demo =
    sandbox && config.DEMO === 'on' && (config.NODE_ENV !== 'production' || env['DEMO'] === 'on')
  const speaksTls = config.SITES_TLS_PORT !== undefined
  const sitesScheme =
    config.SITES_DOMAIN !== undefined && (config.NODE_ENV === 'production' || speaksTls)
      ? 'https'
      : 'http'
  return {
    ...config,
    sandbox,
    sitesScheme,
    portalBehindEdge:
      speaksTls && config.PORTAL_URL?.startsWith('https:') === true
        ? `${new URL(config.PORTAL_URL).hostname} ${config.PORT}`
        : undefined,
    demo,
    portalUrl: config.PORTAL_URL ?? `http://${shown}:${config.PORT}`,
  }
}
