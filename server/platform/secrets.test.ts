/**
 * The operator's secret can be changed without losing sealed data, and a wrong secret is reported.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { connect, type Pool } from './db.ts'
import { createSecrets, openSecrets, WrongSecret } from './secrets.ts'

const [first, second, third] = ['first', 'second', 'third'].map(
  (name) => `${name} secret of the portal, long enough`,
) as [string, string, string]
let database: TestDatabase
let pool: Pool
beforeEach(async () => {
  database = await testDatabase()
  pool = connect(database.url, 4, () => undefined)
})
afterEach(async () => {
  await pool.close()
  await database.drop()
})
const open = (given: string, previous?: string) => openSecrets(pool.db, given, previous)

test('a database keeps to its secret: another one is refused and changes nothing', async () => {
  const sealed = (await open(first)).seal('letter', 'the code is 123456')
  await expect(open(second)).rejects.toThrow(WrongSecret)
  await expect(open(second)).rejects.toThrow(
    new RegExp(
      /^PORTAL_SECRET is not the one of this database \(fingerprint [0-9a-f]{8}, /.source +
        /the database has [0-9a-f]{8}\)\. .*PORTAL_SECRET_PREVIOUS/.source,
    ),
  )
  await expect(open(second, third)).rejects.toThrow(WrongSecret)
  expect((await open(first)).open('letter', sealed)).toBe('the code is 123456')
})

test('changed, with the former beside it, all that is sealed and derived stays', async () => {
  const before = await open(first)
  const sealed = before.seal('letter', 'the code is 123456')
  for (const [given, previous] of [
    [second, first],
    // The previous secret may stay in the settings, but is not needed again.
    [second, first],
    [second, undefined],
    [third, second],
  ] as const) {
    const now = await open(given, previous)
    expect(now.open('letter', sealed)).toBe('the code is 123456')
    expect(now.derive('statement-key')).toBe(before.derive('statement-key'))
    expect(now.fingerprint('code', '123456')).toEqual(before.fingerprint('code', '123456'))
  }
  await expect(open(first)).rejects.toThrow(WrongSecret)
})

test('a database of an earlier release takes the secret that it was made with', async () => {
  const sealed = createSecrets(first).seal('letter', 'from before')
  expect((await open(first)).open('letter', sealed)).toBe('from before')
})

test('several processes may be the first at once', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => open(first)))
  expect(new Set(all.map((secrets) => secrets.derive('x'))).size).toBe(1)
})
