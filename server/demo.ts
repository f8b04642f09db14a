/**
 * The demo customer: a plausible half year of top-ups and invoices, made by the modules' own
 * functions with a manual clock.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { addRecord, createZone, type Dns } from './dns/index.ts'
import { createLedger } from './wallet/index.ts'
import { hashPassword } from './auth/index.ts'
import type { Catalog } from './catalog/index.ts'
import { monthlyOf } from '../contract/pricing.ts'
import { createBilling, createInvoiceLinks } from './billing/index.ts'
import { days, hours, later, type Clock } from './platform/clock.ts'
import { transaction, type Database } from './platform/db.ts'
import type { Jobs } from './platform/jobs.ts'
import { lockKeys } from './platform/lock-keys.ts'
import type { Log } from './platform/log.ts'
import { descriptionOf, plans, productName, subjectOf, termsOf } from './wordpress/index.ts'

export const demoCustomer = {
  email: 'demo@letspanel.example',
  password: 'Portal-demo-2026',
  name: 'Minh Anh',
  phone: '+84900000001',
} as const

/** Seeding runs no jobs and sends no notifications. */
const silentJobs: Pick<Jobs, 'add' | 'define'> = {
  add: async () => undefined,
  define: () => undefined,
}
const silentOutbox = { publishEvent: async () => undefined, publishEvents: async () => undefined }

const domain = 'tap-chi-viet-demo.vn'
const records = [
  { name: '@', type: 'A', content: '203.0.113.10' },
  { name: '@', type: 'AAAA', content: '2001:db8:10::10' },
  { name: 'www', type: 'CNAME', content: domain },
  { name: '@', type: 'MX', content: 'mx1.mail.example', priority: 10 },
  { name: '@', type: 'MX', content: 'mx2.mail.example', priority: 20 },
  { name: '@', type: 'TXT', content: 'v=spf1 include:mail.example -all' },
  { name: '_dmarc', type: 'TXT', content: `v=DMARC1; p=quarantine; rua=mailto:dmarc@${domain}` },
  { name: 'noi-bo', type: 'NS', content: 'ns1.noi-bo.example' },
] as const

interface Event {
  readonly daysAgo: number
  readonly act: 'topup' | 'invoice'
  /** Minor units of a top-up. */
  readonly amount?: bigint
  readonly server?: string
  readonly plan?: number
  readonly diskGb?: number
}

const history: readonly Event[] = [
  { daysAgo: 150, act: 'topup', amount: 1_000_000n },
  { daysAgo: 150, act: 'invoice', server: 'tap-chi-viet', plan: 1, diskGb: 10 },
  { daysAgo: 120, act: 'invoice', server: 'tap-chi-viet', plan: 1, diskGb: 10 },
  { daysAgo: 92, act: 'topup', amount: 2_000_000n },
  { daysAgo: 90, act: 'invoice', server: 'tap-chi-viet', plan: 1, diskGb: 10 },
  { daysAgo: 74, act: 'invoice', server: 'shop-anh-duong', plan: 2, diskGb: 20 },
  { daysAgo: 60, act: 'invoice', server: 'tap-chi-viet', plan: 1, diskGb: 10 },
  { daysAgo: 44, act: 'invoice', server: 'shop-anh-duong', plan: 2, diskGb: 20 },
  { daysAgo: 28, act: 'topup', amount: 500_000n },
  { daysAgo: 21, act: 'topup', amount: 3_000_000n },
  { daysAgo: 14, act: 'invoice', server: 'shop-anh-duong', plan: 2, diskGb: 20 },
  { daysAgo: 9, act: 'invoice', server: 'blog-chuyen-de', plan: 1, diskGb: 10 },
  { daysAgo: 3, act: 'topup', amount: 1_000_000n },
]

export interface Demo {
  readonly email: string
  readonly password: string
  /** The domain that this call seeded, for the caller to register in the sandbox's registry. */
  readonly domain?: { readonly name: string; readonly nameservers: readonly string[] }
}

/** Seeds once, into a portal without customers; answers the sign-in if the demo customer exists. */
export async function seedDemo(of: {
  db: Database
  catalog: Catalog
  log: Log
  dns: Dns
}): Promise<Demo | undefined> {
  const { db, catalog } = of
  const signIn = { email: demoCustomer.email, password: demoCustomer.password }
  const passwordHash = await hashPassword(demoCustomer.password)
  return await transaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${lockKeys.seedDemo})`.execute(tx)
    if (
      await tx
        .selectFrom('customer')
        .select('id')
        .where('email', '=', demoCustomer.email)
        .executeTakeFirst()
    )
      return signIn
    if (await tx.selectFrom('customer').select('id').limit(1).executeTakeFirst()) return undefined

    const today = new Date()
    let now = today
    const clock: Clock = { now: () => now }
    const ledger = createLedger(clock)
    const billing = createBilling({
      db,
      clock,
      jobs: silentJobs as Jobs,
      ledger,
      outbox: silentOutbox,
      mail: async () => undefined,
      customers: async () => new Map(),
      catalog,
      portalUrl: '',
      // Seeding sends no letter, so links are not needed.
      links: createInvoiceLinks('', ''),
      log: of.log,
    })

    const id = randomUUID()
    now = later(today, -days(151))
    await tx
      .insertInto('customer')
      .values({
        id,
        email: demoCustomer.email,
        phone: demoCustomer.phone,
        name: demoCustomer.name,
        password_hash: passwordHash,
        region_code: 'VN',
        active: true,
        created_at: now,
      })
      .execute()
    await ledger.openWallet(tx, id, 'VND')
    const customer = {
      id,
      name: demoCustomer.name,
      email: demoCustomer.email,
      regionCode: 'VN' as const,
      language: 'vi' as const,
    }

    for (const [index, event] of history.entries()) {
      now = later(today, -days(event.daysAgo) - hours(1) + index * 431_000)
      if (event.act === 'topup') {
        await ledger.credit(tx, {
          key: `demo:topup:${index}`,
          customerId: id,
          driver: 'vnpay',
          amount: event.amount ?? 0n,
          currency: 'VND',
          details: { provider: 'VNPay' },
        })
        continue
      }
      const plan =
        plans(catalog, 'VND').find((candidate) => candidate.id === event.plan) ??
        plans(catalog, 'VND')[0]
      if (!plan) continue
      const diskMb = (event.diskGb ?? 10) * 1024
      const wanted = { plan, diskMb, mariadbDiskMb: 10_240, containers: 1 }
      const period = { start: now, end: later(now, days(30)) }
      const terms = termsOf(catalog, 'VND', wanted)
      const seconds = days(30) / 1000
      const name = event.server ?? 'blog'
      const invoice = await billing.issue(tx, {
        customer,
        currency: 'VND',
        product: productName,
        lines: [
          {
            description: descriptionOf(name, plan.name, diskMb, wanted.containers),
            quantity: 1n,
            unitPrice: BigInt(monthlyOf(terms).total),
            period,
            basis: { ...terms, seconds, of_seconds: seconds },
          },
        ],
        subject: subjectOf(randomUUID(), name),
        subscriptionId: null,
        starts: null,
      })
      await billing.pay(tx, invoice.id)
    }
    now = later(today, -days(40))
    const language = 'vi'
    const dns = {
      clock,
      jobs: silentJobs as Jobs,
      publisher: of.dns.publisher,
      pool: of.dns.pool,
      reserved: of.dns.ownZones,
    }
    const zone = await createZone(tx, dns, {
      customerId: id,
      typed: domain,
      language,
      atParent: undefined,
    })
    for (const record of records) {
      now = later(now, hours(1))
      const body = { priority: undefined, ...record, ttl: 300, proxied: false }
      await addRecord(
        tx,
        { ...dns, capabilities: of.dns.capabilities },
        { customerId: id, zoneId: zone.id, body, language },
      )
    }
    return { ...signIn, domain: { name: zone.name, nameservers: zone.name_servers } }
  })
}
