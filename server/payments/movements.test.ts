/**
 * Transfers whose webhook is lost: the bank's list shows them, and each is settled once, whichever
 * report comes first.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  freePort,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { transaction } from '../platform/db.ts'
import { days, hours, later, systemClock } from '../platform/clock.ts'
import { createOutbox } from '../messages/index.ts'
import { createSecrets } from '../platform/secrets.ts'
import { loadCatalog } from '../catalog/index.ts'
import { createLetters } from './letters.ts'
import { createEventOutbox } from '../realtime/index.ts'
import { createLedger } from '../wallet/index.ts'
import { createBank } from './drivers/bank/index.ts'
import { inSandbox, settings } from './drivers/bank/settings.ts'
import type { PaymentDriver } from './driver.ts'
import { reconcile } from './reconcile.ts'
import { assignSuspenseIn } from './suspense.ts'

const [minutely, hourly] = ['settle-movements-bank', 'settle-movements-of-days-bank'] as const
let portal: TestPortal
beforeAll(async () => {
  // No scheduled query and no scheduled list runs: the tests start them.
  portal = await openTestPortal({ timing: { askGatewaySeconds: [86_400] } })
  await sql`delete from pgboss.schedule where name in (${minutely}, ${hourly})`.execute(
    portal.app.db,
  )
})
afterAll(() => portal.close())

interface Transfer {
  transactionCode: string
  received: number
  accountNumber: string
  content: string
}
const shown = async (an: TestCustomer, code: string): Promise<Transfer> =>
  (
    await portal.call<Transfer>('GET', `/api/payments/transfer?transactionCode=${code}`, {
      token: an.token,
    })
  ).body.result
async function begun(): Promise<{ an: TestCustomer; of: Transfer }> {
  const an = await portal.customer()
  const { body } = await portal.call<{ transactionCode: string }>(
    'POST',
    '/api/payments/checkout',
    {
      token: an.token,
      body: { amount: 200_000, type: 1, method: 'BANKTRANSFER' },
    },
  )
  return { an, of: await shown(an, body.result.transactionCode) }
}
/** Answers the bank's own number of it. */
async function send(
  of: Transfer,
  amount: number,
  fields: { content?: string; notice?: string; feed?: string } = {},
): Promise<string> {
  const body = new URLSearchParams({
    account: of.accountNumber,
    amount: String(amount),
    content: of.content,
    ...fields,
  })
  const answer = await fetch(`${portal.sandboxUrl}/bank/app`, { method: 'POST', body })
  return /MBVCB\.\d+/.exec(await answer.text())?.[0] ?? ''
}
const wallet = async ({ token }: TestCustomer): Promise<number[]> =>
  (await portal.call<{ amount: number }[]>('GET', '/api/payments/stripe', { token })).body.result
    .map(({ amount }) => amount)
    .toSorted((a, b) => a - b)
const parked = async (number: string): Promise<string[]> =>
  (
    await portal.app.db
      .selectFrom('payment_suspense')
      .selectAll()
      .where('driver', '=', 'bank')
      .execute()
  )
    .filter((row) => row.provider_transaction_id.endsWith(`:${number}`))
    .map(
      ({ amount, reason, resolved_at: resolved }) =>
        `${amount} ${reason}${resolved === null ? '' : ', resolved'}`,
    )

/** Runs the minutely and hourly jobs, waits for all of them, and answers how they ended. */
async function lists(...names: string[]): Promise<void> {
  const { db, jobs } = portal.app
  await transaction(db, async (tx) => {
    for (const name of names) await jobs.add(tx, name, {})
  })
  await eventually('the lists', async () => {
    const open = sql<{
      name: string
    }>`select name from pgboss.job where name = any(${names})
      and state in ('created', 'retry', 'active')`
    return (await open.execute(db)).rows.length === 0
  })
}
/** As an operator assigns it to a known customer. */
async function give(number: string, { email }: TestCustomer): Promise<void> {
  const { db, jobs } = portal.app
  const ledger = createLedger(systemClock)
  const { mail, answerable } = createOutbox({
    jobs,
    clock: systemClock,
    secrets: createSecrets(portal.rootSecret),
    portalUrl: portal.url,
    supportMail: null,
  })
  const letters = createLetters({
    clock: systemClock,
    catalog: loadCatalog(portal.config.CATALOG),
    ledger,
    outbox: createEventOutbox(systemClock, () => undefined),
    mail,
    answerable,
    portalUrl: portal.url,
  })
  const deps = {
    db,
    jobs,
    letters,
    clock: systemClock,
    ledger,
    drivers: portal.drivers.payments,
  }
  const waits = db
    .selectFrom('payment_suspense')
    .select('id')
    .where('provider_transaction_id', 'like', `%:${number}`)
  const { id } = await waits.executeTakeFirstOrThrow()
  await transaction(db, (tx) => assignSuspenseIn(tx, deps, id, email))
}
async function reported(number: string): Promise<string[]> {
  const { db, topUps } = portal.app
  const to = later(new Date(), 60_000)
  const { differences } = await reconcile(db, topUps.orders, portal.drivers.payments, {
    from: later(to, -days(7)),
    to,
  })
  return differences
    .filter(({ about }) => about.endsWith(`:${number}`))
    .map(({ what }) => what.replace(/ \(.*?\)/g, ''))
}

test('both lost: both are credited', async () => {
  const { an, of } = await begun()
  await send(of, 150_000, { notice: 'lost' })
  await send(of, 50_000, { notice: 'lost' })
  await lists(minutely)
  expect(await wallet(an)).toEqual([50_000, 150_000])
  expect(await shown(an, of.transactionCode)).toMatchObject({ received: 200_000 })
  await portal.ledgerHolds()
})

test('the second of two is lost: both are credited, the report names it until then', async () => {
  const { an, of } = await begun()
  await send(of, 150_000)
  expect(await wallet(an)).toEqual([150_000])
  const second = await send(of, 50_000, { notice: 'lost' })
  expect(await reported(second)).toEqual([
    '50000 VND arrived at the gateway, and nothing was posted',
  ])
  await lists(minutely)
  expect(await wallet(an)).toEqual([50_000, 150_000])
  expect(await reported(second)).toEqual([])
  await portal.ledgerHolds()
})

test.each(['sepay', 'casso'])(
  'told of by %s and found in the list again and again: credited once',
  async (feed) => {
    const { an, of } = await begun()
    const number = await send(of, 120_000, { feed })
    await lists(minutely, hourly, minutely, hourly)
    expect(await wallet(an)).toEqual([120_000])
    expect(await parked(number)).toEqual([])
    await portal.ledgerHolds()
  },
)

test('found by two at once, and told of late by its own word: credited once', async () => {
  const { an, of } = await begun()
  for (let n = 1; n <= 5; n++) await send(of, n * 10_000, { notice: n === 5 ? 'late' : 'lost' })
  await lists(minutely, hourly)
  expect(await wallet(an)).toEqual([10_000, 20_000, 30_000, 40_000, 50_000])
  const records = () =>
    portal.app.db.selectFrom('payment_notice').select('raw').where('driver', '=', 'bank').execute()
  await eventually('the late word', async () =>
    (await records()).some(
      ({ raw }) =>
        JSON.stringify(raw).includes(of.content) && JSON.stringify(raw).includes('"POST"'),
    ),
  )
  await lists(minutely)
  expect(await wallet(an)).toEqual([10_000, 20_000, 30_000, 40_000, 50_000])
  await portal.ledgerHolds()
})

test('without an order: in suspense, once, and no more once it was given to somebody', async () => {
  const { an, of } = await begun()
  const lost = await send(of, 77_000, { content: 'chuc mung sinh nhat', notice: 'lost' })
  const told = await send(of, 78_000, { content: 'chuc mung nam moi', feed: 'casso' })
  await give(told, an)
  await lists(minutely, hourly)
  await lists(minutely)
  expect([await parked(lost), await parked(told)]).toEqual([
    ['77000 unknown_order'],
    ['78000 unknown_order, resolved'],
  ])
  expect(await wallet(an)).toEqual([78_000])
  expect(await reported(lost)).toEqual(['77000 VND wait in suspense: unknown_order'])
  await portal.ledgerHolds()
})

test('found hours later, of a late bank or portal; what came before it is not theirs', async () => {
  const { an, of } = await begun()
  const { db } = portal.app
  const before = async (at: Date, content: string, reference: string): Promise<void> => {
    await sql`insert into sandbox.bank_movements (account, amount, content, reference, feed, at)
      values (${of.accountNumber}, 90000, ${content}, ${reference}, 'sepay', ${at})`.execute(db)
  }
  await before(later(new Date(), -hours(6)), of.content, 'HOURSAGO')
  await before(later(new Date(), -days(3)), 'rent', 'DAYSAGO')
  await lists(minutely)
  await lists(hourly)
  expect(await wallet(an)).toEqual([90_000])
  expect(await parked('DAYSAGO')).toEqual([])
})

test('a list that cannot be had is asked for again', async () => {
  const { an, of } = await begun()
  await send(of, 150_000)
  const closed = `http://127.0.0.1:${await freePort()}`
  const bank: PaymentDriver = createBank(
    settings.parse({ ...inSandbox(closed, portal.keysOf('bank')), timeoutMs: 1000 }),
  )
  await portal.reopen({
    changeDrivers: (drivers) => ({
      ...drivers,
      payments: new Map(drivers.payments).set('bank', bank),
    }),
  })
  await send(of, 50_000, { notice: 'lost' })
  await lists(minutely)
  expect(await wallet(an)).toEqual([150_000])
  await portal.reopen()
  await lists(minutely)
  expect(await wallet(an)).toEqual([50_000, 150_000])
  await portal.ledgerHolds()
})
