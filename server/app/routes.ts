/** The calls of every module, and what each is handed of the others. */
import { rolesThatMay } from '../../contract/staff-roles.ts'
import * as auth from '../auth/index.ts'
import * as billing from '../billing/index.ts'
import { currencyOf, timeZoneOf, zoneOfReader } from '../catalog/index.ts'
import * as certificates from '../certificates/index.ts'
import { calledBy, customerPrograms } from '../customer-programs.ts'
import { nameOfToken } from '../tokens/index.ts'
import { defineImports } from '../customer-import/index.ts'
import { createEndLiveOf, customerTeam, endTeam, endWork } from '../customer-team.ts'
import { customerTickets } from '../customer-tickets.ts'
import { createZoneTexts, routes as dnsRoutes } from '../dns/index.ts'
import * as handOver from '../hand-over/index.ts'
import { operatorDesk } from '../operator-desk.ts'
import { forgetAtDesk, holdTrail } from '../operator/index.ts'
import { ownerTools } from '../owner-tools.ts'
import { nodeSettings } from '../own-node.ts'
import * as payments from '../payments/index.ts'
import { Refusal } from '../platform/errors.ts'
import type { Http } from '../platform/http.ts'
import * as privacy from '../privacy/index.ts'
import { emailsOf } from '../staff/index.ts'
import { routes as statusRoutes } from '../status/index.ts'
import * as storefront from '../storefront/index.ts'
import * as wallet from '../wallet/index.ts'
import { createOutgoingWebhooks } from '../webhooks/index.ts'
import * as wordpress from '../wordpress/index.ts'
import type { Base } from './base.ts'
import type { Names } from './names.ts'
import type { Sites } from './sites.ts'

/** The limits of a runtime that screens show. */
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

export function openRoutes(http: Http, base: Base, sites: Sites, names: Names) {
  const {
    config,
    db,
    clock,
    log,
    jobs,
    limits,
    secrets,
    catalog,
    drivers,
    portalUrl,
    holdCatalog,
    timing,
    mayFetch,
    sandboxUrl,
    ledger,
    realtime,
    messages,
    sender,
    links,
    meters,
    accounts,
    authNeeds,
    endPrograms,
    bills,
    letters,
    topUps,
    followCatalog,
  } = base
  const {
    nodes,
    directory,
    addressing,
    lookup,
    siteAddresses,
    domains,
    logs,
    lifecycle,
    backups,
    imports,
    importFiles,
    updateRounds,
    updateDirectory,
    siteMail,
  } = sites
  const { dns, tls } = names
  wordpress.joinRoutes(http, {
    db,
    clock,
    secrets,
    settingsOf: (node, address) => nodeSettings(config, secrets, node, address),
  })
  statusRoutes(http, { db, clock })
  auth.routes(http, db, accounts)
  const profile = auth.createProfile(authNeeds)
  auth.accountRoutes(http, db, clock, profile)
  auth.secondFactorRoutes(http, {
    db,
    clock,
    accounts,
    profile,
    passkeyStarts: limits.limit('passkey-options'),
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
  const voucherTries = limits.limit('voucher')
  const voucherTriesOfNetwork = limits.limit('voucher-network')
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
    paymentStarts: limits.limit('payment-begun'),
    forgeries: limits.limit('forged-notice'),
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
    lookups: limits.limit('domain-lookup'),
    signIns: limits.limit('admin-link'),
    orders: limits.limit('order'),
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
    checks: limits.limit('delegation-check'),
    claims: limits.limit('domain-claim'),
    claimsOfName: limits.limit('domain-claim-name'),
    recordWrites: limits.limit('record-write'),
    manyWrites: limits.limit('records-write'),
    nameOf: async (from, customerId) => (await accounts.customer(from, customerId)).name,
    tokenName: nameOfToken,
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
    retries: limits.limit('certificate-retry'),
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
    customer: accounts.customer,
    mail: messages.mail,
    portalUrl,
    onChange: directory.refresh,
  })
  wordpress.mailRoutes(http, {
    ...siteMail,
    lookup,
    zones: createZoneTexts({ ...dns, db, clock }),
    spfMechanism: wordpress.mechanismFor(config.SITE_MAIL_SPF, config.SMTP_URL),
    lookups: limits.limit('mail-records'),
  })
  wordpress.updateRoutes(http, {
    db,
    clock,
    jobs,
    rounds: updateRounds,
    hasDirectory: updateDirectory !== null,
    updateWork: limits.limit('site-update'),
  })
  wordpress.backupRoutes(http, { db, backups, copyWork: limits.limit('backup') })
  wordpress.importRoutes(http, {
    db,
    imports,
    files: importFiles,
    begun: limits.limit('import'),
  })
  const called = calledBy({ sandboxUrl, mayConnect: mayFetch })
  customerPrograms(http, {
    ...called,
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
    members: (from) => emailsOf(from, rolesThatMay.work),
    portalUrl,
    delaysSeconds: timing?.webhookSeconds,
    longestCallMs: timing?.webhookMs,
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
    outbox: realtime,
    customer: accounts.customer,
    currencyOf: (region) => currencyOf(catalog, region),
    zoneOf: (customer) => zoneOfReader(catalog, customer),
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
    answerable: messages.answerable,
    limits,
    prove: profile.prove,
    ledger,
    jobs,
    endLive: realtime.endSessions,
    outbox: realtime,
    holdTrail,
    forgetAtDesk,
  })
  defineImports({
    db,
    clock,
    jobs,
    ledger,
    currencyOf: authNeeds.currencyOf,
    customersOf: accounts.customers,
    mail: messages.mail,
    portalUrl,
    brandName: catalog.brand.name,
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
    currencyOf: authNeeds.currencyOf,
    letters,
    changeCreditLine: bills.changeCreditLine,
    subscriptions: bills.desk,
    refunds: topUps.refunds,
    disputeAnswers: topUps.disputeAnswers,
    drivers: drivers.payments,
    addressing,
    outbox: realtime,
    complete: links.complete,
    outgoing: createOutgoingWebhooks({
      ...called,
      clock,
      secrets,
      sender,
      owners: (from) => emailsOf(from, rolesThatMay.outgoing),
      mail: messages.mail,
      portalUrl,
    }),
    accounts: auth.createAccountActs({
      clock,
      endLive: realtime.endSessions,
      endPrograms,
      endTeam,
    }),
    customerMail: (tx, id) => auth.letterAddress(tx, authNeeds.languageOf, id),
    mail: messages.mail,
    again: messages.again,
    answerable: messages.answerable,
    refuseBreached: authNeeds.refuseBreached,
    catalog,
    followCatalog,
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
      sandboxUrl: sandboxUrl,
      wordpress: {
        ...offerOf(nodes.driver.capabilities),
        regions: nodes.regions(),
        backupsKeptDays: config.BACKUP_RETENTION_AFTER_DELETION_DAYS,
      },
    })
  storefront.routes(http, shown, catalog.legal)
  return { sftp, support }
}
