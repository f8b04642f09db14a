/** The database, the catalogue, and the modules of the lower layer. */
import { rateLimits } from '../../contract/rate-limits.ts'
import * as auth from '../auth/index.ts'
import * as billing from '../billing/index.ts'
import { currencyOf, followCatalog, languageOfRegion, smsCountriesOf } from '../catalog/index.ts'
import { catalogPublications } from '../catalog-publications.ts'
import * as customerImport from '../customer-import/index.ts'
import { createEndPrograms } from '../customer-programs.ts'
import { endLogsOf, endWork } from '../customer-team.ts'
import { titles as dnsTitles } from '../dns/index.ts'
import { createMeters } from '../gauges/index.ts'
import * as handOver from '../hand-over/index.ts'
import { judgeInstallation } from '../installation.ts'
import { createMessages } from '../messages/index.ts'
import * as payments from '../payments/index.ts'
import { judgeConnections } from '../platform/connection-budget.ts'
import { connect, migrate, type Tx } from '../platform/db.ts'
import { createJobs } from '../platform/jobs.ts'
import { createLimits } from '../platform/limits.ts'
import { createMetrics } from '../platform/metrics.ts'
import { createNotices } from '../platform/notices.ts'
import { openTracing } from '../platform/tracing.ts'
import { refuseUnfinishedRestore } from '../portal-backup/index.ts'
import { createRealtime } from '../realtime/index.ts'
import { lettersAbout } from '../staff/index.ts'
import * as storefront from '../storefront/index.ts'
import * as team from '../team/index.ts'
import { titles as ticketTitles } from '../tickets/index.ts'
import { version } from '../version.ts'
import * as wallet from '../wallet/index.ts'
import { createSender } from '../webhooks/index.ts'
import * as wordpress from '../wordpress/index.ts'
import type { AppParts } from './parts.ts'

const realtimeApp = 'portal'

/** A pool of connections to a database of this release's schema. */
async function openDatabase({ config, databaseUrl, clock, log }: AppParts) {
  const { DATABASE_CONNECTION_POOL_MAX: poolSize } = config
  const pooler = config.DATABASE_CONNECTION_POOL_URL
  const pool = connect(
    databaseUrl,
    poolSize,
    (error) => log.warn({ err: error }, 'idle database connection'),
    pooler,
  )
  const { db } = pool
  try {
    await refuseUnfinishedRestore(config.DATA_DIR)
    await migrate(databaseUrl)
    const production = config.NODE_ENV === 'production'
    await judgeInstallation(db, clock.now(), { sandbox: config.sandbox, production })
    const throughPooler = pooler !== undefined
    await judgeConnections(db, { calls: poolSize, throughPooler, sandbox: config.sandbox }, log)
  } catch (error) {
    await pool.close()
    throw error
  }
  return pool
}

export type Base = Awaited<ReturnType<typeof openBase>>

/** Migrates the database, and opens the parts that the upper layer's modules depend on. */
export async function openBase(parts: AppParts) {
  const { config, catalog, drivers, secrets, clock, log } = parts
  const { portalUrl } = config
  const pool = await openDatabase(parts)
  const { db } = pool
  const tracing = await openTracing(
    {
      endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
      headers: config.OTEL_EXPORTER_OTLP_HEADERS,
      serviceName: config.OTEL_SERVICE_NAME,
      share: config.OTEL_TRACES_SAMPLER_ARG,
      version,
    },
    log,
  )

  const versions =
    parts.catalogFile &&
    (await followCatalog({
      db,
      catalog,
      file: parts.catalogFile,
      log,
      onChange() {
        if (isWorker)
          bills
            .enqueueSweeps()
            .catch((error: unknown) => log.warn({ err: error }, 'a new catalogue'))
      },
    }))
  const followTheCatalog = (): void =>
    void versions?.look().catch((error: unknown) => log.warn({ err: error }, 'a new catalogue'))
  const holdCatalog = async (tx: Tx): Promise<void> => await versions?.hold(tx)

  const metrics = createMetrics(parts.timing?.metrics)
  const meters = createMeters(metrics, [...drivers.payments.keys()])
  const limits = createLimits(parts.databaseUrl)
  const isWorker = config.ROLES.has('worker')
  const notices = createNotices(parts.databaseUrl, log)
  const jobs = createJobs(parts.databaseUrl, log, isWorker ? 'work' : 'send', notices)
  const ledger = wallet.createLedger(clock)
  const products = [wordpress.wordpressProduct(catalog, clock)]
  await ledger.prepare(db, {
    drivers: [...drivers.payments.keys()],
    products: products.map(({ name }) => name),
  })
  const links = billing.createInvoiceLinks(portalUrl, secrets.derive('invoice-links'))
  const sender = createSender({ db, clock, log, jobs })
  const realtime = createRealtime({
    db,
    onSent: sender.onSent,
    complete: links.complete,
    titles: {
      ...billing.titles,
      ...payments.titles,
      ...wordpress.titles,
      ...dnsTitles,
      ...ticketTitles,
      ...handOver.titles,
    },
    notices,
    clock,
    app: {
      id: realtimeApp,
      key: secrets.derive('realtime-key').slice(0, 20),
      secret: secrets.derive('realtime-secret'),
    },
    log,
  })
  const messages = createMessages({
    db,
    jobs,
    clock,
    log,
    secrets,
    sms: drivers.sms,
    mailer: drivers.mailer,
    portalUrl,
    supportMail: config.SUPPORT_MAIL ?? null,
  })
  const publications = catalogPublications({
    db,
    clock,
    log,
    jobs,
    mail: messages.mail,
    portalUrl,
    onCount: followTheCatalog,
  })
  const endPrograms = createEndPrograms(clock)
  const authNeeds: auth.AuthNeeds = {
    db,
    log,
    clock,
    secrets,
    limits,
    registrationsPerHour:
      config.REGISTRATIONS_PER_HOUR ?? (config.sandbox ? 0 : rateLimits.registration.attempts),
    smsADay: config.SMS_A_DAY,
    smsCountriesOf: (region) => smsCountriesOf(catalog, region),
    refuseBreached: auth.createBreachCheck({ rangeUrl: config.PWNED_PASSWORDS_URL, log }),
    sendSms: messages.sms,
    sendMail: messages.mail,
    sendAnswerable: messages.answerable,
    brandName: catalog.brand.name,
    currencyOf: (region) => currencyOf(catalog, region),
    languageOf: (region) => languageOfRegion(catalog, region),
    openWallet: ledger.openWallet,
    closeWallets: ledger.closeWallets,
    balanceOf: ledger.balanceOf,
    locationOf: storefront.placeOf,
    printedPlace: storefront.printedPlace,
    endLive: realtime.endSessions,
    outbox: realtime,
    endPrograms,
    endTeamSince: (tx, of) => team.endTeamSince(tx, endWork, of),
    endKeysSince: wordpress.endKeysSince,
    notePassword: (tx, customerId) => customerImport.noteCame(tx, clock, customerId),
    takeBackOffers: handOver.takeBackOffers,
    endLogsOf,
    countAccounts: team.countAccounts,
    portalUrl,
  }
  const accounts = auth.createAccounts(authNeeds)
  const bills = billing.createBilling({
    db,
    clock,
    jobs,
    ledger,
    outbox: realtime,
    mail: messages.mail,
    customers: accounts.customers,
    catalog,
    holdCatalog,
    portalUrl,
    links,
    log,
    onCharged: payments.createOnCharged(jobs),
  })
  const letters = payments.createLetters({
    clock,
    catalog,
    ledger,
    outbox: realtime,
    mail: messages.mail,
    answerable: messages.answerable,
    portalUrl,
  })
  const topUps = payments.openPayments({
    db,
    clock,
    ledger,
    letters,
    outbox: realtime,
    jobs,
    log,
    catalog,
    drivers: drivers.payments,
    portalUrl,
    askGatewaySeconds: parts.timing?.askGatewaySeconds,
    refusals: limits.limit('card-refused'),
    fundsOf: bills.fundsOf,
    mail: messages.mail,
    moneyMembers: (from) => lettersAbout(from, 'money'),
    brandName: catalog.brand.name,
  })

  return {
    ...parts,
    portalUrl,
    isWorker,
    pool,
    db,
    tracing,
    versions,
    followCatalog: followTheCatalog,
    holdCatalog,
    metrics,
    meters,
    limits,
    notices,
    jobs,
    ledger,
    products,
    links,
    sender,
    realtime,
    messages,
    publications,
    endPrograms,
    authNeeds,
    accounts,
    bills,
    letters,
    topUps,
  }
}
