/**
 * Every step of setting a server up with every fault: it ends running and charged once, or failed,
 * removed and refunded.
 */
import { once } from 'node:events'
import net from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { transaction } from '../platform/db.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { WordpressDriver } from './driver.ts'
import { provisionJob } from './order.ts'

type Step = 'install' | 'start' | 'check' | 'remove'
/** `acts`: does its work and then fails, as when the answer is lost. */
type Fault =
  | 'fails once'
  | 'fails always'
  | 'hangs once'
  | 'acts and fails once'
  | 'is refused'
  | 'has no room'
  | 'breaks always'
  | 'waits, then is refused'

const planned = new Map<string, { step: Step; fault: Fault; also?: Step }>()
const met = new Map<string, number>()
/** Lets the waiting run continue. */
const release = Promise.withResolvers<void>()
let silence: net.Server
let silentUrl: string

/** Counts a step of this site, and answers its planned fault. */
function faultAt(id: string, step: Step): Fault | undefined {
  const plan = planned.get(id)
  if (plan?.also === step && !met.has(`${id} ${step}`)) {
    met.set(`${id} ${step}`, 1)
    return 'fails once'
  }
  if (plan?.step !== step) return undefined
  const times = (met.get(id) ?? 0) + 1
  met.set(id, times)
  return times === 1 || plan.fault.endsWith('always') ? plan.fault : undefined
}
const trouble = () => new DriverFailure('unavailable', 'spawn /secret/node ENOENT')

async function faulty(fault: Fault | undefined, act: () => Promise<void>): Promise<void> {
  switch (fault) {
    case undefined:
      return await act()
    case 'hangs once':
      return await new Promise(() => undefined)
    case 'acts and fails once':
      await act()
      throw trouble()
    case 'is refused':
      throw new DriverFailure('rejected', 'this host takes no such site')
    case 'waits, then is refused':
      await release.promise
      throw new DriverFailure('rejected', 'this host takes no such site')
    case 'has no room':
      throw new DriverFailure('full', 'there is no memory for 50 containers more')
    case 'breaks always':
      throw new TypeError('a bug, with a path in it: /secret/path')
    default:
      throw trouble()
  }
}

/** The real driver, with the planned faults in front of it. */
const withFaults = (real: WordpressDriver): WordpressDriver => ({
  ...real,
  install: (spec, admin) => faulty(faultAt(spec.id, 'install'), () => real.install(spec, admin)),
  start: (spec) => faulty(faultAt(spec.id, 'start'), () => real.start(spec)),
  remove: (id) => faulty(faultAt(id, 'remove'), () => real.remove(id)),
  async frontPage(id, host) {
    const fault = faultAt(id, 'check')
    if (fault === undefined) return await real.frontPage(id, host)
    if (fault !== 'hangs once') throw new DriverFailure('unavailable', 'no container answers')
    return (await fetch(silentUrl)).status
  },
})

let portal: TestPortal
beforeAll(async () => {
  silence = net.createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silence, 'listening')
  silentUrl = `http://127.0.0.1:${(silence.address() as net.AddressInfo).port}/`
  portal = await openTestPortal({
    timing: { provisionStepMs: 12_000 },
    changeDrivers: (drivers) => ({ ...drivers, wordpress: withFaults(drivers.wordpress) }),
  })
})
afterAll(async () => {
  await portal.close()
  silence.close()
})

const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const one = async ({ token }: TestCustomer, id: string) =>
  (
    await portal.call<{
      status: string
      reason: string | null
      renewsAt: string | null
      invoice: { status: string }
    }>('GET', `/api/wp/${id}`, { token })
  ).body.result
const entries = async ({ token }: TestCustomer): Promise<string[]> =>
  (
    await portal.call<{ amount: number; ending_balance: number }[]>('GET', '/api/payments/stripe', {
      token,
    })
  ).body.result
    .toReversed()
    .map((entry) => `${entry.amount} → ${entry.ending_balance}`)

interface Row {
  readonly step: Step
  readonly fault: Fault
  /** Another step that fails once, too. */
  readonly also?: Step
  readonly end: 'running' | 'failed'
  readonly reason?: string
}
const notUp = 'Máy chủ không khởi động được sau nhiều lần thử.'
const table: Row[] = [
  { step: 'install', fault: 'fails once', end: 'running' },
  { step: 'install', fault: 'fails always', end: 'failed', reason: notUp },
  { step: 'install', fault: 'hangs once', end: 'running' },
  { step: 'install', fault: 'acts and fails once', end: 'running' },
  {
    step: 'install',
    fault: 'is refused',
    end: 'failed',
    reason: 'Trung tâm dữ liệu không chạy được máy chủ loại này.',
  },
  {
    step: 'install',
    fault: 'has no room',
    end: 'failed',
    reason: 'Trung tâm dữ liệu hiện không đủ chỗ cho máy chủ này.',
  },
  { step: 'install', fault: 'breaks always', end: 'failed', reason: notUp },
  { step: 'start', fault: 'fails once', end: 'running' },
  { step: 'start', fault: 'fails always', end: 'failed', reason: notUp },
  { step: 'start', fault: 'hangs once', end: 'running' },
  { step: 'start', fault: 'acts and fails once', end: 'running' },
  // The refund is made even where the removal fails; the removal is tried again.
  {
    step: 'start',
    fault: 'is refused',
    also: 'remove',
    end: 'failed',
    reason: 'Trung tâm dữ liệu không chạy được máy chủ loại này.',
  },
  { step: 'check', fault: 'fails once', end: 'running' },
  { step: 'check', fault: 'fails always', end: 'failed', reason: notUp },
  { step: 'check', fault: 'hangs once', end: 'running' },
]

/**
 * Servers ordered beside the others without faults: twenty at once, however many cores there are.
 */
const undisturbed = 20 - table.length

describe('setting a server up', () => {
  const orders = new Map<Row, { customer: TestCustomer; id: string }>()
  const plain: { customer: TestCustomer; id: string }[] = []
  const seen = new Map<Row, string>()
  /** The table that CI shows: each step with each fault, and how it ended. */
  afterAll(() => {
    const lines = table.map((row) => [
      row.step,
      `${row.fault}${row.also ? `, ${row.also} too` : ''}`,
      seen.get(row) ?? 'not as it should',
    ])
    const told = lines.map(
      ([step = '', fault = '', end]) => `  ${step.padEnd(9)}${fault.padEnd(28)}${end}`,
    )
    process.stdout.write(`\n${told.join('\n')}\n\n`)
  })
  beforeAll(async () => {
    const place = async (): Promise<{ customer: TestCustomer; id: string }> => {
      const customer = await portal.customer()
      const { id } = (
        await portal.call<{ id: string }>('POST', '/api/wp', { token: customer.token, body: order })
      ).body.result
      return { customer, id }
    }
    for (const row of table) {
      const placed = await place()
      planned.set(placed.id, row)
      orders.set(row, placed)
    }
    for (let n = 0; n < undisturbed; n++) plain.push(await place())
    // All at once, so that orders also wait for one another.
    await Promise.all(
      [...orders.values(), ...plain].map(({ customer }) => portal.topUp(customer, 218_000)),
    )
  })

  test.each(
    table.map(
      (row) =>
        [`${row.step} ${row.fault}${row.also ? `, ${row.also} too` : ''}`, row.end, row] as const,
    ),
  )('whose %s ends %s', { timeout: 240_000 }, async (_, end, row) => {
    const { customer, id } = orders.get(row) ?? { customer: { token: '' } as TestCustomer, id: '' }
    await eventually(
      `the order being ${end}`,
      async () => ['running', 'failed'].includes((await one(customer, id)).status),
      230,
    )
    const shown = await one(customer, id)
    expect([shown.status, shown.reason]).toEqual([end, row.reason ?? null])
    const running = end === 'running'
    expect(await entries(customer)).toEqual(
      running
        ? ['218000 → 218000', '-218000 → 0']
        : ['218000 → 218000', '-218000 → 0', '218000 → 218000'],
    )
    expect([shown.invoice.status, shown.renewsAt !== null]).toEqual(
      running ? ['paid', true] : ['refunded', false],
    )
    await eventually(
      'the driver holding what it should',
      async () => (await portal.drivers.wordpress.list()).includes(id) === running,
    )
    const told = await eventually('the last event', async () => {
      const { data } = (
        await portal.call<{
          data: {
            event: string
            payload: {
              wp?: { status?: string; reason: string | null }
              subscription?: { status?: string }
            }
          }[]
        }>('GET', '/api/notifications?limit=100', { token: customer.token })
      ).body.result
      return data.some(({ payload }) => payload.wp?.status === end) && data.toReversed()
    })
    expect(
      told.flatMap(({ event, payload }) =>
        event === 'wordpress.status' ? [payload.wp?.status] : [],
      ),
    ).toEqual(['pending_payment', 'provisioning', end])
    expect(
      told.flatMap(({ event, payload }) =>
        event === 'subscription.updated' ? [payload.subscription?.status] : [],
      ),
    ).toEqual(running ? [] : ['ended'])
    const kept = await portal.app.db
      .selectFrom('site')
      .select(['admin_password_sealed', 'attempts'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(kept.admin_password_sealed).toBeNull()
    await portal.ledgerHolds()
    seen.set(row, running ? 'running, paid once' : 'failed, cleaned away, paid back')
  })

  test('beside them turns out well for whoever met nothing', { timeout: 240_000 }, async () => {
    for (const { customer, id } of plain) {
      await eventually(
        'the order running',
        async () => (await one(customer, id)).status === 'running',
        230,
      )
      expect(await entries(customer)).toEqual(['218000 → 218000', '-218000 → 0'])
    }
  })
})

describe('a run of the job that was overtaken by another', () => {
  test(
    'can neither fail nor remove what the other has finished',
    { timeout: 120_000 },
    async () => {
      const customer = await portal.customer()
      const { id } = (
        await portal.call<{ id: string }>('POST', '/api/wp', { token: customer.token, body: order })
      ).body.result
      planned.set(id, { step: 'install', fault: 'waits, then is refused' })
      await portal.topUp(customer, 218_000)
      await eventually('the first run', async () => met.has(id))
      // As when the queue takes a slow worker for dead.
      await transaction(portal.app.db, (tx) =>
        portal.app.jobs.add(tx, provisionJob, { siteId: id }),
      )
      await eventually(
        'the second run finishing',
        async () => (await one(customer, id)).status === 'running',
        60,
      )
      release.resolve()
      await eventually('the first run ending', async () => {
        const { rows } = await sql<{
          n: bigint
        }>`select count(*) as n from pgboss.job where name = ${provisionJob}
          and state in ('created', 'retry', 'active')`.execute(portal.app.db)
        return rows[0]?.n === 0n
      })
      expect((await portal.drivers.wordpress.state(id)).state).toBe('running')
      expect(await one(customer, id)).toMatchObject({
        status: 'running',
        reason: null,
        invoice: { status: 'paid' },
      })
      expect(
        await portal.app.db
          .selectFrom('site')
          .select(['attempts', 'run'])
          .where('id', '=', id)
          .executeTakeFirstOrThrow(),
      ).toEqual({
        attempts: 0,
        run: 2,
      })
      expect(await entries(customer)).toEqual(['218000 → 218000', '-218000 → 0'])
    },
  )
})
