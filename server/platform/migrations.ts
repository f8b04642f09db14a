/**
 * The numbered SQL files of `server/migrations/`: which of them a database has had, which are
 * missing, and which releases may run on the schema that they made (decision 51).
 */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import { ConfigFault } from './config-fault.ts'
import type { DB } from './db-types.ts'
import { lockKeys } from './lock-keys.ts'
import { releaseNumber } from './release.ts'

/** The content of the comment at the head of a file. */
export interface MigrationHeader {
  /** The oldest release that may run on the schema after it. */
  readonly oldestRelease: number
  /** Why no release that may still run needs what the file removes. */
  readonly contract: string | undefined
  /** False where PostgreSQL refuses a transaction round it: `concurrently`. */
  readonly inTransaction: boolean
}

export interface Migration extends MigrationHeader {
  /** The file's name without `.sql`. */
  readonly name: string
  readonly text: string
}

/** The code that migrates: its release number, and the migrations that it knows. */
export interface Release {
  readonly number: number
  readonly migrations: readonly Migration[]
}

/** The state of a database in relation to a release. */
export interface MigrationPlan {
  /** The migrations that would run, in order. */
  readonly missing: readonly Migration[]
  /** Names of what a newer release has applied. */
  readonly unknown: readonly string[]
  /** The oldest release that may run on the database as it is. */
  readonly oldestRelease: number
  /** Which migration demands it. */
  readonly demandedBy: string | undefined
}

const header = /^--\s*(?:(oldest-release|contract):(.*)|(no-transaction)\s*)$/

/**
 * Reads the comment at the head of a migration. Throws an Error with a sentence where a header has
 * not the value that it needs.
 */
export function readHeader(text: string): MigrationHeader {
  const given = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (!line.startsWith('--')) break
    const [, name, value = '', mark] = header.exec(line) ?? []
    const said = name ?? mark
    if (said !== undefined) given.set(said, value.trim())
  }
  const oldest = given.get('oldest-release')
  if (oldest !== undefined && !/^[1-9]\d*$/.test(oldest))
    throw new Error('-- oldest-release: needs the number of a release.')
  const contract = given.get('contract')
  if (contract === '')
    throw new Error('-- contract: needs the reason why no release that may still run needs it.')
  return {
    oldestRelease: Number(oldest ?? 1),
    contract,
    inTransaction: !given.has('no-transaction'),
  }
}

/** A migration from its file's name, without `.sql`, and its text. Throws as `readHeader` does. */
export const migrationOf = (name: string, text: string): Migration => ({
  name,
  text,
  ...readHeader(text),
})

const folder = path.resolve(import.meta.dirname, '../migrations')
/** This release, with its files. Throws an Error where a file's header cannot be read. */
export async function thisRelease(): Promise<Release> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_.+\.sql$/.test(file)).sort()
  const migrations = files.map(async (file) =>
    migrationOf(file.replace(/\.sql$/, ''), await readFile(path.join(folder, file), 'utf8')),
  )
  return { number: releaseNumber, migrations: await Promise.all(migrations) }
}

/**
 * The last migration of release 1, whose migrator (Kysely's) starts only if it knows every name in
 * `kysely_migration`. Later migrations that release 1 may run on are therefore recorded in another
 * table, `schema_migration`.
 */
const lastOfRelease1 = '0047_known_networks'

/** Asks the database only; changes nothing. */
export async function planMigrations(db: Kysely<DB>, release: Release): Promise<MigrationPlan> {
  const { rows } = await sql<{ kysely: boolean; own: boolean }>`
    select to_regclass('kysely_migration') is not null as kysely,
      to_regclass('schema_migration') is not null as own`.execute(db)
  const there = rows[0]
  const early = there?.kysely
    ? (await sql<{ name: string }>`select name from kysely_migration`.execute(db)).rows
    : []
  const late = there?.own
    ? await db
        .selectFrom('schema_migration')
        .select(['name', 'oldest_release'])
        .orderBy('oldest_release', 'desc')
        .orderBy('name')
        .execute()
    : []
  const applied = new Set([...early, ...late].map(({ name }) => name))
  const known = new Set(release.migrations.map(({ name }) => name))
  return {
    missing: release.migrations.filter(({ name }) => !applied.has(name)),
    unknown: [...applied].filter((name) => !known.has(name)).toSorted(),
    oldestRelease: late[0]?.oldest_release ?? 1,
    demandedBy: late[0]?.name,
  }
}

/** The number of the newest migration that a database of this release has had. */
export async function schemaVersion(db: Kysely<DB>): Promise<number> {
  // `kysely_migration` has a later name only if release 1 must not start on it.
  const { rows } = await sql<{ name: string | null }>`
    select max(name) as name from (
      select name from kysely_migration union all select name from schema_migration
    ) applied`.execute(db)
  return Number(rows[0]?.name?.slice(0, 4) ?? 0)
}

/** Throws ConfigFault where the database demands a newer release. */
export function judgePlan(plan: MigrationPlan, release: Release): void {
  if (release.number >= plan.oldestRelease) return
  throw new ConfigFault([
    `This is release ${release.number}, and the database has been changed for release ` +
      `${plan.oldestRelease} or newer (by ${plan.demandedBy}): start that one, or restore a ` +
      'backup from before.',
  ])
}

/**
 * All later statements on a table queue behind one that waits for its lock: so wait briefly only.
 */
const lockTimeoutMs = 500
const letPastMs = 1_000
const patienceMs = 600_000

const askAgainMs = 200

/** The table was in use (lock_not_available), or there was a deadlock with its user: try again. */
const passes = (error: unknown): boolean =>
  ['55P03', '40P01'].includes((error as { code?: string }).code ?? '')

/**
 * Applies the missing migrations in order, each file in its own transaction, and answers their
 * names. Several processes may do it at once. A killed process leaves whole files applied, and the
 * next one continues. Throws ConfigFault if the database demands a newer release, and the
 * database's error if a file fails or a table is in use for ten minutes.
 */
export async function applyMissing(db: Kysely<DB>, release: Release): Promise<string[]> {
  const applied: string[] = []
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const plan = await planMigrations(db, release)
    judgePlan(plan, release)
    if (plan.missing.length === 0) return applied
    try {
      await db.connection().execute((session) =>
        underLock(session, async () => {
          // Other processes may have applied some of it while this one waited.
          const now = await planMigrations(session, release)
          judgePlan(now, release)
          for (const migration of now.missing)
            if (await apply(session, migration)) applied.push(migration.name)
        }),
      )
    } catch (error) {
      if (!passes(error) || performance.now() > giveUpAt) throw error
      await pause(letPastMs)
    }
  }
}

/**
 * The lock is asked for again and again: an index that is made concurrently waits for every
 * statement that runs, and one that waits for the lock would wait for the index.
 */
async function underLock(session: Kysely<DB>, work: () => Promise<void>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ taken: boolean }>`
      select pg_try_advisory_lock(${lockKeys.migrate}) as taken`.execute(session)
    if (rows[0]?.taken) break
    await pause(askAgainMs)
  }
  try {
    await work()
  } finally {
    // A connection that is gone has given it back.
    await sql`select pg_advisory_unlock(${lockKeys.migrate})`
      .execute(session)
      .catch(() => undefined)
  }
}

/** Answers false where release 1 was quicker. */
async function apply(session: Kysely<DB>, migration: Migration): Promise<boolean> {
  if (!migration.inTransaction) {
    await dropHalfMadeIndex(session, migration.text)
    await sql.raw(migration.text).execute(session)
    await record(session, migration)
    return true
  }
  return await session.transaction().execute(async (tx) => {
    if (migration.name <= lastOfRelease1 && !(await isLeftByRelease1(tx, migration.name)))
      return false
    await sql.raw(`set local lock_timeout = ${lockTimeoutMs}`).execute(tx)
    await sql.raw(migration.text).execute(tx)
    await record(tx, migration)
    return true
  })
}

/** Release 1 may be starting at the same time. It uses only the lock of Kysely's migrator. */
async function isLeftByRelease1(tx: Kysely<DB>, name: string): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(${lockKeys.migrateByKysely})`.execute(tx)
  await sql`create table if not exists kysely_migration (
    name varchar(255) primary key, timestamp varchar(255) not null)`.execute(tx)
  const { rows } = await sql`select from kysely_migration where name = ${name}`.execute(tx)
  return rows.length === 0
}

const concurrentIndex = /\bcreate\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+(\w+)/i
/** An interrupted build leaves an invalid index of that name, which PostgreSQL does not use. */
async function dropHalfMadeIndex(session: Kysely<DB>, text: string): Promise<void> {
  const [, name] = concurrentIndex.exec(text) ?? []
  if (name === undefined) return
  const { rows } = await sql`
    select from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`.execute(
    session,
  )
  if (rows.length > 0) await sql`drop index concurrently ${sql.id(name)}`.execute(session)
}

async function record(db: Kysely<DB>, { name, oldestRelease }: Migration): Promise<void> {
  if (name > lastOfRelease1)
    await db
      .insertInto('schema_migration')
      .values({ name, oldest_release: oldestRelease, applied_at: sql`now()` })
      .execute()
  // Release 1 does not know `oldest_release`. It refuses to start if it finds an unknown name here:
  // so migrations that it can run on are not written here.
  if (name > lastOfRelease1 && oldestRelease === 1) return
  const { rows } = await sql<{ last: string | null }>`
    select max(timestamp) as last from kysely_migration`.execute(db)
  // Kysely's migrator takes the times, which are texts, for the order.
  const at = Math.max(Date.now(), Date.parse(rows[0]?.last ?? '1970-01-01') + 1)
  await sql`insert into kysely_migration (name, timestamp)
    values (${name}, ${new Date(at).toISOString()})`.execute(db)
}
