/**
 * Composes the modules: opens them in order, passes each its dependencies, and closes them. This is
 * the only file that imports every module.
 */
import path from 'node:path'
import helmet from '@fastify/helmet'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { sql } from 'kysely'
import * as auth from './auth/index.ts'
import * as billing from './billing/index.ts'
import {
  currencyOf,
  followCatalog,
  languageOfRegion,
  smsCountriesOf,
  timeZoneOf,
  type Catalog,
  type CatalogFileText,
} from './catalog/index.ts'
import { catalogPublications } from './catalog-publications.ts'
import * as certificates from './certificates/index.ts'
import type { Config } from './config.ts'
import { createEndPrograms, customerPrograms } from './customer-programs.ts'
import {
  createEndLiveOf,
  createOpensUntil,
  customerTeam,
  endLogsOf,
  endTeam,
  endWork,
  identifyActing,
} from './customer-team.ts'
import { customerTickets } from './customer-tickets.ts'
import { connectNode, type Drivers, type NodeLine } from './drivers.ts'
import {
  createDelegation,
  createDns,
  createZoneTexts,
  dnsPort,
  isAnswered,
  isAnsweredFor,
  ownAddresses,
  ownNameServer,
  routes as dnsRoutes,
  titles as dnsTitles,
} from './dns/index.ts'
import { certifiableNames, isOwnEdge } from './certifiable-names.ts'
import { ownerTools } from './owner-tools.ts'
import { createMeters, defineGauges } from './gauges/index.ts'
import { machinePaths, serveHealth } from './health.ts'
import { archivesOf, importStoreOf } from './archives-of.ts'
import { returnPathsOf, siteReports } from './site-reports.ts'
import * as handOver from './hand-over/index.ts'
import { judgeInstallation } from './installation.ts'
import { nodeKey, nodeSettings, ownNodeOf } from './own-node.ts'
import { createMessages } from './messages/index.ts'
import { pageProtection } from './page-protection.ts'
import { operatorDesk } from './operator-desk.ts'
import { forgetAtDesk, holdTrail, identifyView } from './operator/index.ts'
import * as payments from './payments/index.ts'
import { acceptedLanguage } from './platform/accept-language.ts'
import { watchLoad } from './platform/back-pressure.ts'
import { minutes, type Clock } from './platform/clock.ts'
import { judgeConnections } from './platform/connection-budget.ts'
import { connect, migrate, type Queryable, type Tx } from './platform/db.ts'
import { Refusal } from './platform/errors.ts'
import { createHttp } from './platform/http.ts'
import { prepareDrain } from './platform/drain.ts'
import { failure } from './platform/http-failures.ts'
import { checkDiskSpace } from './platform/disk-space.ts'
import { createDnsLookup, localFirstResolver } from './platform/dns-lookup.ts'
import type { MayConnect } from './platform/judged-address.ts'
import { createJobs } from './platform/jobs.ts'
import { createSessionLocks } from './platform/session-locks.ts'
import { createLimits } from './platform/limits.ts'
import type { Log } from './platform/log.ts'
import { createNotices } from './platform/notices.ts'
import { createMetrics, type MetricTimes } from './platform/metrics.ts'
import { openApi } from './platform/openapi.ts'
import type { Secrets } from './platform/secrets.ts'
import { definePortalBackups, refuseUnfinishedRestore } from './portal-backup/index.ts'
import { openTracing } from './platform/tracing.ts'
import { createRealtime } from './realtime/index.ts'
import * as staff from './staff/index.ts'
import { createClosure, routes as statusRoutes } from './status/index.ts'
import * as storefront from './storefront/index.ts'
import * as privacy from './privacy/index.ts'
import * as team from './team/index.ts'
import { titles as ticketTitles } from './tickets/index.ts'
import { identifyToken } from './tokens/index.ts'
import { defineUpkeep } from './upkeep.ts'
import { version } from './version.ts'
import * as wallet from './wallet/index.ts'
import { createSender } from './webhooks/index.ts'
import * as wordpress from './wordpress/index.ts'

export interface AppParts {
  readonly config: Config
  readonly databaseUrl: string
  readonly catalog: Catalog
  /** What `catalog` was read from: it follows the version in the database then. */
  readonly catalogFile?: CatalogFileText
  readonly drivers: Drivers
  readonly secrets: Secrets
  readonly clock: Clock
  readonly log: Log
  /** Null without the sandbox. */
  readonly sandboxUrl: string | null
  /** Where the sandbox's registry answers DNS on this machine; null without the sandbox. */
  readonly registryPort: number | null
  /** Time limits that a test shortens. */
  readonly timing?: Timing
  /** Which addresses customers may have us connect to; public ones when not given. */
  readonly mayFetch?: MayConnect | undefined
}
export interface Timing {
  /** Seconds before each query of a gateway that sent no webhook; the last value repeats. */
  readonly askGatewaySeconds?: readonly number[]
  /** Seconds before each further try of a webhook. */
  readonly webhookSeconds?: readonly number[]
  /** For how long a node takes writes with no word of a portal. */
  readonly nodeLeaseMs?: number
  /** Longest time of one step of setting a server up. */
  readonly provisionStepMs?: number
  /** When nightly backups begin, as a line of cron in UTC. */
  readonly nights?: string
  readonly metrics?: Partial<MetricTimes>
  /** Longest times of calls to certificate authorities, and of orders. */
  readonly certificates?: Partial<certificates.OrderTimes>
}

/** Of a runtime, what screens are told. */
const offerOf = ({
  maxContainers,
  maxCpu,
  maxRamMb,
  database,
}: wordpress.WordpressCapabilities) => ({
  maxContainers,
  maxCpu,
  maxRamMb,
  database,
})

export type App = Awaited<ReturnType<typeof openApp>>

const root = path.resolve(import.meta.dirname, '..')
const realtimeApp = 'portal'

/** Migrates and opens everything; nothing listens before `listen`. */
export async function openApp(parts: AppParts) {
  const { config, catalog, drivers, secrets, clock, log } = parts
  const { portalUrl, DATABASE_CONNECTION_POOL_MAX: poolSize } = config
  const pooler = config.DATABASE_CONNECTION_POOL_URL
  const pool = connect(
    parts.databaseUrl,
    poolSize,
    (error) => log.warn({ err: error }, 'idle database connection'),
    pooler,
  )
  const { db } = pool
  try {
    await refuseUnfinishedRestore(config.DATA_DIR)
    await migrate(parts.databaseUrl)
    const production = config.NODE_ENV === 'production'
    await judgeInstallation(db, clock.now(), { sandbox: config.sandbox, production })
    const throughPooler = pooler !== undefined
    await judgeConnections(db, { calls: poolSize, throughPooler, sandbox: config.sandbox }, log)
  } catch (error) {
    await pool.close()
    throw error
  }

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

  // Lower layer
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
    registrationsPerHour: config.REGISTRATIONS_PER_HOUR ?? (config.sandbox ? 0 : 30),
    smsADay: config.SMS_A_DAY,
    smsCountriesOf: (region) => smsCountriesOf(catalog, region),
    sendSms: messages.sms,
    sendMail: messages.mail,
    brandName: catalog.brand.name,
    currencyOf: (region) => currencyOf(catalog, region),
    languageOf: (region) => languageOfRegion(catalog, region),
    openWallet: ledger.openWallet,
    closeWallets: ledger.closeWallets,
    balanceOf: ledger.balanceOf,
    locationOf: storefront.placeOf,
    printedPlace: storefront.printedPlace,
    endLive: realtime.endSessions,
    endPrograms,
    endTeamSince: (tx, of) => team.endTeamSince(tx, endWork, of),
    takeBackOffers: handOver.takeBackOffers,
    endLogsOf,
    countAccounts: team.countAccounts,
    portalUrl,
  }
  const accounts = auth.createAccounts(authNeeds)

  // Middle layer
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
  })
  const letters = payments.createLetters({
    clock,
    catalog,
    ledger,
    outbox: realtime,
    mail: messages.mail,
    portalUrl,
  })
  const topUps = payments.openPayments({
    db,
    clock,
    ledger,
    letters,
    jobs,
    log,
    catalog,
    drivers: drivers.payments,
    portalUrl,
    askGatewaySeconds: parts.timing?.askGatewaySeconds,
    refusals: limits.limit('card-refused', 10, 3600),
  })

  // Upper layer
  // Where a proxy in front speaks HTTPS, its certificates are none of ours.
  const sitesDomain = config.SITES_TLS_PORT === undefined ? undefined : config.SITES_DOMAIN
  const coverage = certificates.createCoverage(
    { db, clock, log },
    sitesDomain === undefined ? undefined : `*.${sitesDomain}`,
  )
  const addressing = wordpress.addressingOf(config, coverage.isCovered)
  /** Other machines that run sites. */
  const otherNodes = new Map<string, Pick<NodeLine, 'figures' | 'certificates'>>()
  const { NODE_LEASE_MINUTES: leaseMinutes } = config
  const nodes = wordpress.createNodes({
    db,
    log,
    own: ownNodeOf(config, drivers),
    connect(id, address, onOpen) {
      const connection = connectNode({ address, key: nodeKey(secrets, id), log }, onOpen)
      otherNodes.set(id, connection)
      return {
        control: () => connection.control(),
        close() {
          otherNodes.delete(id)
          connection.close()
        },
      }
    },
    leaseMs: parts.timing?.nodeLeaseMs ?? (leaseMinutes === null ? null : minutes(leaseMinutes)),
    notes: isWorker,
    onReachable() {
      directory.refresh()
      tls.onChange()
      if (isWorker)
        reconciler.enqueue().catch((error: unknown) => log.warn({ err: error }, 'reconciling'))
    },
  })
  const directory = wordpress.createDirectory(
    db,
    nodes.reachable,
    addressing,
    secrets.derive('edge-peers'),
    log,
  )
  const resolvers = createDnsLookup(config.DNS_RESOLVERS)
  // Our name server is authoritative for the domains that are delegated to us, and uncached.
  const lookup =
    config.DNS_DRIVER === 'embedded'
      ? localFirstResolver(
          createDnsLookup([ownNameServer(config.HOST, config.DNS_PORT)]),
          (name) => isAnswered(db, name),
          resolvers,
        )
      : resolvers
  // On a developer's machine no resolver knows the sites' names: they are served by this machine.
  const siteAddresses = async (host: string): Promise<readonly string[] | undefined> =>
    config.SITES_DOMAIN === undefined ? ownAddresses([], config.HOST) : lookup.addresses(host)
  const domains = wordpress.createDomains({
    db,
    clock,
    log,
    jobs,
    secrets,
    dns: lookup,
    isZoneOf: (customerId, name) => isAnsweredFor(db, customerId, name),
    addressesOf: siteAddresses,
    addressing,
    reserved: [new URL(portalUrl).hostname, 'localhost'],
    onChange: directory.refresh,
  })
  const logs = wordpress.createLogStreams({
    db,
    clock,
    driver: nodes.driver,
    portalUrl,
    opensUntil: createOpensUntil(db, clock),
  })
  realtime.onEnded(logs.end)
  const provisioning = {
    db,
    clock,
    log,
    jobs,
    secrets,
    driver: nodes.driver,
    billing: bills,
    outbox: realtime,
    addressing,
    onChange: directory.refresh,
    languageOfCustomer: async (of: Queryable, customerId: string) =>
      (await accounts.customer(of, customerId)).language,
    onRun: meters.onRun,
    stepMs: parts.timing?.provisionStepMs,
  }
  wordpress.defineProvisioning(provisioning)
  wordpress.defineRewriting(provisioning)
  const lifecycle = wordpress.createLifecycle({ ...provisioning, catalog })
  const archives = archivesOf(config)
  const backups = wordpress.createBackups({
    ...provisioning,
    portalUrl,
    archives,
    kept: config.BACKUP_RETENTION,
    keptDaysAfterDeletion: config.BACKUP_RETENTION_AFTER_DELETION_DAYS,
    nights: parts.timing?.nights,
  })
  const { store: uploads, scratch } = importStoreOf(config)
  const importFiles = wordpress.createImportFiles(db, uploads, scratch)
  const imports = wordpress.createImports({
    ...provisioning,
    files: importFiles,
    originals: wordpress.createOriginals(lookup, parts.mayFetch),
    backups,
  })
  wordpress.defineAligning({ ...provisioning, forget: backups.forget })
  const { directory: updateDirectory } = drivers
  const mirror =
    updateDirectory &&
    wordpress.createMirror({
      db,
      folder: path.join(config.DATA_DIR, 'updates'),
      directory: updateDirectory,
    })
  const updateParts = { ...provisioning, catalog, directory: updateDirectory, mirror }
  wordpress.defineSiteUpdates({
    ...updateParts,
    backups,
    portalUrl,
    mail: messages.mail,
    owner: accounts.customer,
  })
  wordpress.defineUpdateWaves(provisioning)
  const updateRounds = wordpress.defineUpdateRounds(updateParts)
  const reconciler = wordpress.createReconciler({ ...provisioning, nodes: nodes.reachable })
  const resumeServers = wordpress.defineResuming(provisioning)
  const siteHealth = wordpress.defineHealth(provisioning)
  const watchSiteDisks = wordpress.defineDiskWarnings({
    ...provisioning,
    portalUrl,
    mail: messages.mail,
    owner: accounts.customer,
  })
  wordpress.defineUsage({ db, jobs, log, edges: nodes.reachable })
  const siteMail = {
    ...provisioning,
    catalog,
    portalUrl,
    relay: drivers.mailer,
    returnPaths: returnPathsOf(config, secrets),
    mail: messages.mail,
    owner: accounts.customer,
  }
  wordpress.defineSending(siteMail)
  const mailCollector = wordpress.createMailCollector(siteMail)
  const ownersMail = { portalUrl, mail: messages.mail, owner: accounts.customer }
  const moves = wordpress.defineMoves({
    ...provisioning,
    ...ownersMail,
    nodes,
    folder: path.join(config.DATA_DIR, 'moves'),
    tellInOrder: directory.tellInOrder,
    collectFrom: mailCollector.collectFrom,
  })
  wordpress.defineRescues({
    ...provisioning,
    nodes,
    tellInOrder: directory.tellInOrder,
    archives,
    ...ownersMail,
  })
  const emptyNodes = wordpress.defineDraining({ ...provisioning, look: nodes.look })
  const reports = isWorker ? siteReports(config, siteMail) : null
  for (const product of products) bills.offer(product)
  const nameServerAddresses = ownAddresses(config.DNS_ADDRESSES, config.HOST)
  const dns = createDns({
    db,
    clock,
    jobs,
    log,
    outbox: realtime,
    notices,
    driver: drivers.dns,
    delegation: createDelegation({
      roots:
        config.DNS_ROOT_SERVERS.length > 0 || parts.registryPort === null
          ? config.DNS_ROOT_SERVERS
          : [`127.0.0.1:${parts.registryPort}`],
      withSandbox: parts.registryPort !== null,
      own:
        config.DNS_DRIVER === 'embedded'
          ? {
              addresses: ownAddresses([], config.HOST),
              port: config.DNS_PORT,
              names: config.DNS_NAME_SERVERS,
            }
          : { addresses: nameServerAddresses, port: dnsPort, names: config.DNS_NAME_SERVERS },
      sites: {
        addresses: async () => (await siteAddresses(addressing.host)) ?? [],
        certificateIssuers: config.SITES_CERTIFICATE_ISSUERS,
      },
    }),
    pool: config.DNS_NAME_SERVERS,
    addresses: nameServerAddresses,
    aliasesOf: lookup.cname,
  })

  const tls = certificates.createCertificates({
    db,
    clock,
    log,
    jobs,
    secrets,
    isEnabled: config.SITES_TLS_PORT !== undefined,
    names: certifiableNames(config, db, domains),
    edges: () =>
      nodes.reachable().flatMap(({ node }) => {
        const edge =
          node === config.NODE_NAME ? drivers.certificates : otherNodes.get(node)?.certificates
        return edge ? [edge] : []
      }),
    dns: dns.challenges,
    authorities: drivers.authorities,
    warn: (tx, of) =>
      wordpress.warnOfCertificate(
        tx,
        { outbox: realtime, portalUrl, mail: messages.mail, owner: accounts.customer },
        of,
      ),
    contact: config.ACME_EMAIL,
    allowed: {
      ordersIn3Hours: config.ACME_ORDERS_IN_3_HOURS,
      aWeek: config.ACME_CERTIFICATES_A_WEEK,
    },
    times: parts.timing?.certificates,
  })

  // Upkeep
  const locks = createSessionLocks(parts.databaseUrl)
  const idempotency = { db, secrets, clock, locks, underWay: new Set<bigint>() }
  defineUpkeep({
    db,
    clock,
    log,
    jobs,
    limits,
    idempotency,
    accounts,
    messages,
    certificates: tls,
    dnsChallenges: dns.challenges,
    outbox: realtime,
    dataDir: config.DATA_DIR,
  })
  definePortalBackups({ ...parts, archives, db, jobs, metrics, driver: nodes.driver })
  defineGauges({
    db,
    pool: pool.pool,
    poolSize,
    clock,
    metrics,
    waitingSubscriptions: bills.waiting,
    connections: () => realtime.connections(),
    orphans: reconciler.orphans,
    unremovedSites: () => nodes.driver.unremoved(),
    room: () => nodes.driver.room(),
    nodes: async () =>
      (await wordpress.listNodes(db)).map((node) => ({ ...node, free: wordpress.freeOn(node) })),
    waitingMessages: messages.waiting,
    processes: drivers.processes,
    ownNode: config.NODE_NAME,
    otherNodes: () => new Map([...otherNodes].map(([id, { figures }]) => [id, figures])),
    gateways: [...drivers.payments.keys()],
    dataDir: config.DATA_DIR,
  })

  // HTTP
  const load = watchLoad(() => pool.pool.waitingCount)
  const closure = createClosure({ db, clock, log, notices })
  const http = createHttp({
    db,
    judgeLoad: load.judge,
    log,
    idempotency,
    identify: (credential) => auth.identify(db, clock, credential),
    isProven: (caller) => auth.isProven(db, clock, caller),
    programs: {
      identify: (token, ip) => identifyToken(db, clock, token, ip),
      calls: limits.limit('token-call', 300, 60),
    },
    identifyView: (token, ip) => identifyView(db, clock, token, ip),
    members: {
      identifyActing: (token) => identifyActing(db, clock, token),
      noteMemberAct: team.createNoteAct(clock),
    },
    identifyStaff: (cookie, ip) => staff.identifyStaff(db, clock, cookie, ip),
    portalUrl,
    closure: closure.now,
    trustProxy:
      config.portalBehindEdge === undefined ? config.TRUST_PROXY === 'on' : isOwnEdge(config.HOST),
    onResponse: metrics.observe,
  })
  wordpress.joinRoutes(http, {
    db,
    clock,
    secrets,
    settingsOf: (node, address) => nodeSettings(config, secrets, node, address),
  })
  statusRoutes(http, { db, clock })
  const { server } = http
  const connections = prepareDrain(server)
  await server.register(
    helmet,
    pageProtection(portalUrl, payments.cardsOf(catalog, drivers.payments)?.origins),
  )
  auth.routes(http, db, accounts)
  const profile = auth.createProfile(authNeeds)
  auth.accountRoutes(http, db, clock, profile)
  auth.secondFactorRoutes(http, {
    db,
    clock,
    accounts,
    profile,
    passkeyStarts: limits.limit('passkey-options', 60, 60),
  })
  wallet.routes(http, {
    db,
    clock,
    secrets,
    seller: catalog.seller,
    customer: accounts.customer,
    explainers: {
      invoice: (from, customerId, number, language) =>
        bills.explainInvoice(from, { customerId, number, language }),
      // A top-up of the demo, or of an operator, belongs to no payment.
      topUpBegunAt: (from, customerId, code) =>
        topUps.checkout.find(from, customerId, code, 'en').then(
          ({ createdAt }) => createdAt,
          (error) => {
            if (error instanceof Refusal) return null
            throw error
          },
        ),
    },
  })
  realtime.routes(http)
  billing.routes(http, { db, billing: bills, catalog, links, balanceOf: ledger.balanceOf })
  const voucherTries = limits.limit('voucher', 10, 3600)
  const voucherTriesOfNetwork = limits.limit('voucher-network', 60, 3600)
  payments.routes(http, {
    db,
    clock,
    log,
    drivers: drivers.payments,
    ...topUps,
    vouchers: payments.createVouchers({
      clock,
      ledger,
      letters,
      jobs,
      tries: voucherTries,
      triesOfNetwork: voucherTriesOfNetwork,
    }),
    onWebhook: meters.onWebhook,
    paymentStarts: limits.limit('payment-begun', 300, 600),
    forgeries: limits.limit('forged-notice', 200, 3600),
  })
  wordpress.routes(http, {
    db,
    clock,
    secrets,
    catalog,
    holdCatalog,
    billing: bills,
    outbox: realtime,
    jobs,
    driver: nodes.driver,
    logs,
    domains,
    lifecycle,
    lookups: limits.limit('domain-lookup', 60, 60),
    signIns: limits.limit('admin-link', 20, 60),
    orders: limits.limit('order', 20, 3600),
    couponTries: wordpress.createCouponTries(voucherTries, voucherTriesOfNetwork),
    addressing,
    links,
    onChange: directory.refresh,
    customer: accounts.customer,
  })
  dnsRoutes(http, {
    db,
    clock,
    jobs,
    ...dns,
    reserved: [...dns.ownZones, new URL(portalUrl).hostname, addressing.host],
    checks: limits.limit('delegation-check', 30, 60),
    claims: limits.limit('domain-claim', 600, 3600),
    claimsOfName: limits.limit('domain-claim-name', 5, 24 * 3600),
    nameOf: async (from, customerId) => (await accounts.customer(from, customerId)).name,
    adopt: (tx, customerId, siteId, names) => domains.adopt(tx, { customerId, siteId, names }),
    siteOf: async (customerId, id) => {
      const host = await wordpress.hostOf(db, addressing, customerId, id)
      if (host === undefined) return undefined
      return { host, addresses: (await siteAddresses(host)) ?? [] }
    },
  })
  certificates.routes(http, {
    ...tls,
    db,
    siteOf: (customerId, id) => wordpress.ownHostOf(db, addressing, customerId, id),
    retries: limits.limit('certificate-retry', 10, 3600),
  })
  const sftp = ownerTools(http, config, {
    db,
    clock,
    log,
    secrets,
    limits,
    driver: nodes.driver,
    edgeOf: nodes.edgeOf,
    lifecycle,
    prove: profile.prove,
    onChange: directory.refresh,
  })
  wordpress.mailRoutes(http, {
    ...siteMail,
    lookup,
    zones: createZoneTexts({ ...dns, db, clock }),
    spfMechanism: wordpress.mechanismFor(config.SITE_MAIL_SPF, config.SMTP_URL),
    lookups: limits.limit('mail-records', 60, 60),
  })
  wordpress.updateRoutes(http, {
    db,
    clock,
    jobs,
    rounds: updateRounds,
    hasDirectory: updateDirectory !== null,
    updateWork: limits.limit('site-update', 30, 3600),
  })
  wordpress.backupRoutes(http, { db, backups, copyWork: limits.limit('backup', 30, 3600) })
  wordpress.importRoutes(http, {
    db,
    imports,
    files: importFiles,
    begun: limits.limit('import', 20, 3600),
  })
  customerPrograms(http, {
    db,
    clock,
    log,
    jobs,
    secrets,
    limits,
    sender,
    lookup,
    complete: links.complete,
    customer: accounts.customer,
    mail: messages.mail,
    prove: profile.prove,
    portalUrl,
    sandboxUrl: parts.sandboxUrl,
    mayConnect: parts.mayFetch,
    delaysSeconds: parts.timing?.webhookSeconds,
  })
  customerTeam(http, {
    db,
    clock,
    limits,
    customer: accounts.customer,
    mail: messages.mail,
    prove: profile.prove,
    portalUrl,
    brandName: catalog.brand.name,
  })
  handOver.routes(http, {
    db,
    clock,
    limits,
    endLiveOf: createEndLiveOf(realtime.endSessions),
    customer: accounts.customer,
    currencyOf: (region) => currencyOf(catalog, region),
    mail: messages.mail,
    prove: profile.prove,
    portalUrl,
    brandName: catalog.brand.name,
  })
  privacy.routes(http, {
    db,
    clock,
    endWork,
    portalUrl,
    customer: accounts.customer,
    mail: messages.mail,
    limits,
    prove: profile.prove,
    ledger,
    jobs,
    endLive: realtime.endSessions,
    holdTrail,
    forgetAtDesk,
  })
  const support = customerTickets(http, config, {
    db,
    clock,
    log,
    secrets,
    lookup,
    limits,
    outbox: realtime,
    letter: messages.letter,
    customer: accounts.customer,
    portalUrl,
    brandName: catalog.brand.name,
  })
  operatorDesk(http, {
    tickets: support.deps,
    db,
    clock,
    log,
    secrets,
    limits,
    jobs,
    ledger,
    letters,
    changeCreditLine: bills.changeCreditLine,
    refunds: topUps.refunds,
    disputeAnswers: topUps.disputeAnswers,
    drivers: drivers.payments,
    addressing,
    accounts: auth.createAccountActs({
      clock,
      endLive: realtime.endSessions,
      endPrograms,
      endTeam,
    }),
    customerMail: (tx, id) => auth.letterAddress(tx, authNeeds.languageOf, id),
    mail: messages.mail,
    again: messages.again,
    catalog,
    followCatalog: followTheCatalog,
    portalUrl,
    brandName: catalog.brand.name,
    secondPersonAbove: config.OPERATOR_SECOND_PERSON_ABOVE,
    zone: timeZoneOf(catalog, 'VN'),
  })
  const shown = () =>
    storefront.publicConfig({
      catalog,
      drivers: drivers.payments,
      portalUrl,
      realtimeKey: secrets.derive('realtime-key').slice(0, 20),
      sandboxUrl: parts.sandboxUrl,
      wordpress: {
        ...offerOf(nodes.driver.capabilities),
        regions: nodes.regions(),
        backupsKeptDays: config.BACKUP_RETENTION_AFTER_DELETION_DAYS,
      },
    })
  storefront.routes(http, shown, catalog.legal)

  const document = openApi(http.endpoints, {
    title: `${catalog.seller.name} API`,
    version,
    url: portalUrl,
    cookieName: http.cookieName,
    staffCookieName: http.staffCookieName,
  })
  server.get('/api/openapi.json', async () => document)
  await server.register(swagger, { mode: 'static', specification: { document: document as never } })
  await server.register(swaggerUi, {
    routePrefix: '/api/docs',
    staticCSP: true,
    uiConfig: { docExpansion: 'list', deepLinking: true },
  })

  // The disk job logs shortages. A monitor calls this check every few seconds, so here the check
  // does not log.
  const silentLog = { warn: () => undefined, error: () => undefined }
  let ready = false
  serveHealth(server, {
    metrics,
    metricsToken: config.METRICS_TOKEN,
    behindProxy: config.TRUST_PROXY === 'on' || config.portalBehindEdge !== undefined,
    checks: {
      portal: () => (ready ? undefined : 'starting or stopping'),
      database: async () => void (await sql`select 1`.execute(db)),
      jobs: () => jobs.health(),
      realtime: () => realtime.health(),
      wordpress: () => nodes.driver.health(),
      dns: () => drivers.dns.health(),
      disk: () => checkDiskSpace(config.DATA_DIR, silentLog),
    },
  })
  if (!config.ROLES.has('api'))
    // A machine that only works is asked by monitors alone.
    server.addHook('onRequest', async ({ url }) => {
      if (!machinePaths.has(url.split('?', 1)[0] ?? '')) throw new Refusal('not_found')
    })
  storefront.servePages(
    server,
    path.join(root, 'dist', 'web'),
    portalUrl,
    storefront.brandOf(catalog, path.dirname(config.CATALOG)),
    (request, reply) => {
      const refusal = failure(
        'not_found',
        acceptedLanguage(request.headers['accept-language']),
        request.id,
      )
      return reply.code(refusal.statusCode).send(refusal)
    },
  )
  server.server.on('upgrade', (request, socket, head) => {
    // Node has removed its own error listener, so a client that disconnects now would end the
    // process. Nobody catches an exception here either: one request with an invalid address would
    // end the process.
    socket.on('error', () => socket.destroy())
    const readable = URL.canParse(request.url ?? '', portalUrl)
    if (
      !config.ROLES.has('api') ||
      !readable ||
      (!realtime.sockets.upgrade(request, socket, head) && !logs.upgrade(request, socket, head))
    )
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })

  return {
    db,
    notices,
    jobs,
    messages,
    ledger,
    bills,
    publications,
    topUps,
    accounts,
    dns,
    tls,
    reconciler,
    resumeServers,
    siteHealth,
    watchSiteDisks,
    mailCollector,
    updateRounds,
    nodes,
    moves,
    emptyNodes,
    server,
    /** Opens the ports. Sites that should be running are started by a job. */
    async listen(): Promise<void> {
      await realtime.start()
      await closure.start()
      await nodes.start()
      await directory.start()
      await tls.feed.start()
      await dns.start()
      await jobs.start()
      await tls.begin()
      await coverage.look()
      await server.listen({ port: config.PORT, host: config.HOST })
      await sftp?.start()
      await reports?.start()
      await support.letters?.start()
      ready = true
      if (isWorker) {
        await reconciler.enqueue()
        mailCollector.start()
      }
    },
    /**
     * Another process answers from now on: takes no new call, has browsers open their channels
     * there, and resolves when what came before is answered. `close` is what follows.
     */
    async drain(): Promise<void> {
      directory.stop()
      tls.feed.stop()
      sftp?.stop()
      reports?.stop()
      support.letters?.stop()
      realtime.sockets.close()
      logs.close()
      await connections.begin()
    },
    /** Finishes the requests in progress. Customers' sites keep running. */
    async close(): Promise<void> {
      ready = false
      directory.stop()
      versions?.stop()
      await mailCollector.stop()
      nodes.stop()
      tls.feed.stop()
      realtime.sockets.close()
      logs.close()
      await Promise.all([
        server.close(),
        jobs.stop(),
        sftp?.close(),
        reports?.close(),
        support.letters?.close(),
      ])
      load.stop()
      closure.stop()
      await dns.stop()
      await tls.feed.idle()
      await realtime.stop()
      await limits.close()
      await locks.close()
      await pool.close()
      await tracing.close()
    },
  }
}
