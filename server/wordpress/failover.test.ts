/**
 * A node is silent: its mirrored servers come up on the second node by rule, and no write is
 * accepted at both ends. Prints how long that takes.
 */
import net from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { runCommand } from '../../test/operator.ts'
import { orderServer, type OrderedServer } from '../../test/ordered-servers.ts'
import {
  cutOff,
  mirrorFollows,
  openOtherNode,
  signInTo,
  titlesIn,
  visitAt,
  withSitesAddress,
  type OtherNode,
  type Writer,
} from '../../test/other-node.ts'
import {
  eventually,
  freePort,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { seconds } from '../platform/clock.ts'
import { promiseLease } from './lease-store.ts'
import { nodeOf } from './nodes.ts'

const clock = manualClock()
const failoverMs = seconds(4.5)
let portal: TestPortal
let an: TestCustomer
let home: OtherNode
let second: OtherNode
let mirrored: OrderedServer
let plain: OrderedServer
let writer: Writer
let witnessPort: number

const node = (...words: string[]) => runCommand(portal, {}, 'node', ...words)
const contentOf = (of: OtherNode, { id }: OrderedServer) => path.join(of.dataDir, 'sites', id)
/** Retried, because on a busy machine the lease may end for a moment. */
const write = (title: string): Promise<true> =>
  eventually('a write', async () => (await writer.write(title)).status === 201)
async function writeAndFollow(title: string): Promise<void> {
  await write(title)
  clock.advance(1)
  await mirrorFollows(portal, mirrored, clock.now())
}
/** Resolves once the node has confirmed that it keeps to the short time. */
const isShort = ({ id }: OrderedServer) =>
  eventually('the short lease', async () => {
    const { rows } = await sql`select from site_mirror m join node n on n.id = m.from_node
      where m.site_id = ${id} and m.writes_until > clock_timestamp()
        and n.mirrors_told_at = n.lease_at`.execute(portal.app.db)
    return rows.length > 0
  })
const reconnects = new Map<string, () => Promise<void>>()
const cut = async (name: string): Promise<void> =>
  void reconnects.set(name, await cutOff(portal, name))
const reconnect = async (name: string): Promise<void> => await reconnects.get(name)!()
/** Keeps looking for longer than the silence after which a node's servers come up elsewhere. */
async function looksOn(): Promise<void> {
  const until = performance.now() + failoverMs * 1.5
  while (performance.now() < until) {
    await portal.app.failover!.look()
    await pause(100)
  }
}
async function openWitness(): Promise<net.Server> {
  const witness = net.createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => witness.listen(witnessPort, '127.0.0.1', resolve))
  return witness
}
const moves = async (): Promise<number> =>
  Number(
    (await sql<{ n: number }>`select count(*)::int as n from site_move`.execute(portal.app.db))
      .rows[0]?.n,
  )
const isAt = ({ id, name }: OrderedServer, at: string) =>
  eventually(
    `the server on ${at}`,
    async () => {
      if ((await nodeOf(portal.app.db, id)) !== at) return false
      return (await visitAt(portal.config.SITES_PORT, name, '/?now')).status === 200
    },
    60,
  )
/** Writes at the machine's own edge; answers the status. */
const writesAt = async (of: OtherNode, { name }: OrderedServer): Promise<number> =>
  (await visitAt(of.sitesPort, name, '/wp-comments-post.php', { method: 'POST' })).status

beforeAll(async () => {
  witnessPort = await freePort()
  portal = await openTestPortal({
    env: {
      ...(await withSitesAddress()),
      MIRROR_FAILOVER_WITNESS: `127.0.0.1:${witnessPort}`,
    },
    clock,
    timing: { mirrorSeconds: 1, mirrorFailoverMs: failoverMs },
    changeCatalog: (catalog) => ({
      ...catalog,
      plans: catalog.plans.map((plan) => ({ ...plan, mirrored: plan.id === 1 })),
    }),
  })
  an = await portal.customer()
  await portal.topUp(an, 5_000_000)
  home = await openOtherNode(portal, 'hn2')
  expect((await node('drain', 'main', '--stay')).code).toBe(0)
  mirrored = await orderServer(portal, an)
  plain = await orderServer(portal, an, { size: 2 })
  second = await openOtherNode(portal, 'hn3')
  writer = await signInTo(portal, mirrored)
}, 180_000)
afterAll(async () => {
  await portal.ledgerHolds()
  await portal.close()
  await home.close()
  await second.close()
})

test('a database that stands still makes no node silent', async () => {
  await writeAndFollow('in the mirror')
  await isShort(mirrored)
  const witness = await openWitness()
  await portal.app.db.transaction().execute(async (tx) => {
    await sql`lock table node in access exclusive mode`.execute(tx)
    // No portal can promise it time, so it takes no writes for the mirrored server.
    await eventually('the fence', async () => (await writesAt(home, mirrored)) === 503, 30)
    // Its edge refuses at once; writes that do not come through the edge are held by the container.
    const refused = { method: 'POST' }
    const { text } = await visitAt(home.sitesPort, mirrored.name, '/wp-comments-post.php', refused)
    expect(text).toContain('can only be read right now')
    expect(await writesAt(home, plain)).not.toBe(503)
    await looksOn()
  })
  await write('after the pause')
  witness.close()
  expect(await moves()).toBe(0)
})

test('what a portal of an older release has promised is waited for', async () => {
  await isShort(mirrored)
  await cut('hn2')
  await promiseLease(portal.app.db, 'hn2', 1, { wholeMs: seconds(3_600), mirroredMs: null })
  await eventually('the fence', async () => (await writesAt(home, mirrored)) === 503, 30)
  await looksOn()
  expect(await moves()).toBe(0)
  await reconnect('hn2')
  await write('in touch again')
  await isShort(mirrored)
})

test('what was promised to a process that ended, or to no mirror, counts no more', async () => {
  const { db } = portal.app
  const leases = { wholeMs: seconds(3_600), mirroredMs: seconds(3) }
  const until = async (): Promise<Date | null> =>
    (
      await db
        .selectFrom('site_mirror')
        .select('writes_until')
        .where('site_id', '=', mirrored.id)
        .executeTakeFirstOrThrow()
    ).writes_until
  const markOf = async (): Promise<number> =>
    (await db.selectFrom('node').select('lease_mark').where('id', '=', 'hn2').executeTakeFirst())
      ?.lease_mark ?? 0
  await isShort(mirrored)
  await cut('hn2')
  // With a clock that went on it is the same process; then it is restarted.
  await promiseLease(db, 'hn2', (await markOf()) + 60_000, leases)
  expect(await until()).not.toBeNull()
  await promiseLease(db, 'hn2', 1_000, leases)
  expect(await until()).toBeNull()
  await reconnect('hn2')
  await isShort(mirrored)
  await cut('hn2')
  const at = { content_at: clock.now() }
  const ofIt = db.updateTable('site_mirror').where('site_id', '=', mirrored.id)
  await ofIt.set({ content_at: null }).execute()
  await promiseLease(db, 'hn2', (await markOf()) + 60_000, leases)
  expect(await until()).toBeNull()
  await ofIt.set(at).execute()
  await reconnect('hn2')
  await write('as before')
})

test('a mirror that is far behind, and a node that is drained, are left to people', async () => {
  await writeAndFollow('in the mirror, too')
  await isShort(mirrored)
  await cut('hn2')
  const behind = async (by: number): Promise<void> => {
    await sql`update site_mirror set content_at = content_at - ${by} * interval '1 minute'
      where site_id = ${mirrored.id}`.execute(portal.app.db)
  }
  await behind(10)
  await looksOn()
  expect(await moves()).toBe(0)
  expect((await node('drain', 'hn2', '--stay')).code).toBe(0)
  await behind(-10)
  await looksOn()
  expect(await moves()).toBe(0)
  await reconnect('hn2')
  expect((await node('undrain', 'hn2')).code).toBe(0)
})

test('its servers come up on the second node, and nothing is written at both ends', async () => {
  await writeAndFollow('a moment before')
  const direct = { lastMs: 0, fenced: false }
  let goesOn = true
  await cut('hn2')
  const began = performance.now()
  const atHome = (async () => {
    while (goesOn) {
      const asked = performance.now()
      const status = await writesAt(home, mirrored)
      if (status === 503) direct.fenced = true
      else direct.lastMs = asked - began
      await pause(20)
    }
  })()
  await isAt(mirrored, 'hn3')
  const upMs = performance.now() - began
  writer = await signInTo(portal, mirrored)
  expect((await writer.write('after the loss')).status).toBe(201)
  const writtenMs = performance.now() - began
  goesOn = false
  await atHome
  console.log(
    `silent: the last write at its node after ${(direct.lastMs / 1_000).toFixed(1)} s, ` +
      `up elsewhere after ${(upMs / 1_000).toFixed(1)} s`,
  )
  expect(direct.fenced).toBe(true)
  expect(direct.lastMs).toBeLessThan(writtenMs)
  expect(direct.lastMs).toBeLessThan(failoverMs)
  expect(titlesIn(contentOf(second, mirrored))).toEqual(
    expect.arrayContaining(['a moment before', 'after the loss']),
  )
  // A server without a mirror stays, and keeps running.
  expect(await nodeOf(portal.app.db, plain.id)).toBe('hn2')
  expect(await writesAt(home, plain)).not.toBe(503)
  expect(await moves()).toBe(1)
  const letter = await eventually('the letter', async () =>
    (await portal.inbox(an.email)).find(({ text }) => text.includes('từ bản sao đồng bộ lúc')),
  )
  expect(letter.text).toContain(mirrored.name)
})

test('the node is back: it answers nobody for what came up elsewhere', async () => {
  await reconnect('hn2')
  const back = portal.app.nodes.reachable().find((one) => one.node === 'hn2')!
  await eventually('its old content being stopped', async () => {
    await portal.app.moves.clear()
    return ((await back.driver.answering())[mirrored.id] ?? 0) === 0
  })
  expect(titlesIn(contentOf(home, mirrored))).not.toContain('after the loss')
  expect(await nodeOf(portal.app.db, mirrored.id)).toBe('hn3')
  expect(await writesAt(home, plain)).not.toBe(503)
})

test('where nobody else answers it may be the portal that is cut off: they stay', async () => {
  await cut('hn2')
  expect((await node('undrain', 'main')).code).toBe(0)
  await writeAndFollow('with a mirror beside the portal')
  await isShort(mirrored)
  await cut('hn3')
  await eventually('the fence', async () => (await writesAt(second, mirrored)) === 503, 30)
  await looksOn()
  expect(await moves()).toBe(1)
  expect((await visitAt(second.sitesPort, mirrored.name, '/')).status).toBe(200)

  const witness = await openWitness()
  try {
    await isAt(mirrored, 'main')
  } finally {
    witness.close()
  }
  expect(titlesIn(path.join(portal.config.DATA_DIR, 'sites', mirrored.id))).toContain(
    'with a mirror beside the portal',
  )
})
