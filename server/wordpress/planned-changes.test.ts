/**
 * A change planned for the renewal, and another change beside it: a planned plan keeps its price,
 * and a request right after the renewal is judged by what runs from then on.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Server } from '../../contract/wordpress.ts'
import { orderServer, type OrderedServer } from '../../test/ordered-servers.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { days } from '../platform/clock.ts'

/** VND a month. */
const perGb = 4000
const clock = manualClock()
let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal({ clock })
})
afterAll(() => portal.close())

let an: TestCustomer
let server: OrderedServer
const call = <T = Server>(method: string, path: string, body?: object) =>
  portal.call<T>(method, path, { token: an.token, ...(body && { body }) })
const shown = async (): Promise<Server> => (await call('GET', `/api/wp/${server.id}`)).body.result
const plan = (size: number) => call('PUT', `/api/wp/${server.id}`, { size })
const disk = (wish: object) =>
  call('PUT', `/api/wp/${server.id}/disk`, {
    disk: 10_240,
    mariadb_disk_size: 10_240,
    ...wish,
  })
const balance = async (): Promise<bigint> =>
  (await portal.app.ledger.balanceOf(portal.app.db, an.id)).balance
const renewalPrice = async (): Promise<number> =>
  (
    await call<{ renewalPrice: number }>(
      'GET',
      `/api/subscriptions/${(await shown()).subscriptionId}`,
    )
  ).body.result.renewalPrice
/** Renews, and leaves the planned change as it is before its job has run. */
async function renewedBeforeItsJob(): Promise<void> {
  const columns = [
    'plan_id',
    'plan_name',
    'cpu',
    'ram_mb',
    'containers',
    'planned_id',
    'planned_plan_id',
    'planned_containers',
  ] as const
  const planned = await portal.app.db
    .selectFrom('site')
    .select(columns)
    .where('id', '=', server.id)
    .executeTakeFirstOrThrow()
  const before = await balance()
  clock.advance(days(31))
  await portal.app.bills.enqueueSweeps()
  await eventually('the renewal', async () => (await balance()) !== before, 60)
  an = await portal.signIn(an)
  await eventually('what was planned', async () => (await shown()).planned === null, 60)
  await portal.app.db.updateTable('site').set(planned).where('id', '=', server.id).execute()
}
beforeEach(async () => {
  an = await portal.customer()
  await portal.topUp(an, 9_000_000)
  server = await orderServer(portal, an)
})

describe('a smaller plan that is planned', () => {
  test('keeps its price and waits for the renewal, whatever else is changed', async () => {
    expect((await plan(2)).status).toBe(200)
    expect((await plan(1)).body.result.planned).toMatchObject({ size: 1 })
    const agreed = await renewalPrice()
    // The planned plan now costs more than the running one, and is no longer sold.
    await portal.reopen({
      changeCatalog: (catalog) => ({
        ...catalog,
        plans: catalog.plans.map((one) => {
          const prices = { ...one.prices, VND: { ...one.prices.VND, price: 999_000 } }
          return one.id === 1 ? { ...one, sold: false, prices } : one
        }),
      }),
    })
    const before = await balance()
    const grown = await disk({ disk: 11_264 })
    expect(grown.body.result).toMatchObject({ size: 2, planned: { size: 1 } })
    // Only the disk is charged, and the renewal costs the agreed price and the disk.
    expect(before - (await balance())).toBeLessThanOrEqual(BigInt(perGb))
    expect(await renewalPrice()).toBe(agreed + perGb)
    await portal.reopen()
    await portal.ledgerHolds()
  })
})

describe('right after the renewal, before a job has taken what was planned', () => {
  test('the smaller plan is not given back for nothing', async () => {
    expect((await plan(2)).status).toBe(200)
    const bigger = await renewalPrice()
    expect((await plan(1)).body.result.planned).toMatchObject({ size: 1 })
    const smaller = await renewalPrice()
    await renewedBeforeItsJob()
    const before = await balance()
    const back = await plan(2)
    expect(back.body.result).toMatchObject({ size: 2, planned: null })
    // The month began a day ago at most: the rest of it is charged.
    const paid = Number(before - (await balance()))
    expect(paid).toBeGreaterThan((bigger - smaller) * 0.95)
    expect(await renewalPrice()).toBe(bigger)
    await portal.ledgerHolds()
  })

  test('a bigger disk does not pay for the container that was given up', async () => {
    expect((await disk({ replicate: 2 })).status).toBe(200)
    expect((await disk({ replicate: 1 })).body.result.planned).toMatchObject({ replicate: 1 })
    await renewedBeforeItsJob()
    const before = await balance()
    const grown = await disk({ disk: 11_264, replicate: 1 })
    expect(grown.body.result).toMatchObject({ replicate: 1, planned: null })
    expect(before - (await balance())).toBeLessThanOrEqual(BigInt(perGb))
    await portal.ledgerHolds()
  })
})
