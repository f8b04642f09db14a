/** The night with many servers: few backups at once, and every server gets one. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { manualClock } from '../../test/portal.ts'
import { hours, minutes } from '../platform/clock.ts'
import { connect, type Pool } from '../platform/db.ts'
import type { JobDefinition, Jobs } from '../platform/jobs.ts'
import { createLog } from '../platform/log.ts'
import { defineNightlyBackups, nightlyJob } from './nightly-backups.ts'

const clock = manualClock()
const customer = randomUUID()
let database: TestDatabase
let pool: Pool

/**
 * One round of a worker, which is stopped once it has begun as many backups as there is room for.
 */
async function round(): Promise<void> {
  const defined = new Map<string, JobDefinition<object>>()
  const jobs = {
    define: (job: JobDefinition<object>) => void defined.set(job.name, job),
  } as unknown as Jobs
  defineNightlyBackups({
    db: pool.db,
    clock,
    log: createLog('silent'),
    jobs,
    async begin(tx, siteId) {
      const id = randomUUID()
      await tx
        .insertInto('site_backup')
        .values({ id, site_id: siteId, kind: 'nightly', state: 'making', created_at: clock.now() })
        .execute()
      return id
    },
    removeAll: async () => undefined,
    deletedSince: () => clock.now(),
  })
  const signal = AbortSignal.abort(new Error('stopped'))
  await defined
    .get(nightlyJob)
    ?.run({}, { number: 1, last: true, signal })
    .catch((error: unknown) => {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error
    })
}
const count = async (where: string): Promise<number> => {
  const { rows } = await sql
    .raw<{ n: number }>(`select count(*)::int as n from site_backup where ${where}`)
    .execute(pool.db)
  return rows[0]?.n ?? -1
}
const finishAll = () => sql`update site_backup set state = 'failed'`.execute(pool.db)

beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 8, () => undefined)
  await sql`
    insert into customer (id, email, phone, name, password_hash, region_code, created_at)
    values (${customer}, 'an@example.vn', '+841', 'An', 'x', 'VN', now())`.execute(pool.db)
  await sql`
    insert into site (id, customer_id, name, status, plan_id, plan_name, cpu, ram_mb, disk_mb,
      mariadb_disk_mb, containers, region_id, region_name, language, price, currency, admin_user,
      created_at)
    select gen_random_uuid(), ${customer}, 'site-' || n, 'running', 1, 'BASIC-1', 1, 512, 10240,
      10240, 1, 1, 'Hà Nội', 'vi', 218000, 'VND', 'an', now()
    from generate_series(1, 130) n`.execute(pool.db)
})
afterAll(async () => {
  await pool.close()
  await database.drop()
})

test('few are under way at once, and each server has one', async () => {
  await round()
  await round()
  expect(await count("state = 'making'")).toBe(60)
  await finishAll()
  await round()
  await finishAll()
  await round()
  expect(await count('true')).toBe(130)
  const { rows } = await sql`select count(distinct site_id)::int as n from site_backup`.execute(
    pool.db,
  )
  expect(rows).toEqual([{ n: 130 }])
  await finishAll()
})

test('the next night begins with those that the last one came to late, or not at all', async () => {
  await sql`delete from site_backup`.execute(pool.db)
  await sql`update site set nightly_backup_at = ${clock.now()}::timestamptz
    + (substr(name, 6)::int || ' seconds')::interval`.execute(pool.db)
  await sql`update site set nightly_backup_at = 'epoch' where name = 'site-130'`.execute(pool.db)
  clock.advance(hours(20) + 50_000)
  await round()
  const { rows } = await sql<{ name: string }>`
    select s.name from site_backup b join site s on s.id = b.site_id order by b.seq
  `.execute(pool.db)
  expect(rows.length).toBe(51)
  expect(rows[0]?.name).toBe('site-130')
  expect(rows[1]?.name).toBe('site-1')
})

test('a server that is being copied is tried again ten minutes later', async () => {
  await sql`delete from site_backup`.execute(pool.db)
  await sql`update site set nightly_backup_at = ${clock.now()}`.execute(pool.db)
  await sql`update site set nightly_backup_at = 'epoch' where name = 'site-1'`.execute(pool.db)
  await sql`
    insert into site_backup (id, site_id, kind, state, created_at)
    select gen_random_uuid(), id, 'manual', 'making', now() from site where name = 'site-1'
  `.execute(pool.db)
  await round()
  expect(await count('true')).toBe(1)
  await finishAll()
  await round()
  expect(await count('true')).toBe(1)
  clock.advance(minutes(10))
  await round()
  expect(await count("kind = 'nightly'")).toBe(1)
})
