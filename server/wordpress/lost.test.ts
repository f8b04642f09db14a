/**
 * A machine is cut off: its sites can still be read, and after its lease nothing is written there.
 * When it is given up, its servers come up on another machine from their backups; when it is back,
 * it answers no visitor for them. Prints how long ten take.
 */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import type { NodeLoss } from '../../contract/operator-nodes.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { runCommand } from '../../test/operator.ts'
import { orderServer, type OrderedServer } from '../../test/ordered-servers.ts'
import {
  cutOff,
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
import { days, hours, minutes, seconds } from '../platform/clock.ts'
import { newestMove } from './move-store.ts'
import { nodeOf } from './nodes.ts'

const clock = manualClock()
/** Longer than the interval between two looks at a node. */
const leaseMs = seconds(25)
const servers: OrderedServer[] = []
/** A server without a backup. */
let bare: OrderedServer
let portal: TestPortal
let an: TestCustomer
let lost: OtherNode
let third: OtherNode
let writer: Writer
let members: TestMember[]

const node = (...words: string[]) => runCommand(portal, {}, 'node', ...words)
const backUp = async (id: string): Promise<void> => {
  const { token } = an
  const made = await portal.call('POST', `/api/wp/${id}/backups`, { token })
  expect(made.status, made.text).toBe(201)
  await eventually(
    'a proven backup',
    async () => {
      const all = await portal.call<{ state: string }[]>('GET', `/api/wp/${id}/backups`, { token })
      return all.body.result[0]?.state === 'proven'
    },
    60,
  )
}

/** Has two members approve an act. Answers what was proposed. */
async function approved(name: 'node.lost' | 'server.undo_move', body: object) {
  const [one, other] = members as [TestMember, TestMember]
  const asked = await one.act<ActOutcome>(name, body)
  expect([asked.status, asked.body.result?.state], asked.text).toEqual([200, 'proposed'])
  return await other.call('POST', `/api/operator/proposals/${asked.body.result.proposal}/approve`)
}

let reconnect: () => Promise<void>
const cut = async ({ name } = lost): Promise<void> => {
  reconnect = await cutOff(portal, name)
}
/** Makes the database believe that so much time has passed. */
const passes = (byMinutes: number, { name } = lost) =>
  sql`update node set last_seen = last_seen - ${byMinutes} * interval '1 minute',
    lease_at = lease_at - ${byMinutes} * interval '1 minute',
    lease_until = lease_until - ${byMinutes} * interval '1 minute'
    where id = ${name}`.execute(portal.app.db)

beforeAll(async () => {
  portal = await openTestPortal({
    env: await withSitesAddress(),
    clock,
    timing: { nodeLeaseMs: leaseMs },
  })
  an = await portal.customer()
  await portal.topUp(an, 12_000_000)
  members = [
    await newMember(portal, 'owner', { clock }),
    await newMember(portal, 'owner', { clock }),
  ]
  lost = await openOtherNode(portal, 'hn2')
  expect((await node('drain', 'main', '--stay')).code).toBe(0)
  for (let n = 0; n < 10; n++) servers.push(await orderServer(portal, an))
  bare = await orderServer(portal, an)
  for (const { id } of servers) await backUp(id)
  expect(await nodeOf(portal.app.db, bare.id)).toBe('hn2')
  third = await openOtherNode(portal, 'hn3')
  writer = await signInTo(portal, servers[0]!)
}, 300_000)
afterAll(async () => {
  await portal.ledgerHolds()
  await portal.close()
  await lost.close()
  await third.close()
})

describe('a lease', () => {
  test('it has no end while no other node could take the servers', async () => {
    const until = async (): Promise<Date | null> => {
      await portal.app.nodes.look()
      const { lease_until: at } = await portal.app.db
        .selectFrom('node')
        .select('lease_until')
        .where('id', '=', lost.name)
        .executeTakeFirstOrThrow()
      return at
    }
    // A look that was under way may not know of the change yet.
    const hasEnd = (wanted: boolean): Promise<true> =>
      eventually('the next promise', async () => ((await until()) !== null) === wanted && true)
    await hasEnd(true)
    expect((await node('drain', third.name, '--stay')).code).toBe(0)
    await hasEnd(false)
    expect((await node('undrain', third.name)).code).toBe(0)
    await hasEnd(true)
  })

  test('within it a machine that is cut off takes writes, and is not given up', async () => {
    await cut()
    expect((await writer.write('within the lease')).status).toBe(201)
    const early = await node('lost', 'hn2', '--dry-run')
    expect([early.code, early.said]).toEqual([
      1,
      expect.stringContaining('heard of within the last minute') as string,
    ])
    await passes(2)
    const said = await node('lost', 'hn2', '--reason', 'it is gone')
    expect([said.code, said.said]).toEqual([
      1,
      expect.stringMatching(/may still take writes until .*--powered-off/s) as string,
    ])
  })

  test('after it the sites are read, and nothing writes', async () => {
    const { name } = servers[0]!
    const port = portal.config.SITES_PORT
    const refused = await eventually(
      'a write being refused',
      async () => {
        const visit = await writer.write('after the lease')
        return visit.status !== 201 && visit
      },
      60,
    )
    expect([refused.status, refused.text]).toEqual([
      503,
      expect.stringContaining('can only be read right now') as string,
    ])
    const statusOf = async (target: string, method = 'GET', headers = {}): Promise<number> =>
      (await visitAt(port, name, target, { method, headers })).status
    expect(await statusOf('/')).toBe(200)
    expect(await statusOf('/?n=1')).toBe(200)
    for (const target of [
      '/wp-admin/',
      '/wp-admin/plugins.php?action=activate',
      '/wp-login.php',
      '//wp-cron.php',
      '/%77p-cron.php?doing_wp_cron',
      '/wp-json/wp/v2/posts/1?_method=DELETE',
    ])
      expect([target, await statusOf(target)]).toEqual([target, 503])
    expect(await statusOf('/xmlrpc.php', 'POST')).toBe(503)
    const asks = { 'x-http-method-override': 'DELETE' }
    expect(await statusOf('/wp-json/wp/v2/posts/1', 'GET', asks)).toBe(503)
    // Visitors who come by the machine's own edge get the same answer.
    expect((await visitAt(lost.sitesPort, name, '/', { method: 'POST' })).status).toBe(503)
  })

  test('it writes again once a portal is in touch', async () => {
    await reconnect()
    expect((await writer.write('in touch again')).status).toBe(201)
    expect(titlesIn(path.join(lost.dataDir, 'sites', servers[0]!.id))).toEqual(
      expect.arrayContaining(['within the lease', 'in touch again']),
    )
  })
})

describe('a node is given up', () => {
  test('what would come up is said per server, and changes nothing', async () => {
    await cut()
    await eventually('no write', async () => (await writer.write('never')).status === 503, 60)
    await passes(10)
    // An update that was being rolled back when the machine was cut off.
    const of = { site_id: servers[4]!.id, id: randomUUID() }
    const { id: backup } = await portal.app.db
      .selectFrom('site_backup')
      .select('id')
      .where('site_id', '=', of.site_id)
      .executeTakeFirstOrThrow()
    const asked = { ...of, backup_id: backup, state: 'restoring', asked_at: clock.now() }
    await portal.app.db.insertInto('site_restore').values(asked).execute()
    await portal.app.db
      .insertInto('site_update')
      .values({
        ...of,
        cause: 'owner',
        state: 'rolling_back',
        packages: '[]',
        restore_id: of.id,
        created_at: clock.now(),
      })
      .execute()
    const written = { site_id: servers[5]!.id, from_hosts: ['x.example'], to_url: 'http://y' }
    await portal.app.db
      .insertInto('site_rewrite')
      .values({ ...written, created_at: clock.now() })
      .execute()
    const listed = await node('list')
    expect([listed.code, listed.said]).toEqual([
      1,
      expect.stringContaining('not heard of since') as string,
    ])
    expect(listed.said).toContain(bare.name)
    const dry = await node('lost', 'hn2', '--dry-run')
    expect(dry.code, dry.said).toBe(0)
    for (const { name } of servers)
      expect(dry.said).toMatch(new RegExp(`${name} {2}comes up on hn3`))
    expect(dry.said).toContain(`${bare.name}  stays: It has no backup that was verified.`)
    const shown = await members[0]!.call<NodeLoss>('GET', '/api/operator/nodes/hn2/loss')
    expect(shown.body.result).toMatchObject({ isAway: true, isFenced: true })
    expect(shown.body.result.servers.map(({ to }) => to)).toEqual([
      ...servers.map(() => 'hn3'),
      null,
    ])
    expect(await nodeOf(portal.app.db, servers[0]!.id)).toBe('hn2')
  })

  test('that it is off counts no more once it was heard of', async () => {
    const [one, other] = members as [TestMember, TestMember]
    const body = { node: 'hn2', poweredOff: 'yes', reason: 'somebody pulled the plug' }
    const asked = await one.act<ActOutcome>('node.lost', body)
    expect(asked.body.result?.state, asked.text).toBe('proposed')
    // The machine was heard of ten minutes ago.
    clock.advance(minutes(30))
    const at = `/api/operator/proposals/${asked.body.result.proposal}`
    const late = await other.call('POST', `${at}/approve`)
    expect([late.status, late.text]).toEqual([
      409,
      expect.stringContaining('heard of after this was proposed') as string,
    ])
    expect(await nodeOf(portal.app.db, servers[0]!.id)).toBe('hn2')
  })

  test('two members say so, and ten servers come up from their backups', async () => {
    const body = { node: 'hn2', poweredOff: 'no', reason: 'the board is broken' }
    const began = performance.now()
    const said = await approved('node.lost', body)
    expect(said.status, said.text).toBe(200)
    const took: number[] = []
    await Promise.all(
      servers.map((server) =>
        eventually(
          `${server.name} on the third node`,
          async () => {
            if ((await nodeOf(portal.app.db, server.id)) !== 'hn3') return false
            const visit = await visitAt(portal.config.SITES_PORT, server.name, '/?now')
            if (visit.status !== 200) return false
            took.push((performance.now() - began) / 1_000)
            return true
          },
          120,
        ),
      ),
    )
    took.sort((a, b) => a - b)
    console.log(
      `of ten servers the first answered after ${took[0]?.toFixed(1)} s, ` +
        `the last after ${took.at(-1)?.toFixed(1)} s`,
    )
    expect(await nodeOf(portal.app.db, bare.id)).toBe('hn2')
    const written = await signInTo(portal, servers[0]!)
    expect((await written.write('after the loss')).status).toBe(201)
    const there = titlesIn(path.join(third.dataDir, 'sites', servers[0]!.id))
    expect(there).toContain('after the loss')
    expect(there).not.toContain('in touch again')
  }, 180_000)

  test('their owner reads it in a letter, and beside the backup', async () => {
    const { name, id } = servers[3]!
    const letters = await eventually('the letter', async () => {
      const found = (await portal.inbox(an.email)).filter(({ text }) => text.includes(name))
      const told = found.filter(({ text }) => /backup|sao lưu/.test(text))
      return told.length > 0 && told
    })
    expect(letters).toHaveLength(1)
    const backups = await portal.call<{ restoredAt: string | null }[]>(
      'GET',
      `/api/wp/${id}/backups`,
      { token: an.token },
    )
    expect(backups.body.result[0]?.restoredAt).not.toBeNull()
  })

  test('an update that nobody can end is ended', async () => {
    const ended = await portal.app.db
      .selectFrom('site_update as u')
      .innerJoin('site_restore as r', 'r.id', 'u.restore_id')
      .select(['u.state', 'u.reason', 'r.state as restore'])
      .where('u.site_id', '=', servers[4]!.id)
      .executeTakeFirstOrThrow()
    expect(ended).toEqual({ state: 'failed', reason: 'node_lost', restore: 'failed' })
    // What was written of its addresses is not in the backup that it came up from.
    const written = await portal.call('GET', `/api/wp/${servers[5]!.id}/domain/rewrite`, {
      token: an.token,
      headers: { 'accept-language': 'en' },
    })
    expect(written.body.result).toMatchObject({
      state: 'failed',
      problem: expect.stringContaining('came up on another node') as string,
    })
  })

  test('nothing is left to do but the server without a backup', async () => {
    const again = await node('lost', 'hn2', '--reason', 'once more')
    expect([again.code, again.said]).toEqual([
      1,
      expect.stringContaining('None of its servers can come up elsewhere now.') as string,
    ])
    const left = await node('lost', 'hn2', '--dry-run', '--json')
    const { servers: stay, elsewhere } = JSON.parse(left.said) as NodeLoss
    expect(stay.map(({ id }) => id)).toEqual([bare.id])
    expect(elsewhere).toHaveLength(10)
  })
})

describe('the machine comes back', () => {
  test('it answers nobody for servers that are elsewhere, and takes no write', async () => {
    const server = servers[0]!
    // The machine's own edge still has the server in its table.
    expect((await visitAt(lost.sitesPort, server.name, '/', { method: 'POST' })).status).toBe(503)
    await reconnect()
    await eventually('its edge leading to the third node', async () => {
      const visit = await visitAt(lost.sitesPort, server.name, '/?now')
      return visit.status === 200
    })
    const through = await signInTo(portal, server)
    expect((await through.write('through the third')).status).toBe(201)
    const before = titlesIn(path.join(lost.dataDir, 'sites', server.id))
    expect(before).not.toContain('through the third')
    expect(before).toContain('in touch again')
    await eventually('its copies being stopped', async () => {
      await portal.app.moves.clear()
      const back = portal.app.nodes.at(lost.name)
      const answering = await back.driver.answering()
      return servers.every((one) => (answering[one.id] ?? 0) === 0)
    })
    // The server without a backup is unchanged.
    await eventually('the server that stayed', async () => {
      const visit = await visitAt(lost.sitesPort, bare.name, '/?now')
      return visit.status === 200
    })
  })

  test('what it is told that it has no more, it answers nobody for', async () => {
    const { edge } = portal.app.nodes.at(lost.name)
    const ask = async (method: string): Promise<number> =>
      (await visitAt(lost.sitesPort, bare.name, '/?now', { method })).status
    await edge.renewLease(await edge.markLease(), leaseMs, [bare.id])
    expect([await ask('GET'), await ask('POST')]).toEqual([503, 503])
    await portal.app.nodes.look()
    expect(await ask('GET')).toBe(200)
  })

  test('its old content can take its place again', async () => {
    const server = servers[1]!
    const body = { server: server.id, reason: 'they want it back' }
    const undone = await approved('server.undo_move', body)
    expect(undone.status, undone.text).toBe(200)
    await eventually(
      'the original',
      async () => {
        const move = await newestMove(portal.app.db, server.id)
        return move?.state === 'undone' && move.arrived
      },
      60,
    )
    expect(await nodeOf(portal.app.db, server.id)).toBe('hn2')
    const again = await signInTo(portal, server)
    expect((await again.write('on the original')).status).toBe(201)
    expect(titlesIn(path.join(lost.dataDir, 'sites', server.id))).toContain('on the original')
  })

  test('where it is now may take writes, it does not go back', async () => {
    const server = servers[3]!
    // While the third node was alone, its lease had no end.
    expect((await node('undrain', 'hn2')).code).toBe(0)
    await portal.app.nodes.look()
    await cut(third)
    await passes(2, third)
    const body = { server: server.id, reason: 'it is broken, too' }
    const refused = await members[0]!.act('server.undo_move', body)
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining('may still take writes until') as string,
    ])
    const undone = await approved('server.undo_move', { ...body, poweredOff: 'yes' })
    expect(undone.status, undone.text).toBe(200)
    await eventually(
      'the original',
      async () => {
        const move = await newestMove(portal.app.db, server.id)
        return move?.state === 'undone' && move.arrived
      },
      60,
    )
    const letters = await eventually('the letter', async () => {
      const found = (await portal.inbox(an.email)).filter(({ text }) => text.includes(server.name))
      const told = found.filter(({ text }) => /before the failure|trước sự cố/.test(text))
      return told.length > 0 && told
    })
    expect(letters).toHaveLength(1)
    await reconnect()
    // The node has in truth been running: it takes no writes for the server.
    const back = portal.app.nodes.at(third.name).driver
    expect(await back.holdWrites(server.id, seconds(60))).toBe(true)
    const visit = await visitAt(portal.config.SITES_PORT, server.name, '/?now')
    expect(visit.status).toBe(200)
  })

  test('a server moves home, and its visitors notice nothing', async () => {
    const server = servers[2]!
    const there = await signInTo(portal, server)
    const ports = [portal.config.SITES_PORT, lost.sitesPort]
    const seen = await underLoad({ server, ports, writer: there, title: 'home' }, async () => {
      const wanted = { server: server.id, node: 'hn2', reason: 'it is back' }
      const begun = await members[0]!.act('server.move', wanted)
      expect(begun.status, begun.text).toBe(200)
      await eventually(
        'the server at home',
        async () => {
          const move = await newestMove(portal.app.db, server.id)
          return move?.state === 'moved' && move.arrived && move.to_node === 'hn2'
        },
        60,
      )
    })
    expect([seen.failedReads, seen.failedWrites]).toEqual([[], []])
    expect(seen.reads).toBeGreaterThan(20)
    const here = new Set(titlesIn(path.join(lost.dataDir, 'sites', server.id)))
    expect(seen.written.filter((title) => !here.has(title))).toEqual([])
  })

  test('what it had is kept for seven days', async () => {
    const shown = await members[0]!.call<NodeLoss>('GET', '/api/operator/nodes/hn2/loss')
    expect(shown.body.result.elsewhere).toHaveLength(7)
    for (const { keptUntil } of shown.body.result.elsewhere)
      expect(Date.parse(keptUntil ?? '') - clock.now().getTime()).toBeGreaterThan(days(6))
    const held = async (): Promise<number> =>
      (await portal.app.nodes.at(lost.name).driver.list()).length
    clock.advance(days(6) + hours(23))
    await portal.app.moves.clear()
    expect(await held()).toBe(11)
    clock.advance(hours(2))
    await eventually('the old content being gone', async () => {
      await portal.app.moves.clear()
      return (await held()) === 4
    })
  })
})
