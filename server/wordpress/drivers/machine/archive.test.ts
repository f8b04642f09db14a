/**
 * A backup belongs to one kind of database; restoring it to a server that has moved to the other
 * kind is refused.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { packSite, unpackSite } from './archive.ts'
import { UnfitDatabase } from './snapshot.ts'

test('a backup of the other database is refused in words', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-archive-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  const at = (name: string): string => path.join(folder, name)
  const site = { filesDir: at('site'), databaseDir: at('site/wp-content/database') }
  fs.mkdirSync(site.databaseDir, { recursive: true })
  fs.writeFileSync(at('site/index.php'), '<?php')
  const database = new DatabaseSync(at('site/wp-content/database/.ht.sqlite'))
  database.exec('create table t (a)')
  database.close()
  const to = (name: string): number => fs.openSync(at(name), 'w')
  const from = (name: string): number => fs.openSync(at(name), 'r')
  await packSite(site, to('sqlite.tar.gz'), at('scratch'), 1e9)
  fs.writeFileSync(at('dump'), 'SET NAMES utf8mb4;\n')
  await packSite(site, to('mariadb.tar.gz'), at('dump'), 1e9, [])

  const sqlite = (name: string) => ({ filesDir: at(name), databaseDir: at(`${name}/database`) })
  const mariadb = (name: string) => ({ ...sqlite(name), dumpFile: at(`${name}.sql`) })
  const [onMariadb, onSqlite] = [/of SQLite, and .* MariaDB now/, /of MariaDB, and .* SQLite now/]
  const refused = await Promise.allSettled([
    unpackSite(from('sqlite.tar.gz'), mariadb('a')),
    unpackSite(from('mariadb.tar.gz'), sqlite('b')),
  ])
  const faults = refused.map((one) => (one.status === 'rejected' ? (one.reason as Error) : null))
  expect(faults).toEqual([expect.any(UnfitDatabase), expect.any(UnfitDatabase)])
  expect(faults[0]?.message).toMatch(onMariadb)
  expect(faults[1]?.message).toMatch(onSqlite)
  // On its own kind of database it is complete.
  const own = await unpackSite(from('sqlite.tar.gz'), sqlite('c'))
  expect(own.tables.map(({ name }) => name)).toEqual(['t'])
  expect((await unpackSite(from('mariadb.tar.gz'), mariadb('d'))).databaseBytes).toBe(19)
})
