/**
 * Generated schedules of what may happen to a gateway's webhooks: repeated, ten at once, late, in
 * another order, lost, forged, with another amount, unit or currency than ours, cut off by the
 * database. After each the wallet contains what was paid, once, or nothing; what a chargeback left
 * owed is set off from it, once.
 *
 * `SCHEDULES=10000 npx vitest run test/schedules.test.ts` runs that many over all gateways; SEED
 * repeats a run.
 */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Currency } from '../contract/money.ts'
import type { PaymentDriver } from '../server/payments/driver.ts'
import { systemClock } from '../server/platform/clock.ts'
import { databaseIsAway, transaction } from '../server/platform/db.ts'
import { DriverFailure } from '../server/platform/errors.ts'
import { createLedger } from '../server/wallet/index.ts'
import { eventually, openTestPortal, type TestCustomer, type TestPortal } from './portal.ts'
import { payers, type Payer } from './payers.ts'
import {
  deliver,
  forgeries,
  openWebhookInterceptor,
  type CapturedWebhook,
  type WebhookInterceptor,
} from './webhook-interceptor.ts'

const all = Number(process.env['SCHEDULES'] ?? 150)
const seed = Number(process.env['SEED'] ?? 20_261_121)
const each = Math.max(1, Math.round(all / Object.keys(payers).length))

const withoutList = (driver: PaymentDriver): PaymentDriver => {
  const copy = { ...driver }
  delete copy.movements
  return copy
}

let interceptor: WebhookInterceptor
let portal: TestPortal
beforeAll(async () => {
  interceptor = await openWebhookInterceptor()
  // The portal queries no gateway by itself; only the schedules do.
  portal = await openTestPortal({
    webhooksTo: interceptor.url,
    timing: { askGatewaySeconds: [86_400] },
    changeDrivers: (drivers) => ({
      ...drivers,
      payments: new Map([...drivers.payments].map(([name, driver]) => [name, withoutList(driver)])),
    }),
  })
})
afterAll(async () => {
  await portal.close()
  await interceptor.close()
})

/** What happens to one payment's webhooks, in order. */
const step = fc.constantFrom(
  'told',
  'told twice',
  'ten at once',
  'last word first',
  'forged: another number',
  'forged: no signature',
  'forged: a signature of noughts',
  'asked',
  'cut off by the database',
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
/** Our payment differs from the gateway's: its webhook is genuine, but must credit nothing. */
const otherwise = fc.constantFrom(
  'as ordered',
  'as ordered',
  'as ordered',
  'as ordered',
  'wrong amount',
  'wrong unit (x100)',
  'wrong currency',
)
const schedule = fc.record({
  paid: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 5 }),
  order: otherwise,
  /** The debt of an earlier chargeback, in hundredths of the payment's amount. */
  debt: fc.constantFrom(0, 0, 0, 0, 1, 40, 100, 130),
})

const counts = new Map<string, Map<string, number>>()
const count = (gateway: string, fault: string): void => {
  const row = counts.get(gateway) ?? new Map<string, number>()
  counts.set(gateway, row.set(fault, (row.get(fault) ?? 0) + 1))
}

const balance = async (customerId: string): Promise<bigint> =>
  (
    await portal.app.db
      .selectFrom('ledger_account')
      .select('balance')
      .where('customer_id', '=', customerId)
      .executeTakeFirstOrThrow()
  ).balance

/** What the customer owes the portal, minor units. */
const owed = async (customerId: string): Promise<bigint> =>
  (
    await portal.app.db
      .selectFrom('wallet_debt')
      .select(sql<bigint>`coalesce(sum(amount - settled), 0)::bigint`.as('left'))
      .where('customer_id', '=', customerId)
      .executeTakeFirstOrThrow()
  ).left

const ledger = createLedger(systemClock)

/** A chargeback of money that was spent long ago. */
async function chargedBack(payer: Payer, customer: TestCustomer, amount: bigint): Promise<void> {
  const { db } = portal.app
  const { currency } = await db
    .selectFrom('ledger_account')
    .select('currency')
    .where('customer_id', '=', customer.id)
    .executeTakeFirstOrThrow()
  await transaction(db, (tx) =>
    ledger.chargeback(tx, {
      key: `schedule:${randomUUID()}`,
      customerId: customer.id,
      driver: payer.driver,
      amount,
      atMost: 0n,
      currency: currency as Currency,
      details: {},
    }),
  )
}

/** A forged webhook moves no money anywhere. */
const transfers = async (): Promise<unknown> =>
  (await sql`select count(*) as transfers from ledger_transfer`.execute(portal.app.db)).rows

/**
 * Queries a pending payment. Like the job it starts again when the database was away: the pool may
 * return a connection that was cut until it has noticed that.
 */
const ask = (code: string): Promise<true> =>
  eventually('the answer about the payment', () =>
    askOnce(code).then(
      () => true as const,
      (error: unknown) => {
        if (!databaseIsAway(error)) throw error
        return undefined
      },
    ),
  )

async function askOnce(code: string): Promise<void> {
  const { db, topUps } = portal.app
  const payment = await db
    .selectFrom('payment')
    .selectAll()
    .where('code', '=', code)
    .executeTakeFirstOrThrow()
  const driver = portal.drivers.payments.get(payment.driver)
  if (!driver) throw new Error(`no driver ${payment.driver}`)
  const update = await driver.lookUp(
    topUps.orders.orderOf(payment, await topUps.orders.buyerOf(payment.customer_id)),
  )
  if (update) await topUps.settlement.settle(driver, update)
}

async function take(
  what: Step,
  webhooks: readonly CapturedWebhook[],
  code: string,
  onlyHints: boolean,
): Promise<void> {
  const bring = (webhook: CapturedWebhook): Promise<number> => deliver(portal.url, webhook)
  const forger = /^forged: (.+)$/.exec(what)?.[1]
  const forge = forger === undefined ? undefined : forgeries[forger]
  if (forge) {
    const before = await transfers()
    for (const webhook of webhooks) await bring(forge(webhook))
    if (!onlyHints) expect(await transfers()).toEqual(before)
    return
  }
  if (what === 'told') for (const webhook of webhooks) await bring(webhook)
  else if (what === 'told twice')
    for (const webhook of [...webhooks, ...webhooks]) await bring(webhook)
  else if (what === 'ten at once')
    await Promise.all(Array.from({ length: 10 }, () => webhooks.map(bring)).flat())
  else if (what === 'last word first')
    for (const webhook of webhooks.toReversed()) await bring(webhook)
  else if (what === 'asked') await ask(code)
  else {
    // Cuts the portal's database connections while the webhooks arrive; the gateway retries what
    // was not answered.
    const cut = sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'portal' and datname = current_database()
      and pid <> pg_backend_pid()`
    await Promise.all([...webhooks.map(bring), cut.execute(portal.app.db).catch(() => undefined)])
    // Until every connection of the pool is new: some idle ones have not yet noticed that they were
    // cut.
    const asked = () =>
      Promise.all(
        Array.from({ length: 30 }, () =>
          portal.app.db.selectFrom('customer').select('id').limit(1).execute(),
        ),
      )
    await eventually('the database again', () =>
      asked().then(
        () => true,
        () => false,
      ),
    )
    for (const webhook of webhooks) await bring(webhook)
  }
}

/** Runs one schedule; returns the wallet's balance and the expected one. */
async function run(
  name: string,
  payer: Payer,
  customer: TestCustomer,
  of: { paid: boolean; steps: Step[]; order: string; debt: number },
) {
  const debt = (BigInt(payer.amount) * BigInt(of.debt)) / 100n
  if (debt > 0n) {
    count(name, 'owed before')
    await chargedBack(payer, customer, debt)
  }
  const [before, owedBefore] = [await balance(customer.id), await owed(customer.id)]
  interceptor.collect()
  const begun = await payer.begin(portal, customer)
  const paid = of.paid || !begun.fail
  if (paid) await begun.pay()
  else await begun.fail?.()
  const webhooks: CapturedWebhook[] = []
  await eventually('the words about the payment', async () => {
    webhooks.push(
      ...interceptor
        .collect()
        .filter(
          (webhook) => webhook.driver === payer.driver && !webhook.body.includes('"setup_intent'),
        ),
    )
    return webhooks.length > 0 || (!paid && payer.silentFailure === true)
  })
  // A bank credits whatever arrives, so only exact gateways can differ from the order.
  const exact = portal.drivers.payments.get(payer.driver)?.credits === 'exact'
  const order = exact && !payer.immediate ? of.order : 'as ordered'
  if (order !== 'as ordered') {
    let change = sql`currency = case currency when 'USD' then 'AUD' else 'USD' end`
    if (order === 'wrong amount') change = sql`amount = amount + 1`
    else if (order === 'wrong unit (x100)') change = sql`amount = amount * 100`
    await sql`update payment set ${change} where code = ${begun.code}`.execute(portal.app.db)
  }
  count(name, order)
  for (const what of of.steps) {
    count(name, what)
    await take(what, webhooks, begun.code, payer.onlyHints ?? false).catch((error: unknown) => {
      // A gateway may refuse to answer about a payment that differs from its own.
      if (!(error instanceof DriverFailure)) throw error
    })
  }
  count(name, 'asked')
  await ask(begun.code).catch((error: unknown) => {
    if (!(error instanceof DriverFailure)) throw error
  })
  const credited = paid && order === 'as ordered' ? BigInt(payer.amount) : 0n
  const settled = credited < owedBefore ? credited : owedBefore
  return {
    holds: [(await balance(customer.id)) - before, await owed(customer.id)],
    should: [credited - settled, owedBefore - settled],
  }
}

test.each(Object.entries(payers))(
  `${each} schedules at %s: not one wrong balance (seed ${seed})`,
  { timeout: 60_000 + each * 2_000 },
  async (name, payer) => {
    let customer = await portal.customer({ region: payer.region })
    let begun = 0
    await fc.assert(
      fc.asyncProperty(schedule, async (of) => {
        // One customer may begin 300 payments in ten minutes.
        if (++begun % 250 === 0) customer = await portal.customer({ region: payer.region })
        const { holds, should } = await run(name, payer, customer, of)
        expect(holds).toEqual(should)
      }),
      { numRuns: each, seed, endOnFailure: true },
    )
    await portal.ledgerHolds()
  },
)

test('the table of gateways and faults', () => {
  const faults = [...new Set([...counts.values()].flatMap((row) => [...row.keys()]))].sort()
  const names = [...counts.keys()]
  const width = Math.max(...faults.map((fault) => fault.length))
  const line = (first: string, cells: readonly string[]): string =>
    [
      first.padEnd(width),
      ...cells.map((cell, index) => cell.padStart(Math.max(6, names[index]?.length ?? 0))),
    ].join('  ')
  const table = [
    line('', names),
    ...faults.map((fault) =>
      line(
        fault,
        names.map((name) => String(counts.get(name)?.get(fault) ?? 0)),
      ),
    ),
  ]
  process.stdout.write(`\n${table.join('\n')}\n\n`)
  expect(names).toEqual(Object.keys(payers))
})
