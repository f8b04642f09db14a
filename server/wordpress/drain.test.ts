/**
 * A node is drained: it gets no new servers, its servers move to another while their visitors go
 * on, and a server that cannot move is named. Prints how long ten moves take.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../../test/operator.ts'
import { orderServer, type OrderedServer } from '../../test/ordered-servers.ts'
import { openOtherNode, visitAt, withSitesAddress, type OtherNode } from '../../test/other-node.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { minutes } from '../platform/clock.ts'

const clock = manualClock()
const servers: OrderedServer[] = []
let portal: TestPortal
let an: TestCustomer
let other: OtherNode
/** Memory of this machine's node, in containers. */
let room = 40

beforeAll(async () => {
  portal = await openTestPortal({
    env: await withSitesAddress(),
    clock,
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: {
        ...drivers.wordpress,
        get capabilities() {
          return drivers.wordpress.capabilities
        },
        room: async () => room,
      },
    }),
  })
  an = await portal.customer()
  await portal.topUp(an, 10_000_000)
  for (let n = 0; n < 10; n++) servers.push(await orderServer(portal, an))
  other = await openOtherNode(portal, 'hn2')
}, 180_000)
afterAll(async () => {
  await portal.ledgerHolds()
  await portal.close()
  await other.close()
})

const node = (...words: string[]) => runCommand(portal, {}, 'node', ...words)
const movesUnderWay = async (): Promise<number> =>
  Number(
    (
      await portal.app.db
        .selectFrom('site_move')
        .select((eb) => eb.fn.countAll<bigint>().as('n'))
        .where('state', 'in', ['copying', 'switching'])
        .executeTakeFirstOrThrow()
    ).n,
  )
const on = async (name: string): Promise<number> => {
  const { data } = { data: JSON.parse((await node('list', '--json')).said) as unknown }
  const { nodes } = data as { nodes: { id: string; sites: number }[] }
  return nodes.find(({ id }) => id === name)?.sites ?? -1
}

test('ten servers leave a node, and nobody who reads them meets an error', async () => {
  let goesOn = true
  const failed: string[] = []
  let reads = 0
  const reading = [portal.config.SITES_PORT, other.sitesPort].map(async (port) => {
    for (let n = 0; goesOn; n++) {
      const { name } = servers[n % servers.length]!
      const visit = await visitAt(port, name, `/?n=${n}`)
      reads++
      if (visit.status !== 200)
        failed.push(`${name} at ${port}: ${visit.status} ${visit.text.slice(0, 200)}`)
      await pause(20)
    }
  })
  const began = performance.now()
  const drained = await node('drain', 'main', '--wait')
  const seconds = (performance.now() - began) / 1000
  goesOn = false
  await Promise.all(reading)
  console.log(
    `drained ten servers in ${seconds.toFixed(1)} s, ${reads} reads, ${failed.length} failed`,
  )
  expect(drained.code, drained.said).toBe(0)
  expect(failed).toEqual([])
  expect([await on('main'), await on('hn2')]).toEqual([0, 10])
}, 300_000)

test('it can be removed once it keeps no originals', async () => {
  const refused = await node('remove', 'main')
  expect([refused.code, refused.said]).toEqual([1, expect.stringContaining('10 sites') as string])
  clock.advance(minutes(61))
  await eventually('nothing being kept', async () => {
    await portal.app.moves.clear()
    const { said } = await node('drain', 'main', '--json')
    return (JSON.parse(said) as { kept: number }).kept === 0
  })
})

test('a new order goes elsewhere; undrained, the node takes orders again', async () => {
  const fresh = await orderServer(portal, an)
  servers.push(fresh)
  expect(await on('main')).toBe(0)
  expect((await node('undrain', 'main')).code).toBe(0)
})

test('a drain that is to leave the servers after all moves none of them', async () => {
  const { app } = portal
  const emptiesSince = async () =>
    await app.db
      .selectFrom('node')
      .select(['state', 'empties_since as since'])
      .where('id', '=', 'hn2')
      .executeTakeFirstOrThrow()
  const before = await on('hn2')
  // Nothing can move yet: each server is tried again later.
  room = 0
  await app.nodes.look()
  await node('drain', 'hn2')
  expect(await emptiesSince()).toEqual({ state: 'draining', since: expect.any(Date) })
  expect((await node('drain', 'hn2', '--stay')).code).toBe(0)
  expect(await emptiesSince()).toEqual({ state: 'draining', since: null })
  room = 40
  await app.nodes.look()
  await app.emptyNodes()
  expect([await movesUnderWay(), await on('hn2')]).toEqual([0, before])
}, 120_000)

test('what cannot move is named with the reason, and goes when it can', async () => {
  room = 0
  await portal.app.nodes.look()
  const drained = await node('drain', 'hn2', '--wait')
  expect(drained.code).toBe(1)
  expect(drained.said).toContain('stays for now: No other node of its data centre has room for it.')
  expect(await on('main')).toBe(0)
  room = 40
  await portal.app.nodes.look()
  const waiting = node('drain', 'hn2', '--wait')
  await eventually('the first ones moving', async () => (await on('main')) > 0, 60)
  expect((await node('undrain', 'hn2')).code).toBe(0)
  // A command that waits for the end of the drain is told that it was stopped.
  expect(await waiting).toEqual({
    code: 1,
    said: expect.stringContaining('Node hn2 is not emptied any more') as string,
  })
  await eventually(
    'those under way having come to their end',
    async () => (await movesUnderWay()) === 0,
    60,
  )
  expect(await on('hn2')).toBeGreaterThan(0)
}, 120_000)
