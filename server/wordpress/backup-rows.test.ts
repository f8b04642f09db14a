/**
 * Rows and archives of backups when an answer is lost, a server is deleted or an update is under
 * way at the wrong moment: each proven row has its archive, and no archive is left without a row.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { manualClock } from '../../test/portal.ts'
import { hours } from '../platform/clock.ts'
import { connect, transaction, type Database, type Pool, type Tx } from '../platform/db.ts'
import type { JobDefinition, Jobs } from '../platform/jobs.ts'
import { createLog } from '../platform/log.ts'
import { folderStore } from '../platform/object-store/index.ts'
import type { Secrets } from '../platform/secrets.ts'
import { watchArchives } from './archive-watch.ts'
import { archivesAt, type Archives } from './archives.ts'
import { beginBackup, makeJob, restoreJob } from './backup-store.ts'
import { createBackups, type Backups } from './backups.ts'
import type { EdgeControl } from './directory.ts'
import { updateHoldMs, type CopyFigures, type WordpressDriver } from './driver.ts'
import { surplusBackups } from './kept-backups.ts'
import { nightlyJob } from './nightly-backups.ts'
import { putNode } from './nodes.ts'
import { createNodes, type NodeControl } from './routed-driver.ts'
import { makeMissing, newestArchives, NowhereToProve, sitesToSave } from './whole-backup.ts'

const clock = manualClock()
const customer = randomUUID()
const figures: CopyFigures = {
  files: 1,
  fileBytes: 7,
  filesSha256: 'x',
  databaseBytes: 0,
  tables: [],
}
const folder = mkdtempSync(path.join(os.tmpdir(), 'backup-rows-'))
let database: TestDatabase
let pool: Pool
/** Called once the archive is stored, while it is proven, and while one is restored. */
let onStored: () => void
let onProof: () => Promise<void>
let onRestore: () => Promise<void>
/** How long writes were held, for each call, ms. */
let holds: number[]
let site = ''

const driver = {
  async backup(_site: string, file: string) {
    await fs.writeFile(file, 'archive')
    return figures
  },
  async prove() {
    await onProof()
    return figures
  },
  async restore() {
    await onRestore()
  },
  async holdWrites(_site: string, ms: number) {
    holds.push(ms)
    return true
  },
} as unknown as WordpressDriver

/** A database whose connection breaks after a commit, before its answer, when `breaks` says so. */
const losing = (breaks: () => boolean): Database =>
  new Proxy(pool.db, {
    get(db, key) {
      if (key === 'transaction' && breaks())
        return () => ({
          async execute(work: (tx: Tx) => Promise<unknown>) {
            await db.transaction().execute(work)
            throw new Error('Connection terminated unexpectedly')
          },
        })
      const found: unknown = Reflect.get(db, key)
      return typeof found === 'function' ? (found.bind(db) as unknown) : found
    },
  })

/** Defines the backups of one worker; answers its jobs. */
function worker(db = pool.db, keptDaysAfterDeletion = 7) {
  const defined = new Map<string, JobDefinition<object>>()
  const jobs = {
    define: (job: JobDefinition<object>) => void defined.set(job.name, job),
    add: async () => undefined,
  } as unknown as Jobs
  const stored = archivesAt(folderStore(path.join(folder, 'store')), path.join(folder, 'scratch'))
  const archives: Archives = {
    ...stored,
    async make(of, make) {
      const made = await stored.make(of, make)
      onStored()
      return made
    },
  }
  const backups: Backups = createBackups({
    db,
    clock,
    log: createLog('silent'),
    jobs,
    secrets: {} as Secrets,
    driver,
    addressing: { scheme: 'http', host: 'localhost', portSuffix: '' },
    portalUrl: '',
    archives,
    kept: 7,
    keptDaysAfterDeletion,
    onChange: () => undefined,
  })
  const run = async (name: string, payload: object, signal = new AbortController().signal) =>
    await defined.get(name)?.run(payload, { number: 1, last: false, signal })
  return { backups, jobs, run }
}
const begin = (jobs: Jobs) =>
  transaction(pool.db, (tx) => beginBackup({ jobs, clock }, tx, site, 'manual'))
const stateOf = async (id: string) =>
  (await pool.db.selectFrom('site_backup').select('state').where('id', '=', id).executeTakeFirst())
    ?.state
const hasArchive = (id: string): boolean =>
  existsSync(path.join(folder, 'store', site, `${id}.tar.gz`))
const updateInState = (state: string, restoreId: string | null = null) =>
  sql`
    insert into site_update (id, site_id, cause, state, packages, created_at, restore_id)
    values (gen_random_uuid(), ${site}, 'owner', ${state}, '[]', now(), ${restoreId})`.execute(
    pool.db,
  )

beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 8, () => undefined)
  await sql`
    insert into customer (id, email, phone, name, password_hash, region_code, created_at)
    values (${customer}, 'an@example.vn', '+841', 'An', 'x', 'VN', now())`.execute(pool.db)
})
beforeEach(async () => {
  onStored = () => undefined
  onProof = onRestore = async () => undefined
  holds = []
  await sql`update site set status = 'deleting'`.execute(pool.db)
  site = randomUUID()
  await sql`
    insert into site (id, customer_id, name, status, plan_id, plan_name, cpu, ram_mb, disk_mb,
      mariadb_disk_mb, containers, region_id, region_name, language, price, currency, admin_user,
      created_at)
    values (${site}, ${customer}, ${`site-${site.slice(0, 8)}`}, 'running', 1, 'BASIC-1', 1, 512,
      10240, 10240, 1, 1, 'Hà Nội', 'vi', 218000, 'VND', 'an', now())`.execute(pool.db)
})
afterAll(async () => {
  await pool.close()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

describe('a backup is proven if and only if its archive is there', () => {
  test('where it was written down and the answer to that was lost', async () => {
    let isLost = false
    const { jobs, run } = worker(
      losing(() => {
        const now = isStored && !isLost
        isLost ||= isStored
        return now
      }),
    )
    let isStored = false
    onStored = () => (isStored = true)
    const id = await begin(jobs)
    await run(makeJob, { backupId: id })
    expect([isLost, await stateOf(id), hasArchive(id)]).toEqual([true, 'proven', true])
  })

  test('where it failed, and is made anew', async () => {
    const { jobs, run } = worker()
    const id = await begin(jobs)
    onProof = () => Promise.reject(new Error('the scratch site is gone'))
    await expect(run(makeJob, { backupId: id })).rejects.toThrow('the scratch site is gone')
    expect([await stateOf(id), hasArchive(id)]).toEqual(['making', false])
    onProof = async () => undefined
    await run(makeJob, { backupId: id })
    expect([await stateOf(id), hasArchive(id)]).toEqual(['proven', true])
  })

  test.each([7, 0])(
    'or neither, where its server is deleted during the proof and kept for %i days',
    async (days) => {
      const { backups, jobs, run } = worker(pool.db, days)
      const id = await begin(jobs)
      onProof = () => backups.forget(site)
      await run(makeJob, { backupId: id })
      expect([await stateOf(id), hasArchive(id)]).toEqual([undefined, false])
    },
  )
})

test('a machine that does not find an archive says so, until it does', async () => {
  const { jobs, run } = worker()
  const id = await begin(jobs)
  await run(makeJob, { backupId: id })
  const lines: string[] = []
  const log = createLog('error', { write: (line) => void lines.push(line) })
  const stored = archivesAt(folderStore(path.join(folder, 'store')), path.join(folder, 'scratch'))
  const here = watchArchives({ db: pool.db, log, archives: stored })
  // Another machine, with a folder of its own.
  const elsewhere = folderStore(path.join(folder, 'elsewhere'))
  const there = watchArchives({
    db: pool.db,
    log,
    archives: archivesAt(elsewhere, path.join(folder, 'scratch')),
  })
  await here.look()
  expect([here.missing(), lines]).toEqual([0, []])
  await there.look()
  expect(there.missing()).toBeGreaterThan(0)
  expect(lines[0]).toContain(id)
  await sql`update site_backup set state = 'removed'`.execute(pool.db)
  await there.look()
  expect(there.missing()).toBe(0)
  for (const watch of [here, there]) watch.stop()
})

test('nights that fail cost no good backup', async () => {
  const add = (state: string) => sql`
    insert into site_backup (id, site_id, kind, state, created_at, archive_bytes, figures,
      proven_at)
    select gen_random_uuid(), ${site}, 'nightly', ${state}, now(), 1, '{}', now()
    from generate_series(1, 7)`
  await add('proven').execute(pool.db)
  await add('failed').execute(pool.db)
  expect(await surplusBackups(pool.db, site, 7, clock.now())).toEqual([])
  await add('failed').execute(pool.db)
  expect(await surplusBackups(pool.db, site, 7, clock.now())).toHaveLength(7)
  await add('proven').execute(pool.db)
  expect(await surplusBackups(pool.db, site, 7, clock.now())).toHaveLength(14)
})

test.each(['saving', 'updating', 'rolling_back'])(
  'nothing is backed up by itself while an update is %s',
  async (state) => {
    await updateInState(state)
    const { jobs, run } = worker()
    clock.advance(hours(21))
    await run(nightlyJob, {}, AbortSignal.abort(new Error('stopped'))).catch(() => undefined)
    await makeMissing({ db: pool.db, clock, jobs, patienceMs: 0 })
    const made = () =>
      pool.db.selectFrom('site_backup').select('id').where('site_id', '=', site).execute()
    expect(await made()).toEqual([])
    await sql`update site_update set state = 'done', ended_at = now()`.execute(pool.db)
    clock.advance(hours(21))
    await run(nightlyJob, {}, AbortSignal.abort(new Error('stopped'))).catch(() => undefined)
    expect(await made()).toHaveLength(1)
  },
)

test('an archive is tried where its database is, and counts where its server’s is', async () => {
  const control = (database: string): NodeControl => ({
    driver: {
      capabilities: { database },
      prove: async () => ({ ...figures, filesSha256: database }),
    } as unknown as WordpressDriver,
    edge: { markLease: async () => null, renewLease: async () => null } as unknown as EdgeControl,
  })
  const c1 = control('mariadb')
  const nodes = createNodes({
    db: pool.db,
    log: createLog('silent'),
    own: {
      entry: { id: 'main', address: null, sitesAddress: null, regions: null },
      control: control('sqlite'),
    },
    connect: () => ({ control: () => c1, reopen: () => undefined, close: () => undefined }),
    leases: { wholeMs: null, mirroredMs: null },
    notes: false,
    onReachable: () => undefined,
  })
  await putNode(pool.db, { id: 'c1', address: 'c1:7443', sitesAddress: null, regions: null })
  const tried = async (database?: string) =>
    (await nodes.driver.prove('archive', site, database)).filesSha256
  const { jobs, run } = worker()
  const newest = async () => {
    const of = ({ siteId }: { siteId: string }) => siteId === site
    const archive = (await newestArchives(pool.db)).find(of)
    return [archive?.database, (await sitesToSave(pool.db)).find(of)?.proven]
  }
  // Removes backups of other tests' servers.
  await sql`update site_backup set state = 'removed'`.execute(pool.db)
  try {
    await nodes.start()
    // The server is deleted and its node removed: it counts as the first node's.
    expect([await tried('mariadb'), await tried('sqlite'), await tried()]).toEqual([
      'mariadb',
      'sqlite',
      'sqlite',
    ])
    await expect(tried('another')).rejects.toThrow(NowhereToProve)
    // The server moves to a node with the other database, and is suspended there: its archive does
    // not count as a backup.
    await run(makeJob, { backupId: await begin(jobs) })
    await sql`update site_backup set database = 'sqlite' where site_id = ${site}`.execute(pool.db)
    await sql`update node set database = 'sqlite' where id = 'main'`.execute(pool.db)
    expect(await newest()).toEqual(['sqlite', true])
    await sql`update node set database = 'mariadb' where id = 'c1'`.execute(pool.db)
    await sql`update site set node_id = 'c1', status = 'suspended' where id = ${site}`.execute(
      pool.db,
    )
    expect(await newest()).toEqual(['sqlite', false])
    await makeMissing({ db: pool.db, clock, jobs, patienceMs: 0 })
    const { id } = await pool.db
      .selectFrom('site_backup')
      .select('id')
      .where('site_id', '=', site)
      .where('state', '=', 'making')
      .executeTakeFirstOrThrow()
    await run(makeJob, { backupId: id })
    expect(await newest()).toEqual(['mariadb', true])
    await sql`update site set node_id = null where id = ${site}`.execute(pool.db)
    expect(await newest()).toEqual(['sqlite', true])
  } finally {
    nodes.stop()
    await sql`update site set node_id = null where id = ${site}`.execute(pool.db)
    await sql`delete from node where id = 'c1'`.execute(pool.db)
  }
})

test('writes stay held while a restore undoes an update, however long it takes', async () => {
  const { backups, jobs, run } = worker()
  const id = await begin(jobs)
  await run(makeJob, { backupId: id })
  const restore = async () => await transaction(pool.db, (tx) => backups.restore(tx, site, id))
  onRestore = async () => {
    await vi.advanceTimersByTimeAsync(3 * updateHoldMs)
  }
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    // A restore that the owner asked for holds no writes.
    const [asked, undoing] = [await restore(), randomUUID()]
    await run(restoreJob, { restoreId: asked })
    expect(holds).toEqual([])
    await sql`
      insert into site_restore (id, site_id, backup_id, state, asked_at)
      values (${undoing}, ${site}, ${id}, 'restoring', now())`.execute(pool.db)
    await updateInState('rolling_back', undoing)
    await run(restoreJob, { restoreId: undoing })
    expect(holds.length).toBeGreaterThan(3 * 2)
    expect(new Set(holds)).toEqual(new Set([updateHoldMs]))
    const told = holds.length
    await vi.advanceTimersByTimeAsync(3 * updateHoldMs)
    expect(holds).toHaveLength(told)
  } finally {
    vi.useRealTimers()
  }
})
