/** Orders that do not come up, or are not paid: the desk lists them, tries again, or gives up. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { DeskServer } from '../../contract/operator-work.ts'
import { reason } from '../../test/desk.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { balancesAt } from '../../test/wallets.ts'
import { days } from '../platform/clock.ts'
import { DriverFailure } from '../platform/errors.ts'

const clock = manualClock()
/** Servers do not come up while it is `away`; while it `waits`, each is being installed. */
let runtime: 'well' | 'away' | 'waits' = 'well'
let release = Promise.withResolvers<void>()
let portal: TestPortal
let operations: TestMember
let support: TestMember
let reader: TestMember
/** Sessions of eight hours have ended. */
async function signInAnew(): Promise<void> {
  operations = await newMember(portal, 'operations', { clock })
  support = await newMember(portal, 'support', { clock })
  reader = await newMember(portal, 'read_only', { clock })
}
beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: {
        ...drivers.wordpress,
        async install(site, admin) {
          if (runtime === 'away') throw new DriverFailure('unavailable', 'no disk answers')
          if (runtime === 'waits') await release.promise
          await drivers.wordpress.install(site, admin)
        },
      },
    }),
  })
  await signInAnew()
})
afterAll(() => portal.close())
beforeEach(() => {
  runtime = 'well'
  release = Promise.withResolvers<void>()
})

const form = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const order = async ({ token }: TestCustomer): Promise<string> =>
  (await portal.call<{ id: string }>('POST', '/api/wp', { token, body: form })).body.result.id
const listed = async (state: string, id: string): Promise<DeskServer | undefined> => {
  const answer = await reader.call<DeskServer[]>('GET', `/api/operator/servers?state=${state}`)
  return answer.body.result.find((one) => one.id === id)
}
const inState = (state: string, id: string) =>
  eventually(`${id} is ${state}`, () => listed(state, id), 60)
const balanceOf = balancesAt(() => portal)

describe('an order', () => {
  test('that is paid and does not come up is shown with why, and tried again', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 1_000_000)
    runtime = 'away'
    const id = await order(an)
    const stuck = await eventually('why', async () => {
      const one = await listed('setting_up', id)
      return one?.why === null ? undefined : one
    })
    expect(stuck).toMatchObject({
      customer: { id: an.id },
      why: 'no disk answers',
      givingUp: false,
      order: { status: 'paid', currency: 'VND' },
    })
    expect(stuck?.attempts).toBeGreaterThan(0)
    // A list that is read between the job's failure and its note on the server counts it, too.
    await portal.app.db.updateTable('site').set({ attempts: 0 }).where('id', '=', id).execute()
    expect((await listed('setting_up', id))?.attempts).toBeGreaterThan(0)
    const wish = { server: id, reason }
    expect((await support.act('work.retry_server', wish)).status).toBe(403)
    runtime = 'well'
    expect((await operations.act('work.retry_server', wish)).status).toBe(200)
    const runs = await inState('running', id)
    expect(runs.why).toBeNull()
    const { attempts } = await portal.app.db
      .selectFrom('site')
      .select('attempts')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(attempts).toBe(0)
  })

  test('is given up once: credit note, money back, letter, and nothing is left of it', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 1_000_000)
    // The order is given up during the installation.
    runtime = 'waits'
    const id = await order(an)
    await inState('setting_up', id)
    const wish = { server: id, reason, told: 'The disks of Hà Nội are full' }
    const both = await Promise.all([
      operations.act<ActOutcome>('work.give_up_order', wish),
      operations.act<ActOutcome>('work.give_up_order', wish),
    ])
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409'])
    const failed = await inState('failed', id)
    release.resolve()
    expect(failed).toMatchObject({ why: wish.told, order: { status: 'refunded' } })
    expect(await balanceOf(an)).toBe(1_000_000n)
    const invoices = await portal.call<{ kind: string; total: number }[]>(
      'GET',
      '/api/payments/stripe/invoices',
      { token: an.token },
    )
    const totals = invoices.body.result.map(({ kind, total }) => [kind, total])
    expect(totals).toEqual([
      ['credit', -(failed.order?.total ?? 0)],
      ['order', failed.order?.total],
    ])
    await eventually('the letter', async () =>
      (await portal.inbox(an.email)).some(({ text }) => text.includes(wish.told)),
    )
    // A retry now only cleans up the rest; it does not sell it again.
    expect((await operations.act('work.retry_server', { server: id, reason })).status).toBe(200)
    expect((await listed('failed', id))?.why).toBe(wish.told)
    expect((await operations.act('work.give_up_order', wish)).status).toBe(409)
    await portal.ledgerHolds()
  })

  test('that is not paid is given up without money, and a later top-up buys nothing', async () => {
    const an = await portal.customer()
    const id = await order(an)
    expect(await inState('unpaid', id)).toMatchObject({ order: { status: 'open' } })
    const wish = { server: id, reason, told: 'This plan is no longer sold' }
    const done = await operations.act<ActOutcome>('work.give_up_order', wish)
    expect(done.body.result.after).toMatchObject({ amount: 0 })
    expect(await inState('failed', id)).toMatchObject({ order: { status: 'void' } })
    await portal.topUp(an, 1_000_000)
    await eventually('the top-up', async () => (await balanceOf(an)) === 1_000_000n)
    await portal.ledgerHolds()
  })

  test('that lapses is listed as lapsed, and one that runs is not given up', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 1_000_000)
    const { id } = await orderServer(portal, an)
    const unpaid = await order(await portal.customer())
    clock.advance(days(8))
    await signInAnew()
    await portal.app.bills.sweep()
    expect(await inState('lapsed', unpaid)).toMatchObject({ order: { status: 'void' } })
    const wish = { server: id, reason, told: 'We change our mind' }
    expect((await operations.act('work.give_up_order', wish)).status).toBe(409)
    const nothing = { ...wish, server: randomUUID() }
    expect((await operations.act('work.give_up_order', nothing)).status).toBe(404)
    expect((await operations.act('work.retry_server', { server: 'x', reason })).status).toBe(404)
  })

  test('of much money needs a second member to be given up', async () => {
    const an = await portal.customer()
    await portal.topUp(an, 200_000_000)
    runtime = 'waits'
    const { body } = await portal.call<{ id: string }>('POST', '/api/wp', {
      token: an.token,
      body: { ...form, size: 5, replicate: 8 },
    })
    const { id } = body.result
    const shown = await inState('setting_up', id)
    expect(shown.order?.total).toBeGreaterThan(5_000_000)
    const wish = { server: id, reason, told: 'No room is left' }
    const proposed = await operations.act<ActOutcome>('work.give_up_order', wish)
    expect(proposed.body.result.state).toBe('proposed')
    const other = await newMember(portal, 'operations', { clock })
    const approval = `/api/operator/proposals/${proposed.body.result.proposal}/approve`
    expect((await other.call('POST', approval)).status).toBe(200)
    await inState('failed', id)
    release.resolve()
    expect(await balanceOf(an)).toBe(200_000_000n)
    await portal.ledgerHolds()
  })
})
