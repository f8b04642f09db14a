/**
 * The dependencies of commands about payments: the configured gateways, or the sandbox of the
 * running portal.
 */
import { catalogInUse } from '../catalog/index.ts'
import type { Config } from '../config.ts'
import { openGateways, sandboxGatewayKeys } from '../drivers.ts'
import { createOutbox } from '../messages/index.ts'
import { createLetters, openOperatorTools } from '../payments/index.ts'
import { readOffset, systemClock, type Clock } from '../platform/clock.ts'
import { connect } from '../platform/db.ts'
import { createJobs } from '../platform/jobs.ts'
import { createLog } from '../platform/log.ts'
import { openSecrets, readRootSecret } from '../platform/secrets.ts'
import { createEventOutbox } from '../realtime/index.ts'
import { createLedger } from '../wallet/index.ts'

export async function openPaymentTools(config: Config, databaseUrl: string) {
  const log = createLog(config.LOG_LEVEL)
  let host
  if (['0.0.0.0', '::'].includes(config.HOST)) host = '127.0.0.1'
  else if (config.HOST.includes(':')) host = `[${config.HOST}]`
  else host = config.HOST

  const root = readRootSecret(config.DATA_DIR, config.PORTAL_SECRET)
  // A new secret would be registered in a database that has none yet, and lock the portal out.
  if (root === undefined)
    throw new Error(
      `There is no PORTAL_SECRET, and no file "secret" in ${config.DATA_DIR}: give the portal's.`,
    )
  const { db, close } = connect(databaseUrl, 2, () => undefined)
  const secrets = await openSecrets(db, root, config.PORTAL_SECRET_PREVIOUS)
  const sandbox = config.sandbox
    ? {
        url: `http://${host}:${config.SANDBOX_PORT}`,
        gateways: sandboxGatewayKeys((purpose) => secrets.derive(purpose)),
      }
    : undefined
  const drivers = openGateways(config, sandbox)
  const jobs = createJobs(databaseUrl, log, 'send')
  await jobs.start()
  // The sandbox's clock may have been moved (`clock +31d`): rows written since have its time.
  const offsetMs = config.sandbox ? await readOffset(db) : 0
  const clock: Clock = {
    now: () => new Date(systemClock.now().getTime() + offsetMs),
    travels: config.sandbox,
  }
  const ledger = createLedger(clock)
  await ledger.prepare(db, { drivers: [...drivers.keys()], products: [] })
  const catalog = await catalogInUse(db, config.CATALOG)
  // The running portal sends the events that are written here.
  const outgoing = { portalUrl: config.portalUrl, supportMail: config.SUPPORT_MAIL ?? null }
  const { mail, answerable } = createOutbox({ jobs, clock, secrets, ...outgoing })
  const letters = createLetters({
    clock,
    catalog,
    ledger,
    outbox: createEventOutbox(clock, () => undefined),
    mail,
    answerable,
    portalUrl: config.portalUrl,
  })
  return {
    db,
    clock,
    drivers,
    jobs,
    ledger,
    letters,
    mail,
    log,
    secrets,
    catalog,
    sandboxUrl: sandbox?.url ?? null,
    ...openOperatorTools({
      db,
      clock,
      ledger,
      jobs,
      log,
      catalog,
      drivers,
      letters,
      portalUrl: config.portalUrl,
    }),
    async close() {
      await jobs.stop()
      await close()
    },
  }
}
