/** Migrations on a database of any size, and transactions that wait for each other. */
import { sql } from 'kysely'
import pg from 'pg'
import { expect, test } from 'vitest'
import { testDatabase } from '../../test/database.ts'
import { connect, migrate, repeatableTransaction } from './db.ts'

test('a migration has all the time that it needs, on a database of any size', async () => {
  const database = await testDatabase()
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  try {
    // Empties the database except for the table of applied migrations (of those before number 48),
    // and stores the connection's settings at each migration.
    await admin.query(`
      drop schema public cascade;
      create schema public;
      create table kysely_migration (name varchar(255) primary key,
      timestamp varchar(255) not null);
      create table limit_seen (name text, value text);
      create function see_limits() returns trigger language plpgsql as $$ begin
        insert into limit_seen select name, setting from pg_settings
        where name in ('statement_timeout', 'idle_in_transaction_session_timeout',
        'transaction_timeout');
        return new;
      end $$;
      create trigger see_limits before
      insert on kysely_migration for each row execute function see_limits();
    `)
    const applied = await migrate(database.url)
    expect(applied[0]).toBe('0001_platform')
    expect(await migrate(database.url)).toEqual([])
    const { rows } = await admin.query(
      `select name, value, count(*)::int as times from limit_seen group by name, value
        order by name`,
    )
    expect(rows).toEqual(
      ['idle_in_transaction_session_timeout', 'statement_timeout', 'transaction_timeout'].map(
        (name) => ({
          name,
          value: '0',
          times: applied.filter((name) => name < '0048').length,
        }),
      ),
    )
  } finally {
    await admin.end()
    await database.drop()
  }
})

test('of two that lock in different orders both act, once each', async () => {
  const database = await testDatabase()
  const { db, close } = connect(database.url, 4, () => undefined)
  try {
    await sql`create table counted (id int primary key, acts int not null default 0)`.execute(db)
    await sql`insert into counted values (1), (2)`.execute(db)
    let runs = 0
    let arrived = 0
    let open = (): void => undefined
    const bothHoldOne = new Promise<void>((resolve) => (open = resolve))
    const act = (first: number, second: number) =>
      repeatableTransaction(db, async (tx) => {
        runs++
        await sql`update counted set acts = acts + 1 where id = ${first}`.execute(tx)
        if (++arrived === 2) open()
        await bothHoldOne
        await sql`update counted set acts = acts + 1 where id = ${second}`.execute(tx)
      })
    await Promise.all([act(1, 2), act(2, 1)])
    const { rows } = await sql<{ acts: number }>`select acts from counted`.execute(db)
    expect(rows).toEqual([{ acts: 2 }, { acts: 2 }])
    // One at least ran again; on a busy machine it may take the row before the other wakes up, and
    // both meet once more.
    expect(runs).toBeGreaterThanOrEqual(3)
  } finally {
    await close()
    await database.drop()
  }
})
