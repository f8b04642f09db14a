/**
 * The catalogue that is in use: the newest version in the database. A process that starts with
 * another file makes it the newest, and those that run take it over; before it prices anything a
 * process looks whether it is still the newest, under a lock that a new version waits for.
 */
import { createHash } from 'node:crypto'
import os from 'node:os'
import { sql } from 'kysely'
import { transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { lockKeys } from '../platform/lock-keys.ts'
import type { Log } from '../platform/log.ts'
import { CatalogFault, parseCatalog } from './load.ts'
import type { Catalog } from './schema.ts'

export interface CatalogFileText {
  readonly text: string
  /** The installation that has it: host name and data folder. */
  readonly origin: string
}

/** Names this installation. */
export const originOf = (dataDir: string): string => `${os.hostname()}:${dataDir}`

export interface CatalogVersions {
  /**
   * In a transaction that prices something: the catalogue is the newest until it ends. Refuses with
   * unavailable where this release cannot read the newest one.
   */
  hold(tx: Tx): Promise<void>
  /** Takes a newer version over; without one nothing happens. */
  look(): Promise<void>
  stop(): void
}

/** How soon screens show the prices of a version that another process brought. */
const lookMs = 20_000

interface Row {
  readonly version: number
  readonly text: string
  readonly sha256: Buffer
  readonly origin: string
}
const newest = (db: Queryable): Promise<Row | undefined> =>
  db
    .selectFrom('catalog_version')
    .select(['version', 'text', 'sha256', 'origin'])
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()

/** Everybody who has `target` has the content of `fresh` from now on. */
function replaceContent(target: Catalog, fresh: Catalog): void {
  const content = target as unknown as Record<string, unknown>
  for (const key of Object.keys(content)) if (!(key in fresh)) delete content[key]
  Object.assign(content, fresh)
}

/**
 * Makes the file of a starting process the newest version, unless it is already, or was before and
 * another installation has brought a newer one since: that file was forgotten, or has been brought
 * back by a restart. Answers the version in use.
 */
async function claim(db: Database, { text, origin }: CatalogFileText, log: Log): Promise<Row> {
  const sha256 = createHash('sha256').update(text).digest()
  return await transaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${lockKeys.catalog})`.execute(tx)
    const present = await newest(tx)
    if (present?.sha256.equals(sha256)) return present
    if (present && present.origin !== origin) {
      const former = await tx
        .selectFrom('catalog_version')
        .select('version')
        .where('sha256', '=', sha256)
        .executeTakeFirst()
      if (former) {
        log.warn(
          { file: former.version, inUse: present.version, from: present.origin },
          'the catalogue file of this machine is an earlier one: the newest stays in use ' +
            '(`npm run portal -- catalog use` makes this file the newest)',
        )
        return present
      }
    }
    return await add(tx, { text, origin })
  })
}

const add = (tx: Tx, { text, origin }: CatalogFileText): Promise<Row> =>
  tx
    .insertInto('catalog_version')
    .values({ text, origin, sha256: createHash('sha256').update(text).digest() })
    .returning(['version', 'text', 'sha256', 'origin'])
    .executeTakeFirstOrThrow()

/** Makes a catalogue the newest, whatever it was before; answers its version; or CatalogFault. */
export async function activateCatalog(db: Database, file: CatalogFileText): Promise<number> {
  parseCatalog(file.text, 'the catalogue')
  return await transaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${lockKeys.catalog})`.execute(tx)
    const present = await newest(tx)
    return present?.text === file.text ? present.version : (await add(tx, file)).version
  })
}

/** Newest first, without their texts. */
export const listCatalogs = (
  db: Queryable,
): Promise<{ version: number; origin: string; at: Date }[]> =>
  db
    .selectFrom('catalog_version')
    .select(['version', 'origin', 'at'])
    .orderBy('version', 'desc')
    .limit(50)
    .execute()

/**
 * Brings `catalog`, which the whole process has, to the version in use and keeps it there.
 *
 * @param onChange called after each newer version, not for the first one
 */
export async function followCatalog(parts: {
  readonly db: Database
  readonly catalog: Catalog
  readonly file: CatalogFileText
  readonly log: Log
  readonly onChange: () => void
}): Promise<CatalogVersions> {
  const { db, catalog, log } = parts
  let present = 0
  /** A version that this release cannot read. */
  let unreadable: number | undefined

  function take(row: Row): boolean {
    if (row.version === present) return true
    if (row.version === unreadable) return false
    try {
      replaceContent(catalog, parseCatalog(row.text, `catalogue version ${row.version}`))
    } catch (error) {
      if (!(error instanceof CatalogFault)) throw error
      unreadable = row.version
      log.error({ err: error, version: row.version }, 'this release cannot read the catalogue')
      return false
    }
    const isFirst = present === 0
    present = row.version
    log.info({ version: present, from: row.origin }, 'the catalogue in use')
    if (!isFirst) parts.onChange()
    return true
  }

  const versionNow = async (from: Queryable): Promise<number> => {
    const { version } = await from
      .selectFrom('catalog_version')
      .select((eb) => eb.fn.max('version').as('version'))
      .executeTakeFirstOrThrow()
    return Number(version ?? 0)
  }
  async function look(from: Queryable = db): Promise<boolean> {
    if ((await versionNow(from)) === present) return true
    const row = await newest(from)
    return row === undefined || take(row)
  }

  const first = await claim(db, parts.file, log)
  if (!take(first))
    throw new CatalogFault(`Version ${first.version} of the catalogue is not valid here.`)
  const timer = setInterval(() => {
    look().catch((error: unknown) => log.warn({ err: error }, 'looking at the catalogue'))
  }, lookMs)
  timer.unref()

  return {
    async hold(tx) {
      // Two statements: the second one sees what was committed while the first one waited.
      await sql`select pg_advisory_xact_lock_shared(${lockKeys.catalog})`.execute(tx)
      if (!(await look(tx))) throw new Refusal('unavailable')
    },
    look: async () => void (await look()),
    stop: () => clearInterval(timer),
  }
}
