/** Publications concurrent with pricing, and the text that they write into the catalogue. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { Selling } from '../../contract/operator-catalog.ts'
import { testDatabase, type TestDatabase } from '../../test/database.ts'
import { eventually, manualClock } from '../../test/portal.ts'
import { days, hours, later } from '../platform/clock.ts'
import { connect, transaction, type Pool } from '../platform/db.ts'
import { createJobs } from '../platform/jobs.ts'
import type { Log } from '../platform/log.ts'
import { changesBetween, changesMuch } from './changes.ts'
import { parseCatalog } from './load.ts'
import {
  definePublications,
  preparePublication,
  publishCatalog,
  type Publications,
} from './publish.ts'
import { sellingOf, writeSelling } from './selling.ts'
import {
  activateCatalog,
  followCatalog,
  newestVersion,
  versionRow,
  type CatalogFileText,
} from './versions.ts'

const shipped = readFileSync(path.resolve(import.meta.dirname, '../../catalog.yaml'), 'utf8')
const silent = { info() {}, warn() {}, error() {} } as unknown as Log
const clock = manualClock(new Date('2027-03-02T03:00:00Z'))
const author = { staffId: null, name: 'Lan', approvedBy: null }
let database: TestDatabase
let pool: Pool
let [here, there]: Publications[] = []
beforeAll(async () => {
  database = await testDatabase()
  pool = connect(database.url, 8, () => undefined)
  // The jobs of two processes; tests start each run, and no schedule does.
  ;[here, there] = [1, 2].map(() =>
    definePublications({
      db: pool.db,
      clock,
      log: silent,
      jobs: createJobs(database.url, silent, 'send'),
      tell: async () => undefined,
      onCount: () => undefined,
    }),
  )
})
afterAll(async () => {
  await pool.close()
  await database.drop()
})

const follow = async (origin: string) => {
  const catalog = parseCatalog(shipped, 'catalog.yaml')
  const file = { text: shipped, origin }
  const onChange = () => undefined
  const versions = await followCatalog({ db: pool.db, catalog, file, log: silent, onChange })
  const price = () =>
    transaction(pool.db, async (tx) => {
      await versions.hold(tx)
      return catalog.plans[0]?.prices.VND.price
    })
  return { catalog, versions, price }
}
/** The present offer with another price of the first plan. */
async function at(price: string): Promise<{ base: number; selling: Selling }> {
  const row = await newestVersion(pool.db)
  if (!row) throw new Error('there is a version')
  const selling = sellingOf(parseCatalog(row.text, 'newest'))
  const [first, ...others] = selling.plans
  if (!first) throw new Error('there is a plan')
  const prices = { ...first.prices, VND: { price, sale: '' } }
  return { base: row.version, selling: { ...selling, plans: [{ ...first, prices }, ...others] } }
}
const use = async (file: CatalogFileText): Promise<number> =>
  (await transaction(pool.db, (tx) => activateCatalog(tx, file, () => Promise.resolve()))).version
const publish = (wanted: Parameters<typeof preparePublication>[2]) =>
  transaction(pool.db, (tx) => publishCatalog(tx, clock, author, { wanted, reason: 'spring' }))

test('counts once, on every process, and not while a price is being charged', async () => {
  const [one, other] = [await follow('a'), await follow('b')]
  const from = later(clock.now(), days(1))
  await publish({ ...(await at('95000')), from: from.toISOString() })
  // Before its moment, the job does not wait for a transaction that prices, nor block one.
  const isHeld = Promise.withResolvers<void>()
  const looked = isHeld.promise.then(() => here?.countDue())
  await transaction(pool.db, async (tx) => {
    await one.versions.hold(tx)
    isHeld.resolve()
    await looked
  })
  expect(await one.price()).toBe(89_000)
  clock.advance(days(1))
  const held = Promise.withResolvers<void>()
  // Both jobs are due and begin outside the transaction that prices.
  const counted = held.promise.then(() => Promise.all([here?.countDue(), there?.countDue()]))
  await transaction(pool.db, async (tx) => {
    await one.versions.hold(tx)
    held.resolve()
    await eventually('both jobs wait', async () => {
      const { rows } = await sql`
        select from pg_locks where locktype = 'advisory' and not granted`.execute(tx)
      return rows.length === 2
    })
    expect(one.catalog.plans[0]?.prices.VND.price).toBe(89_000)
  })
  await counted
  expect([await one.price(), await other.price()]).toEqual([95_000, 95_000])
  expect((await newestVersion(pool.db))?.version).toBe(2)
  one.versions.stop()
  other.versions.stop()
})

test('keeps comments and everything else of the text, and says only what differs', async () => {
  const { text = '' } = (await newestVersion(pool.db)) ?? {}
  const lines = (of: string) => new Set(of.split('\n').map((line) => line.trim()))
  // Long lines are wrapped differently, but every comment and text is kept word for word.
  const comments = shipped.split('\n').filter((line) => line.trim().startsWith('#'))
  expect(comments.filter((line) => !lines(text).has(line.trim()))).toEqual([])
  const [before, after] = [shipped, text].map((one) => parseCatalog(one, 'catalog.yaml'))
  if (!before || !after) throw new Error('both are there')
  expect({ ...after, plans: [] }).toEqual({ ...before, plans: [] })
  expect(changesBetween(sellingOf(before), sellingOf(after))).toEqual([
    {
      of: 'plan',
      name: 'BASIC-1',
      field: 'price',
      currency: 'VND',
      before: '89000',
      after: '95000',
    },
  ])
})

test('is written anew where the lists use anchors', async () => {
  const shared = shipped
    .replace('      VND: { price: 89000 }', '      VND: &first { price: 89000 }')
    .replace('      VND: { price: 1890000 }', '      VND: *first')
  const selling = sellingOf(parseCatalog(shared, 'catalog.yaml'))
  expect(selling.plans[4]?.prices.VND.price).toBe('89000')
  const plans = selling.plans.map((plan) =>
    plan.id === 5
      ? { ...plan, prices: { ...plan.prices, VND: { price: '99000', sale: '' } } }
      : plan,
  )
  const written = parseCatalog(writeSelling(shared, { ...selling, plans }), 'catalog.yaml')
  expect(written.plans.map(({ prices }) => prices.VND.price)).toEqual([
    89_000, 189_000, 489_000, 989_000, 99_000,
  ])
})

test('gives no number of a plan to another one, also where a file has deleted it', async () => {
  const { base, selling } = await at('95000')
  const [first] = selling.plans
  if (!first) throw new Error('there is a plan')
  const copy = { ...first, id: null, name: 'NEW' }
  await publish({ base, selling: { ...selling, plans: [...selling.plans, copy] } })
  const { text = '' } = (await newestVersion(pool.db)) ?? {}
  // Plan 6 is the last plan in the file.
  const shorter = text.replace(/ {2}- id: 6\n(?: {4}.*\n)*/, '')
  await use({ text: shorter, origin: 'a' })
  const now = await at('95000')
  expect(now.selling.plans.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
  const wrong = { ...now.selling, plans: [...now.selling.plans, { ...copy, id: 6 }] }
  await expect(publish({ base: now.base, selling: wrong })).rejects.toMatchObject({
    code: 'invalid_input',
    fields: { 'plans.5.name': { en: 'Its number is, or was, that of another one.' } },
  })
  await publish({
    base: now.base,
    selling: { ...now.selling, plans: [...now.selling.plans, copy] },
  })
  expect((await at('1')).selling.plans.at(-1)).toMatchObject({ id: 7, name: 'NEW' })
})

test('goes on where only the brand of a file changed, and not where what is sold did', async () => {
  const wanted = { ...(await at('96000')), from: later(clock.now(), hours(1)).toISOString() }
  await publish(wanted)
  const { text = '' } = (await versionRow(pool.db, wanted.base)) ?? {}
  const branded = text.replace('email: support@example.com', 'email: help@example.com')
  await use({ text: branded, origin: 'a' })
  clock.advance(hours(2))
  await here?.countDue()
  const newest = await newestVersion(pool.db)
  expect(newest).toMatchObject({ source: 'desk' })
  const catalog = parseCatalog(newest?.text ?? '', 'newest')
  expect([catalog.support.email, catalog.plans[0]?.prices.VND.price]).toEqual([
    'help@example.com',
    96_000,
  ])
  // `use` makes files decide again, even with the present text; a second `use` changes nothing.
  const text2 = newest?.text ?? ''
  const used = await use({ text: text2, origin: 'a' })
  expect(await newestVersion(pool.db)).toMatchObject({ version: used, source: 'use' })
  expect(used).toBe((newest?.version ?? 0) + 1)
  expect(await use({ text: text2, origin: 'a' })).toBe(used)
  const started = await follow('a')
  expect(await started.price()).toBe(89_000)
  started.versions.stop()
  // A publication based on the version before still works, because that version sells the same as
  // the one with the new brand.
  await expect(publish({ ...wanted, from: undefined })).rejects.toMatchObject({ code: 'conflict' })
})

test('is a large change above a fifth of the price asked, and with a new plan', async () => {
  const { selling } = await at('100000')
  const to = (price: string, sale = ''): Selling => ({
    ...selling,
    plans: selling.plans.map((plan) =>
      plan.id === 1 ? { ...plan, prices: { ...plan.prices, VND: { price, sale } } } : plan,
    ),
  })
  const verdicts = [
    to('120000'),
    to('120001'),
    to('80000'),
    to('79999'),
    to('200000', '110000'),
    to('100000', '70000'),
  ].map((after) => changesMuch(selling, after))
  expect(verdicts).toEqual([false, true, false, true, false, true])
  const [plan] = selling.plans
  if (!plan) throw new Error('there is a plan')
  const plans = [...selling.plans, { ...plan, id: 99, name: 'NEW' }]
  expect(changesMuch(selling, { ...selling, plans })).toBe(true)
  const free = { ...selling.disks.mariadbPerGb, VND: '1' }
  const disks = { ...selling.disks, mariadbPerGb: free }
  expect(changesMuch(selling, { ...selling, disks })).toBe(true)
})
