/**
 * Chooses the driver of each interface: with real keys if the operator set them, else with the
 * sandbox's addresses and keys. Modules do not know the difference.
 */
import type { MessageConnection } from 'vscode-jsonrpc/node'
import type { Authority, CertificateEdge } from './certificates/index.ts'
import { connectCertificates } from './certificates-line.ts'
import type { Config } from './config.ts'
import { connectNameServer, dnsDrivers } from './dns/drivers/index.ts'
import type { DnsDriver } from './dns/index.ts'
import { createMailDriver, createSmsDriver } from './messages/drivers/index.ts'
import type { MailDriver, SmsDriver } from './messages/index.ts'
import {
  paymentDriverNames,
  paymentDrivers,
  type PaymentDriverName,
} from './payments/drivers/index.ts'
import type { PaymentDriver } from './payments/index.ts'
import {
  askOtherProcesses,
  askParent,
  type OtherProcesses,
  type ParentFigures,
} from './process-figures.ts'
import type { Log } from './platform/log.ts'
import { DriverFailure } from './platform/errors.ts'
import { callsOver, isUnknownCall } from './platform/rpc.ts'
import { openSecureLine, openSecureStream } from './platform/secure-line.ts'
import { edgePrefix, publishHosts, type EdgeCalls } from './sites-line.ts'
import { connectRuntime } from './wordpress/drivers/index.ts'
import {
  createDirectoryClient,
  type EdgeControl,
  type NodeConnection,
  type UpdateDirectory,
  type WordpressDriver,
} from './wordpress/index.ts'

/** The addresses and keys that the sandbox reports once it listens. */
export interface SandboxAddresses {
  readonly url: string
  readonly smtpUrl: string
  /** The registry's local DNS port. */
  readonly registryPort: number
  /** Keys of each payment gateway, by name. */
  readonly gateways: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly esms: { readonly apiKey: string; readonly secretKey: string }
  /** This portal's account key at the sandbox's second certificate authority. */
  readonly acme: { readonly keyId: string; readonly hmacKey: string }
}

export { connectRuntime }

export interface Drivers {
  readonly payments: ReadonlyMap<string, PaymentDriver>
  readonly sms: SmsDriver
  readonly mailer: MailDriver
  /** The runtime of this machine's node; null: it has none. */
  readonly wordpress: WordpressDriver | null
  readonly edge: EdgeControl | null
  readonly dns: DnsDriver
  /** The certificates of this machine's edge; null: it has none. */
  readonly certificates: CertificateEdge | null
  /** Certificate authorities: the first one, and its fallback. */
  readonly authorities: readonly Authority[]
  /** The source of WordPress updates; null: none. */
  readonly directory: UpdateDirectory | null
  /** Counters of the parent process and the name server. */
  readonly processes: OtherProcesses
}

const esmsUrl = 'https://rest.esms.vn'

/** A gateway's settings, if the operator has set its first one. */
function givenSettings(
  config: Config,
  name: PaymentDriverName,
): Readonly<Record<string, string>> | undefined {
  const variables = config as unknown as Readonly<Record<string, string | undefined>>
  const { environment, defaults } = paymentDrivers[name]
  const [first] = Object.values(environment)
  if (first === undefined || variables[first] === undefined) return undefined
  const given = Object.entries(environment).flatMap(([setting, variable]) => {
    const value = variables[variable]
    return value === undefined ? [] : [[setting, value] as const]
  })
  return { ...defaults, ...Object.fromEntries(given) }
}

/** Faults of this configuration that prevent a driver, one sentence each. */
export function driverFaults(config: Config): string[] {
  const faults: string[] = []
  for (const name of paymentDriverNames) {
    const given = givenSettings(config, name)
    if (given) faults.push(...paymentDrivers[name].faults(given))
  }
  if (config.DNS_DRIVER === 'powerdns' && config.POWERDNS_URL === undefined)
    faults.push('DNS_DRIVER is powerdns: set POWERDNS_URL and POWERDNS_API_KEY.')
  if (config.DNS_DRIVER === 'cloudflare' && config.CLOUDFLARE_API_TOKEN === undefined)
    faults.push('DNS_DRIVER is cloudflare: set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.')
  if (
    config.NODE_ENV === 'production' &&
    config.SMTP_URL !== undefined &&
    /@localhost>?$/i.test(config.MAIL_FROM)
  )
    faults.push(
      'MAIL_FROM is an address at localhost, which mail servers refuse: set it to one of yours, ' +
        'such as Portal <portal@example.vn>.',
    )
  if (config.sandbox) return faults
  if (
    config.VNPAY_TMN_CODE !== undefined &&
    (config.VNPAY_PAY_URL === undefined || config.VNPAY_API_URL === undefined)
  )
    faults.push(
      "Without VNPAY_PAY_URL and VNPAY_API_URL payments would go to VNPay's test environment: " +
        'set both as the contract names them.',
    )
  if (config.ESMS_API_KEY === undefined)
    faults.push(
      'Nothing can send SMS: set ESMS_API_KEY and ESMS_SECRET_KEY, or let the sandbox stand ' +
        'in (SANDBOX).',
    )
  if (config.SMTP_URL === undefined)
    faults.push('Nothing can send mail: set SMTP_URL, or let the sandbox stand in (SANDBOX).')
  return faults
}

/** The keys of this portal at the sandbox's gateways. */
export const sandboxGatewayKeys = (
  derive: (purpose: string) => string,
): SandboxAddresses['gateways'] =>
  Object.fromEntries(
    paymentDriverNames.map((name) => [name, paymentDrivers[name].sandboxKeys(derive)]),
  )

/** Gateways with keys, or with the sandbox as a replacement; others are absent. */
export function openGateways(
  config: Config,
  sandbox: Pick<SandboxAddresses, 'url' | 'gateways'> | undefined,
): ReadonlyMap<string, PaymentDriver> {
  const drivers = new Map<string, PaymentDriver>()
  for (const name of paymentDriverNames) {
    const { inSandbox, open } = paymentDrivers[name]
    const settings =
      givenSettings(config, name) ??
      (sandbox && inSandbox(sandbox.url, sandbox.gateways[name] ?? {}))
    if (settings)
      drivers.set(name, open(settings, { webhookUrl: `${config.portalUrl}/api/webhooks/${name}` }))
  }
  return drivers
}

function edgeOver(line: MessageConnection): EdgeControl {
  const call = callsOver<EdgeCalls>(line, edgePrefix, 'the edge is not there')
  /**
   * The last table sent to an edge of release 2, which knows no versions and takes whole tables.
   */
  let published = ''
  return {
    version: () =>
      call('version').catch((error: unknown) => {
        if (isUnknownCall(error)) return null
        throw error
      }),
    apply: (change) =>
      call('apply', change).catch(async (error: unknown) => {
        if (!isUnknownCall(error)) throw error
        const { entries, version } = change
        const text = JSON.stringify(entries)
        if (text !== published) await line.sendRequest(publishHosts, { entries })
        published = text
        return version
      }),
    cacheFigures: (site) =>
      call('cacheFigures', site).catch((error: unknown) => {
        if (isUnknownCall(error)) return null
        throw error
      }),
    purgeCache: (site) =>
      call('purgeCache', site).catch((error: unknown) => {
        if (isUnknownCall(error)) return 0
        throw error
      }),
    holdWrites: (site, ms, patienceMs) =>
      call('holdWrites', site, ms, patienceMs).catch((error: unknown) => {
        if (!isUnknownCall(error)) throw error
        throw new DriverFailure('rejected', 'the edge is of a release that moves no sites')
      }),
    // An edge of release 2 has no lease.
    markLease: () =>
      call('markLease').catch((error: unknown) => {
        if (isUnknownCall(error)) return null
        throw error
      }),
    renewLease: (mark, ms, withheld, details) =>
      call('renewLease', mark, ms, withheld, details).catch((error: unknown) => {
        if (!isUnknownCall(error)) throw error
        return false
      }),
    usage: (last, limit) =>
      call('usage', last, limit).catch((error: unknown) => {
        if (isUnknownCall(error)) return []
        throw error
      }),
  }
}

export interface NodeLine extends NodeConnection {
  readonly figures: () => Promise<ParentFigures>
  readonly certificates: CertificateEdge
}

/** A line to a node on another machine. `onOpen`: called each time the node becomes reachable. */
export function connectNode(
  parts: { readonly address: string; readonly key: string; readonly log: Log },
  onOpen: () => void,
): NodeLine {
  let control: ReturnType<NodeConnection['control']>
  const opened = openSecureLine({
    ...parts,
    async onLine(line) {
      const driver = await connectRuntime(line, {
        sharesDisk: false,
        openStream: () => openSecureStream(parts),
      })
      control = { driver, edge: edgeOver(line) }
    },
    onOpen,
  })
  return {
    control: () => opened.line() && control,
    reopen: () => opened.reopen(),
    close: () => opened.close(),
    figures: askParent(() => opened.line()),
    certificates: connectCertificates(() => opened.line()),
  }
}

/** The name server on another machine, over a line that reopens automatically. */
function openNameServerLine(config: Config, log: Log): DnsDriver {
  const { NAME_SERVER_ADDRESS: address = '', NAME_SERVER_KEY: key = '' } = config
  const opened = openSecureLine({ address, key, log })
  return {
    ...connectNameServer(() => opened.line()),
    close: async () => opened.close(),
  }
}

function openDns(config: Config, line: MessageConnection, log: Log): DnsDriver {
  switch (config.DNS_DRIVER) {
    case 'embedded':
      return config.ROLES.has('dns') ? connectNameServer(line) : openNameServerLine(config, log)
    case 'powerdns':
      return dnsDrivers.powerdns.create({
        url: config.POWERDNS_URL,
        apiKey: config.POWERDNS_API_KEY,
      })
    case 'cloudflare':
      return dnsDrivers.cloudflare.create({
        apiToken: config.CLOUDFLARE_API_TOKEN,
        accountId: config.CLOUDFLARE_ACCOUNT_ID,
      })
  }
}

/** The authorities that the operator named; otherwise, with the sandbox, its two. */
function openAuthorities(config: Config, sandbox: SandboxAddresses | undefined): Authority[] {
  const named = (
    directory: string | undefined,
    keyId: string | undefined,
    hmacKey: string | undefined,
  ): Authority[] => {
    if (directory === undefined) return []
    const binding = keyId === undefined || hmacKey === undefined ? undefined : { keyId, hmacKey }
    return [{ directory, binding }]
  }
  if (config.ACME_DIRECTORY !== undefined || !sandbox)
    return [
      ...named(config.ACME_DIRECTORY, config.ACME_EAB_KEY_ID, config.ACME_EAB_HMAC_KEY),
      ...named(
        config.ACME_FALLBACK_DIRECTORY,
        config.ACME_FALLBACK_EAB_KEY_ID,
        config.ACME_FALLBACK_EAB_HMAC_KEY,
      ),
    ]
  return [
    { directory: `${sandbox.url}/acme/first/directory`, binding: undefined },
    { directory: `${sandbox.url}/acme/second/directory`, binding: sandbox.acme },
  ]
}

const wordpressOrg = 'https://api.wordpress.org'

/** The directory that the operator named; otherwise, with the sandbox, its own. */
function openDirectory(
  config: Config,
  sandbox: SandboxAddresses | undefined,
): UpdateDirectory | null {
  const address =
    config.WORDPRESS_DIRECTORY ?? (sandbox ? `${sandbox.url}/wordpress` : wordpressOrg)
  return address === 'off' ? null : createDirectoryClient(address)
}

/** `line`: to the local parent, which runs the customers' sites and the name server; listening. */
export async function openDrivers(
  config: Config,
  sandbox: SandboxAddresses | undefined,
  line: MessageConnection,
  log: Log,
): Promise<Drivers> {
  return {
    payments: openGateways(config, sandbox),
    sms: createSmsDriver(
      'esms',
      config.ESMS_API_KEY !== undefined || !sandbox
        ? {
            apiKey: config.ESMS_API_KEY,
            secretKey: config.ESMS_SECRET_KEY,
            brandname: config.ESMS_BRANDNAME ?? 'PORTAL',
            url: config.ESMS_URL ?? esmsUrl,
          }
        : { ...sandbox.esms, brandname: 'PORTAL', url: `${sandbox.url}/esms` },
    ),
    mailer: createMailDriver('smtp', {
      url: config.SMTP_URL ?? sandbox?.smtpUrl,
      from: config.MAIL_FROM,
    }),
    wordpress: config.ROLES.has('node') ? await connectRuntime(line) : null,
    edge: config.ROLES.has('node') ? edgeOver(line) : null,
    dns: openDns(config, line, log),
    certificates: config.ROLES.has('node') ? connectCertificates(line) : null,
    authorities: openAuthorities(config, sandbox),
    directory: openDirectory(config, sandbox),
    processes: askOtherProcesses(line, {
      node: config.ROLES.has('node'),
      nameServer: config.DNS_DRIVER === 'embedded' && config.ROLES.has('dns'),
    }),
  }
}
