/** The database as it is when a new version of the portal starts on it. */
import pg from 'pg'
import { expect, test } from 'vitest'
import { testDatabase } from '../../test/database.ts'
import { migrate } from './db.ts'

test('a migration has all the time that it needs, on a database of any size', async () => {
  const database = await testDatabase()
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  try {
    // Back to nothing, but for the table where what is applied is kept (what was applied before
    // number 48): each time it is, what the connection is limited to is kept beside.
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
