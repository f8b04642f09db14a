/**
 * A server moves to another machine while its visitors go on, told through the API: no visitor gets
 * an error, every write is there afterwards, and the original is kept so that the move can be
 * undone.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { CustomerStory } from '../../contract/operator-desk.ts'
import { orderServer, type OrderedServer } from '../../test/ordered-servers.ts'
import {
  addToDatabase,
  openOtherNode,
  signInTo,
  titlesIn,
  underLoad,
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
import { hours, later, minutes } from '../platform/clock.ts'
import { newestMove, type MoveRow } from './move-store.ts'

const clock = manualClock()
/** How long reading a server on the first node takes, ms. */
let copyingMs = 0
const reason = 'the machine gets more memory'
let portal: TestPortal
let an: TestCustomer
let staff: TestMember
let other: OtherNode
let server: OrderedServer
let writer: Writer

beforeAll(async () => {
  portal = await openTestPortal({
    clock,
    env: await withSitesAddress(),
    changeDrivers: (drivers) => ({
      ...drivers,
      wordpress: {
        ...drivers.wordpress,
        get capabilities() {
          return drivers.wordpress.capabilities
        },
        async copyOut(...of) {
          clock.advance(copyingMs)
          return await drivers.wordpress.copyOut(...of)
        },
      },
    }),
  })
  an = await portal.customer()
  await portal.topUp(an, 5_000_000)
  staff = await newMember(portal, 'operations', { clock })
  server = await orderServer(portal, an)
  other = await openOtherNode(portal, 'hn2')
  writer = await signInTo(portal, server)
})
afterAll(async () => {
  await portal.ledgerHolds()
  await portal.close()
  await other.close()
})

const move = (of: object) => staff.act<ActOutcome>('server.move', { reason, ...of })
const undo = (id: string) => staff.act<ActOutcome>('server.undo_move', { server: id, reason })
const nodeOf = async (id: string): Promise<string | null> =>
  (
    await portal.app.db
      .selectFrom('site')
      .select('node_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).node_id
const ended = (id: string, state: MoveRow['state']): Promise<MoveRow> =>
  eventually(
    `the move of ${id} being ${state}`,
    async () => {
      const found = await newestMove(portal.app.db, id)
      if (found && ['failed', 'moved', 'undone'].includes(found.state))
        expect(found, found.reason ?? '').toMatchObject({ state })
      return found?.state === state && (state === 'failed' || found.arrived) && found
    },
    60,
  )
const cleared = (id: string): Promise<boolean> =>
  eventually('nothing being left behind', async () => {
    await portal.app.moves.clear()
    return (await newestMove(portal.app.db, id))?.leftover_node === null
  })
const mainFolder = (id: string): string => path.join(portal.dataDir, 'sites', id)
const otherFolder = (id: string): string => path.join(other.dataDir, 'sites', id)
const ports = (): number[] => [portal.config.SITES_PORT, other.sitesPort]
const shownServer = async (id: string) =>
  (
    await staff.call<CustomerStory>('GET', `/api/operator/customers/${an.id}`)
  ).body.result.servers.find((one) => one.id === id)

test('visitors of both edges notice nothing, and no write is lost', async () => {
  writeFileSync(path.join(mainFolder(server.id), 'wordpress/wp-content/a.txt'), 'before')
  let row: MoveRow | undefined
  const seen = await underLoad({ server, ports: ports(), writer, title: 'written' }, async () => {
    const begun = await move({ server: server.id })
    expect(begun.body.result, begun.text).toMatchObject({
      state: 'done',
      before: { node: 'main' },
      after: { node: 'hn2' },
    })
    row = await ended(server.id, 'moved')
  })
  console.log(
    `moved: ${seen.reads} reads, ${seen.written.length} writes, writes held ${row?.held_ms} ms, ` +
      `longest write ${Math.round(seen.longestWriteMs)} ms, ` +
      `longest read ${Math.round(seen.longestReadMs)} ms`,
  )
  expect([seen.failedReads, seen.failedWrites]).toEqual([[], []])
  expect(seen.reads).toBeGreaterThan(20)
  expect(seen.written.length).toBeGreaterThan(2)
  expect(await nodeOf(server.id)).toBe('hn2')
  const there = new Set(titlesIn(otherFolder(server.id)))
  expect(seen.written.filter((title) => !there.has(title))).toEqual([])
  expect(existsSync(path.join(otherFolder(server.id), 'wordpress/wp-content/a.txt'))).toBe(true)
})

test('the original is stopped and kept; its owner works on the new one', async () => {
  await eventually('the original being stopped', async () => {
    await portal.app.moves.clear()
    return (await portal.drivers.wordpress.state(server.id)).state === 'stopped'
  })
  expect(await shownServer(server.id)).toMatchObject({
    node: 'hn2',
    movesTo: null,
    undoUntil: expect.any(String) as string,
  })
  const backup = await portal.call<{ id: string }>('POST', `/api/wp/${server.id}/backups`, {
    token: an.token,
  })
  expect(backup.status, backup.text).toBe(201)
  await eventually('the backup', async () => {
    const all = await portal.call<{ state: string }[]>('GET', `/api/wp/${server.id}/backups`, {
      token: an.token,
    })
    expect(all.body.result[0]?.state).not.toBe('failed')
    return all.body.result[0]?.state === 'proven'
  })
  // Lines from before and after the move are one log, in the order of their numbers.
  const lines = await portal.app.nodes.driver.log(server.id).tail(5_000)
  const containers = lines.map(({ text }) => text).join('\n')
  expect(containers).toContain('/wp-json/wp/v2/posts')
  expect(lines.map(({ seq }) => seq)).toEqual(
    lines.map(({ seq }) => seq).toSorted((one, two) => one - two),
  )
})

test('what cannot be done is refused, with the reason', async () => {
  const texts = async (of: object) => {
    const refused = await move({ server: server.id, ...of })
    return [refused.status, refused.body.error?.fields?.['server'] ?? refused.body.error?.code]
  }
  expect(await texts({ node: 'hn2' })).toEqual([409, 'The server is on that node already.'])
  expect(await texts({ node: 'nowhere' })).toEqual([404, 'not_found'])
  const support = await newMember(portal, 'support', { clock })
  expect((await support.act('server.move', { server: server.id, reason })).status).toBe(403)
  await portal.app.db
    .updateTable('node')
    .set({ regions: [2] })
    .where('id', '=', 'main')
    .execute()
  expect(await texts({})).toEqual([409, 'No other node of its data centre can take it.'])
  await portal.app.db.updateTable('node').set({ regions: null }).where('id', '=', 'main').execute()
})

test('stored addresses are not written beside a move, and none while writes wait', async () => {
  const { db } = portal.app
  const of = { site_id: server.id, from_hosts: [], to_url: 'http://x', created_at: clock.now() }
  await db.insertInto('site_rewrite').values(of).execute()
  for (const refused of [await move({ server: server.id, node: 'main' }), await undo(server.id)])
    expect([refused.status, refused.body.error?.fields?.['server']]).toEqual([
      409,
      'Its stored addresses are being rewritten.',
    ])
  await db.deleteFrom('site_rewrite').where('site_id', '=', server.id).execute()
  // While writes wait, a step would write on the node that is left.
  const turn = (state: string) =>
    db.updateTable('site_move').set({ state }).where('site_id', '=', server.id).execute()
  await turn('switching')
  const change = { from: ['x.example'], to: 'http://y.example', dryRun: true }
  const step = () => portal.app.nodes.driver.replaceAddresses(server.id, change, null)
  await expect(step()).rejects.toMatchObject({ kind: 'unavailable' })
  const begun = await portal.call('POST', `/api/wp/${server.id}/domain/rewrite`, {
    token: an.token,
  })
  expect(begun.body.error?.code).toBe('backup_in_progress')
  await turn('moved')
  expect(await step()).toMatchObject({ after: null })
})

test('within the hour the original takes its place again, as it was', async () => {
  await writer.write('after the move')
  clock.advance(minutes(10))
  const undone = await undo(server.id)
  expect(undone.body.result, undone.text).toMatchObject({
    before: { node: 'hn2' },
    after: { node: 'main', lostMinutes: 10 },
  })
  await eventually('the undo', async () => {
    const found = await newestMove(portal.app.db, server.id)
    return found?.state === 'undone'
  })
  expect(await nodeOf(server.id)).toBe('main')
  expect((await writer.write('on the original')).status).toBe(201)
  const titles = titlesIn(mainFolder(server.id))
  expect(titles).toContain('on the original')
  expect(titles).not.toContain('after the move')
  expect(titlesIn(otherFolder(server.id))).toContain('after the move')
  expect((await undo(server.id)).status).toBe(409)
})

test('an hour later nothing is left of the copy', async () => {
  clock.advance(minutes(61))
  await cleared(server.id)
  expect(existsSync(otherFolder(server.id))).toBe(false)
  expect(existsSync(mainFolder(server.id))).toBe(true)
})

test('a machine that vanishes on the way changes nothing, and keeps no half copy', async () => {
  const begun = await move({ server: server.id, node: 'hn2' })
  expect(begun.status, begun.text).toBe(200)
  await other.vanish()
  const failed = await ended(server.id, 'failed')
  expect(failed.reason).toContain('hn2')
  expect(await nodeOf(server.id)).toBe('main')
  expect((await writer.write('it goes on')).status).toBe(201)
  await other.open()
  await cleared(server.id)
  expect(existsSync(otherFolder(server.id))).toBe(false)
  expect(await shownServer(server.id)).toMatchObject({ moveFailed: failed.reason })
})

test('a server that is suspended moves as it is, and stays suspended', async () => {
  const idle = await orderServer(portal, an)
  const told = 'for a while'
  expect((await staff.act('work.hold_server', { server: idle.id, told, reason })).status).toBe(200)
  await eventually('it being suspended', async () => {
    const shown = await portal.call<{ status: string }>('GET', `/api/wp/${idle.id}`, {
      token: an.token,
    })
    return shown.body.result.status === 'suspended'
  })
  const at = (await nodeOf(idle.id)) === 'hn2' ? 'hn2' : 'main'
  const to = at === 'hn2' ? 'main' : 'hn2'
  expect((await move({ server: idle.id, node: to })).status).toBe(200)
  // Two rounds: the whole content, and the one at the switch, because the database is small.
  expect(await ended(idle.id, 'moved')).toMatchObject({ round: 2 })
  expect(await nodeOf(idle.id)).toBe(to)
  addToDatabase((to === 'main' ? mainFolder : otherFolder)(idle.id), 9)
  expect((await move({ server: idle.id, node: at })).status).toBe(200)
  // A large database has one more round before the switch.
  expect(await ended(idle.id, 'moved')).toMatchObject({ round: 3 })
  expect((await staff.act('work.release_server', { server: idle.id, reason })).status).toBe(200)
  await eventually(
    'it runs there',
    async () => (await visitAt(portal.config.SITES_PORT, idle.name, '/')).status === 200,
  )
})

test('what is written while a server is read follows before writes wait', async () => {
  const slow = await orderServer(portal, an)
  if ((await nodeOf(slow.id)) === 'hn2') {
    expect((await move({ server: slow.id, node: 'main' })).status).toBe(200)
    await ended(slow.id, 'moved')
  }
  copyingMs = minutes(1)
  expect((await move({ server: slow.id, node: 'hn2' })).status).toBe(200)
  expect(await ended(slow.id, 'moved')).toMatchObject({ round: 3 })
})

test('letters on the machine that it left are taken, however many the site has sent', async () => {
  const busy = await orderServer(portal, an)
  const from = (await nodeOf(busy.id)) === 'hn2' ? 'hn2' : 'main'
  copyingMs = 0
  expect((await move({ server: busy.id, node: from === 'main' ? 'hn2' : 'main' })).status).toBe(200)
  await ended(busy.id, 'moved')
  const { db } = portal.app
  // As many letters as may be taken within an hour; the limit still holds when the original is
  // removed.
  await sql`
    with letter as (
      insert into site_letter (site_id, key, created_at, from_address, subject, bytes, message_id)
      values (${busy.id}, 'newsletter', ${clock.now()}, 'a@b.example', 'News', 1, '<1@b.example>')
      returning id, site_id)
    insert into site_mail (letter_id, site_id, recipient, state, next_at, created_at, settled_at)
    select id, site_id, 'x@y.example', 'sent', ${clock.now()}, ${later(clock.now(), hours(2))},
      ${clock.now()} from letter, generate_series(1, 20000)`.execute(db)
  const spool = path.join((from === 'main' ? mainFolder : otherFolder)(busy.id), 'mail')
  mkdirSync(spool, { recursive: true })
  for (const count of [1, 2, 3]) {
    const name = `${Date.now().toString(36).padStart(9, '0')}-${`${count}`.repeat(24)}.eml`
    const letter = `{"from":null,"to":["khach@example.vn"]}\nSubject: Order ${count}\r\n\r\nThanks!`
    writeFileSync(path.join(spool, name), letter)
  }
  clock.advance(minutes(61))
  await cleared(busy.id)
  const letters = db.selectFrom('site_letter').select('subject').where('site_id', '=', busy.id)
  const taken = await letters.where('key', '<>', 'newsletter').orderBy('subject').execute()
  expect(taken.map(({ subject }) => subject)).toEqual(['Order 1', 'Order 2', 'Order 3'])
})
