/** Opens the house: configuration, database, sandbox, rooms; and closes it again. */
import path from 'node:path'
import { openHouse, type House } from './app.ts'
import { CatalogFault, loadCatalog, type Catalog } from './catalog/index.ts'
import { ConfigFault, readConfig, type Config } from './config.ts'
import { seedDemo, type Demo } from './demo.ts'
import { driverFaults, openDrivers, sandboxGatewayKeys, type SandboxAddresses } from './drivers.ts'
import { createTravellingClock, systemClock } from './platform/clock.ts'
import { createLog, type Log } from './platform/log.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres } from './platform/postgres/index.ts'
import { createSecrets, loadRootSecret, type Secrets } from './platform/secrets.ts'
import { closeOnSignals } from './platform/shutdown.ts'
import { collectStartUpGarbage } from './platform/start-up-garbage.ts'

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Stops the start with one sentence a fault. */
function refuse(faults: readonly string[]): never {
  process.stderr.write(`The portal does not start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\n`)
  process.exit(78) // EX_CONFIG of sysexits.h
}

function readEverything(): { config: Config; catalog: Catalog } {
  const faults: string[] = []
  let config: Config | undefined
  let catalog: Catalog | undefined
  try {
    config = readConfig(process.env)
    faults.push(...driverFaults(config))
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error
    faults.push(...error.faults)
  }
  try {
    catalog = loadCatalog(config?.CATALOG ?? path.resolve('catalog.yaml'))
  } catch (error) {
    if (!(error instanceof CatalogFault)) throw error
    faults.push(...error.message.split('\n'))
  }
  if (!config || !catalog || faults.length > 0) refuse(faults)
  return { config, catalog }
}

async function openSandbox(config: Config, databaseUrl: string, secrets: Secrets, log: Log) {
  const keys = {
    gateways: sandboxGatewayKeys((purpose) => secrets.derive(purpose)),
    esms: { apiKey: secrets.derive('sandbox-esms-key').slice(0, 32), secretKey: secrets.derive('sandbox-esms-secret').slice(0, 32) },
  }
  // Loaded only when it stands in for somebody: a lean production image does not even hold it.
  const { startSandbox } = await import('../sandbox/index.ts')
  const sandbox = await startSandbox({
    host: config.HOST,
    port: config.SANDBOX_PORT,
    databaseUrl,
    portalUrl: config.portalUrl,
    ...(config.SANDBOX_DNS_PORT !== undefined && { registryPort: config.SANDBOX_DNS_PORT }),
    ...keys,
    log: (line) => log.info({ sandbox: line }, 'sandbox'),
  })
  const addresses: SandboxAddresses = { url: sandbox.url, smtpUrl: sandbox.smtpUrl, registryPort: sandbox.registryPort, ...keys }
  return { sandbox, addresses }
}

/** The demo's domain is registered in the sandbox, as its owner would have done long ago. */
async function delegateInSandbox(url: string, domain: NonNullable<Demo['domain']>, { dns }: House): Promise<void> {
  const body = JSON.stringify(domain)
  const answer = await fetch(`${url}/registry.json`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  if (!answer.ok) throw new Error(`The sandbox's registry does not take ${domain.name}: ${await answer.text()}`)
  await dns.verifier.checkDue()
}

const describe = (error: unknown): string => {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE')
    return `Port ${(error as { port?: number }).port} is taken. Stop what listens there, or set another port (PORT, SANDBOX_PORT, SITES_PORT, DNS_PORT).`
  if (code === 'EACCES' && (error as { syscall?: string }).syscall === 'listen')
    return `Port ${(error as { port?: number }).port} may not be listened on by this user.`
  if (code === 'ECONNREFUSED' || code === '28P01' || code === '3D000' || code === 'ENOTFOUND')
    return `The database does not take us: ${(error as Error).message}`
  return error instanceof Error ? error.message : String(error)
}

const { config, catalog } = readEverything()
const log = createLog(config.LOG_LEVEL)
let postgres: EmbeddedPostgres | undefined
let sandbox: { close(): Promise<void> } | undefined
let house: House | undefined
let stopClock: (() => void) | undefined

/** Longest time for what is in flight, ms. */
const closeLimitMs = 25_000

const shutdown = closeOnSignals(
  async (signal) => {
    if (signal) say('Stopping: finishing what is in flight …')
    stopClock?.()
    await house?.close()
    await sandbox?.close()
    await postgres?.stop()
    if (signal) say('Stopped.')
  },
  closeLimitMs,
  log,
)

try {
  const began = performance.now()
  const secrets = createSecrets(loadRootSecret(config.DATA_DIR, config.PORTAL_SECRET))
  if (config.DATABASE_URL === undefined) {
    postgres = await startEmbeddedPostgres({ folder: path.join(config.DATA_DIR, 'postgres'), runAsUser: config.EMBEDDED_PG_USER, log: say })
    void postgres.died.then((why) => {
      log.fatal({ why }, 'the database is gone')
      process.exit(1)
    })
  }
  const databaseUrl = config.DATABASE_URL ?? postgres?.url ?? ''
  let addresses: SandboxAddresses | undefined
  if (config.sandbox) {
    const opened = await openSandbox(config, databaseUrl, secrets, log)
    sandbox = opened.sandbox
    addresses = opened.addresses
  }
  const drivers = openDrivers(config, addresses, log)
  const travelling = config.sandbox ? createTravellingClock() : undefined
  const clock = travelling ?? systemClock
  const opened = await openHouse({
    config,
    databaseUrl,
    catalog,
    drivers,
    secrets,
    clock,
    log,
    sandboxUrl: addresses?.url ?? null,
    registryPort: addresses?.registryPort ?? null,
  })
  house = opened
  stopClock = await travelling?.follow(opened.db, () => {
    log.info({ now: clock.now() }, 'the clock was moved')
    opened.bills.poke().catch((error: unknown) => log.warn({ err: error }, 'billing looks with its next round'))
  })
  const demo = config.demo ? await seedDemo({ db: house.db, catalog, log, dns: house.dns }) : undefined
  await house.listen()
  if (demo?.domain && addresses) await delegateInSandbox(addresses.url, demo.domain, house)

  say('')
  say(`  Portal             ${config.portalUrl}`)
  say(`  API documentation  ${config.portalUrl}/api/docs`)
  if (addresses) say(`  Sandbox            ${addresses.url}   (SMS and mail: ${addresses.url}/inbox)`)
  say(`  Name server        ${config.HOST}:${config.DNS_PORT} (UDP and TCP)`)
  say(`  Customers' sites   http://<name>.${config.SITES_DOMAIN ?? `localhost:${config.SITES_PORT}`}`)
  if (demo) say(`  Demo sign-in       ${demo.email} / ${demo.password}`)
  say('')
  collectStartUpGarbage()
  say(`  Ready in ${((performance.now() - began) / 1000).toFixed(1)} s. Ctrl-C stops everything.`)
} catch (error) {
  log.debug({ err: error }, 'start')
  process.stderr.write(`The portal does not start:\n  - ${describe(error)}\n`)
  shutdown.disarm()
  await house?.close().catch(() => undefined)
  await sandbox?.close().catch(() => undefined)
  await postgres?.stop()
  process.exit(1)
}
