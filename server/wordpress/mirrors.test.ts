/**
 * A server whose plan includes a mirror: a copy on a second node follows it. Its machine is lost,
 * and it comes up from there with what was written a moment before. Prints how long that takes.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { NodeLoss } from '../../contract/operator-nodes.ts'
import type { Server } from '../../contract/wordpress.ts'
import { runCommand } from '../../test/operator.ts'
import { orderServer, type OrderedServer } from '../../test/ordered-servers.ts'
import {
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
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { days, minutes } from '../platform/clock.ts'
import { nodeOf } from './nodes.ts'

const clock = manualClock()
let portal: TestPortal
let an: TestCustomer
let home: OtherNode
let second: OtherNode
let mirrored: OrderedServer
/** A server whose plan includes none. */
let plain: OrderedServer
let writer: Writer
let members: TestMember[]

const node = (...words: string[]) => runCommand(portal, {}, 'node', ...words)
const shown = async ({ id }: OrderedServer): Promise<Server> =>
  (await portal.call<Server>('GET', `/api/wp/${id}`, { token: an.token })).body.result
const contentOf = (of: OtherNode, { id }: OrderedServer) => path.join(of.dataDir, 'sites', id)
/** Writes a post, and waits until the mirror has it. */
async function writeAndFollow(title: string): Promise<void> {
  expect((await writer.write(title)).status).toBe(201)
  clock.advance(1)
  await mirrorFollows(portal, mirrored, clock.now())
}

beforeAll(async () => {
  portal = await openTestPortal({
    env: await withSitesAddress(),
    clock,
    timing: { mirrorSeconds: 1 },
    changeCatalog: (catalog) => ({
      ...catalog,
      plans: catalog.plans.map((plan) => ({ ...plan, mirrored: plan.id === 1 })),
    }),
  })
  an = await portal.customer()
  await portal.topUp(an, 5_000_000)
  members = [
    await newMember(portal, 'owner', { clock }),
    await newMember(portal, 'owner', { clock }),
  ]
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

test('a copy on a second node follows, is told of, and answers nobody', async () => {
  await writeAndFollow('in the mirror')
  expect(titlesIn(contentOf(second, mirrored))).toContain('in the mirror')
  expect((await shown(mirrored)).mirroredAt).toBe(clock.now().toISOString())
  expect((await shown(plain)).mirroredAt).toBeNull()
  expect(existsSync(contentOf(second, plain))).toBe(false)
  const answering = portal.app.nodes.reachable().find((one) => one.node === 'hn3')!
  expect((await answering.driver.answering())[mirrored.id] ?? 0).toBe(0)
  const plans = await portal.call<{ mirrored: boolean }[]>('GET', '/api/wp/sizes', {
    token: an.token,
  })
  expect(plans.body.result.map((plan) => plan.mirrored)).toEqual([true, false, false, false, false])
})

test('a portal that is killed in the middle of it goes on', async () => {
  await portal.reopen({ sitesGoOn: true })
  await writeAndFollow('after the kill')
  expect(titlesIn(contentOf(second, mirrored))).toContain('after the kill')
})

test('its place on the second node is kept for it', async () => {
  const { rows } = await sql<{ reserved: number }>`
    select sum(s.containers)::int as reserved from site_mirror m join site s on s.id = m.site_id
    where m.node_id = 'hn3'`.execute(portal.app.db)
  expect(rows).toEqual([{ reserved: 1 }])
  // A drained node keeps no mirror, and its removal waits for none.
  expect((await node('drain', 'hn3')).code).toBe(0)
  await eventually('the copy being gone', async () => {
    await portal.app.mirrors.follow()
    return !existsSync(contentOf(second, mirrored))
  })
  expect((await shown(mirrored)).mirroredAt).toBeNull()
  expect((await node('undrain', 'hn3')).code).toBe(0)
  await writeAndFollow('on a new mirror')
})

test('a server that moves there, and home again, has a mirror at the other end', async () => {
  const moveTo = async (to: string): Promise<void> => {
    const begun = await runCommand(
      portal,
      {},
      'act',
      'server.move',
      '--server',
      mirrored.id,
      '--node',
      to,
      '--reason',
      'it is tried',
    )
    expect(begun.code, begun.said).toBe(0)
    await eventually(
      'the move',
      async () => {
        const { rows } = await sql`select from site_move where site_id = ${mirrored.id}
          and to_node = ${to} and arrived`.execute(portal.app.db)
        return rows.length > 0
      },
      90,
    )
  }
  await moveTo('hn3')
  expect((await writer.write('on the second node')).status).toBe(201)
  // The original is kept for an hour, and no mirror overwrites it.
  await portal.app.mirrors.follow()
  expect(titlesIn(contentOf(home, mirrored))).not.toContain('on the second node')
  clock.advance(minutes(61))
  await portal.app.moves.clear()
  await mirrorFollows(portal, mirrored, clock.now())
  expect(titlesIn(contentOf(home, mirrored))).toContain('on the second node')
  await moveTo('hn2')
  clock.advance(minutes(61))
  await portal.app.moves.clear()
  await writeAndFollow('home again')
  expect(titlesIn(contentOf(second, mirrored))).toContain('home again')
}, 180_000)

test('its machine is gone: it comes up from its mirror, with what was written last', async () => {
  await writeAndFollow('a moment before')
  const at = clock.now()
  await home.vanish()
  await sql`update node set last_seen = last_seen - interval '10 minutes',
    lease_at = lease_at - interval '10 minutes' where id = 'hn2'`.execute(portal.app.db)
  const loss = await members[0]!.call<NodeLoss>('GET', '/api/operator/nodes/hn2/loss')
  expect(
    loss.body.result.servers.map(({ id, to, isMirrored: isSo, contentAt }) => ({
      id,
      to,
      isSo,
      contentAt,
    })),
  ).toEqual([
    { id: mirrored.id, to: 'hn3', isSo: true, contentAt: at.toISOString() },
    { id: plain.id, to: null, isSo: false, contentAt: null },
  ])
  const [one, other] = members as [TestMember, TestMember]
  const body = { node: 'hn2', poweredOff: 'yes', reason: 'it burned' }
  const asked = await one.act<ActOutcome>('node.lost', body)
  expect(asked.body.result?.state, asked.text).toBe('proposed')
  const began = performance.now()
  const said = await other.call(
    'POST',
    `/api/operator/proposals/${asked.body.result.proposal}/approve`,
  )
  expect(said.status, said.text).toBe(200)
  await eventually(
    'the server on the second node',
    async () => {
      if ((await nodeOf(portal.app.db, mirrored.id)) !== 'hn3') return false
      return (await visitAt(portal.config.SITES_PORT, mirrored.name, '/?now')).status === 200
    },
    60,
  )
  console.log(`it answered after ${((performance.now() - began) / 1_000).toFixed(1)} s`)
  writer = await signInTo(portal, mirrored)
  expect((await writer.write('after the loss')).status).toBe(201)
  const there = titlesIn(contentOf(second, mirrored))
  expect(there).toEqual(expect.arrayContaining(['a moment before', 'after the loss']))
  // There is no second node for a mirror any more.
  await portal.app.mirrors.follow()
  expect((await shown(mirrored)).mirroredAt).toBeNull()
  const letter = await eventually('the letter', async () =>
    (await portal.inbox(an.email)).find(({ text }) => text.includes('từ bản sao đồng bộ lúc')),
  )
  expect(letter.text).toContain(mirrored.name)
})

test('its machine is back: it answers nobody, and has the mirror a day later', async () => {
  await home.open()
  await portal.app.nodes.look()
  const back = portal.app.nodes.reachable().find((one) => one.node === 'hn2')!
  await eventually('the old content being stopped', async () => {
    await portal.app.moves.clear()
    const { rows } = await sql`select from site_move where site_id = ${mirrored.id}
      and leftover_node = 'hn2' and leftover_stopped`.execute(portal.app.db)
    return rows.length > 0
  })
  expect((await back.driver.answering())[mirrored.id] ?? 0).toBe(0)
  expect(titlesIn(contentOf(home, mirrored))).not.toContain('after the loss')
  expect((await node('undrain', 'hn2')).code).toBe(0)
  clock.advance(days(1) + minutes(1))
  await eventually('the old content being gone', async () => {
    await portal.app.moves.clear()
    return !existsSync(contentOf(home, mirrored))
  })
  await writeAndFollow('with a mirror again')
  expect(titlesIn(contentOf(home, mirrored))).toContain('with a mirror again')
})

test('a server that is deleted takes its mirror along', async () => {
  an = await portal.signIn(an)
  const gone = await portal.call('DELETE', `/api/wp/${mirrored.id}`, { token: an.token })
  expect(gone.status, gone.text).toBe(200)
  await eventually(
    'the mirror being gone',
    async () => {
      await portal.app.mirrors.follow()
      const { rows } = await sql`select from site_mirror`.execute(portal.app.db)
      return rows.length === 0
    },
    60,
  )
  expect(existsSync(contentOf(home, mirrored))).toBe(false)
})
