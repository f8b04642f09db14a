/**
 * A portal whose nodes have their own names, none of them `main`: an order that no machine has
 * begun ends, and a machine that never comes back is removed with what was deleted there.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { orderServer } from '../../test/ordered-servers.ts'
import { openOtherNode, type OtherNode } from '../../test/other-node.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { days } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { giveUpOrder } from './desk-acts.ts'
import { removeNode } from './node-removal.ts'
import { putNode, releasePlace, takePlace } from './nodes.ts'

const clock = manualClock()
const order = {
  size: 1,
  region: 4,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
let portal: TestPortal
let other: OtherNode
beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { NODE_NAME: 'hn1', NODE_REGIONS: '1' } })
  other = await openOtherNode(portal, 'syd')
  const said = { id: 'syd', address: undefined, sitesAddress: undefined }
  await putNode(portal.app.db, { ...said, regions: [4] })
  await portal.app.nodes.look()
})
afterAll(async () => {
  await portal.ledgerHolds()
  await portal.close()
  await other.close()
})

const place = async ({ token }: TestCustomer): Promise<string> => {
  const placed = await portal.call<{ id: string }>('POST', '/api/wp', { token, body: order })
  expect(placed.status, placed.text).toBe(201)
  return placed.body.result.id
}
const rowOf = (id: string) =>
  portal.app.db.selectFrom('site').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const giveUp = (id: string) =>
  transaction(portal.app.db, (tx) => giveUpOrder(tx, portal.app, id, 'Not there.'))
const isGone = (id: string) =>
  eventually('it being gone', async () => (await rowOf(id)).deleted_at !== null)
const forget = (node: string) => transaction(portal.app.db, (tx) => removeNode(tx, node))

test('an unpaid order ends: deleted, given up, and lapsed', async () => {
  const an = await portal.customer()
  const [deleted, givenUp, lapsed] = [await place(an), await place(an), await place(an)]
  const { status } = await portal.call('DELETE', `/api/wp/${deleted}`, { token: an.token })
  expect(status).toBe(200)
  await isGone(deleted)
  await giveUp(givenUp)
  await eventually('the end', async () => (await rowOf(givenUp)).status === 'failed')
  clock.advance(days(8))
  // A sweep skips rows that another process has locked.
  await eventually('the lapse', async () => {
    await portal.app.bills.sweep()
    return (await rowOf(lapsed)).status === 'deleting'
  })
  await isGone(lapsed)
  await jobsIdle(portal.app.db)
  for (const id of [deleted, givenUp, lapsed])
    expect(await rowOf(id)).toMatchObject({ node_id: null, run: 0 })
})

test('a machine that never comes back is forgotten, and what is deleted there ends', async () => {
  const an = await portal.customer()
  await portal.topUp(an, 900_000)
  const server = await orderServer(portal, an, { region: 4 })
  const unpaid = await place(await portal.customer())
  await transaction(portal.app.db, async (tx) => {
    // The order is being paid at this moment.
    expect(await takePlace(tx, unpaid, clock.now())).toBeUndefined()
    expect(await removeNode(tx, 'syd')).toBe(2)
    await releasePlace(tx, unpaid)
  })
  await other.vanish()
  const failed = await place(an)
  await eventually('the first try', async () => (await rowOf(failed)).node_id === 'syd')
  await giveUp(failed)
  await eventually('the end', async () => (await rowOf(failed)).status === 'failed')
  expect(await forget('syd')).toBe(1)

  const { status } = await portal.call('DELETE', `/api/wp/${server.id}`, { token: an.token })
  expect(status).toBe(200)
  // The machine may come back soon.
  expect(await forget('syd')).toBe(1)
  await sql`update node set last_seen = last_seen - interval '2 minutes',
    lease_at = lease_at - interval '2 minutes' where id = 'syd'`.execute(portal.app.db)
  expect(await forget('syd')).toBe(0)
  await isGone(server.id)
  expect((await rowOf(unpaid)).status).toBe('pending_payment')
})
