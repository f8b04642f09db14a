/**
 * Backups of a server, told through the API with a real site behind it: made, proven, downloaded,
 * restored, kept for a while, gone with the server.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import fs from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Backup } from '../../contract/wordpress-backups.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { hours, minutes } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { makeJob } from './backup-store.ts'
import { forgetJob, nightlyJob } from './nightly-backups.ts'

const clock = manualClock(new Date())
let portal: TestPortal
let owner: TestCustomer
let id: string
let domain: string
let session = ''
/** Signs in again, because sessions end while the clock is moved. */
const signIn = async (): Promise<void> => {
  const { email, password } = owner
  const answer = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    { body: { email, password } },
  )
  expect(answer.status, answer.text).toBe(200)
  session = answer.body.result.token.accessToken
}
const call = <T = unknown>(method: string, address: string, token: string | null = session) =>
  portal.call<T>(method, address, token === null ? {} : { token })
const list = async (): Promise<Backup[]> =>
  (await call<Backup[]>('GET', `/api/wp/${id}/backups`)).body.result
const archives = (): string[] => readdirSync(path.join(portal.dataDir, 'backups', id)).toSorted()
/**
 * A proof copies a site's files three times: seconds, or minutes where other tests use the disk as
 * well.
 */
const copySeconds = 150
vi.setConfig({ testTimeout: 4 * copySeconds * 1000 })
const settled = async (): Promise<Backup> =>
  await eventually(
    'the backup made',
    async () => {
      const [newest] = await list()
      return newest?.state !== 'making' && newest
    },
    copySeconds,
  )
const make = async (): Promise<Backup> => {
  const made = await call<Backup>('POST', `/api/wp/${id}/backups`)
  expect([made.status, made.body.result.state]).toEqual([201, 'making'])
  return await settled()
}
/** Starts the nightly round, twice at once. */
const night = async (): Promise<void> => {
  const round = () => transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, nightlyJob, {}))
  await Promise.all([round(), round()])
  await eventually(
    'the night’s backup',
    async () => {
      const [newest] = await list()
      return (
        newest?.kind === 'nightly' &&
        newest.createdAt === clock.now().toISOString() &&
        newest.state === 'proven'
      )
    },
    copySeconds,
  )
  await jobsIdle(portal.app.db)
}
/** Puts a file among the site's as a plugin would. */
const put = (name: string, text: string) =>
  fs.writeFile(path.join(portal.dataDir, 'sites', id, 'wordpress/wp-content', name), text)
const visit = (target: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    http
      .get(
        {
          host: '127.0.0.1',
          port: portal.config.SITES_PORT,
          path: target,
          headers: { host: domain },
          agent: false,
        },
        (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
          )
        },
      )
      .on('error', reject)
  })

beforeAll(async () => {
  portal = await openTestPortal({ clock, env: { BACKUP_RETENTION: '1' } })
  owner = await portal.customer()
  await signIn()
  await portal.topUp(owner, 2_000_000)
  const order = {
    size: 1,
    region: 1,
    disk: 10_240,
    mariadb_disk_size: 10_240,
    user: 'an',
    password: 'Mat-khau-9!',
    replicate: 1,
  }
  const placed = await portal.call<{ id: string }>('POST', '/api/wp', {
    token: owner.token,
    body: order,
  })
  id = placed.body.result.id
  const early = await call('POST', `/api/wp/${id}/backups`)
  expect([early.status, early.body.error?.code]).toEqual([409, 'server_not_running'])
  domain = await eventually(
    'the server running',
    async () => {
      const { result } = (await call<{ status: string; domain: string }>('GET', `/api/wp/${id}`))
        .body
      return result.status === 'running' && result.domain
    },
    90,
  )
}, 120_000)
afterAll(() => portal.close())

test('is made on demand, one at a time, and counts once it is proven', async () => {
  expect(await list()).toEqual([])
  const [first, second] = await Promise.all([
    call<Backup>('POST', `/api/wp/${id}/backups`),
    call('POST', `/api/wp/${id}/backups`),
  ])
  expect(new Set([first.status, second.status])).toEqual(new Set([201, 409]))
  expect([first, second].find(({ status }) => status === 409)?.body.error?.code).toBe(
    'backup_in_progress',
  )
  const backup = await settled()
  expect(backup).toMatchObject({
    kind: 'manual',
    state: 'proven',
    provenAt: clock.now().toISOString(),
    restoring: false,
    restoredAt: null,
  })
  expect(backup.files).toBeGreaterThan(5)
  expect(backup.rows).toBeGreaterThan(0)
  expect(archives()).toEqual([`${backup.id}.tar.gz`])
  expect(await portal.drivers.wordpress.list()).toEqual([id])
})

test('is downloaded by a link of five minutes, as an archive that any tar reads', async () => {
  const [backup] = await list()
  const { url } = (await call<{ url: string }>('POST', `/api/wp/${id}/backups/${backup?.id}/link`))
    .body.result
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/gzip')
  expect(answer.headers.get('content-disposition')).toMatch(
    /^attachment; filename="[a-z0-9-]+-\d{8}-\d{4}\.tar\.gz"$/,
  )
  expect(Number(answer.headers.get('content-length'))).toBe(backup?.size)
  const file = path.join(portal.dataDir, 'downloaded.tar.gz')
  await fs.writeFile(file, Buffer.from(await answer.arrayBuffer()))
  const { stdout } = await promisify(execFile)('tar', ['-tzf', file], { maxBuffer: 10_000_000 })
  const names = stdout.trim().split('\n')
  expect(names).toEqual(
    expect.arrayContaining([
      'wordpress/wp-config.php',
      'wordpress/wp-content/',
      'database/wordpress.sqlite',
    ]),
  )
  expect(names.at(-1)).toBe('manifest.json')
  expect(names.some((name) => name.includes('.ht.sqlite'))).toBe(false)

  // An interrupted download continues where it was.
  const whole = await fs.readFile(file)
  expect(answer.headers.get('accept-ranges')).toBe('bytes')
  for (const [range, start, end] of [
    ['bytes=0-99', 0, 99],
    [`bytes=${whole.length - 50}-`, whole.length - 50, whole.length - 1],
    ['bytes=-10', whole.length - 10, whole.length - 1],
    ['bytes=1000-9999999999', 1000, whole.length - 1],
  ] as const) {
    const part = await fetch(url, { headers: { range } })
    expect([part.status, part.headers.get('content-range')], range).toEqual([
      206,
      `bytes ${start}-${end}/${whole.length}`,
    ])
    expect(Number(part.headers.get('content-length'))).toBe(end - start + 1)
    expect(
      Buffer.from(await part.arrayBuffer()).equals(whole.subarray(start, end + 1)),
      range,
    ).toBe(true)
  }
  for (const range of ['bytes=9999999999-', 'bytes=5-1', 'bytes=0-1,5-9', 'lines=1-2', 'bytes=-']) {
    const all = await fetch(url, { headers: { range } })
    expect([all.status, all.headers.get('content-range')], range).toEqual([200, null])
    await all.body?.cancel()
  }

  const address = new URL(url)
  const ticket = address.searchParams.get('ticket') ?? ''
  const refused = [
    `${address.pathname}`,
    `${address.pathname}?ticket=${Date.now() + 1e9}.${ticket.split('.')[1]}`,
  ]
  for (const at of refused) expect((await call('GET', at, null)).status, at).toBe(404)
  clock.advance(minutes(5) + 1)
  expect((await call('GET', address.pathname + address.search, null)).status).toBe(404)
})

test('is nobody else’s, and not to be had of a server that is unknown', async () => {
  const [backup] = await list()
  const other = await portal.customer()
  for (const [method, part] of [
    ['GET', ''],
    ['POST', ''],
    ['POST', `/${backup?.id}/restore`],
    ['POST', `/${backup?.id}/link`],
  ] as const)
    expect(
      (await call(method, `/api/wp/${id}/backups${part}`, other.token)).status,
      method + part,
    ).toBe(404)
  for (const part of ['/nonsense/restore', '/nonsense/link', `/${id}/restore`])
    expect((await call('POST', `/api/wp/${id}/backups${part}`)).status, part).toBe(404)
})

test('is restored to the same server: content goes back, price and size stay', async () => {
  const [backup] = await list()
  await put('later.txt', 'later')
  expect((await visit('/wp-content/later.txt')).text).toBe('later')
  const before = (await call<{ price: number; disk: number }>('GET', `/api/wp/${id}`)).body.result
  const asked = await call('POST', `/api/wp/${id}/backups/${backup?.id}/restore`)
  expect(asked.status).toBe(200)
  const again = await call('POST', `/api/wp/${id}/backups/${backup?.id}/restore`)
  expect([again.status, again.body.error?.code]).toEqual([409, 'backup_in_progress'])
  expect((await list())[0]?.restoring).toBe(true)
  await eventually('the restore', async () => (await list())[0]?.restoredAt ?? false, copySeconds)
  await eventually('the site', async () => (await visit('/')).status === 200, 60)
  expect((await visit('/wp-content/later.txt')).status).toBe(404)
  const { result: after } = (await call<{ price: number; disk: number }>('GET', `/api/wp/${id}`))
    .body
  expect([after.price, after.disk]).toEqual([before.price, before.disk])
  await portal.ledgerHolds()
})

test('is made once a night, and as many of each kind are kept as the operator says', async () => {
  await night()
  expect((await list()).map(({ kind, state }) => [kind, state])).toEqual([
    ['nightly', 'proven'],
    ['manual', 'proven'],
  ])
  clock.advance(hours(24))
  await signIn()
  await night()
  const kept = await list()
  expect(kept.map(({ kind }) => kind)).toEqual(['nightly', 'manual'])
  expect(archives()).toEqual(kept.map((backup) => `${backup.id}.tar.gz`).toSorted())
})

test('whose restore begins while the next one ends is not forgotten', async () => {
  const { db, jobs } = portal.app
  const restored = await make()
  const restoreId = randomUUID()
  const isKept = () => archives().includes(`${restored.id}.tar.gz`)
  const begun = Promise.withResolvers<void>()
  // As a restore begins: others see nothing of it before the end of its transaction.
  const restoring = transaction(db, async (tx) => {
    await tx.selectFrom('site').select('id').where('id', '=', id).forNoKeyUpdate().execute()
    const asked = { id: restoreId, site_id: id, backup_id: restored.id, asked_at: clock.now() }
    await tx
      .insertInto('site_restore')
      .values({ ...asked, state: 'restoring' })
      .execute()
    begun.resolve()
    const looks = async (): Promise<boolean> => {
      // Within a transaction these statistics are otherwise read only once.
      await sql`select pg_stat_clear_snapshot()`.execute(tx)
      const { rows } = await sql`
        select 1 from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database()
          and query like '%from "site" where "id" = $1 for update%'`.execute(tx)
      return rows.length > 0 || !isKept()
    }
    await eventually('the next one looking at what it may forget', looks, copySeconds)
    expect(isKept()).toBe(true)
  })
  await Promise.race([begun.promise, restoring])
  const next = { id: randomUUID(), site_id: id, kind: 'manual', state: 'making' }
  await transaction(db, async (tx) => {
    await tx
      .insertInto('site_backup')
      .values({ ...next, created_at: clock.now() })
      .execute()
    await jobs.add(tx, makeJob, { backupId: next.id })
  })
  await restoring
  await jobsIdle(db)
  const manual = (await list()).filter(({ kind }) => kind === 'manual')
  expect(manual.map((backup) => backup.id)).toEqual([next.id, restored.id])
  expect(isKept()).toBe(true)
  await db
    .updateTable('site_restore')
    .set({ state: 'failed', ended_at: clock.now() })
    .where('id', '=', restoreId)
    .execute()
})

test('that fails says so, keeps the good ones, and is not restored or downloaded', async () => {
  const database = path.join(
    portal.dataDir,
    'sites',
    id,
    'wordpress/wp-content/database/.ht.sqlite',
  )
  const whole = await fs.readFile(database)
  await fs.writeFile(database, 'no database')
  try {
    const failed = await make()
    expect(failed).toMatchObject({ state: 'failed', size: null, provenAt: null })
    for (const part of ['restore', 'link']) {
      const { body } = await call('POST', `/api/wp/${id}/backups/${failed.id}/${part}`)
      expect(body.error?.code, part).toBe('backup_not_proven')
    }
    expect(archives()).not.toContain(`${failed.id}.tar.gz`)
    expect((await list()).filter(({ state }) => state === 'proven').length).toBeGreaterThan(0)
  } finally {
    await fs.writeFile(database, whole)
  }
})

test('stays for a week after its server, for whoever had it, and is gone then', async () => {
  const folder = path.join(portal.dataDir, 'backups', id)
  await make()
  expect(existsSync(folder)).toBe(true)
  expect((await call('DELETE', `/api/wp/${id}`)).status).toBe(200)
  await eventually(
    'the server gone',
    async () => (await call('GET', `/api/wp/${id}`)).status === 404,
    60,
  )
  const left = await list()
  expect(left.length).toBeGreaterThan(0)
  expect(left.every(({ state }) => state === 'proven')).toBe(true)
  expect(archives()).toEqual(left.map((backup) => `${backup.id}.tar.gz`).toSorted())
  const [newest] = left as [Backup]
  const linked = await call<{ url: string }>('POST', `/api/wp/${id}/backups/${newest.id}/link`)
  const address = new URL(linked.body.result.url)
  const fetched = await fetch(new URL(address.pathname + address.search, portal.url))
  expect((await fetched.arrayBuffer()).byteLength).toBe(newest.size)
  // There is no server to restore, and another customer learns nothing.
  expect((await call('POST', `/api/wp/${id}/backups/${newest.id}/restore`)).status).toBe(404)
  expect((await call('POST', `/api/wp/${id}/backups`)).status).toBe(404)
  const stranger = await portal.customer()
  expect((await call('GET', `/api/wp/${id}/backups`, stranger.token)).status).toBe(404)
  const round = async () => {
    await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, forgetJob, {}))
    await jobsIdle(portal.app.db)
    await signIn()
  }
  clock.advance(hours(6 * 24))
  await round()
  expect(await list()).toHaveLength(left.length)
  clock.advance(hours(25))
  await round()
  expect(existsSync(folder)).toBe(false)
  expect((await call('GET', `/api/wp/${id}/backups`)).status).toBe(404)
})
