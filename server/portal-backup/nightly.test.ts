/**
 * The portal's own nightly backup, and bad nights: a server is missing, the backup cannot be
 * tested, or it is faulty. The operator is told, and good backups stay.
 */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { runCommand } from '../../test/operator.ts'
import { eventually, type TestPortal } from '../../test/portal.ts'
import { openSavedWorld, type SavedWorld } from '../../test/saved-world.ts'
import { systemClock } from '../platform/clock.ts'
import { transaction } from '../platform/db.ts'
import { createLog } from '../platform/log.ts'
import { folderStore } from '../platform/object-store/index.ts'
import { archivesIn } from '../wordpress/index.ts'
import { makeBackup } from './make.ts'
import { backupsIn } from './manifest.ts'
import { backUpPortal, portalBackupJob } from './nightly.ts'

vi.setConfig({ testTimeout: 240_000 })

const passphrase = 'một câu dài mà không ai đoán được'
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-nights-'))
// As root, the sites and the database are other users, who must be able to enter.
fs.chmodSync(scratch, 0o755)
const place = (name: string): string => path.join(scratch, name)
/** A role that reads all and may make no database. */
const plain = `plain_${randomBytes(4).toString('hex')}`
const admin = new pg.Client({ connectionString: inject('adminUrl') })

let world: SavedWorld
let portal: TestPortal
let lines: string[] = []
/** The log lines of a try. */
let told: string[] = []
beforeAll(async () => {
  world = await openSavedWorld({
    env: {
      BACKUP_TO: place('nightly'),
      BACKUP_TO_KEEP: '2',
      BACKUP_PASSPHRASE: passphrase,
    },
    logLines: (line) => lines.push(line),
  })
  portal = world.portal
  await admin.connect()
  await admin.query(`create role ${plain} login password 'plain' in role pg_read_all_data`)
}, 180_000)
afterAll(async () => {
  await portal.close()
  await admin.query(`drop role ${plain}`)
  await admin.end()
  fs.rmSync(scratch, { recursive: true, force: true })
})
beforeEach(() => {
  lines = []
  told = []
})

/** Through the queue, as every night. */
const night = async (): Promise<void> => {
  await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, portalBackupJob, {}))
  await jobsIdle(portal.app.db)
}
/** One try of the job, without the retry after a failure. */
const tryNight = async (databaseUrl = portal.databaseUrl): Promise<void> =>
  backUpPortal(
    {
      db: portal.app.db,
      databaseUrl,
      clock: systemClock,
      log: createLog('info', { write: (line) => void told.push(line) }),
      jobs: portal.app.jobs,
      config: portal.config,
      archives: archivesIn(path.join(portal.dataDir, 'backups')),
      driver: portal.app.nodes.driver,
    },
    new AbortController().signal,
  )
const kept = async (): Promise<string[]> => (await backupsIn(folderStore(place('nightly')))).whole
const gauge = async (name: string): Promise<number> => {
  const { text } = await portal.call('GET', '/metrics')
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
}
const verifiedAt = (): Promise<number> => gauge('portal_backup_verified_timestamp_seconds')
const logged = (text: string): string[] => lines.filter((line) => line.includes(text))
/** The archive of the server's newest backup. */
const archive = async (): Promise<string> => {
  const { id } = await portal.app.db
    .selectFrom('site_backup')
    .select('id')
    .where('state', '=', 'proven')
    .orderBy('seq', 'desc')
    .executeTakeFirstOrThrow()
  const folder = path.join(portal.dataDir, 'backups')
  const files = fs.readdirSync(folder, { recursive: true }) as string[]
  return path.join(folder, files.find((name) => name.endsWith(`${id}.tar.gz`)) ?? '')
}

test('every night it is made, verified, kept for a while, and watched', async () => {
  expect([await verifiedAt(), await gauge('portal_backup_nightly')]).toEqual([0, 1])
  for (let count = 0; count < 3; count++) await night()
  expect(await kept()).toHaveLength(2)
  const at = await verifiedAt()
  expect(Math.abs(at - Date.now() / 1000)).toBeLessThan(120)
  expect(logged('the backup is verified')).toHaveLength(3)
  // The disk is away: the failure is reported, and so is its end.
  fs.renameSync(place('nightly'), place('away'))
  fs.writeFileSync(place('nightly'), '')
  lines = []
  await transaction(portal.app.db, (tx) => portal.app.jobs.add(tx, portalBackupJob, {}))
  await eventually('the failure', async () => (await gauge('portal_backup_failed')) === 1, 60)
  expect(logged('the portal could not be backed up')[0]).toMatch(/"level":50/)
  fs.rmSync(place('nightly'))
  fs.renameSync(place('away'), place('nightly'))
  await sql`delete from pgboss.job where name = ${portalBackupJob}`.execute(portal.app.db)
  await night()
  expect(await gauge('portal_backup_failed')).toBe(0)
})

test('a server that is not in it is counted until it is', async () => {
  expect(await gauge('portal_backup_sites_missing')).toBe(0)
  const [file, aside] = [await archive(), place('archive')]
  fs.renameSync(file, aside)
  await night()
  expect(await gauge('portal_backup_sites_missing')).toBe(1)
  expect(logged('some sites are not in the backup')[0]).toMatch(/"level":50/)
  fs.renameSync(aside, file)
  await night()
  expect(await gauge('portal_backup_sites_missing')).toBe(0)
})

test('a role that may make no database is told of first, and takes no good one away', async () => {
  const [good] = (await kept()).slice(-1)
  const before = await verifiedAt()
  const url = portal.databaseUrl.replace(/\/\/[^@]+@/, `//${plain}:plain@`)
  for (let count = 0; count < 3; count++) await tryNight(url)
  expect(told[0]).toMatch(
    new RegExp(`"level":50.*The role ${plain} of DATABASE_URL .*createdb.* as a superuser`),
  )
  expect(await gauge('portal_backup_failed')).toBe(1)
  expect(await verifiedAt()).toBe(before)
  // The two newest, which could not be tested, and the one known to be good.
  const ids = await kept()
  expect([ids.length, ids[0]]).toEqual([3, good])
  await tryNight()
  expect([await gauge('portal_backup_failed'), (await kept()).includes(good ?? '')]).toEqual([
    0,
    false,
  ])
})

test('bad ones are not more than are kept, and leave the newest good one', async () => {
  const [good] = (await kept()).slice(-1)
  const file = await archive()
  const whole = fs.readFileSync(file)
  fs.writeFileSync(file, whole.subarray(0, whole.length / 2))
  try {
    for (let count = 0; count < 3; count++)
      await expect(tryNight()).rejects.toThrow('does not come up')
    const ids = await kept()
    expect([ids.length, ids[0]]).toEqual([3, good])
    // Release 2 did not record which one was good: none is removed until one is proven again.
    await portal.app.db.updateTable('portal_backup').set({ verified_backup: null }).execute()
    await expect(tryNight()).rejects.toThrow('does not come up')
    expect(await kept()).toHaveLength(4)
  } finally {
    fs.writeFileSync(file, whole)
  }
  await tryNight()
  expect(await kept()).toHaveLength(2)
})

test('a machine without containers, and without data, verifies what it can', async () => {
  const { db } = portal.app
  const ofDatabase = (database: string | null) =>
    db.updateTable('site_backup').set({ database }).execute()
  const [store, where] = [place('mariadb'), place('fresh/data')]
  const { database } = await db
    .selectFrom('site_backup')
    .select('database')
    .executeTakeFirstOrThrow()
  try {
    await ofDatabase('mariadb')
    // Its server has another database by now, and does not come up from it.
    const { sites, notSaved } = await makeBackup({
      store: folderStore(store),
      databaseUrl: portal.databaseUrl,
      archives: archivesIn(path.join(portal.dataDir, 'backups')),
      secret: portal.rootSecret,
      passphrase,
      now: new Date(),
    })
    const why = expect.stringContaining('from before it moved to another database') as string
    expect([sites, notSaved]).toMatchObject([[{ database: 'mariadb' }], [{ why }]])
  } finally {
    await ofDatabase(database)
  }
  const env = { BACKUP_PASSPHRASE: passphrase, DATA_DIR: where }
  const { code, said } = await runCommand(portal, env, 'verify-backup', store)
  expect(said).toMatch(/The site \S+ could not be tried here: it needs sites in containers/)
  expect([code, said]).toEqual([0, expect.stringMatching(/\nThe backup is good\.\n$/)])
})
