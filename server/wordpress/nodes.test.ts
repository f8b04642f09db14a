/**
 * Two machines that run sites, told through the API: a server goes where its data centre is and
 * where there is room, is reached by the edge of either, and waits if its machine is away.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import {
  eventually,
  freePort,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { simulatedFilesIn } from '../../test/simulated-wordpress.ts'
import { createMachine, type Machine } from '../machine.ts'
import { nodeKey } from '../own-node.ts'
import { readConfig, type Config } from '../config.ts'
import { createLog } from '../platform/log.ts'
import { createSecrets } from '../platform/secrets.ts'
import { ensureJob } from './change.ts'
import { putNode } from './nodes.ts'
import { stuckWork } from './waiting-work.ts'

const log = createLog('silent')
const order = {
  size: 1,
  region: 1,
  disk: 10_240,
  mariadb_disk_size: 10_240,
  user: 'an',
  password: 'Mat-khau-9!',
  replicate: 1,
}
const price = 218_000
let portal: TestPortal
let an: TestCustomer
/** The machine of data centre 4, and its settings. */
let sydney: Machine
let away: Config
const dataDir = mkdtempSync(path.join(os.tmpdir(), 'portal-node-'))
/** Memory of this machine's node, in containers. */
let room = 20

const open = async (): Promise<void> => {
  sydney = createMachine(away, log, simulatedFilesIn(inject('simulatedFiles')))
  await sydney.openSites()
  await sydney.openToOthers(away.NODE_KEY ?? '')
}

beforeAll(async () => {
  portal = await openTestPortal({
    env: { NODE_REGIONS: '1,2' },
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: { ...drivers.wordpress, room: async () => room },
    }),
  })
  an = await portal.customer()
  await portal.topUp(an, 20 * price)
  away = readConfig({
    NODE_ENV: 'test',
    ROLES: 'node',
    NODE_NAME: 'syd',
    NODE_KEY: nodeKey(createSecrets(portal.rootSecret), 'syd'),
    NODE_LISTEN: `127.0.0.1:${await freePort()}`,
    SITES_PORT: String(await freePort()),
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
  })
  await putNode(portal.app.db, {
    id: 'main',
    address: null,
    sitesAddress: `127.0.0.1:${portal.config.SITES_PORT}`,
    regions: [1, 2],
  })
})
afterAll(async () => {
  await portal.ledgerHolds()
  await portal.close()
  await sydney.close()
  rmSync(dataDir, { recursive: true, force: true })
})

interface Shown {
  id: string
  name: string
  status: string
  reason: string | null
  invoice: { id: string; status: string } | null
}
const call = <T = unknown>(method: string, address: string, body?: object) =>
  portal.call<T>(method, address, { token: an.token, ...(body && { body }) })
const regions = async (): Promise<number[]> =>
  (await call<{ data: { id: number }[] }>('GET', '/api/wp/regions')).body.result.data.map(
    ({ id }) => id,
  )
const place = (of: object) => call<{ id: string }>('POST', '/api/wp', { ...order, ...of })
const shown = async (id: string): Promise<Shown> =>
  (await call<Shown>('GET', `/api/wp/${id}`)).body.result
const running = (id: string): Promise<Shown> =>
  eventually('the server running', async () => {
    const server = await shown(id)
    return server.status === 'running' && server
  })
/** A new server, paid and running. */
const ordered = async (of: object): Promise<Shown> => {
  const answer = await place(of)
  expect(answer.status, answer.text).toBe(201)
  return await running(answer.body.result.id)
}
const visit = (sitesPort: number, name: string): Promise<number> =>
  new Promise((resolve, reject) => {
    http
      .get(
        {
          host: '127.0.0.1',
          port: sitesPort,
          path: '/wp-login.php',
          headers: { host: `${name}.localhost:${sitesPort}` },
          agent: false,
        },
        (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
        },
      )
      .once('error', reject)
  })
const balance = async (): Promise<number> =>
  (await call<{ balance: number }>('GET', '/api/v1/auth/me')).body.result.balance
const nodeOf = async (id: string): Promise<string | null> =>
  (
    await portal.app.db
      .selectFrom('site')
      .select('node_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).node_id

let here: Shown
let there: Shown

test('a data centre in which no machine stands is not offered, and costs nothing', async () => {
  expect(await regions()).toEqual([1, 2])
  const before = await balance()
  const refused = await place({ region: 4 })
  expect([refused.status, refused.body.error?.code]).toEqual([422, 'invalid_input'])
  expect(refused.body.error?.fields).toEqual({
    region: 'This data centre takes no new servers at the moment.',
  })
  expect(await balance()).toBe(before)
})

test('a page of data centres goes on after the last one shown, which may be gone', async () => {
  const standingIn = (ids: number[]) =>
    portal.app.db.updateTable('node').set({ regions: ids }).where('id', '=', 'main').execute()
  const page = (cursor = '') =>
    call<{ data: { id: number }[] }>('GET', `/api/wp/regions?limit=2${cursor}`)
  const idsOf = async (answer: ReturnType<typeof page>) =>
    (await answer).body.result.data.map(({ id }) => id)
  await standingIn([1, 2, 3])
  const first = page()
  expect(await idsOf(first)).toEqual([1, 2])
  await standingIn([1, 3])
  expect(await idsOf(page(`&cursor=${(await first).body.page?.next}`))).toEqual([3])
  await standingIn([1, 2])
  // No data centre has this number.
  const strange = Buffer.from('v1:99').toString('base64url')
  expect((await page(`&cursor=${strange}`)).status).toBe(422)
})

test('an address that nobody can read costs no other node its lease', async () => {
  // An earlier release took it from the operator.
  const mistyped = { id: 'mistyped', address: 'syd.internal:99999', sitesAddress: null }
  await putNode(portal.app.db, { ...mistyped, regions: [4] })
  await portal.app.nodes.look()
  expect(await regions()).toEqual([1, 2])
  await portal.app.db.deleteFrom('node').where('id', '=', mistyped.id).execute()
})

test('a machine that is added takes the servers of its data centre', async () => {
  await putNode(portal.app.db, {
    id: 'syd',
    address: away.NODE_LISTEN ?? '',
    sitesAddress: `127.0.0.1:${away.SITES_PORT}`,
    regions: [4],
  })
  await portal.app.nodes.look()
  await open()
  await eventually('the other node', async () => {
    await portal.app.nodes.look()
    return (await regions()).includes(4)
  })
  expect(await regions()).toEqual([1, 2, 4])
  const config = await call<{ wordpress: { regions: number[] } }>('GET', '/api/config')
  expect(config.body.result.wordpress.regions).toEqual([1, 2, 4])
  here = await ordered({ region: 1 })
  there = await ordered({ region: 4 })
  expect([await nodeOf(here.id), await nodeOf(there.id)]).toEqual(['main', 'syd'])
})

test('either edge leads to either site, and its owner sees how it does', async () => {
  for (const { name } of [here, there])
    for (const port of [portal.config.SITES_PORT, away.SITES_PORT])
      await eventually(`${name} at ${port}`, async () => (await visit(port, name)) === 200)
  const usage = await call<{ containers: { name: string }[] }>('GET', `/api/wp/${there.id}/usage`)
  expect(usage.body.result.containers.map(({ name }) => name)).toEqual(['web-1'])
})

test('a site of another machine is backed up to the portal, and restored', async () => {
  const begun = await call<{ id: string }>('POST', `/api/wp/${there.id}/backups`)
  expect(begun.status, begun.text).toBe(201)
  const [copy] = await eventually('a proven backup', async () => {
    const { result } = (
      await call<{ id: string; state: string }[]>('GET', `/api/wp/${there.id}/backups`)
    ).body
    expect(result[0]?.state).not.toBe('failed')
    return result[0]?.state === 'proven' && result
  })
  const link = await call<{ url: string }>('POST', `/api/wp/${there.id}/backups/${copy?.id}/link`)
  const archive = await fetch(link.body.result.url)
  expect([archive.status, (await archive.bytes()).length > 10_000]).toEqual([200, true])
  const restored = await call('POST', `/api/wp/${there.id}/backups/${copy?.id}/restore`)
  expect(restored.status, restored.text).toBeLessThan(300)
  await jobsIdle(portal.app.db)
  await eventually(
    'the restored site',
    async () => (await visit(portal.config.SITES_PORT, there.name)) === 200,
  )
})

test('a machine that is gone takes nothing else with it, and gets nothing new', async () => {
  await sydney.close()
  await eventually('the line being gone', async () => portal.app.nodes.reachable().length === 1)
  const asked = await call('GET', `/api/wp/${there.id}/usage`)
  expect([asked.status, asked.body.error?.code]).toEqual([502, 'provider_unavailable'])
  expect(await visit(portal.config.SITES_PORT, here.name)).toBe(200)
  await portal.app.reconciler.run(new AbortController().signal)
  expect((await shown(there.id)).status).toBe('running')
  // Makes the database believe that two minutes have passed.
  await sql`update node set last_seen = last_seen - interval '2 minutes'
    where id = 'syd'`.execute(portal.app.db)
  expect(await regions()).toEqual([1, 2])
  expect((await place({ region: 4 })).status).toBe(422)
})

test('what waits for the machine is named, with the reason', async () => {
  expect(await stuckWork(portal.app.db)).toEqual([])
  expect((await call('POST', `/api/wp/${there.id}/restart`)).status).toBe(200)
  await eventually('a failed attempt', async () => {
    const { rows } = await sql`select from pgboss.job
      where name = ${ensureJob} and output is not null and state = 'retry'`.execute(portal.app.db)
    return rows.length > 0
  })
  expect(await stuckWork(portal.app.db)).toEqual([])
  // Makes the queue believe that twenty minutes have passed.
  await sql`update pgboss.job set created_on = created_on - interval '20 minutes'
    where name = ${ensureJob} and state in ('created', 'retry', 'active')`.execute(portal.app.db)
  expect(await stuckWork(portal.app.db)).toMatchObject([
    {
      siteId: there.id,
      name: there.name,
      customerEmail: an.email,
      node: 'syd',
      work: 'change',
      reason: 'the node syd cannot be reached',
    },
  ])
})

test('it comes back, and its sites with it', async () => {
  await open()
  await eventually('the site', async () => (await visit(away.SITES_PORT, there.name)) === 200)
  await eventually('the data centre', async () => {
    await portal.app.nodes.look()
    return (await regions()).includes(4)
  })
  await eventually('nothing stuck', async () => (await stuckWork(portal.app.db)).length === 0, 90)
})

test('of two orders for the last place one is set up; the other waits, unpaid', async () => {
  room = 1
  await portal.app.nodes.look()
  const before = await balance()
  // Both orders are accepted, because neither is paid yet.
  const both = await Promise.all([place({ region: 2 }), place({ region: 2 })])
  expect(both.map(({ status }) => status)).toEqual([201, 201])
  const ids = both.map(({ body }) => body.result.id)
  const [waiting, up] = await eventually('one of them running, the other told', async () => {
    const [one, other] = await Promise.all(ids.map(shown))
    const told = [one, other].find((server) => server?.reason)
    const runs = [one, other].find((server) => server?.status === 'running')
    return told && runs && ([told, runs] as const)
  })
  expect(await balance()).toBe(before - price)
  expect([waiting.status, waiting.invoice?.status]).toEqual(['pending_payment', 'open'])
  expect(waiting.reason).toMatch(/no room|không đủ chỗ/)
  room = 0
  await portal.app.nodes.look()
  const full = await place({ region: 2 })
  expect(full.body.error?.fields).toHaveProperty('replicate')
  const pay = () => call('POST', `/api/payments/stripe/invoices/${waiting.invoice?.id}/pay`)
  const refused = await pay()
  expect([refused.status, refused.body.error?.code]).toEqual([409, 'no_room'])
  expect(await balance()).toBe(before - price)
  room = 5
  await portal.app.nodes.look()
  expect((await pay()).status).toBe(200)
  expect((await running(waiting.id)).reason).toBeNull()
  expect(await balance()).toBe(before - 2 * price)
  expect(await nodeOf(up.id)).toBe('main')
})

test('an order that a top-up meets without room is paid once there is some', async () => {
  const poor = await portal.customer()
  const roomFor = async (containers: number): Promise<void> => {
    room = containers
    await portal.app.nodes.look()
  }
  await roomFor(5)
  const body = { ...order, region: 2 }
  const { id } = (await portal.call<{ id: string }>('POST', '/api/wp', { ...poor, body })).body
    .result
  const mine = async (): Promise<Shown> =>
    (await portal.call<Shown>('GET', `/api/wp/${id}`, poor)).body.result
  await jobsIdle(portal.app.db)
  await roomFor(0)
  await portal.topUp(poor, 500_000)
  await eventually('being told', async () => (await mine()).reason)
  await jobsIdle(portal.app.db)
  await roomFor(5)
  // Makes billing believe that ten minutes have passed.
  await sql`update subscription set next_at = next_at - interval '10 minutes'
    where customer_id = ${poor.id}`.execute(portal.app.db)
  await portal.app.bills.enqueueSweeps()
  await eventually('running', async () => (await mine()).status === 'running')
  expect((await mine()).reason).toBeNull()
})
