/**
 * The portal is killed during a move, at each of its steps, on the node that gives the server and
 * on the one that takes it: the move ends, the server runs once, and no write is lost.
 */
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runCommand } from '../../test/operator.ts'
import { orderServer, type OrderedServer } from '../../test/ordered-servers.ts'
import {
  openOtherNode,
  signInTo,
  titlesIn,
  withSitesAddress,
  type OtherNode,
  type Visit,
  type Writer,
} from '../../test/other-node.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import type { EdgeControl } from './directory.ts'
import type { WordpressDriver } from './driver.ts'
import { newestMove } from './move-store.ts'

type Act = 'copyOut' | 'copyIn' | 'start' | 'holdWrites' | 'holdVisitors'

/** The act, and which of its calls, at which the portal is stopped next. */
let stopAt: { act: Act; when: 'before' | 'after'; call: number } | undefined
let onStop: () => void = () => undefined

/** Does nothing more once the stop is reached, as if the portal's process were gone. */
const until = async <T>(act: Act, work: () => Promise<T>): Promise<T> => {
  const stop = stopAt
  if (stop?.act !== act || --stop.call > 0) return await work()
  if (stop.when === 'after') await work()
  onStop()
  return await new Promise(() => undefined)
}
const stopping = (driver: WordpressDriver): WordpressDriver => ({
  ...driver,
  get capabilities() {
    return driver.capabilities
  },
  copyOut: (...of) => until('copyOut', () => driver.copyOut(...of)),
  copyIn: (...of) => until('copyIn', () => driver.copyIn(...of)),
  start: (...of) => until('start', () => driver.start(...of)),
  holdWrites: (...of) => until('holdWrites', () => driver.holdWrites(...of)),
})
const stoppingEdge = (edge: EdgeControl): EdgeControl => ({
  ...edge,
  holdWrites: (...of) => until('holdVisitors', () => edge.holdWrites(...of)),
})

let portal: TestPortal
let other: OtherNode
let server: OrderedServer
let writer: Writer
beforeAll(async () => {
  portal = await openTestPortal({
    env: await withSitesAddress(),
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: stopping(drivers.wordpress),
      edge: stoppingEdge(drivers.edge),
    }),
  })
  const owner = await portal.customer()
  await portal.topUp(owner, 5_000_000)
  server = await orderServer(portal, owner)
  other = await openOtherNode(portal, 'hn2')
  writer = await signInTo(portal, server)
})
afterAll(async () => {
  await portal.close()
  await other.close()
})

const gives = [
  { act: 'copyOut', when: 'after', call: 1 },
  { act: 'holdVisitors', when: 'after', call: 1 },
  // The last changes are sent, while writes are held.
  { act: 'copyOut', when: 'after', call: 2 },
  // The original takes no more writes, and the switch is not stored yet.
  { act: 'holdWrites', when: 'after', call: 2 },
] as const
const takes = [
  { act: 'copyIn', when: 'after', call: 1 },
  { act: 'start', when: 'after', call: 1 },
  { act: 'copyIn', when: 'after', call: 2 },
  // The switch is stored, and no edge was told.
  { act: 'holdWrites', when: 'before', call: 2 },
] as const
/** Moves there and back, one for each way of being stopped. */
type Stop = NonNullable<typeof stopAt>
const ways = gives.flatMap((give, index): (Stop & { to: string })[] => [
  { ...give, to: 'hn2' },
  { ...(takes[index] ?? { act: 'copyIn', when: 'after', call: 2 }), to: 'main' },
])

let written = 0
test.each(ways)(
  'stopped $when $act (call $call) on the way to $to',
  { timeout: 120_000 },
  async ({ to, ...stop }) => {
    const titles: string[] = []
    const refused: Visit[] = []
    const write = async (): Promise<void> => {
      const title = `kept ${written++}`
      const visit = await writer.write(title)
      if (visit.status === 201) titles.push(title)
      else refused.push(visit)
    }
    await write()
    const isStopped = new Promise<void>((resolve) => (onStop = resolve))
    stopAt = { ...stop }
    const begun = await runCommand(
      portal,
      {},
      'act',
      'server.move',
      '--server',
      server.id,
      '--node',
      to,
      '--reason',
      'it is tried',
    )
    expect(begun.code, begun.said).toBe(0)
    await isStopped
    stopAt = undefined
    await Promise.all([portal.reopen({ sitesGoOn: true }), write()])
    const row = await eventually(
      'the move has ended',
      async () => {
        const found = await newestMove(portal.app.db, server.id)
        return found && (found.arrived || found.state === 'failed') && found
      },
      90,
    )
    expect([row.state, row.reason]).toEqual(['moved', null])
    await write()
    expect(refused).toEqual([])
    const at = to === 'hn2' ? other.dataDir : portal.dataDir
    const there = titlesIn(path.join(at, 'sites', server.id))
    expect(titles.filter((title) => !there.includes(title))).toEqual([])
    // The leftover is stopped, and the next move replaces it.
    await eventually('one of them running', async () => {
      await portal.app.moves.clear()
      const counts = await Promise.all(
        portal.app.nodes
          .reachable()
          .map(async ({ driver }) => (await driver.answering())[server.id] ?? 0),
      )
      return counts.reduce((sum, count) => sum + count, 0) === 1
    })
  },
)
