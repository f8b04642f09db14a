/**
 * A server outgrows the embedded runtime while it is read and written to: it moves to a node with a
 * container engine, whose database is MariaDB, and back with everything that it has there.
 */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import { defaultFilesDir, defaultRuntimeDir } from '../../scripts/wordpress-files.mjs'
import { withEngine } from '../../test/docker-tests.ts'
import { dockerFixture } from '../../test/docker-wordpress.ts'
import { orderServer, type OrderedServer } from '../../test/ordered-servers.ts'
import {
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
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { newestMove } from './move-store.ts'
import { movesProbe } from '../../test/moves-probe.ts'

function everything(): void {
  describe('moves of sites in containers', { timeout: 300_000 }, () => {
    let engine: Awaited<ReturnType<typeof dockerFixture>>
    let portal: TestPortal
    let an: TestCustomer
    let staff: TestMember
    let server: OrderedServer
    let writer: Writer
    let other: OtherNode
    /** A node with the same engine, and a folder of sites of its own. */
    let third: OtherNode
    const files = { runtimeDir: defaultRuntimeDir, filesDir: defaultFilesDir }

    beforeAll(async () => {
      engine = await dockerFixture()
      portal = await openTestPortal({ wordpress: 'real', env: await withSitesAddress() })
      an = await portal.customer()
      await portal.topUp(an, 5_000_000)
      staff = await newMember(portal, 'operations')
      server = await orderServer(portal, an)
      const settings = {
        WORDPRESS_RUNTIME: 'docker',
        DOCKER_SOCKET: engine.engine.socketPath,
        DOCKER_WORDPRESS_IMAGE: engine.images.wordpress,
        DOCKER_MARIADB_IMAGE: engine.images.mariadb,
      }
      other = await openOtherNode(portal, 'hn2', files, settings)
      third = await openOtherNode(portal, 'hn3', files, settings)
      writer = await signInTo(portal, server)
    }, 290_000)
    afterAll(async () => {
      await portal?.close()
      await other?.close()
      await third?.close()
      await engine?.dispose()
    }, 120_000)

    const move = async (body: { node?: string }) =>
      staff.act<ActOutcome>('server.move', {
        server: server.id,
        reason: 'the shop needs MariaDB',
        ...body,
      })
    /** Resolves once the server is on the other node. */
    const moved = async (body: { node?: string }): Promise<void> => {
      const begun = await move(body)
      expect(begun.status, begun.text).toBe(200)
      await eventually(
        'the move',
        async () => {
          const row = await newestMove(portal.app.db, server.id)
          if (row?.state === 'failed') throw new Error(`${row.reason}`)
          return row?.arrived === true && row.held_ms !== null
        },
        280,
      )
    }
    const titles = async (port: number): Promise<readonly string[]> => {
      const target = '/wp-json/wp/v2/posts?per_page=100&_fields=title'
      const { text } = await visitAt(port, server.name, target)
      return (JSON.parse(text) as { title: { rendered: string } }[]).map(
        (one) => one.title.rendered,
      )
    }

    test('nobody loses SQLite without being asked: no node is picked for it', async () => {
      const { status, text } = await move({})
      expect(status).toBe(409)
      expect(text).toContain('same database')
    })

    interface Made {
      readonly id: string
      readonly state: string
    }
    const backups = async (): Promise<readonly Made[]> =>
      (await portal.call<Made[]>('GET', `/api/wp/${server.id}/backups`, { token: an.token })).body
        .result
    /** The newest backup, when there are `count`. */
    const backedUp = (count: number): Promise<Made> =>
      eventually(
        'a proven backup',
        async () => {
          const all = await backups()
          return all.length === count && all[0]?.state === 'proven' && all[0]
        },
        90,
      )

    test('from SQLite to a node with MariaDB, while it is read and written to', async () => {
      const { token } = an
      const asked = await portal.call('POST', `/api/wp/${server.id}/backups`, { token })
      expect(asked.status, asked.text).toBe(201)
      const onSqlite = await backedUp(1)
      const ports = [portal.config.SITES_PORT, other.sitesPort]
      const seen = await underLoad(
        { server, ports, writer, title: 'written', pauseMs: 1_000 },
        async () => {
          await moved({ node: other.name })
        },
      )
      expect([seen.failedReads, seen.failedWrites]).toEqual([[], []])
      expect(seen.written.length).toBeGreaterThan(0)
      const there = await titles(other.sitesPort)
      expect(seen.written.filter((one) => !there.includes(one))).toEqual([])

      // Its older backups cannot be restored any more, so a new one is made at once.
      await backedUp(2)
      const restore = `/api/wp/${server.id}/backups/${onSqlite.id}/restore`
      const refused = await portal.call('POST', restore, { token })
      expect(refused.status).toBe(409)
      expect(refused.text).toContain('was made on SQLite, and your server runs on MariaDB now')
    })

    test('between two nodes with MariaDB, while it is read and written to', async () => {
      const ports = [other.sitesPort, third.sitesPort]
      const seen = await underLoad(
        { server, ports, writer, title: 'written on the way', pauseMs: 1_000 },
        // A move keeps MariaDB unless the operator chooses otherwise: of the two other nodes this
        // one has it.
        () => moved({}),
      )
      expect([seen.failedReads, seen.failedWrites]).toEqual([[], []])
      expect(seen.written.length).toBeGreaterThan(0)
      const there = await titles(third.sitesPort)
      expect(seen.written.filter((one) => !there.includes(one))).toEqual([])
      expect((await newestMove(portal.app.db, server.id))?.to_node).toBe(third.name)
    })

    const asks = async <T>(port: number, question: string): Promise<T> => {
      const target = `/?probe=${question}&at=${randomUUID()}`
      const { status, text } = await visitAt(port, server.name, target)
      expect(status, text).toBe(200)
      return JSON.parse(text) as T
    }
    const runs = async (sql: string): Promise<void> => {
      const encoded = encodeURIComponent(Buffer.from(sql).toString('base64'))
      expect(await asks(third.sitesPort, `run&sql=${encoded}`)).toEqual({ error: '' })
    }
    const back = (): Promise<void> => moved({ node: portal.config.NODE_NAME })

    test('what SQLite would not keep is named, and the server stays', async () => {
      const { driver } = portal.app.nodes
      await driver.files(server.id, { op: 'folder', path: 'wp-content/mu-plugins' })
      const put = await driver.files(server.id, {
        op: 'write',
        path: 'wp-content/mu-plugins/probe.php',
        upload: randomUUID(),
        offset: 0,
        data: Buffer.from(movesProbe).toString('base64'),
        isLast: true,
        replaces: true,
      })
      expect(put).not.toHaveProperty('fault')
      expect(await asks(third.sitesPort, 'plant')).toMatchObject({ error: '' })
      const folder = path.join(portal.dataDir, 'sites', server.id)
      const refused: readonly (readonly [string, string, RegExp])[] = [
        // Seen here, and by SQLite's driver there. What is seen of types, values and rows is in
        // carry-to-sqlite.test.ts.
        ['CREATE VIEW odd AS SELECT 1 AS one', 'DROP VIEW odd', /the view odd/],
        ['CREATE TABLE `lạ` (a int)', 'DROP TABLE `lạ`', /the table lạ: .* ASCII characters/],
      ]
      for (const [makes, drops, words] of refused) {
        await runs(makes)
        await expect(back()).rejects.toThrow(words)
        // The server is where it was, takes writes at once, and nothing of the copy is left.
        expect((await writer.write('still here')).status).toBe(201)
        expect(await titles(third.sitesPort)).toContain('still here')
        await portal.app.moves.clear()
        await eventually('nothing being left of the copy', async () => !fs.existsSync(folder))
        await runs(drops)
      }
    })

    test('from MariaDB to a node with SQLite, while it is read and written to', async () => {
      const before = await asks<Record<string, string | null>>(third.sitesPort, 'read')
      const { id: first } = await asks<{ id: number }>(third.sitesPort, 'add&n=1')
      const ports = [portal.config.SITES_PORT, third.sitesPort]
      const seen = await underLoad(
        { server, ports, writer, title: 'written back', pauseMs: 1_000 },
        back,
      )
      expect([seen.failedReads, seen.failedWrites]).toEqual([[], []])
      expect(seen.written.length).toBeGreaterThan(0)
      const there = await titles(portal.config.SITES_PORT)
      expect(seen.written.filter((one) => !there.includes(one))).toEqual([])
      expect(titlesIn(path.join(portal.dataDir, 'sites', server.id))).toEqual(
        expect.arrayContaining([...seen.written]),
      )
      const after = await asks<Record<string, string | null>>(portal.config.SITES_PORT, 'read')
      expect(after).toMatchObject(before)
      // Row numbers continue as on MariaDB.
      const { id: second } = await asks<{ id: number }>(portal.config.SITES_PORT, 'add&n=2')
      expect(second).toBe(first + 1)
    })
  })
}

await withEngine('moves of sites in containers', everything)
