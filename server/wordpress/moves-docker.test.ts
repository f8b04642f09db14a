/**
 * A server grows out of the embedded runtime while it is read and written to: it moves to a node
 * with an engine of containers, whose database is MariaDB.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActOutcome } from '../../contract/operator-acts.ts'
import { defaultFilesDir, defaultRuntimeDir } from '../../scripts/wordpress-files.mjs'
import {
  dockerFixture,
  engineFault,
  ensureImages,
  withoutEngine,
} from '../../test/docker-wordpress.ts'
import { orderServer, type OrderedServer } from '../../test/ordered-servers.ts'
import {
  openOtherNode,
  signInTo,
  underLoad,
  visitAt,
  withSitesAddress,
  type OtherNode,
  type Writer,
} from '../../test/other-node.ts'
import { eventually, openTestPortal, type TestPortal } from '../../test/portal.ts'
import { newMember, type TestMember } from '../../test/staff.ts'
import { newestMove } from './move-store.ts'

function everything(): void {
  describe('moves of sites in containers', { timeout: 300_000 }, () => {
    let engine: Awaited<ReturnType<typeof dockerFixture>>
    let portal: TestPortal
    let staff: TestMember
    let server: OrderedServer
    let writer: Writer
    let other: OtherNode
    const files = { runtimeDir: defaultRuntimeDir, filesDir: defaultFilesDir }

    beforeAll(async () => {
      engine = await dockerFixture()
      portal = await openTestPortal({ wordpress: 'real', env: await withSitesAddress() })
      const owner = await portal.customer()
      await portal.topUp(owner, 5_000_000)
      staff = await newMember(portal, 'operations')
      server = await orderServer(portal, owner)
      other = await openOtherNode(portal, 'hn2', files, {
        WORDPRESS_RUNTIME: 'docker',
        DOCKER_SOCKET: engine.engine.socketPath,
        DOCKER_WORDPRESS_IMAGE: engine.images.wordpress,
        DOCKER_MARIADB_IMAGE: engine.images.mariadb,
      })
      writer = await signInTo(portal, server)
    }, 290_000)
    afterAll(async () => {
      await portal?.close()
      await other?.close()
      await engine?.dispose()
    }, 120_000)

    const move = async (body: { node?: string }) =>
      staff.act<ActOutcome>('server.move', {
        server: server.id,
        reason: 'the shop needs MariaDB',
        ...body,
      })
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

    test('from SQLite to a node with MariaDB, while it is read and written to', async () => {
      const ports = [portal.config.SITES_PORT, other.sitesPort]
      const seen = await underLoad(
        { server, ports, writer, title: 'written', pauseMs: 1_000 },
        async () => {
          const begun = await move({ node: other.name })
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
        },
      )
      expect([seen.failedReads, seen.failedWrites]).toEqual([[], []])
      expect(seen.written.length).toBeGreaterThan(2)
      const there = await titles(other.sitesPort)
      expect(seen.written.filter((one) => !there.includes(one))).toEqual([])
    })

    test('MariaDB does not become SQLite', async () => {
      const { status, text } = await move({ node: portal.config.NODE_NAME })
      expect(status).toBe(409)
      expect(text).toContain('same database')
    })
  })
}

function notTried(why: string): void {
  describe('moves of sites in containers', () => {
    test(`none of them is tried here: ${why}`, () => {
      expect(why).not.toBe('')
    })
  })
}

const why = withoutEngine() ?? (await engineFault()) ?? (await ensureImages())
const tried = why === undefined ? everything : () => notTried(why)
tried()
