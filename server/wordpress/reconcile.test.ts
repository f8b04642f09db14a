/** Database and runtime differ, and are reconciled: a real site throughout. */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import {
  eventually,
  manualClock,
  openTestPortal,
  type TestCustomer,
  type TestPortal,
} from '../../test/portal.ts'
import { days, minutes } from '../platform/clock.ts'
import { downSites } from './health.ts'

const clock = manualClock()
let portal: TestPortal
let owner: TestCustomer
let id: string
let domain: string
const lines: string[] = []

const reconcile = () => portal.app.reconciler.run(new AbortController().signal)
const statusOf = (target = '/'): Promise<number> =>
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
          answer.resume()
          resolve(answer.statusCode ?? 0)
        },
      )
      .on('error', reject)
  })
const answering = async (): Promise<number> => (await portal.drivers.wordpress.addresses(id)).length
const folderOf = (site: string) => path.join(portal.dataDir, 'sites', site)
const write = (status: string) =>
  portal.app.db.updateTable('site').set({ status }).where('id', '=', id).execute()
const metrics = async () => (await portal.call('GET', '/metrics')).text

beforeAll(async () => {
  portal = await openTestPortal({ clock, logLines: (line) => lines.push(line) })
  owner = await portal.customer()
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
  id = (await portal.call<{ id: string }>('POST', '/api/wp', { token: owner.token, body: order }))
    .body.result.id
  domain = await eventually(
    'the server running',
    async () => {
      const { result } = (
        await portal.call<{ status: string; domain: string }>('GET', `/api/wp/${id}`, {
          token: owner.token,
        })
      ).body
      return result.status === 'running' && result.domain
    },
    90,
  )
  await jobsIdle(portal.app.db)
}, 120_000)
afterAll(() => portal.close())

test('a container that was killed by hand comes back, the site with it', async () => {
  const pids = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(`--site ${id}`))
    .map((line) => Number.parseInt(line, 10))
  expect(pids).toHaveLength(1)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await eventually('the end of the container', async () => (await answering()) === 0)
  await reconcile()
  await eventually('the site', async () => (await answering()) === 1 && (await statusOf()) === 200)
})

test('a stopped site that should run is started; a running one is not touched', async () => {
  await portal.drivers.wordpress.stop(id)
  expect(await statusOf()).toBe(503)
  await reconcile()
  expect(await statusOf()).toBe(200)
  const before = await portal.drivers.wordpress.addresses(id)
  await reconcile()
  expect(await portal.drivers.wordpress.addresses(id)).toEqual(before)
})

test('one that runs though suspended is stopped; resumed, it has its data', async () => {
  writeFileSync(path.join(folderOf(id), 'wordpress/wp-content/kept.txt'), 'kept')
  await write('suspended')
  await reconcile()
  expect(await answering()).toBe(0)
  expect(existsSync(path.join(folderOf(id), 'wordpress/wp-content/kept.txt'))).toBe(true)
  await write('running')
  await reconcile()
  await eventually('the edge', async () => (await statusOf('/wp-content/kept.txt')) === 200)
})

test('what nobody knows is reported, and removed after a week; what is known stays', async () => {
  const orphan = randomUUID()
  mkdirSync(path.join(folderOf(orphan), 'wordpress'), { recursive: true })
  await reconcile()
  await reconcile()
  expect(
    lines.filter((line) => line.includes(orphan) && line.includes('nobody knows')),
  ).toHaveLength(1)
  expect(await metrics()).toContain('sites_orphaned 1')
  clock.advance(days(7) - 1000)
  await reconcile()
  expect(existsSync(folderOf(orphan))).toBe(true)
  clock.advance(1000)
  await reconcile()
  expect(existsSync(folderOf(orphan))).toBe(false)
  expect(existsSync(folderOf(id))).toBe(true)
  expect(await metrics()).toContain('sites_orphaned 0')
})

test('more strangers than own sites: the wrong database, and nothing is removed', async () => {
  const strangers = [randomUUID(), randomUUID()]
  for (const stranger of strangers)
    mkdirSync(path.join(folderOf(stranger), 'wordpress'), { recursive: true })
  await reconcile()
  clock.advance(days(8))
  await reconcile()
  for (const stranger of strangers) expect(existsSync(folderOf(stranger))).toBe(true)
  expect(lines.some((line) => line.includes('more sites are unknown than known'))).toBe(true)
})

test('a site that listens and fails every visitor is down: gauge, owner, operator', async () => {
  const look = async (): Promise<void> => {
    clock.advance(minutes(11))
    await portal.app.siteHealth.checkDue(new AbortController().signal)
  }
  const signedIn = await portal.call<{ token: { accessToken: string } }>(
    'POST',
    '/api/v1/auth/login',
    { body: { email: owner.email, password: owner.password } },
  )
  const { accessToken: token } = signedIn.body.result.token
  const shown = async () =>
    (await portal.call<{ downSince: string | null }>('GET', `/api/wp/${id}`, { token })).body.result
      .downSince
  const untilShown = (isDown: boolean) =>
    eventually(isDown ? 'it being down' : 'it being up', async () => {
      await look()
      return ((await shown()) !== null) === isDown
    })
  await untilShown(false)
  const plugins = path.join(folderOf(id), 'wordpress/wp-content/mu-plugins')
  mkdirSync(plugins, { recursive: true })
  writeFileSync(path.join(plugins, 'broken.php'), '<?php http_response_code(500); exit("broken");')
  await eventually('the site failing', async () => (await statusOf()) === 500)
  await untilShown(true)
  // A single failure does not count yet.
  const { unanswered } = await portal.app.db
    .selectFrom('site')
    .select('unanswered')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  expect(unanswered).toBeGreaterThanOrEqual(2)
  expect(await metrics()).toMatch(/^portal_sites_down 1$/m)
  expect(await downSites(portal.app.db)).toMatchObject([
    { id, customerEmail: owner.email, reason: 'the front page answers 500' },
  ])
  rmSync(path.join(plugins, 'broken.php'))
  await eventually('the site', async () => (await statusOf()) === 200)
  await untilShown(false)
  expect(await metrics()).toMatch(/^portal_sites_down 0$/m)
})

test('work whose job is gone is taken up: a restart, a backup, a deletion', async () => {
  const { db } = portal.app
  const before = await portal.drivers.wordpress.addresses(id)
  await db
    .updateTable('site')
    .set((eb) => ({ generation: eb('generation', '+', 1) }))
    .where('id', '=', id)
    .execute()
  const backupId = randomUUID()
  await db
    .insertInto('site_backup')
    .values({
      id: backupId,
      site_id: id,
      kind: 'manual',
      state: 'making',
      created_at: clock.now(),
    })
    .execute()
  await Promise.all([portal.app.resumeServers(), portal.app.resumeServers()])
  await jobsIdle(db)
  const site = await db
    .selectFrom('site')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  expect(site.settled_generation).toBe(site.generation)
  expect(await portal.drivers.wordpress.addresses(id)).not.toEqual(before)
  const backup = await db
    .selectFrom('site_backup')
    .select('state')
    .where('id', '=', backupId)
    .executeTakeFirst()
  expect(backup?.state).toBe('proven')

  await db
    .updateTable('subscription')
    .set({ status: 'ended' })
    .where('id', '=', site.subscription_id)
    .execute()
  await write('deleting')
  await portal.app.resumeServers()
  await eventually('the server gone', async () => {
    const row = await db
      .selectFrom('site')
      .select('deleted_at')
      .where('id', '=', id)
      .executeTakeFirst()
    return row?.deleted_at !== null
  })
  expect(existsSync(folderOf(id))).toBe(false)
})
