/**
 * The portal is killed while it brings a server of a lost node up from its backup or its mirror, at
 * each step: the server comes up once. Where its node comes back before, it stays there with
 * everything that was written.
 */
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../../test/operator.ts'
import { orderServer, type OrderedServer } from '../../test/ordered-servers.ts'
import {
  openOtherNode,
  signInTo,
  titlesIn,
  visitAt,
  withSitesAddress,
  type OtherNode,
} from '../../test/other-node.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import {
  eventually,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import type { Delivery } from '../../contract/webhooks.ts'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import { DriverFailure } from '../platform/errors.ts'
import type { EdgeControl } from './directory.ts'
import type { WordpressDriver } from './driver.ts'
import { newestMove } from './move-store.ts'
import { allNodes, nodeOf } from './nodes.ts'

type Act = 'restore' | 'start' | 'frontPage' | 'apply'

const ways = [
  { act: 'restore', when: 'before', from: 'backup' },
  { act: 'restore', when: 'after', from: 'backup' },
  { act: 'start', when: 'after', from: 'backup' },
  { act: 'frontPage', when: 'after', from: 'backup' },
  // The switch is stored, and no edge was told.
  { act: 'apply', when: 'before', from: 'backup' },
  { act: 'start', when: 'before', from: 'mirror' },
  { act: 'start', when: 'after', from: 'mirror' },
  { act: 'frontPage', when: 'after', from: 'mirror' },
  { act: 'apply', when: 'before', from: 'mirror' },
] as const
type From = (typeof ways)[number]['from']
/** What each test's server comes up from, in any order. */
const used: readonly From[] = [...ways.map(({ from }) => from), 'mirror', 'backup', 'backup']

/** The act at which the portal is stopped next. */
let stopAt: { act: Act; when: 'before' | 'after' } | undefined
let onStop: () => void = () => undefined
let goOn: Promise<void> = new Promise(() => undefined)

let refusesToStart = ''

/** Does nothing more once the stop is reached, as if the portal's process were gone. */
const until = async <T>(act: Act, work: () => Promise<T>): Promise<T> => {
  const stop = stopAt
  if (stop?.act !== act) return await work()
  stopAt = undefined
  if (stop.when === 'after') await work()
  onStop()
  await goOn
  return await work()
}
const stopping = (driver: WordpressDriver): WordpressDriver => ({
  ...driver,
  get capabilities() {
    return driver.capabilities
  },
  restore: (...of) => until('restore', () => driver.restore(...of)),
  async start(...of) {
    if (of[0].id === refusesToStart) throw new DriverFailure('rejected', 'it does not start')
    await until('start', () => driver.start(...of))
  },
  frontPage: (...of) => until('frontPage', () => driver.frontPage(...of)),
})
const stoppingEdge = (edge: EdgeControl): EdgeControl => ({
  ...edge,
  async apply(...of) {
    // Tables are sent all the time: this one has the server that came up.
    const isIt = stopAt?.act === 'apply' && (await stateOfMove()) === 'moved'
    return isIt ? await until('apply', () => edge.apply(...of)) : await edge.apply(...of)
  },
})

const mirroredPlan = 2
let given = ''
const stateOfMove = async () => (await newestMove(portal.app.db, given))?.state

let portal: TestPortal
let other: OtherNode
let members: readonly [TestMember, TestMember]
let webhook = ''
interface Failure {
  readonly server: { readonly id: string }
}
/** The webhooks about servers that did not come up, once all are sent. */
async function failuresTold(): Promise<Failure[]> {
  await eventually('the outbox is empty', async () => {
    const waiting = await portal.app.db.selectFrom('operator_event').select('id').execute()
    return waiting.length === 0
  })
  const { body } = await members[0].call<{ deliveries: Delivery[] }>(
    'GET',
    `/api/operator/outgoing-webhooks/${webhook}/deliveries`,
  )
  return body.result.deliveries.map((one) => (JSON.parse(one.body) as { data: Failure }).data)
}
const node = (...words: string[]) => runCommand(portal, {}, 'node', ...words)

beforeAll(async () => {
  portal = await openTestPortal({
    env: await withSitesAddress(),
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: stopping(drivers.wordpress),
      edge: stoppingEdge(drivers.edge),
    }),
    timing: { mirrorSeconds: 1 },
    changeCatalog: (catalog) => ({
      ...catalog,
      plans: catalog.plans.map((plan) => ({ ...plan, mirrored: plan.id === mirroredPlan })),
    }),
  })
  members = [await newMember(portal, 'owner'), await newMember(portal, 'owner')]
  other = await openOtherNode(portal, 'hn2')
  const added = await members[0].act<ActOutcome>('outgoing_webhook.add', {
    url: `${portal.sandboxUrl}/hooks/chat`,
    events: ['wordpress.rescue_failed'],
    reason: 'Nobody watches what comes up by rule',
  })
  webhook = String(added.body.result.after?.['id'])
}, 120_000)
afterEach(async () => {
  stopAt = undefined
  const isKnown = (await allNodes(portal.app.db)).length > 1
  if (isKnown && portal.app.nodes.reachable().length < 2) await other.open()
})
afterAll(async () => {
  await portal.close()
  await other.close()
})

const hasFollowed = (siteId: string, since = new Date()): Promise<true> =>
  eventually(
    'the mirror',
    async () => {
      await portal.app.mirrors.follow()
      const { rows } = await sql`select from site_mirror where site_id = ${siteId}
        and state = 'following' and laid is not null and content_at > ${since}`.execute(
        portal.app.db,
      )
      return rows.length > 0 && true
    },
    60,
  )

interface LostServer extends OrderedServer {
  readonly owner: TestCustomer
}
/** Orders a server, which goes to the other node, backs it up, and writes a post after that. */
async function orderThere(from: From): Promise<LostServer> {
  // An owner each: nobody may have many unpaid orders at once.
  const owner = await portal.customer()
  await portal.topUp(owner, 2_000_000)
  const server = await orderServer(portal, owner, from === 'mirror' ? { size: mirroredPlan } : {})
  expect(await nodeOf(portal.app.db, server.id)).toBe('hn2')
  const of = { token: owner.token }
  const at = `/api/wp/${server.id}/backups`
  expect((await portal.call('POST', at, of)).status).toBe(201)
  await eventually(
    'a proven backup',
    async () =>
      (await portal.call<{ state: string }[]>('GET', at, of)).body.result[0]?.state === 'proven',
    120,
  )
  const written = await (await signInTo(portal, server)).write('after the backup')
  expect(written.status).toBe(201)
  return { ...server, owner }
}

/** Servers on the other node that no test has used yet. */
const unused: Record<From, LostServer[]> = { backup: [], mirror: [] }
beforeAll(async () => {
  expect((await node('drain', 'main', '--stay')).code).toBe(0)
  await portal.app.nodes.look()
  // At once, because a single order and backup mostly waits.
  await Promise.all(
    used.map(async (from) => {
      unused[from].push(await orderThere(from))
    }),
  )
  expect((await node('undrain', 'main')).code).toBe(0)
  await portal.app.nodes.look()
}, 300_000)

/** A server on the other node with a backup, and a post written after it. */
async function serverThere(from: From): Promise<LostServer> {
  const server = unused[from].pop()
  if (!server) throw new Error(`every server with a ${from} is used`)
  expect(await nodeOf(portal.app.db, server.id)).toBe('hn2')
  if (from === 'mirror') await hasFollowed(server.id)
  return server
}

/** Two members approve: the node is off, and does not come back soon. */
async function giveUp(server: Pick<OrderedServer, 'id'>): Promise<void> {
  await sql`update node set last_seen = last_seen - interval '2 minutes',
    lease_at = lease_at - interval '2 minutes' where id = 'hn2'`.execute(portal.app.db)
  const body = { node: 'hn2', server: server.id, poweredOff: 'yes', reason: 'it is gone' }
  const asked = await members[0].act<ActOutcome>('node.lost', body)
  expect(asked.body.result?.state, asked.text).toBe('proposed')
  const at = `/api/operator/proposals/${asked.body.result.proposal}/approve`
  const approved = await members[1].call('POST', at)
  expect(approved.status, approved.text).toBe(200)
}

/** Servers whose owners have had their letter. */
const told: LostServer[] = []
const letters = async ({ name, owner }: LostServer): Promise<number> =>
  (await portal.inbox(owner.email)).filter(
    ({ text }) => text.includes(name) && /từ bản sao (lưu|đồng bộ) lúc/.test(text),
  ).length

test.each(ways)('stopped $when $act, from its $from', { timeout: 180_000 }, async (way) => {
  const { from, ...stop } = way
  const isMirrored = from === 'mirror'
  const server = await serverThere(from)
  await other.vanish()
  const isStopped = new Promise<void>((resolve) => (onStop = resolve))
  given = server.id
  stopAt = { ...stop }
  await giveUp(server)
  await isStopped
  stopAt = undefined
  await portal.reopen({ sitesGoOn: true })
  const row = await eventually(
    'it has come up',
    async () => {
      const found = await newestMove(portal.app.db, server.id)
      return found && (found.arrived || found.state === 'failed') && found
    },
    90,
  )
  expect([row.state, row.reason]).toEqual(['moved', null])
  await eventually('a page', async () => {
    const { status } = await visitAt(portal.config.SITES_PORT, server.name, '/?now')
    return status === 200
  })
  const titles = titlesIn(path.join(portal.dataDir, 'sites', server.id))
  expect(titles.includes('after the backup')).toBe(isMirrored)
  await eventually('the letter', async () => (await letters(server)) > 0, 60)
  told.push(server)
})

test('one that does not come up from its mirror does so from its backup', async () => {
  const server = await serverThere('mirror')
  await other.vanish()
  refusesToStart = server.id
  await giveUp(server)
  const ended = await eventually(
    'the end of the first try',
    async () => {
      const found = await newestMove(portal.app.db, server.id)
      return found?.state === 'failed' && found
    },
    60,
  )
  expect([ended.from_mirror, ended.reason]).toEqual([true, 'it does not start'])
  expect((await failuresTold()).filter(({ server: { id } }) => id === server.id)).toMatchObject([
    {
      server: { id: server.id, name: server.name },
      node: { from: 'hn2', to: 'main' },
      reason: 'it does not start',
    },
  ])
  refusesToStart = ''
  // The content there is the newest that exists: it is not touched.
  const content = path.join(portal.dataDir, 'sites', server.id)
  await portal.app.moves.clear()
  expect(titlesIn(content)).toContain('after the backup')
  await giveUp(server)
  const row = await eventually(
    'it has come up',
    async () => {
      const found = await newestMove(portal.app.db, server.id)
      return found?.state === 'moved' && found.arrived && found
    },
    60,
  )
  expect(row.from_mirror).toBe(false)
  expect(titlesIn(content)).not.toContain('after the backup')
}, 180_000)

// Read after the other stories: a letter too many would have come by now.
test('nobody was told twice', async () => {
  expect(await Promise.all(told.map(letters))).toEqual(told.map(() => 1))
})

test('a node that comes back before keeps its server', { timeout: 180_000 }, async () => {
  const server = await serverThere('backup')
  await other.vanish()
  const isStopped = new Promise<void>((resolve) => (onStop = resolve))
  let release: () => void = () => undefined
  goOn = new Promise((resolve) => (release = resolve))
  stopAt = { act: 'restore', when: 'after' }
  await giveUp(server)
  await isStopped
  await other.open()
  release()
  const row = await eventually('its end', async () => {
    const found = await newestMove(portal.app.db, server.id)
    return found?.state !== 'switching' && found
  })
  expect([row.state, row.reason]).toEqual([
    'failed',
    'the node is back, and the server is there as it was',
  ])
  expect((await failuresTold()).filter(({ server: { id } }) => id === server.id)).toEqual([])
  expect(await nodeOf(portal.app.db, server.id)).toBe('hn2')
  await eventually(
    'a page there',
    async () => (await visitAt(other.sitesPort, server.name, '/?now')).status === 200,
    90,
  )
  expect(titlesIn(path.join(other.dataDir, 'sites', server.id))).toContain('after the backup')
  const report = await node('lost', 'hn2', '--dry-run', '--json')
  expect(report.said).toContain('the node is back, and the server is there as it was')
  await eventually('no copy of it elsewhere', async () => {
    await portal.app.moves.clear()
    return !(await portal.app.nodes.at('main').driver.list()).includes(server.id)
  })
})

test('a node that never comes back is forgotten', { timeout: 120_000 }, async () => {
  const server = await serverThere('backup')
  // And any that an earlier test has left there.
  const { rows } = await sql<{ id: string }>`
    select id from site where node_id = 'hn2'`.execute(portal.app.db)
  expect(rows.map(({ id }) => id)).toContain(server.id)
  await other.vanish()
  const refused = await node('remove', 'hn2')
  expect([refused.code, refused.said]).toEqual([1, expect.stringContaining('sites') as string])
  for (const { id } of rows) {
    await giveUp({ id })
    await eventually(
      'it being elsewhere',
      async () => (await nodeOf(portal.app.db, id)) === 'main',
      60,
    )
  }
  const removed = await node('remove', 'hn2')
  expect(removed.code, removed.said).toBe(0)
  expect((await allNodes(portal.app.db)).map(({ id }) => id)).toEqual(['main'])
})
