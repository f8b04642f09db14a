/**
 * Durable jobs: those that gave up are listed and can be started again, and repeated ones do not
 * pile up.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { jobsIdle } from '../../test/idle-jobs.ts'
import { connect, transaction, type Pool } from './db.ts'
import { givenUpByQueue, givenUpJobs, queueStates, startAgain } from './job-inspection.ts'
import { createJobs, type JobDefinition, type Jobs } from './jobs.ts'
import { createLog } from './log.ts'

let database: TestDatabase
let pool: Pool
let jobs: Jobs
beforeEach(async () => {
  database = await testDatabase()
  pool = connect(database.url, 4, () => undefined)
})
afterEach(async () => {
  await jobs.stop()
  await pool.close()
  await database.drop()
})
async function start(...definitions: JobDefinition<{ n: number }>[]): Promise<void> {
  jobs = createJobs(database.url, createLog('silent'))
  for (const each of definitions) jobs.define(each)
  await jobs.start()
}
const add = (name: string, n?: number): Promise<void> =>
  transaction(pool.db, (tx) => jobs.add(tx, name, n === undefined ? {} : { n }))

describe('a job that gave up', () => {
  test('is counted, told with its reason, and runs again when it is asked for', async () => {
    let broken = true
    const ended: number[] = []
    await start({
      name: 'fragile',
      retries: 1,
      retryDelaySeconds: 0,
      run: async ({ n }) => {
        if (broken) throw new Error(`the outside world is away for ${n}`)
        ended.push(n)
      },
    })
    await add('fragile', 1)
    await add('fragile', 2)
    await expect.poll(() => givenUpByQueue(pool.db)).toEqual(new Map([['fragile', 2]]))
    const [newest, oldest] = await givenUpJobs(pool.db, { limit: 10 })
    expect([newest, oldest].map((each) => each?.reason ?? '').toSorted()).toEqual([
      'the outside world is away for 1',
      'the outside world is away for 2',
    ])
    expect(oldest).toMatchObject({ queue: 'fragile', attempts: 2 })
    expect((await queueStates(pool.db)).find(({ queue }) => queue === 'fragile')).toMatchObject({
      waiting: 0,
      running: 0,
      givenUp: 2,
    })

    broken = false
    expect(await startAgain(pool.db, { ids: [oldest?.id ?? '', 'no id'] })).toBe(1)
    await expect.poll(() => ended.length).toBe(1)
    expect(await startAgain(pool.db, { queue: 'another' })).toBe(0)
    expect(await startAgain(pool.db, { queue: 'fragile' })).toBe(1)
    await expect.poll(() => ended.toSorted((a, b) => a - b)).toEqual([1, 2])
    expect(await givenUpByQueue(pool.db)).toEqual(new Map())
    expect(await startAgain(pool.db, { all: true })).toBe(0)
  })

  test('never gives up where the work must end well', { timeout: 90_000 }, async () => {
    let runs = 0
    await start({
      name: 'lasting',
      retries: 'unlimited',
      retryDelaySeconds: 1,
      longestDelaySeconds: 1,
      run: async (_payload, { last }) => {
        expect(last).toBe(false)
        if (++runs < 3) throw new Error('not yet')
      },
    })
    await add('lasting')
    // As if it had failed for weeks: neither the number of tries nor the days end it.
    await sql`update pgboss.job set retry_count = 5000, created_on = created_on - interval '15 days'
      where name = 'lasting'`.execute(pool.db)
    const { rows } = await sql<{ days: number }>`
      select extract(epoch from keep_until - now()) / 86400 as days from pgboss.job
      where name = 'lasting'`.execute(pool.db)
    expect(Number(rows[0]?.days)).toBeGreaterThan(365)
    // pg-boss takes some seconds to each retry.
    await expect.poll(() => runs, { timeout: 60_000 }).toBe(3)
    await jobsIdle(pool.db)
    expect(await givenUpByQueue(pool.db)).toEqual(new Map())
  })

  test('that runs by itself every so often counts until it ended well once more', async () => {
    let broken = true
    await start({
      name: 'swept',
      cron: '0 0 1 1 *',
      retries: 0,
      run: async () => {
        if (broken) throw new Error('the database was away')
      },
    })
    await add('swept')
    await expect.poll(() => givenUpByQueue(pool.db)).toEqual(new Map([['swept', 1]]))
    broken = false
    await add('swept')
    await expect.poll(() => givenUpByQueue(pool.db)).toEqual(new Map())
  })
})

describe('the queues of a release', () => {
  const queues = async (): Promise<unknown[]> =>
    (
      await sql`select q.name, q.retry_limit, q.updated_on, s.cron, s.updated_on as scheduled_on
        from pgboss.queue q left join pgboss.schedule s on s.name = q.name
        where q.name like 'kept%' order by q.name`.execute(pool.db)
    ).rows
  const run = async (): Promise<void> => undefined

  test('stand as they are at the next start, which changes what differs', async () => {
    await start({ name: 'kept', run }, { name: 'kept-cron', cron: '0 0 1 1 *', run })
    const first = await queues()
    expect(first).toMatchObject([
      { retry_limit: 8, cron: null },
      { retry_limit: 8, cron: '0 0 1 1 *' },
    ])
    await jobs.stop()
    await start({ name: 'kept', run }, { name: 'kept-cron', cron: '0 0 1 1 *', run })
    expect(await queues()).toEqual(first)
    await jobs.stop()
    await start({ name: 'kept', retries: 3, run }, { name: 'kept-cron', cron: '0 0 2 1 *', run })
    expect(await queues()).toMatchObject([
      { retry_limit: 3, cron: null },
      { retry_limit: 8, cron: '0 0 2 1 *' },
    ])
  })
})

describe('a job that runs by itself every so often', () => {
  test('waits at most once while one is under way', async () => {
    let runs = 0
    let end: (() => void) | undefined
    await start({
      name: 'slow-sweep',
      cron: '0 0 1 1 *',
      run: async () => {
        runs += 1
        if (runs === 1) await new Promise<void>((resolve) => (end = resolve))
      },
    })
    await add('slow-sweep')
    await expect.poll(() => runs).toBe(1)
    for (let minute = 0; minute < 5; minute++) await add('slow-sweep')
    expect((await queueStates(pool.db)).find(({ queue }) => queue === 'slow-sweep')).toMatchObject({
      waiting: 1,
      running: 1,
    })
    end?.()
    await jobsIdle(pool.db)
    expect(runs).toBe(2)
  })

  test('takes no payload, which one that waits would swallow', async () => {
    await start(
      { name: 'swallowing', cron: '0 0 1 1 *', run: async () => undefined },
      { name: 'keeping', run: async () => undefined },
    )
    await expect(add('swallowing', 1)).rejects.toThrow(/job swallowing runs by itself/)
    await add('swallowing')
    await add('keeping', 1)
  })

  test('takes this rule over in a database of an earlier release', async () => {
    await start({ name: 'older', run: async () => undefined })
    await jobs.stop()
    await start({ name: 'older', cron: '0 0 1 1 *', run: async () => undefined })
    const { rows } = await sql`select policy from pgboss.queue where name = 'older'`.execute(
      pool.db,
    )
    expect(rows).toEqual([{ policy: 'short' }])
  })
})

describe('jobs that wait', () => {
  test('begin by priority, and one takes the place of its like', async () => {
    const ran: number[] = []
    let end: (() => void) | undefined
    await start({
      name: 'queued',
      run: async ({ n }) => {
        ran.push(n)
        if (n === 0) await new Promise<void>((resolve) => (end = resolve))
      },
    })
    await add('queued', 0)
    await expect.poll(() => ran).toEqual([0])
    const later = new Date(Date.now() + 3_600_000)
    await transaction(pool.db, async (tx) => {
      await jobs.add(tx, 'queued', { n: 1 })
      await jobs.add(tx, 'queued', { n: 2 }, { priority: 1 })
      await jobs.add(tx, 'queued', { n: 3 }, { startAfter: later })
      await jobs.add(tx, 'queued', { n: 4 }, { startAfter: later, replaces: true })
      await jobs.add(tx, 'queued', { n: 4 }, { replaces: true })
    })
    end?.()
    await jobsIdle(pool.db)
    expect([ran[1], ran.slice(1).toSorted((a, b) => (a ?? 0) - (b ?? 0))]).toEqual([2, [1, 2, 4]])
    const { rows } = await sql`select data from pgboss.job where name = 'queued'
      and state = 'created'`.execute(pool.db)
    expect(rows).toEqual([{ data: { n: 3 } }])
  })
})
