/**
 * A second machine with sites beside a test portal: a node with a folder, ports and a key of its
 * own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { inject } from 'vitest'
import { readConfig } from '../server/config.ts'
import { createMachine, type Machine } from '../server/machine.ts'
import { nodeKey } from '../server/own-node.ts'
import { createLog } from '../server/platform/log.ts'
import { createSecrets } from '../server/platform/secrets.ts'
import type { WordpressFiles } from '../server/wordpress/drivers/index.ts'
import { allNodes, putNode } from '../server/wordpress/nodes.ts'
import { eventually, freePort, type TestPortal } from './portal.ts'
import { simulatedFilesIn } from './simulated-wordpress.ts'

export interface OtherNode {
  readonly name: string
  readonly dataDir: string
  readonly sitesPort: number
  /** The machine is back, as after a reboot. */
  open(): Promise<void>
  /** The machine vanishes. */
  vanish(): Promise<void>
  close(): Promise<void>
}

/** Settings of a test portal whose own sites are reachable for the edges of other nodes. */
export async function withSitesAddress(): Promise<Record<string, string>> {
  const port = String(await freePort())
  return { SITES_PORT: port, NODE_SITES_ADDRESS: `127.0.0.1:${port}` }
}

/**
 * Opens the node and waits until the portal, which must be opened with `withSitesAddress`, reaches
 * it.
 * @param files what its sites are made from; the stand-in for PHP if absent
 * @param more settings of that machine
 */
export async function openOtherNode(
  portal: TestPortal,
  name: string,
  files: WordpressFiles = simulatedFilesIn(inject('simulatedFiles')),
  more: Readonly<Record<string, string>> = {},
): Promise<OtherNode> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'portal-node-'))
  const config = readConfig({
    NODE_ENV: 'test',
    ROLES: 'node',
    NODE_NAME: name,
    NODE_KEY: nodeKey(createSecrets(portal.rootSecret), name),
    NODE_LISTEN: `127.0.0.1:${await freePort()}`,
    SITES_PORT: String(await freePort()),
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
    ...more,
  })
  let machine: Machine | undefined
  const { db } = portal.app
  await putNode(db, {
    id: name,
    address: config.NODE_LISTEN ?? '',
    sitesAddress: `127.0.0.1:${config.SITES_PORT}`,
    regions: null,
  })
  const node: OtherNode = {
    name,
    dataDir,
    sitesPort: config.SITES_PORT,
    async open() {
      machine = createMachine(config, createLog('silent'), files)
      await machine.openSites()
      await machine.openToOthers(config.NODE_KEY ?? '')
      await eventually('the other node', async () => {
        await portal.app.nodes.look()
        return portal.app.nodes.reachable().some((one) => one.node === name)
      })
      await portal.app.nodes.look()
      // Its edge asks every visitor to wait until the portal has sent it the host names.
      await eventually('its edge knowing host names', async () => {
        const { status } = await visitAt(config.SITES_PORT, 'nobody', '/')
        return status === 404
      })
    },
    async vanish() {
      await machine?.close()
      machine = undefined
      await eventually('the line being gone', async () =>
        portal.app.nodes.reachable().every((one) => one.node !== name),
      )
      // An answer from before is stored now: it does not overwrite what a test writes next.
      await portal.app.nodes.look()
    },
    async close() {
      await machine?.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  await node.open()
  return node
}

export interface Visit {
  readonly status: number
  readonly text: string
  readonly ms: number
}

/** A visit to a server through the edge at a port. A failed connection has status 0. */
export function visitAt(
  port: number,
  name: string,
  target: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Visit> {
  const began = performance.now()
  return new Promise((resolve) => {
    const end = (status: number, text: string): void =>
      resolve({ status, text, ms: performance.now() - began })
    const request = http.request(
      {
        host: '127.0.0.1',
        port,
        path: target,
        method: options.method ?? 'GET',
        headers: { host: `${name}.localhost:${port}`, ...options.headers },
        agent: false,
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => (text += chunk))
        answer.once('end', () => end(answer.statusCode ?? 0, text))
        answer.once('error', () => end(0, 'the answer broke off'))
      },
    )
    request.once('error', (error) => end(0, error.message))
    request.end(options.body)
  })
}

/** Somebody who is signed in to a server's WordPress, and writes posts. */
export interface Writer {
  write(title: string): Promise<Visit>
}

/** Relative to the site's folder. */
const databaseFile = 'wordpress/wp-content/database/.ht.sqlite'

/** Enlarges a site's database by this many MB. */
export function addToDatabase(siteFolder: string, megabytes: number): void {
  const database = new DatabaseSync(path.join(siteFolder, databaseFile), { timeout: 5_000 })
  try {
    database.exec('create table filler (content blob)')
    const insert = database.prepare('insert into filler values (randomblob(1048576))')
    for (let count = 0; count < megabytes; count++) insert.run()
  } finally {
    database.close()
  }
}

/** Titles of all posts of the site in a node's folder. */
export function titlesIn(siteFolder: string): string[] {
  const database = new DatabaseSync(path.join(siteFolder, databaseFile), {
    readOnly: true,
    timeout: 5_000,
  })
  try {
    const rows = database.prepare('select post_title as title from wp_posts').all()
    return (rows as { title: string }[]).map(({ title }) => title)
  } finally {
    database.close()
  }
}

export async function signInTo(
  portal: TestPortal,
  server: { readonly id: string; readonly name: string },
): Promise<Writer> {
  const { driver } = portal.app.nodes
  const port = portal.config.SITES_PORT
  const link = new URL(await driver.adminLink(server.id, 'an'))
  const { cookie } = await driver.page(server.id, { target: link.pathname, cookie: '' })
  const nonce = (
    await driver.page(server.id, { target: '/wp-admin/admin-ajax.php?action=rest-nonce', cookie })
  ).text
  return {
    write: (title) =>
      visitAt(port, server.name, '/wp-json/wp/v2/posts', {
        method: 'POST',
        headers: { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' },
        body: JSON.stringify({ title, status: 'publish' }),
      }),
  }
}

/**
 * The pause between two visits of one visitor, ms: a page takes time to read, and the machine's
 * processors have other work.
 */
const usualPauseMs = 10

/** What visitors saw during `during`: both edges are read all the time, and written to. */
export async function underLoad(
  of: {
    readonly server: { readonly name: string }
    readonly ports: readonly number[]
    readonly writer: Writer
    readonly title: string
    readonly pauseMs?: number
  },
  during: () => Promise<void>,
): Promise<{
  readonly reads: number
  readonly failedReads: readonly Visit[]
  readonly written: readonly string[]
  readonly failedWrites: readonly Visit[]
  readonly longestWriteMs: number
  readonly longestReadMs: number
}> {
  let goesOn = true
  const { pauseMs = usualPauseMs } = of
  const reads: Visit[] = []
  const writes: { title: string; visit: Visit }[] = []
  const read = async (port: number): Promise<void> => {
    for (let n = 0; goesOn; n++) {
      reads.push(await visitAt(port, of.server.name, n % 2 === 0 ? '/' : `/?n=${n}`))
      await pause(pauseMs)
    }
  }
  const write = async (): Promise<void> => {
    for (let n = 0; goesOn; n++) {
      const title = `${of.title} ${n}`
      writes.push({ title, visit: await of.writer.write(title) })
      await pause(pauseMs)
    }
  }
  const all = Promise.all([...of.ports.map(read), write()])
  try {
    await during()
  } finally {
    goesOn = false
    await all
  }
  return {
    reads: reads.length,
    failedReads: reads.filter(({ status }) => status !== 200),
    written: writes.filter(({ visit }) => visit.status === 201).map(({ title }) => title),
    failedWrites: writes.filter(({ visit }) => visit.status !== 201).map(({ visit }) => visit),
    longestWriteMs: Math.max(0, ...writes.map(({ visit }) => visit.ms)),
    longestReadMs: Math.max(0, ...reads.map(({ ms }) => ms)),
  }
}

/** Cuts a running machine off from every portal. Resolves with a function that ends that. */
export async function cutOff(portal: TestPortal, name: string): Promise<() => Promise<void>> {
  const { db, nodes } = portal.app
  const row = (await allNodes(db)).find(({ id }) => id === name)
  const isReached = (): boolean => nodes.reachable().some((one) => one.node === name)
  const reachAt = async (address: string | null): Promise<void> => {
    const rest = { sitesAddress: row?.sites_address ?? null, regions: row?.regions ?? null }
    await putNode(db, { id: name, address, ...rest })
    // A check that is under way may have read the address before.
    await eventually('the line', async () => {
      await nodes.look()
      return isReached() === (address === row?.address)
    })
  }
  await reachAt('127.0.0.1:1')
  return async () => {
    await reachAt(row?.address ?? null)
    await nodes.look()
  }
}

/** Resolves when a server's mirror has everything that was written so far. */
export const mirrorFollows = (
  portal: TestPortal,
  { id }: { readonly id: string },
  since: Date,
): Promise<true> =>
  eventually(
    'the mirror following',
    async () => {
      await portal.app.mirrors.follow()
      const { rows } = await sql`select from site_mirror where site_id = ${id}
        and state = 'following' and laid is not null and content_at >= ${since}`.execute(
        portal.app.db,
      )
      return rows.length > 0
    },
    60,
  )
