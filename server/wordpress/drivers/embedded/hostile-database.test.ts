/**
 * Backups of a database that its owner has made to be costly, or to make the portal do something
 * for him. The site is stopped, with the database of a real WordPress: no PHP is asked.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { ensureWordpress } from '../../../../scripts/wordpress-files.mjs'
import {
  checkoutIsOpen,
  filesDir,
  fixture,
  open,
  processesOf,
} from '../../../../test/embedded-wordpress.ts'
import { simulatedFilesIn } from '../../../../test/simulated-wordpress.ts'
import type { SiteRuntime } from '../../driver.ts'
import { eventually, specOf } from '../conformance.ts'
import { lockWaitMs, requireSafeSqlite } from '../machine/snapshot.ts'
import { writeMysqlDump } from '../machine/takeaway.ts'

const megabyte = 1_048_576

describe('a hostile database', { timeout: 120_000 }, () => {
  const simulated = simulatedFilesIn(inject('simulatedFiles'))
  let parts: Awaited<ReturnType<typeof fixture>>
  let driver: SiteRuntime
  let archive: string
  let whole: Buffer
  const spec = specOf()
  const database = () =>
    path.join(parts.dataDir, 'sites', spec.id, 'wordpress/wp-content/database/.ht.sqlite')
  const write = (sql: string) => {
    const db = new DatabaseSync(database())
    db.exec(sql)
    db.close()
  }
  const backUp = () => driver.backup(spec.id, archive)

  beforeAll(async () => {
    await ensureWordpress()
    whole = await fs.readFile(path.join(`${filesDir}-templates`, 'database-vi', '.ht.sqlite'))
    parts = await fixture(simulated)
    driver = parts.driver
    archive = path.join(parts.dataDir, 'copies', 'one.tar.gz')
    await driver.install(spec, { user: 'boss', password: 'Another#1pass', email: 'b@example.com' })
    await driver.stop(spec.id)
  }, 120_000)
  beforeEach(async () => {
    for (const suffix of ['-journal', '-wal', '-shm'])
      await fs.rm(database() + suffix, { force: true })
    await fs.writeFile(database(), whole)
  })
  afterAll(() => parts?.dispose(), 60_000)

  test('computed columns, virtual tables and checks are not computed by a backup', async () => {
    const plain = await backUp()
    const { size } = await fs.stat(archive)
    write(`create table swollen (n integer primary key, b blob generated always as
        (zeroblob(209715200)) virtual,
        check (length(zeroblob(209715200)) > n));
      create index swollen_computed on swollen (length(hex(zeroblob(1000000 + n))));
      insert into swollen (n) values (1), (2), (3);
      create virtual table words using fts5 (text);
      insert into words values ('đường lên đà lạt');
      create view endless as with recursive n (i) as (select 1 union all select i + 1 from n)
      select i from n;`)
    const figures = await backUp()
    expect(await driver.prove(archive)).toEqual(figures)
    const names = figures.tables.map(({ name }) => name)
    expect(names).toContain('words_content')
    expect(names).not.toContain('words')
    expect(names).not.toContain('endless')
    expect(figures.tables.find(({ name }) => name === 'swollen')?.rows).toBe(3)
    expect(figures.tables.length).toBeGreaterThan(plain.tables.length)
    expect((await fs.stat(archive)).size).toBeLessThan(size + megabyte)
  })

  test('SQL for another host is made of what is stored, and quotes all of it', async () => {
    write(`alter table _wp_sqlite_mysql_information_schema_columns
        add column swollen blob generated always as (zeroblob(209715200)) virtual;
      alter table wp_links
        add column swollen blob generated always as (zeroblob(209715200)) virtual;
      insert into wp_links (link_notes, link_name) values ('u', 'it''s \\ '');drop table x;--');
      update _wp_sqlite_mysql_information_schema_columns
        set column_type = 'int); drop table wp_posts; --' where column_name = 'link_rating';
      create table "a\nb" (n int);`)
    const file = path.join(parts.dataDir, 'dump.sql')
    expect(writeMysqlDump(database(), file)).toBe(true)
    const sql = await fs.readFile(file, 'utf8')
    expect(sql).toContain("'it\\'s \\\\ \\');drop table x;--'")
    expect(sql).toContain('`link_rating` longtext NOT NULL')
    expect(sql).not.toContain('swollen')
    expect(sql).not.toContain('drop table wp_posts')
    expect(sql).toMatch(/-- Not here, .*"a\\nb"\n/)
    // A plain SQLite file has no description of its MySQL types.
    await fs.writeFile(database(), '')
    expect(writeMysqlDump(database(), file)).toBe(false)
  })

  test('a row that is too large is refused in words, and is not tried again', async () => {
    write(`create table wide (b blob); insert into wide values (zeroblob(70000000));`)
    await expect(backUp()).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('larger than 64 MB') as string,
    })
  })

  test('bytes that are no database are refused', async () => {
    await fs.writeFile(
      database(),
      Buffer.concat([whole.subarray(0, 4_096), Buffer.alloc(60_000, 7)]),
    )
    await expect(backUp()).rejects.toMatchObject({ kind: 'rejected' })
  })

  test("a cut transaction is rolled back on a copy only: the site's folder stays", async () => {
    write(`create table cut (n integer primary key, t text);
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 3000)
      insert into cut select i, hex(randomblob(500)) from n;`)
    const figures = await backUp()
    const killed = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        '-e',
        `const { DatabaseSync } = require('node:sqlite')
        const db = new DatabaseSync(process.argv[1])
        db.exec('pragma cache_size = 10; begin; update cut set t = hex(randomblob(500))')
        db.exec('delete from wp_posts')
        console.log('begun'); setInterval(() => {}, 1000)`,
        database(),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await once(killed.stdout, 'data')
    killed.kill('SIGKILL')
    await once(killed, 'close')
    const journal = await fs.readFile(`${database()}-journal`)
    const half = await fs.readFile(database())
    expect(await backUp()).toEqual(figures)
    expect((await fs.readFile(`${database()}-journal`)).equals(journal)).toBe(true)
    expect((await fs.readFile(database())).equals(half)).toBe(true)
    expect(await driver.prove(archive)).toEqual(figures)

    // The same journal, but now naming a file to be removed.
    const victim = path.join(parts.dataDir, 'victim')
    await fs.writeFile(victim, 'kept')
    const name = Buffer.from(victim)
    const numbers = Buffer.alloc(8)
    numbers.writeUInt32BE(name.length, 0)
    numbers.writeUInt32BE(
      name.reduce((sum, byte) => sum + byte, 0),
      4,
    )
    await fs.appendFile(
      `${database()}-journal`,
      Buffer.concat([Buffer.alloc(4), name, numbers, Buffer.from('d9d505f920a163d7', 'hex')]),
    )
    await expect(backUp()).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('names another file') as string,
    })
    expect(existsSync(victim)).toBe(true)
  })

  test('a SQLite below the safe one opens no customer’s file', () => {
    expect(() => requireSafeSqlite('3.40.1')).toThrow('too old')
    expect(() => requireSafeSqlite('3.53.3')).toThrow('too old')
    for (const version of ['3.53.4', '3.54.0', '4.0.0']) requireSafeSqlite(version)
    requireSafeSqlite()
  })

  test("a copy's process has not the portal’s environment or user, leaves nothing", async () => {
    // A fifo in place of a file would stop the copy; a lock held by somebody else makes it wait
    // where it can be examined. WordPress may be writing at this moment.
    const holder = new DatabaseSync(database(), { timeout: 10_000 })
    holder.exec('begin exclusive')
    const backing = backUp()
    let seen = ''
    await eventually(() => {
      seen = execFileSync('ps', ['-eo', 'uid=,args='], { encoding: 'utf8' })
        .split('\n')
        .filter(
          (line) =>
            line.includes('archive-process.js') &&
            line.includes(`${spec.id}/copying`) &&
            // setpriv becomes the process, as another user.
            !line.includes('setpriv'),
        )
        .join('\n')
      expect(seen).not.toBe('')
    })
    expect(seen).toContain('--permission')
    if (process.getuid?.() === 0 && checkoutIsOpen()) expect(seen.trim()).not.toMatch(/^0 /)
    holder.exec('rollback')
    holder.close()
    await backing
    expect(existsSync(path.join(parts.dataDir, 'sites', spec.id, 'copying'))).toBe(false)
    expect(await fs.readdir(path.dirname(archive))).toEqual(['one.tar.gz'])
    expect(processesOf(spec.id)).toEqual([])
  })

  test('sites whose copies take too long once do not delay others a second time', async () => {
    // The time of a good copy on this machine now, with a margin, because the limit applies to
    // every copy.
    const timed = Date.now()
    await driver.backup(spec.id, path.join(parts.dataDir, 'copies', spec.id, 'timed.tar.gz'))
    // Below the time after which SQLite itself gives up.
    const longestMs = 0.75 * lockWaitMs
    const limitMs = Math.min(longestMs, Math.max(2_000, 5 * (Date.now() - timed)))
    const impatient = open(parts.dataDir, {
      ...simulated,
      copyLimits: { leastMs: limitMs, bytesPerMs: Number.POSITIVE_INFINITY },
    })
    const slow = [specOf(), specOf()]
    for (const one of slow) {
      await fs.cp(
        path.join(parts.dataDir, 'sites', spec.id),
        path.join(parts.dataDir, 'sites', one.id),
        { recursive: true, verbatimSymlinks: true },
      )
    }
    const holders = slow.map((one) => {
      const db = new DatabaseSync(
        path.join(parts.dataDir, 'sites', one.id, 'wordpress/wp-content/database/.ht.sqlite'),
        { timeout: 10_000 },
      )
      db.exec('begin exclusive')
      return db
    })
    const slowBackups = () =>
      slow.map((one) =>
        impatient.backup(one.id, path.join(parts.dataDir, 'copies', one.id, 'x.tar.gz')).then(
          () => 'done',
          (error: { message: string }) => error.message,
        ),
      )
    const first = await Promise.all(slowBackups())
    for (const why of first) expect(why).toContain('took longer than')
    let ended = 0
    const second = slowBackups().map((backup) => backup.then(() => (ended += 1)))
    await impatient.backup(spec.id, archive)
    const endedBefore = ended
    for (const db of holders) db.close()
    await impatient.close()
    await Promise.all(second)
    // Run two at a time, both would have ended first; one after the other, at most one has.
    expect(endedBefore).toBeLessThan(2)
  })
})
