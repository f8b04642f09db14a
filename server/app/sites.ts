/** Customers' servers: the nodes that they are on, and everything that is done with them. */
import path from 'node:path'
import { archivesOf, importStoreOf } from '../archives-of.ts'
import * as certificates from '../certificates/index.ts'
import { createOpensUntil } from '../customer-team.ts'
import { isAnswered, isAnsweredFor, ownAddresses, ownNameServer } from '../dns/index.ts'
import { connectNode, type NodeLine } from '../drivers.ts'
import { nodeKey, ownNodeOf } from '../own-node.ts'
import { minutes, seconds } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { createDnsLookup, localFirstResolver } from '../platform/dns-lookup.ts'
import { returnPathsOf, siteReports } from '../site-reports.ts'
import * as wordpress from '../wordpress/index.ts'
import type { Base } from './base.ts'

export type Sites = ReturnType<typeof openSites>

/** `onReachable`: called in addition when a node that was away answers. */
export function openSites(base: Base, onReachable: () => void) {
  const {
    config,
    db,
    clock,
    log,
    jobs,
    secrets,
    drivers,
    catalog,
    portalUrl,
    isWorker,
    timing,
    realtime,
    messages,
    accounts,
    meters,
    bills,
    products,
  } = base
  // If a proxy in front speaks HTTPS, the certificates are the proxy's.
  const sitesDomain = config.SITES_TLS_PORT === undefined ? undefined : config.SITES_DOMAIN
  const coverage = certificates.createCoverage(
    { db, clock, log },
    sitesDomain === undefined ? undefined : `*.${sitesDomain}`,
  )
  const addressing = wordpress.addressingOf(config, coverage.isCovered)
  /** Other machines that run sites. */
  const otherNodes = new Map<string, Pick<NodeLine, 'figures' | 'certificates'>>()
  const { NODE_LEASE_MINUTES: leaseMinutes, MIRROR_FAILOVER_SECONDS: failoverSeconds } = config
  const failoverMs =
    timing?.mirrorFailoverMs ?? (failoverSeconds === null ? null : seconds(failoverSeconds))
  const own = ownNodeOf(config, drivers)
  const made = own?.entry.regions?.filter((id) => !catalog.dataCentres.some((one) => one.id === id))
  if (made && made.length > 0)
    log.warn({ ids: made }, 'NODE_REGIONS names data centres that the catalogue does not have')
  const nodes = wordpress.createNodes({
    db,
    log,
    own,
    connect(id, address, onOpen) {
      const connection = connectNode({ address, key: nodeKey(secrets, id), log }, onOpen)
      otherNodes.set(id, connection)
      return {
        control: () => connection.control(),
        reopen: () => connection.reopen(),
        close() {
          otherNodes.delete(id)
          connection.close()
        },
      }
    },
    leases: {
      wholeMs: timing?.nodeLeaseMs ?? (leaseMinutes === null ? null : minutes(leaseMinutes)),
      mirroredMs: failoverMs === null ? null : wordpress.mirroredLeaseMs(failoverMs),
    },
    notes: isWorker,
    onReachable() {
      directory.refresh()
      onReachable()
      if (!isWorker) return
      reconciler.enqueue().catch((error: unknown) => log.warn({ err: error }, 'reconciling'))
      mirrors.followAgain().catch((error: unknown) => log.warn({ err: error }, 'following mirrors'))
    },
  })
  const directory = wordpress.createDirectory(
    db,
    nodes.reachable,
    addressing,
    secrets.derive('edge-peers'),
    log,
    nodes.tell,
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
  // On a developer's machine the sites' names are not in DNS: this machine serves them.
  const siteAddresses = async (host: string): Promise<readonly string[] | undefined> =>
    config.SITES_DOMAIN === undefined ? ownAddresses([], config.HOST) : lookup.addresses(host)
  const domains = wordpress.createDomains({
    db,
    clock,
    log,
    jobs,
    secrets,
    dns: lookup,
    isZoneOf: isAnsweredFor,
    outbox: realtime,
    portalUrl,
    mail: messages.mail,
    owner: accounts.customer,
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
    stepMs: timing?.provisionStepMs,
  }
  wordpress.defineProvisioning(provisioning)
  wordpress.defineRewriting(provisioning)
  const lifecycle = wordpress.createLifecycle({ ...provisioning, catalog })
  const archives = archivesOf(config)
  const archiveWatch = wordpress.watchArchives({ db, log, archives })
  const backups = wordpress.createBackups({
    ...provisioning,
    portalUrl,
    archives,
    kept: config.BACKUP_RETENTION,
    keptDaysAfterDeletion: config.BACKUP_RETENTION_AFTER_DELETION_DAYS,
    nights: timing?.nights,
  })
  const { store: uploads, scratch } = importStoreOf(config)
  const importFiles = wordpress.createImportFiles(db, uploads, scratch)
  const imports = wordpress.createImports({
    ...provisioning,
    files: importFiles,
    originals: wordpress.createOriginals(lookup, base.mayFetch),
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
    processes: config.PORTAL_PROCESSES,
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
    answerable: messages.answerable,
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
    answerable: messages.answerable,
  })
  const mirrors = wordpress.defineMirrors({
    ...provisioning,
    catalog,
    nodes,
    folder: path.join(config.DATA_DIR, 'moves'),
    everySeconds: timing?.mirrorSeconds,
  })
  const failover =
    failoverMs === null
      ? null
      : wordpress.createFailover({
          ...provisioning,
          nodes,
          afterMs: failoverMs,
          own: own?.entry.id ?? null,
          witness: config.MIRROR_FAILOVER_WITNESS ?? null,
        })
  const emptyNodes = wordpress.defineDraining({ ...provisioning, look: nodes.look })
  const reports = isWorker ? siteReports(config, siteMail) : null
  for (const product of products) bills.offer(product)
  return {
    nodes,
    otherNodes,
    coverage,
    addressing,
    directory,
    lookup,
    siteAddresses,
    domains,
    logs,
    lifecycle,
    archives,
    backups,
    importFiles,
    imports,
    updateDirectory,
    updateRounds,
    reconciler,
    resumeServers,
    siteHealth,
    watchSiteDisks,
    siteMail,
    mailCollector,
    moves,
    mirrors,
    archiveWatch,
    failover,
    emptyNodes,
    reports,
  }
}
