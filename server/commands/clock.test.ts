/** The clock of a portal with the sandbox, moved from the shell while it runs. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { eventually } from '../../test/portal.ts'
import { readConfig } from '../config.ts'
import { clockChannel, createTravellingClock, days } from '../platform/clock.ts'
import { createLog } from '../platform/log.ts'
import { createNotices } from '../platform/notices.ts'
import { connect, migrate, type Pool } from '../platform/db.ts'
import { createOutput } from './output.ts'
import { clockCommand, offsetAfter } from './clock.ts'

const wall = new Date('2027-01-01T00:00:00Z')

test.each([
  ['+3d', 0, days(3)],
  ['+3d', days(2), days(5)],
  ['-90m', 0, -5_400_000],
  ['reset', days(9), 0],
  ['2027-01-31T00:00Z', days(9), days(30)],
  ['2027-01-31', 0, days(30)],
  ['2027-01-31T07:00:00+07:00', 0, days(30)],
  ['tomorrow', 0, undefined],
  ['+3', 0, undefined],
  ['2027-13-01', 0, undefined],
  ['', 0, undefined],
])('%s from %i ms', (wanted, offset, moved) => {
  expect(offsetAfter(wanted, offset, wall)).toBe(moved)
})

let database: TestDatabase
let pool: Pool
beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 2, () => undefined)
  await migrate(database.url)
})
afterAll(async () => {
  await pool.close()
  await database.drop()
})

const sandboxed = readConfig({ NODE_ENV: 'test' })

test('the running portal follows within a second, and is told', async () => {
  const clock = createTravellingClock()
  const notices = createNotices(database.url, createLog('silent'))
  await notices.start()
  let moves = 0
  const stop = await clock.follow(pool.db, notices, () => (moves += 1))
  const ahead = () => clock.now().getTime() - Date.now()
  expect(await clockCommand(sandboxed, database.url, ['+31d'], createOutput(false))).toBe(0)
  await eventually('the clock following', async () => Math.abs(ahead() - days(31)) < 50, 1)
  expect(await clockCommand(sandboxed, database.url, ['reset'], createOutput(false))).toBe(0)
  await eventually('the clock coming back', async () => Math.abs(ahead()) < 50, 1)
  expect(moves).toBe(2)
  stop()
  await notices.stop()
})

test('a second move that is told while the first is looked at is followed too', async () => {
  let opened = Promise.withResolvers<void>()
  opened.resolve()
  let reads = 0
  // The result arrives late: the offset may have changed meanwhile.
  const slow = pool.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      reads += 1
      await opened.promise
      return result
    },
  })
  const clock = createTravellingClock()
  const notices = createNotices(database.url, createLog('silent'))
  await notices.start()
  const stop = await clock.follow(slow, notices, () => undefined)
  const quiet = reads
  opened = Promise.withResolvers()
  notices.tell(clockChannel, 'look')
  await eventually('the look', async () => reads > quiet)
  expect(await clockCommand(sandboxed, database.url, ['+31d'], createOutput(false))).toBe(0)
  // Notices arrive in order: this one comes after the command's.
  const heard = Promise.withResolvers<void>()
  notices.on('portal_clock_test', { onNotice: () => heard.resolve() })
  await eventually('a notice', async () => {
    notices.tell('portal_clock_test', 'now')
    return await Promise.race([heard.promise.then(() => true), pause(50).then(() => false)])
  })
  opened.resolve()
  const ahead = () => clock.now().getTime() - Date.now()
  await eventually('the clock following', async () => Math.abs(ahead() - days(31)) < 50, 5)
  stop()
  await notices.stop()
})

test('refused without the sandbox, and for what is no time', async () => {
  expect(
    await clockCommand(
      { ...sandboxed, sandbox: false },
      database.url,
      ['+1d'],
      createOutput(false),
    ),
  ).toBe(1)
  expect(await clockCommand(sandboxed, database.url, ['soon'], createOutput(false))).toBe(64)
})
