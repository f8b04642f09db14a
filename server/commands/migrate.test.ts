/** Migration as a separate step before new code starts. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { readConfig } from '../config.ts'
import { ConfigFault } from '../platform/config-fault.ts'
import { migrationOf, thisRelease, type Release } from '../platform/migrations.ts'
import { migrateCommand } from './migrate.ts'
import type { Output } from './output.ts'

let database: TestDatabase
let admin: pg.Client
let next: Release
beforeAll(async () => {
  database = await testDatabase()
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  next = {
    number: 9,
    migrations: [
      ...(await thisRelease()).migrations,
      migrationOf(
        '9001_less',
        '-- oldest-release: 8\n-- contract: nobody reads it\ncreate table less ();',
      ),
      migrationOf(
        '9002_index',
        '-- no-transaction\n' +
          'create index concurrently if not exists invoice_total on invoice (total)',
      ),
    ],
  }
})
afterAll(async () => {
  await admin.end()
  await database.drop()
})

const config = readConfig({ NODE_ENV: 'test' })
function recorded() {
  const said: string[] = []
  const fields: Record<string, unknown> = {}
  const out: Output = {
    line: (text) => void said.push(text),
    fields: (values) => void Object.assign(fields, values),
    refuse: (text) => void said.push(text),
    end: () => undefined,
  }
  return { said, fields, out }
}
async function asked(release: Release | undefined, ...args: string[]) {
  const { said, fields, out } = recorded()
  const code = await migrateCommand(config, database.url, args, out, release)
  return { code, said, fields }
}
const tables = async (): Promise<unknown> =>
  (await admin.query("select from pg_class where relname in ('less', 'invoice_total')")).rowCount

test('the plan says what would run and what it demands, and changes nothing', async () => {
  const { code, said, fields } = await asked(next, '--plan')
  expect(code).toBe(0)
  expect(said).toEqual([
    'This is release 9. Release 1 and newer ones may run on the database as it is.',
    'missing: 9001_less  (older releases than 8 can neither run beside it nor come back; ' +
      'contract: nobody reads it)',
    'missing: 9002_index  (without a transaction)',
  ])
  expect(fields).toEqual({
    release: 9,
    oldestRelease: 1,
    appliedByNewerRelease: [],
    missing: [
      {
        name: '9001_less',
        oldestRelease: 8,
        contract: 'nobody reads it',
        inTransaction: true,
      },
      { name: '9002_index', oldestRelease: 1, contract: null, inTransaction: false },
    ],
  })
  expect(await tables()).toBe(0)
  expect(await asked(undefined, '--plan')).toMatchObject({
    code: 0,
    said: [expect.stringMatching(/^This is release /), 'Nothing is missing.'],
  })
})

test('migrating applies it once, and an older release is refused with the plan told', async () => {
  expect(await asked(next)).toMatchObject({
    code: 0,
    said: ['applied: 9001_less', 'applied: 9002_index', '2 applied.'],
    fields: { release: 9, applied: ['9001_less', '9002_index'] },
  })
  expect(await tables()).toBe(2)
  expect(await asked(next)).toMatchObject({ code: 0, said: ['Nothing is missing.'] })

  const { said, fields, out } = recorded()
  const plan = migrateCommand(config, database.url, ['--plan'], out)
  await expect(plan).rejects.toThrow(ConfigFault)
  expect(said).toContain('applied by a newer release: 9001_less')
  expect(fields).toMatchObject({
    oldestRelease: 8,
    appliedByNewerRelease: ['9001_less', '9002_index'],
    missing: [],
  })
  await expect(migrateCommand(config, database.url, [], out)).rejects.toThrow(ConfigFault)
})

test('what it does not know it does not do', async () => {
  expect(await asked(next, '--nonsense')).toMatchObject({
    code: 64,
    said: [expect.stringContaining('--plan')],
  })
})
