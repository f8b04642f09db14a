/** Processes with different files use the same prices: those of the newest version. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { eventually } from '../../test/portal.ts'
import { connect, transaction, type Pool } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { parseCatalog } from './load.ts'
import type { Catalog } from './schema.ts'
import {
  followCatalog,
  activateCatalog,
  type CatalogFileText,
  type CatalogVersions,
} from './versions.ts'

const shipped = readFileSync(path.resolve(import.meta.dirname, '../../catalog.yaml'), 'utf8')
const named = (brand: string): string => shipped.replace(/^( +name: )Let’s Panel$/m, `$1${brand}`)
let database: TestDatabase
let pool: Pool
const running: CatalogVersions[] = []
const warnings: string[] = []
const log = {
  info: () => undefined,
  warn: (_detail: object, message: string) => void warnings.push(message),
  error: (_detail: object, message: string) => void warnings.push(message),
} as unknown as Log

beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 6, () => undefined)
})
afterEach(() => {
  for (const one of running.splice(0)) one.stop()
  warnings.length = 0
})
afterAll(async () => {
  await pool.close()
  await database.drop()
})

interface Process {
  readonly catalog: Catalog
  readonly versions: CatalogVersions
  /** The brand that it uses when it prices something. */
  brand(): Promise<string>
  readonly changes: () => number
}
async function start(text: string, origin: string): Promise<Process> {
  const catalog = parseCatalog(text, 'catalog.yaml')
  let changes = 0
  const versions = await followCatalog({
    db: pool.db,
    catalog,
    file: { text, origin },
    log,
    onChange: () => void changes++,
  })
  running.push(versions)
  return {
    catalog,
    versions,
    changes: () => changes,
    brand: () =>
      transaction(pool.db, async (tx) => {
        await versions.hold(tx)
        return catalog.brand.name
      }),
  }
}

const use = async (file: CatalogFileText): Promise<number> =>
  (await transaction(pool.db, (tx) => activateCatalog(tx, file, () => Promise.resolve()))).version

test('a process that starts with another file changes the price of all at once', async () => {
  const first = await start(named('One'), 'a')
  expect([await first.brand(), first.changes()]).toEqual(['One', 0])
  const second = await start(named('Two'), 'b')
  expect([await first.brand(), await second.brand()]).toEqual(['Two', 'Two'])
  expect([first.changes(), second.changes()]).toEqual([1, 0])
  const { rows } = await pool.pool.query<{ origin: string }>(
    'select origin from catalog_version order by version desc',
  )
  expect(rows.map(({ origin }) => origin)).toEqual(['b', 'a'])
})

test('a forgotten file brings no earlier price back; its owner can', async () => {
  const forgotten = await start(named('One'), 'a')
  expect(await forgotten.brand()).toBe('Two')
  expect(warnings).toHaveLength(1)
  // The installation that brought the newest version goes back by a restart with the earlier file.
  const back = await start(named('One'), 'b')
  expect([await back.brand(), await forgotten.brand()]).toEqual(['One', 'One'])
  // The command can do it.
  await use({ text: named('Two'), origin: 'a' })
  expect([await back.brand(), await forgotten.brand()]).toEqual(['Two', 'Two'])
})

test('a price that is being charged stays the newest until it is', async () => {
  const process = await start(named('Two'), 'b')
  let isNew = false
  const held = Promise.withResolvers<void>()
  // Begins outside the transaction, as in another process.
  const activation = held.promise
    .then(() => use({ text: named('Three'), origin: 'b' }))
    .then(() => {
      isNew = true
    })
  await transaction(pool.db, async (tx) => {
    await process.versions.hold(tx)
    held.resolve()
    // The other one waits for this transaction: every price read meanwhile is the same.
    await eventually('the other one waiting', async () => {
      const { rows } = await sql`
        select from pg_locks where locktype = 'advisory' and not granted`.execute(tx)
      return rows.length > 0
    })
    expect([isNew, process.catalog.brand.name]).toEqual([false, 'Two'])
  })
  await activation
  expect(await process.brand()).toBe('Three')
})

test('a version that this release cannot read is not priced by, and is told once', async () => {
  const process = await start(named('Three'), 'b')
  await pool.db
    .insertInto('catalog_version')
    .values({ text: 'plans: none', sha256: Buffer.from('x'), origin: 'newer release' })
    .execute()
  await expect(process.brand()).rejects.toMatchObject({ code: 'unavailable' })
  await expect(process.brand()).rejects.toMatchObject({ code: 'unavailable' })
  expect(warnings).toEqual(['this release cannot read the catalogue'])
  expect(process.catalog.brand.name).toBe('Three')
  await use({ text: named('Four'), origin: 'b' })
  expect(await process.brand()).toBe('Four')
})
