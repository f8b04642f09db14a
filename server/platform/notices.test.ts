/** Notices between two processes, and jobs and their moments found without a poll. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { eventually } from '../../test/portal.ts'
import { connect, transaction, type Pool } from './db.ts'
import { createJobs } from './jobs.ts'
import { createLog } from './log.ts'
import { createNotices } from './notices.ts'

let database: TestDatabase
let pool: Pool
const log = createLog('silent')

beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 4, () => undefined)
})
afterAll(async () => {
  await pool.close()
  await database.drop()
})

test('what is told together arrives once at everybody who listens, whatever its size', async () => {
  const [teller, hearer] = [createNotices(database.url, log), createNotices(database.url, log)]
  const heard: string[] = []
  const payloads: string[] = []
  for (const notices of [teller, hearer])
    notices.on('portal_test', {
      onNotice(payload) {
        if (notices === teller) return
        payloads.push(payload)
        heard.push(...payload.split(' '))
      },
    })
  await teller.start()
  await hearer.start()
  const names = Array.from({ length: 1000 }, (_, index) => `domain-${index}.example.vn`)
  for (const name of names) teller.tell('portal_test', name)
  for (const name of names) teller.tell('portal_test', name)
  await eventually('all of them', async () => heard.length === names.length)
  expect(heard).toEqual(names)
  expect(payloads.length).toBeLessThan(5)
  await teller.stop()
  await hearer.stop()
})

test('a connection that breaks comes back, and says that something may be lost', async () => {
  const notices = createNotices(database.url, log)
  const connects: boolean[] = []
  notices.on('portal_test', {
    onNotice: () => undefined,
    onConnect: (again) => void connects.push(again),
  })
  await notices.start()
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'portal-listen' and datname = current_database()`.execute(pool.db)
  await eventually('another connection', async () => connects.length === 2)
  expect(connects).toEqual([false, true])
  expect(notices.isConnected()).toBe(true)
  await notices.stop()
})

test('a job begins soon: added elsewhere, at its moment, or after a failure', async () => {
  const [adding, working] = [createNotices(database.url, log), createNotices(database.url, log)]
  const sender = createJobs(database.url, log, 'send', adding)
  const worker = createJobs(database.url, log, 'work', working)
  const begun: { kind: string; at: number }[] = []
  worker.define<{ kind: string }>({
    name: 'soon',
    retries: 1,
    async run({ kind }, { number }) {
      begun.push({ kind: `${kind} ${number}`, at: Date.now() })
      if (kind === 'fails' && number === 1) throw new Error('once')
    },
  })
  await adding.start()
  await working.start()
  await worker.start()
  await sender.start()
  try {
    const latencyOf = async (kind: string, by: typeof sender, startAfter?: Date) => {
      const from = startAfter?.getTime() ?? Date.now()
      const options = startAfter ? { startAfter } : {}
      await transaction(pool.db, (tx) => by.add(tx, 'soon', { kind }, options))
      const ran = await eventually('the job', async () =>
        begun.find((one) => one.kind === `${kind} 1`),
      )
      return ran.at - from
    }
    // A look every three seconds alone would find most of them later.
    for (let round = 0; round < 4; round++)
      expect(await latencyOf(`elsewhere ${round}`, sender)).toBeLessThan(1000)
    for (let round = 0; round < 3; round++) {
      const moment = new Date(Date.now() + 1500)
      const late = await latencyOf(`at its moment ${round}`, worker, moment)
      expect(late).toBeGreaterThanOrEqual(-50)
      expect(late).toBeLessThan(1000)
    }
    await latencyOf('fails', worker)
    const first = begun.find(({ kind }) => kind === 'fails 1')
    const second = await eventually('the second try', async () =>
      begun.find(({ kind }) => kind === 'fails 2'),
    )
    // The second try follows after one or two seconds (pg-boss adds a random part).
    expect(second.at - (first?.at ?? 0)).toBeLessThan(3500)
  } finally {
    await worker.stop()
    await sender.stop()
    await adding.stop()
    await working.stop()
  }
})
