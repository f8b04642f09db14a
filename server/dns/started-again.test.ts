/** A restarted name server gets the zones that its disk has lost, however old they are. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MessageConnection } from 'vscode-jsonrpc/node'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { freePort, manualClock } from '../../test/portal.ts'
import { connect, type Pool } from '../platform/db.ts'
import { createLog } from '../platform/log.ts'
import type { Listening } from '../platform/notices.ts'
import { lineThrough } from '../sites-line.ts'
import { createDns, type Dns } from './dns.ts'
import { createEmbedded, serveNameServer } from './drivers/name-server.ts'
import { connectNameServer } from './drivers/index.ts'

const pair = ['ns1.dns.example', 'ns2.dns.example']
const customer = randomUUID()
const onFault = (error: unknown): never => {
  throw error
}
let database: TestDatabase
let pool: Pool
let folder: string
let stopNameServer: () => Promise<void> = async () => undefined
let line: MessageConnection | undefined
let dns: Dns
/** Triggers a sweep, as after notices that may have been lost. */
let look: () => void = () => undefined

async function startNameServer(): Promise<void> {
  const embedded = createEmbedded({
    host: '127.0.0.1',
    port: await freePort(),
    transferTo: [],
    folder,
    onFault,
  })
  await embedded.start()
  const { port1, port2 } = new MessageChannel()
  const far = lineThrough(port2)
  serveNameServer(far, embedded)
  far.listen()
  line = lineThrough(port1)
  line.listen()
  stopNameServer = async () => {
    line = undefined
    port1.close()
    await embedded.close()
  }
}

const driver = connectNameServer(() => line)
const zoneNames = async (): Promise<string[]> =>
  [...(await driver.list())].filter((name) => name !== 'dns.example').toSorted()

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'portal-zones-'))
  database = await testDatabase()
  pool = connect(database.url, 4, () => undefined)
  await sql`
    insert into customer (id, email, phone, name, password_hash, region_code, created_at)
    values (${customer}, 'an@example.vn', '+841', 'An', 'x', 'VN', now())`.execute(pool.db)
  // So old that the sweep of recent changes does not find them.
  await sql`
    insert into dns_zone (id, customer_id, name, shown_name, name_servers, serial, created_at,
      active_at, first_active_at, touched_at)
    select gen_random_uuid(), ${customer}, name, name, ${pair}, 5, now(), now(), now(),
      now() - interval '1 day'
    from unnest(array['kept.vn', 'lost.vn', 'old.vn']) name`.execute(pool.db)
  await startNameServer()
  dns = createDns({
    db: pool.db,
    clock: manualClock(),
    jobs: {
      define: () => undefined,
      add: async () => undefined,
      start: async () => undefined,
      stop: async () => undefined,
      health: async () => undefined,
    },
    log: createLog('silent'),
    outbox: { publishEvent: async () => undefined, publishEvents: async () => undefined },
    notices: {
      on: (_channel, { onConnect }: Listening) => {
        look = () => void onConnect?.(true)
      },
      tell: () => undefined,
      start: async () => undefined,
      stop: async () => undefined,
      isConnected: () => true,
    },
    driver,
    delegation: { check: async () => Promise.reject(new Error('nobody asks')) },
    pool: pair,
    addresses: ['203.0.113.53'],
    aliasesOf: async () => [],
  })
  await dns.start()
})
afterAll(async () => {
  await dns.stop()
  await stopNameServer()
  await pool.close()
  await database.drop()
  rmSync(folder, { recursive: true })
})

test('every zone is compared, and those that are missing, old or gone are set right', async () => {
  expect(await zoneNames()).toEqual(['kept.vn', 'lost.vn', 'old.vn'])
  await stopNameServer()
  const file = path.join(folder, 'zones.jsonl')
  const kept = (await fs.readFile(file, 'utf8'))
    .split('\n')
    .filter((text) => !/"name":"(lost\.vn|dns\.example)"/.test(text))
    .map((text) => (text.includes('old.vn') ? text.replace('"serial":5', '"serial":4') : text))
  const removed = kept.find((text) => text.includes('kept.vn'))?.replaceAll('kept.vn', 'removed.vn')
  await fs.writeFile(file, `${removed}\n${kept.join('\n')}`)
  await startNameServer()
  expect(await zoneNames()).toEqual(['kept.vn', 'old.vn', 'removed.vn'])
  look()
  await expect.poll(zoneNames).toEqual(['kept.vn', 'lost.vn', 'old.vn'])
  await expect.poll(async () => (await driver.held('old.vn'))?.serial).toBe(5)
  expect(await driver.held('dns.example')).toBeDefined()
})
