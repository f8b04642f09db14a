/**
 * The portal process: API, pages, jobs, and the sandbox where a third party is simulated. It is a
 * child process of main.ts, which owns the database and the name server and runs the customers'
 * sites. A process can be replaced by another one without a failed request, and main.ts restarts it
 * when it exits. A changed catalogue takes effect this way, and visitors notice nothing.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { defaultFilesDir } from '../scripts/wordpress-files.mjs'
import { openApp, type App } from './app/index.ts'
import { originOf } from './catalog/index.ts'
import { ConfigFault, type Config } from './config.ts'
import { seedDemo, type Demo } from './demo.ts'
import { openDrivers, sandboxGatewayKeys, type SandboxAddresses } from './drivers.ts'
import { connectionConfig } from './platform/database-client.ts'
import { connect, migrate } from './platform/db.ts'
import { createTravellingClock, systemClock } from './platform/clock.ts'
import { createLog, type Log } from './platform/log.ts'
import { placeOf } from './platform/postgres/index.ts'
import { loadRootSecret, openSecrets, WrongSecret, type Secrets } from './platform/secrets.ts'
import { closeOnSignals } from './platform/shutdown.ts'
import { collectStartUpGarbage } from './platform/start-up-garbage.ts'
import { notePid } from './portal-pid.ts'
import { supportListensOn } from './customer-tickets.ts'
import { reportsListenOn } from './site-reports.ts'
import { readSettings } from './settings.ts'
import { nodeKey } from './own-node.ts'
import {
  bootRequest,
  drainRequest,
  lineTo,
  openToOthersRequest,
  portalIsReady,
  type Boot,
} from './sites-line.ts'
import { printFaults, whyNotStarted } from './start-failures.ts'
import { noteStart } from './version.ts'

const printLine = (line: string): void => void process.stdout.write(`${line}\n`)

async function openSandbox(config: Config, databaseUrl: string, secrets: Secrets, log: Log) {
  const keys = {
    gateways: sandboxGatewayKeys((purpose) => secrets.derive(purpose)),
    esms: {
      apiKey: secrets.derive('sandbox-esms-key').slice(0, 32),
      secretKey: secrets.derive('sandbox-esms-secret').slice(0, 32),
    },
  }
  const acme = { keyId: 'sandbox', hmacKey: secrets.derive('sandbox-acme-key') }
  // Imported only when the sandbox is used: a minimal production image does not contain it.
  const { startSandbox } = await import('../sandbox/index.ts')
  const sandbox = await startSandbox({
    host: config.HOST,
    port: config.SANDBOX_PORT,
    databaseUrl,
    database: connectionConfig(databaseUrl, { application_name: 'sandbox' }),
    portalUrl: config.portalUrl,
    ...(config.SANDBOX_DNS_PORT !== undefined && { registryPort: config.SANDBOX_DNS_PORT }),
    ...keys,
    wordpressFiles: path.join(defaultFilesDir, 'wp'),
    ...(config.SITE_MAIL_REPORTS !== undefined && { reportsTo: reportsListenOn(config) }),
    ...(config.SUPPORT_MAIL !== undefined && { lettersTo: supportListensOn(config) }),
    acme: {
      httpPort: config.SITES_PORT,
      nameServerPort: config.DNS_PORT,
      resolvers: config.DNS_RESOLVERS,
      binding: acme,
    },
    log: (line) => log.info({ sandbox: line }, 'sandbox'),
  })
  const addresses: SandboxAddresses = {
    url: sandbox.url,
    smtpUrl: sandbox.smtpUrl,
    registryPort: sandbox.registryPort,
    ...keys,
    acme,
  }
  return { sandbox, addresses }
}

/** Registers the demo's domain in the sandbox's registry, as its owner would have done. */
async function delegateInSandbox(
  url: string,
  domain: NonNullable<Demo['domain']>,
  { dns }: App,
): Promise<void> {
  const body = JSON.stringify(domain)
  const answer = await fetch(`${url}/registry.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  if (!answer.ok)
    throw new Error(`The sandbox's registry refused ${domain.name}: ${await answer.text()}`)
  await dns.verifier.checkDue()
}

/** Runs the sweeps for due items now, and the check of what wallets need for them. */
async function lookNow({ bills, topUps }: App): Promise<void> {
  await bills.enqueueSweeps()
  await topUps.autoTopUps.enqueueSweep()
}

/** Prints the addresses that a person may want to open. */
function printAddresses(
  config: Config,
  sandbox: SandboxAddresses | undefined,
  demo: Demo | undefined,
): void {
  printLine('')
  printLine(`  Portal             ${config.portalUrl}`)
  printLine(`  API documentation  ${config.portalUrl}/api/docs`)
  if (sandbox)
    printLine(`  Sandbox            ${sandbox.url}   (SMS and mail: ${sandbox.url}/inbox)`)
  if (config.ROLES.has('dns'))
    printLine(`  Name server        ${config.HOST}:${config.DNS_PORT} (UDP and TCP)`)
  if (config.ROLES.has('node'))
    printLine(
      `  Customers' sites   ${config.sitesScheme}://<name>.` +
        `${config.SITES_DOMAIN ?? `localhost:${config.SITES_PORT}`}`,
    )
  if (demo) printLine(`  Demo sign-in       ${demo.email} / ${demo.password}`)
  printLine('')
}

/** Migrates, and opens the secrets of the database. */
async function secretsOf(config: Config, databaseUrl: string): Promise<Secrets> {
  await migrate(databaseUrl)
  const { db, close } = connect(databaseUrl, 1, () => undefined)
  try {
    const given = loadRootSecret(config.DATA_DIR, config.PORTAL_SECRET)
    return await openSecrets(db, given, config.PORTAL_SECRET_PREVIOUS)
  } catch (error) {
    // This happens, for example, when a DATA_DIR was removed and created again.
    if (error instanceof WrongSecret && config.DATABASE_URL === undefined)
      error.message += ` The database stands in ${placeOf(path.join(config.DATA_DIR, 'postgres'))}.`
    throw error
  } finally {
    await close()
  }
}

/** Longest time that calls in progress get to finish at shutdown, ms. */
const closeLimitMs = 19_000

async function run(): Promise<void> {
  if (!process.connected) {
    printFaults(['This is the part of the portal that server/main.ts starts: run npm start.'])
    process.exit(64) // EX_USAGE of sysexits.h
  }
  const settings = readSettings(process.env)
  if ('faults' in settings) {
    printFaults(settings.faults)
    process.exit(78) // EX_CONFIG of sysexits.h
  }
  const { config, catalog, warnings } = settings
  for (const warning of warnings) process.stderr.write(`  Note: ${warning}\n`)
  const log = createLog(config.LOG_LEVEL)
  noteStart(log, 'portal')
  let sandbox: { close(): Promise<void> } | undefined
  let app: App | undefined
  let stopClock: (() => void) | undefined
  let ending = false
  let isReportedByParent = false

  async function close(): Promise<void> {
    ending = true
    stopClock?.()
    await app?.close()
    await sandbox?.close()
  }
  const shutdown = closeOnSignals(close, closeLimitMs, log, { ofTheTerminal: false })
  // Without the parent process there is neither database nor sites: exit. Requests in progress are
  // left as after a crash.
  process.once('disconnect', () => {
    if (!ending) process.exit(1)
  })

  try {
    const line = lineTo(process)
    line.onRequest(drainRequest, async () => {
      await app?.drain()
      return null
    })
    line.listen()
    const {
      databaseUrl,
      began,
      notesPid = true,
    } = await line.sendRequest<Boot>(bootRequest).catch((error: unknown) => {
      isReportedByParent = true
      throw error
    })
    const secrets = await secretsOf(config, databaseUrl)
    if (config.NODE_LISTEN !== undefined) {
      const key = config.NODE_KEY ?? nodeKey(secrets, config.NODE_NAME)
      await line.sendRequest(openToOthersRequest, { key }).catch((error: unknown) => {
        isReportedByParent = true
        throw error
      })
    }
    let addresses: SandboxAddresses | undefined
    if (config.sandbox) {
      const opened = await openSandbox(config, databaseUrl, secrets, log)
      sandbox = opened.sandbox
      addresses = opened.addresses
    }
    const drivers = await openDrivers(config, addresses, line, log)
    const travelling = config.sandbox ? createTravellingClock() : undefined
    const clock = travelling ?? systemClock
    const opened = await openApp({
      config,
      databaseUrl,
      catalog,
      catalogFile: {
        text: readFileSync(config.CATALOG, 'utf8'),
        origin: originOf(config.DATA_DIR),
      },
      drivers,
      secrets,
      clock,
      log,
      sandboxUrl: addresses?.url ?? null,
      registryPort: addresses?.registryPort ?? null,
    })
    app = opened
    stopClock = await travelling?.follow(opened.db, opened.notices, () => {
      log.info({ now: clock.now() }, 'the clock was moved')
      lookNow(opened).catch((error: unknown) =>
        log.warn({ err: error }, 'billing looks with its next round'),
      )
    })
    const demo = config.demo
      ? await seedDemo({ db: app.db, catalog, log, dns: app.dns })
      : undefined
    await app.listen()
    // Handles what fell due while the portal was down, and prices that the catalogue has raised
    // since.
    if (config.ROLES.has('worker')) await lookNow(app)
    if (demo?.domain && addresses) await delegateInSandbox(addresses.url, demo.domain, app)

    if (notesPid) printAddresses(config, addresses, demo)
    if (notesPid) notePid(config.DATA_DIR)
    collectStartUpGarbage()
    await line.sendNotification(portalIsReady)
    const took = ((Date.now() - began) / 1000).toFixed(1)
    if (notesPid) printLine(`  Ready in ${took} s. Ctrl-C stops everything.`)
    else log.info({ seconds: Number(took) }, 'another process of the portal is ready')
  } catch (error) {
    log.debug({ err: error }, 'start')
    // The parent reports a fault of the database or the sites.
    if (!isReportedByParent) printFaults([whyNotStarted(error)])
    shutdown.disarm()
    await close().catch(() => undefined)
    process.exit(error instanceof WrongSecret || error instanceof ConfigFault ? 78 : 1)
  }
}

// The start script has it compiled beforehand by importing it.
if (import.meta.main) await run()
