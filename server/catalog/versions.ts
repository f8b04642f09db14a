/**
 * The catalogue in use: the newest version in the database. A process that starts with another file
 * makes it the newest, and running processes adopt it. Before it prices anything, a process checks
 * under a lock that its version is still the newest; a new version waits for that lock.
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
import { sellsTheSame } from './selling.ts'

export interface CatalogFileText {
  readonly text: string
  /** The installation that has it: host name and data folder. */
  readonly origin: string
}

/** Names this installation. */
export const originOf = (dataDir: string): string => `${os.hostname()}:${dataDir}`

export interface CatalogVersions {
  /**
   * Called in a transaction that prices something: the catalogue stays the newest until it ends.
   * Refuses with unavailable if this release cannot read the newest one.
   */
  hold(tx: Tx): Promise<void>
  /** Adopts a newer version if there is one. */
  look(): Promise<void>
  stop(): void
}

/**
 * The longest time after which screens show the prices of a version that another process brought.
 */
const lookMs = 30_000

export interface VersionRow {
  readonly version: number
  readonly text: string
  readonly sha256: Buffer
  readonly origin: string
  readonly source: string
  readonly at: Date
  readonly publication_id: string | null
}
export const newestVersion = (db: Queryable): Promise<VersionRow | undefined> =>
  db
    .selectFrom('catalog_version')
    .selectAll()
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
/** The newest version's number. Undefined: there is no version. */
export const newestNumber = async (db: Queryable): Promise<number | undefined> =>
  (await newestVersion(db))?.version
export const versionRow = (db: Queryable, version: number): Promise<VersionRow | undefined> =>
  db.selectFrom('catalog_version').selectAll().where('version', '=', version).executeTakeFirst()
/** The version before this one. */
export const versionBefore = (db: Queryable, version: number): Promise<VersionRow | undefined> =>
  db
    .selectFrom('catalog_version')
    .selectAll()
    .where('version', '<', version)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()

/**
 * Replaces the content in place: all holders of `target` see the content of `fresh` from now on.
 */
function replaceContent(target: Catalog, fresh: Catalog): void {
  const content = target as unknown as Record<string, unknown>
  for (const key of Object.keys(content)) if (!(key in fresh)) delete content[key]
  Object.assign(content, fresh)
}

const sha256Of = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Whether the staff decide: they published, and no `catalog use` has made files decide since. */
async function staffDecide(tx: Tx): Promise<boolean> {
  const last = await tx
    .selectFrom('catalog_version')
    .select('source')
    .where('source', 'in', ['desk', 'use'])
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.source === 'desk'
}

function sellsWhat(text: string, present: VersionRow): boolean {
  try {
    const [file, inUse] = [text, present.text].map((one) => parseCatalog(one, 'the catalogue'))
    return file !== undefined && inUse !== undefined && sellsTheSame(file, inUse)
  } catch (error) {
    if (error instanceof CatalogFault) return false
    throw error
  }
}

/** The reasons why a file is not used. */
const notTaken = {
  former:
    'the catalogue file of this machine is an earlier one: the newest stays in use ' +
    '(`npm run portal -- catalog use` makes this file the newest)',
  would_take_back:
    'the catalogue file of this machine has other plans, prices, disks or data centres than the ' +
    'staff published at the desk: those stay in use, and nothing of the file counts ' +
    '(`npm run portal -- catalog diff` says what differs, `catalog show` prints what is in use, ' +
    '`catalog use` makes this file the newest)',
}

/**
 * Makes the file of a starting process the newest version. Not if it is the newest already, and not
 * if it was used before and another installation has brought a newer one since: then the file is
 * outdated, or was brought back by a restart. A start never undoes the staff's publication. Answers
 * the version in use.
 */
async function claim(
  db: Database,
  { text, origin }: CatalogFileText,
  log: Log,
): Promise<VersionRow> {
  const sha256 = sha256Of(text)
  return await transaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${lockKeys.catalog})`.execute(tx)
    const present = await newestVersion(tx)
    const state = present ? await stateOf(tx, present, { text, sha256, origin }) : 'new'
    const noted = state === 'new' ? 'in_use' : state
    await tx
      .insertInto('catalog_file')
      .values({ origin, sha256, state: noted, at: new Date() })
      .onConflict((on) => on.column('origin').doUpdateSet({ sha256, state: noted, at: new Date() }))
      .execute()
    if (!present || state === 'new') return await addVersion(tx, { text, origin, source: 'file' })
    if (state !== 'in_use')
      log.warn({ inUse: present.version, from: present.origin }, notTaken[state])
    return present
  })
}

async function stateOf(
  tx: Tx,
  present: VersionRow,
  file: { readonly text: string; readonly sha256: Buffer; readonly origin: string },
): Promise<'in_use' | 'new' | keyof typeof notTaken> {
  if (present.sha256.equals(file.sha256)) return 'in_use'
  if (present.origin !== file.origin) {
    const former = await tx
      .selectFrom('catalog_version')
      .select('version')
      .where('sha256', '=', file.sha256)
      .executeTakeFirst()
    if (former) return 'former'
  }
  const takesBack = (await staffDecide(tx)) && !sellsWhat(file.text, present)
  return takesBack ? 'would_take_back' : 'new'
}

/** Adds the newest version. The caller holds the catalogue's exclusive lock. */
export const addVersion = (
  tx: Tx,
  of: CatalogFileText & {
    readonly source: 'file' | 'use' | 'desk'
    readonly publicationId?: string
    readonly at?: Date
  },
): Promise<VersionRow> =>
  tx
    .insertInto('catalog_version')
    .values({
      text: of.text,
      origin: of.origin,
      sha256: sha256Of(of.text),
      source: of.source,
      publication_id: of.publicationId ?? null,
      ...(of.at && { at: of.at }),
    })
    .returningAll()
    .executeTakeFirstOrThrow()

/**
 * Makes a catalogue the newest, even if it was in use before; answers its version; throws
 * CatalogFault. If the staff published the present one, an equal text also becomes a new version:
 * files decide from then on. `judge` runs first, while no transaction prices anything.
 */
export async function activateCatalog<T>(
  tx: Tx,
  file: CatalogFileText & { readonly at?: Date },
  judge: () => Promise<T>,
): Promise<{ readonly version: number; readonly judged: T }> {
  parseCatalog(file.text, 'the catalogue')
  await sql`select pg_advisory_xact_lock(${lockKeys.catalog})`.execute(tx)
  const judged = await judge()
  const present = await newestVersion(tx)
  const isSaid = present?.text === file.text && !(await staffDecide(tx))
  const { version } = isSaid ? present : await addVersion(tx, { ...file, source: 'use' })
  await tx
    .updateTable('catalog_file')
    .set({ state: 'in_use', sha256: sha256Of(file.text) })
    .where('origin', '=', file.origin)
    .execute()
  return { version, judged }
}

/**
 * Brings the process's shared `catalog` to the version in use and keeps it there.
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

  function take(row: VersionRow): boolean {
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
    const row = await newestVersion(from)
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
      // Two statements, so that the second one sees what was committed while the first one waited.
      await sql`select pg_advisory_xact_lock_shared(${lockKeys.catalog})`.execute(tx)
      if (!(await look(tx))) throw new Refusal('unavailable')
    },
    look: async () => void (await look()),
    stop: () => clearInterval(timer),
  }
}
