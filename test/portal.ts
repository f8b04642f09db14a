/**
 * A whole portal for a test file: real modules, real PostgreSQL, the sandbox for third parties,
 * real ports. Nothing of ours is mocked.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { inject } from 'vitest'
import type { RegionCode } from '../contract/money.ts'
import { defaultFilesDir, defaultRuntimeDir } from '../scripts/wordpress-files.mjs'
import { openApp, type App, type Timing } from '../server/app/index.ts'
import { loadCatalog, parseCatalog, type Catalog } from '../server/catalog/index.ts'
import { readConfig, type Config } from '../server/config.ts'
import { openDrivers, sandboxGatewayKeys, type Drivers as AnyDrivers } from '../server/drivers.ts'
import type { WordpressFiles } from '../server/wordpress/drivers/index.ts'
import type { EdgeControl, WordpressDriver } from '../server/wordpress/index.ts'
import { lineThrough } from '../server/sites-line.ts'
import { nameServerSettings, openNameServer } from '../server/name-server.ts'
import { openSites, type Sites } from '../server/sites.ts'
import { systemClock, type Clock } from '../server/platform/clock.ts'
import { connectionConfig } from '../server/platform/database-client.ts'
import { createLog } from '../server/platform/log.ts'
import { createSecrets } from '../server/platform/secrets.ts'
import { supportListensOn } from '../server/customer-tickets.ts'
import { reportsListenOn } from '../server/site-reports.ts'
import { checkLedger } from '../server/wallet/index.ts'
import { startSandbox } from '../sandbox/index.ts'
import { callsTo, type Answer, type Call } from './api-client.ts'
import { writeCustomer, type TestCustomer } from './customers.ts'
import { testDatabase, type TestDatabase } from './database.ts'
import { freePort } from './free-port.ts'
import { simulatedFilesIn } from './simulated-wordpress.ts'

export type { Answer, TestCustomer }

/** The drivers of a portal with a node of its own. */
type Drivers = AnyDrivers & { readonly wordpress: WordpressDriver; readonly edge: EdgeControl }

export interface TestPortal {
  /** The portal that is open at present. */
  readonly app: App
  readonly dataDir: string
  readonly config: Config
  readonly url: string
  readonly sandboxUrl: string
  /** Where the sandbox's registry answers DNS queries. */
  readonly registryPort: number
  readonly databaseUrl: string
  /** The secret from which the portal's other secrets are derived. */
  readonly rootSecret: string
  /** The drivers of the portal that is open at present. */
  readonly drivers: Drivers
  /** The sandbox's keys of a gateway. */
  keysOf(gateway: string): Readonly<Record<string, string>>
  /** Calls the API as a client does. */
  readonly call: Call
  /**
   * A registered and signed-in customer, written into the database by the portal's own functions;
   * registration has tests of its own.
   */
  customer(of?: {
    region?: string
    name?: string
    email?: string
    /** False: as registration leaves it. */
    isEmailProven?: boolean
  }): Promise<TestCustomer>
  /** The customer with a new session. */
  signIn(customer: TestCustomer): Promise<TestCustomer>
  /** Tops the wallet up through VNPay's page in the sandbox, as a person would. Minor units. */
  topUp(
    customer: TestCustomer,
    amount: number,
    outcome?: string,
  ): Promise<{ transactionCode: string; returnUrl: string }>
  /**
   * Begins a top-up of this type and method and decides it on the gateway's page in the sandbox, as
   * a person would. Minor units.
   */
  topUpBy(
    customer: TestCustomer,
    wish: { amount: number; type: 1 | 2; method: string | null },
    outcome: string,
  ): Promise<{ transactionCode: string; checkoutUrl: string; returnUrl: string }>
  /**
   * Makes a choice on an open payment page of the sandbox; returns the address to which the browser
   * is sent.
   */
  decide(checkoutUrl: string, outcome: string): Promise<string>
  inbox(to: string): Promise<{ to: string; channel: string; text: string; at: string }[]>
  /** Rejects with the broken invariants of the ledger, if any. */
  ledgerHolds(): Promise<void>
  /**
   * Closes the portal and opens it again on the same database, folder and ports, so that its memory
   * is lost. `whileDown` runs in between. The sandbox stays open. `sitesGoOn`: the customers' sites
   * and the name server keep running too, as when only the API is restarted.
   */
  reopen(
    changes?: Pick<TestPortalOptions, Opened> & {
      readonly sitesGoOn?: boolean
    },
    whileDown?: () => Promise<void>,
  ): Promise<void>
  /** Closes the portal and the sandbox, and removes database and folder. */
  close(): Promise<void>
}

export { freePort }

/**
 * Calls again until the result is accepted; rejects after `seconds`. The calls are frequent at
 * first, then ten a second, because they also cost the machine work.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  seconds = 30,
): Promise<T> {
  const deadline = Date.now() + seconds * 1000
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 100)) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${seconds} s`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/**
 * Runs `act` `count` times, eight at once, which is the limit for one customer's writes. Returns
 * the results in order.
 */
export async function eightAtATime<T>(
  count: number,
  act: (index: number) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = []
  let next = 0
  const caller = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) answers[index] = await act(index)
  }
  await Promise.all(Array.from({ length: 8 }, caller))
  return answers
}

/** A clock that stands still until it is advanced. */
export interface ManualClock extends Clock {
  advance(byMs: number): void
}
export function manualClock(from = new Date(), { travels = true } = {}): ManualClock {
  let at = from.getTime()
  return {
    travels,
    now: () => new Date(at),
    advance(byMs) {
      at += byMs
    },
  }
}

const rootSecret = 'a secret for tests, forty characters long'
/** Options that may change when a portal is reopened. */
type Opened = 'changeCatalog' | 'catalogText' | 'changeDrivers' | 'timing'
export interface TestPortalOptions {
  readonly clock?: Clock
  /** Receives the log's lines, for a test that reads them; they are then written at level debug. */
  readonly logLines?: (line: string) => void
  readonly env?: Record<string, string>
  readonly changeCatalog?: (catalog: Catalog) => Catalog
  /** The text of its catalog.yaml; the catalogue then has versions in the database. */
  readonly catalogText?: string
  readonly changeDrivers?: (drivers: Drivers) => Drivers
  readonly timing?: Timing
  /** From where the originals of imported sites may be fetched. */
  readonly mayFetch?: (address: string, port: number) => boolean
  /**
   * `real`: the sites run WordPress on PHP, for tests about it or of a whole journey. Otherwise a
   * stand-in runs them: the run's own, or the one of these files outside a test run.
   */
  readonly wordpress?: 'real' | WordpressFiles
  /** The longest times of the console and the database of sites on PHP; they may change. */
  readonly toolTimes?: WordpressFiles['toolTimes']
  /** Where the sandbox's gateways send their webhooks, instead of to the portal. */
  readonly webhooksTo?: string
  /** An empty database on another server than the tests' own. */
  readonly database?: TestDatabase
}

export async function openTestPortal(options: TestPortalOptions = {}): Promise<TestPortal> {
  const database = options.database ?? (await testDatabase())
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'portal-data-'))
  const [port, sandboxPort, sitesPort, dnsPort] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ])
  const config = readConfig({
    NODE_ENV: 'test',
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    SITES_PORT: String(sitesPort),
    SFTP_PORT: 'off',
    DNS_PORT: String(dnsPort),
    DATA_DIR: dataDir,
    // Every plan of the catalogue can be ordered, on any machine.
    WORDPRESS_MAX_CPU: '16',
    WORDPRESS_MAX_RAM_MB: '32000',
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
    ...options.env,
  })
  const { logLines } = options
  const log = logLines ? createLog('debug', { write: logLines }) : createLog(config.LOG_LEVEL)
  const secrets = createSecrets(rootSecret)
  const keys = {
    gateways: sandboxGatewayKeys((purpose) => secrets.derive(purpose)),
    esms: { apiKey: 'test-key', secretKey: 'test-secret' },
  }
  const acme = { keyId: 'test', hmacKey: secrets.derive('sandbox-acme-key') }
  const wordpressFiles =
    options.wordpress === 'real'
      ? { runtimeDir: defaultRuntimeDir, filesDir: defaultFilesDir, toolTimes: options.toolTimes }
      : (options.wordpress ?? simulatedFilesIn(inject('simulatedFiles')))
  const sandbox = await startSandbox({
    host: '127.0.0.1',
    port: sandboxPort,
    databaseUrl: database.url,
    database: connectionConfig(database.url, { application_name: 'sandbox' }),
    portalUrl: options.webhooksTo ?? config.portalUrl,
    ...keys,
    wordpressFiles: path.join(wordpressFiles.filesDir, 'wp'),
    ...(config.SITE_MAIL_REPORTS !== undefined && { reportsTo: reportsListenOn(config) }),
    ...(config.SUPPORT_MAIL !== undefined && { lettersTo: supportListensOn(config) }),
    acme: {
      httpPort: sitesPort,
      nameServerPort: dnsPort,
      resolvers: config.DNS_RESOLVERS,
      binding: acme,
    },
    pace: 0.05,
    log: () => undefined,
  })
  const shipped = loadCatalog(path.resolve(import.meta.dirname, '../catalog.yaml'))
  const openTheSites = async (): Promise<Sites> => {
    const opened = openSites(config, log, wordpressFiles)
    await opened.listen()
    const nameServer =
      config.DNS_DRIVER === 'embedded'
        ? await openNameServer(nameServerSettings(config), log)
        : undefined
    return {
      listen: opened.listen,
      serveStream: opened.serveStream,
      serve(line) {
        nameServer?.serve(line)
        opened.serve(line)
        line.listen()
      },
      async close() {
        await nameServer?.close()
        await opened.close()
      },
    }
  }
  const open = async ({
    changeCatalog,
    catalogText,
    changeDrivers,
    timing,
  }: Pick<TestPortalOptions, Opened>): Promise<{
    app: App
    drivers: Drivers
    hangUp: () => void
  }> => {
    const { port1, port2 } = new MessageChannel()
    sites.serve(lineThrough(port1))
    const line = lineThrough(port2)
    line.listen()
    const opened = await openDrivers(
      config,
      {
        url: sandbox.url,
        smtpUrl: sandbox.smtpUrl,
        registryPort: sandbox.registryPort,
        ...keys,
        acme,
      },
      line,
      log,
    )
    const { wordpress, edge } = opened
    if (!wordpress || !edge) throw new Error('a test portal has a node of its own')
    const withNode = { ...opened, wordpress, edge }
    const drivers = changeDrivers?.(withNode) ?? withNode
    const app = await openApp({
      config,
      databaseUrl: database.url,
      ...(catalogText === undefined
        ? { catalog: changeCatalog?.(shipped) ?? shipped }
        : {
            catalog: parseCatalog(catalogText, 'catalog.yaml'),
            catalogFile: { text: catalogText, origin: 'test:portal' },
          }),
      drivers,
      secrets,
      clock: options.clock ?? systemClock,
      log,
      sandboxUrl: sandbox.url,
      registryPort: sandbox.registryPort,
      // No nightly backups, because tests run at any hour and must not meet one that they did not
      // request.
      timing: { nights: '0 0 29 2 *', ...timing },
      mayFetch: options.mayFetch,
    })
    await app.listen()
    return { app: app, drivers, hangUp: () => port2.close() }
  }
  let sites = await openTheSites()
  let now = await open(options)

  const test: TestPortal = {
    get app() {
      return now.app
    },
    get drivers() {
      return now.drivers
    },
    dataDir,
    config,
    url: config.portalUrl,
    sandboxUrl: sandbox.url,
    registryPort: sandbox.registryPort,
    databaseUrl: database.url,
    rootSecret,
    keysOf: (gateway) => keys.gateways[gateway] ?? {},
    call: callsTo(config.portalUrl),
    async inbox(to) {
      const answer = await fetch(`${sandbox.url}/inbox.json?to=${encodeURIComponent(to)}`)
      return (await answer.json()) as { to: string; channel: string; text: string; at: string }[]
    },
    customer: ({ region = 'VN', name, email, isEmailProven } = {}) =>
      writeCustomer({
        name,
        email,
        isEmailProven,
        db: now.app.db,
        clock: options.clock ?? systemClock,
        region: region as RegionCode,
        currency: shipped.regions[region as RegionCode].currency,
      }),
    async signIn(customer) {
      const { email, password } = customer
      const signedIn = await test.call<{ token: { accessToken: string } }>(
        'POST',
        '/api/v1/auth/login',
        { body: { email, password } },
      )
      return { ...customer, token: signedIn.body.result.token.accessToken }
    },
    async topUp(customer, amount, outcome = 'paid') {
      const begun = await test.call<{ checkoutUrl: string; transactionCode: string }>(
        'POST',
        '/api/payments/checkout',
        {
          token: customer.token,
          body: { amount, type: 1, method: 'QRPAY' },
        },
      )
      if (begun.status !== 200) throw new Error(`checkout: ${begun.text}`)
      const { checkoutUrl, transactionCode } = begun.body.result
      const page = await (await fetch(checkoutUrl)).text()
      const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? ''
      const confirmed = await fetch(
        new URL('/vnpay/paymentv2/Transaction/Confirm.html', sandbox.url),
        {
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams({ token, outcome }),
        },
      )
      return { transactionCode, returnUrl: confirmed.headers.get('location') ?? '' }
    },
    async topUpBy(customer, wish, outcome) {
      const begun = await test.call<{ checkoutUrl: string; transactionCode: string }>(
        'POST',
        '/api/payments/checkout',
        {
          token: customer.token,
          body: wish,
        },
      )
      if (begun.status !== 200) throw new Error(`checkout: ${begun.text}`)
      const { checkoutUrl, transactionCode } = begun.body.result
      return { checkoutUrl, transactionCode, returnUrl: await test.decide(checkoutUrl, outcome) }
    },
    async decide(checkoutUrl, outcome) {
      const page = await (await fetch(checkoutUrl)).text()
      const action = /<form method="post" action="([^"]+)"/.exec(page)?.[1]
      const token = /name="token" value="([^"]+)"/.exec(page)?.[1]
      if (action === undefined || token === undefined) throw new Error('no payment page')
      const body = new URLSearchParams({ token, outcome })
      const confirmed = await fetch(new URL(action, checkoutUrl), {
        method: 'POST',
        redirect: 'manual',
        body,
      })
      return confirmed.headers.get('location') ?? ''
    },
    async ledgerHolds() {
      const findings = await checkLedger(now.app.db)
      if (findings.length > 0)
        throw new Error(
          findings.map((finding) => `${finding.invariant}: ${finding.where}`).join('\n'),
        )
    },
    async reopen(changes = {}, whileDown) {
      await now.app.close()
      now.hangUp()
      if (!changes.sitesGoOn) {
        await sites.close()
        sites = await openTheSites()
      }
      await whileDown?.()
      now = await open({ ...options, ...changes })
    },
    async close() {
      await now.app.close()
      now.hangUp()
      await sites.close()
      await sandbox.close()
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return test
}
