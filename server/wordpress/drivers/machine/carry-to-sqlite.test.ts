/** A dump of the engine's tool becomes a SQLite database: with every value, or not at all. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { carriedTable } from './carried-tables.ts'
import { carryToSqlite } from './carry-to-sqlite.ts'
import { packChanges } from './changes.ts'
import { UnfitDatabase } from './snapshot.ts'

const options = 'ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci'
const tableOf = (items: string, more = ''): string =>
  `CREATE TABLE \`t\` ( ${items} ) ${options.replace(' DEFAULT', `${more} DEFAULT`)}`

/** A string as runtimes/docker/tools/database.php writes it. */
const text = (value: string): string => {
  const escapes: Record<string, string> = { '\0': '0', '\n': 'n', '\r': 'r', '\x1a': 'Z' }
  // oxlint-disable-next-line no-control-regex
  return `'${value.replace(/[\0\n\r\x1a'"\\]/g, (char) => `\\${escapes[char] ?? char}`)}'`
}
const binary = (value: Uint8Array): string =>
  value.length === 0 ? "''" : `0x${Buffer.from(value).toString('hex')}`

interface Carried {
  readonly rows: Record<string, unknown>[]
  readonly next: unknown
}
/** `made`: the table as the driver makes it; `counted`: the tool's number of rows. */
function carry(create: string, made: string, rows: readonly string[], counted = rows.length) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-carry-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  const at = (name: string): string => path.join(folder, name)
  const head = 'SET NAMES utf8mb4;\nDROP TABLE IF EXISTS `t`;\n'
  const inserts = rows.map((row) => `${row};\n`).join('')
  fs.writeFileSync(at('dump'), `${head}${create};\n${inserts}`)
  // Tables that are not made yet are asked for.
  const asked = carryToSqlite(at('dump'), at('target'), null, [])
  expect(asked?.creates.map(({ table }) => table)).toEqual(['t'])
  expect(fs.existsSync(at('target'))).toBe(false)
  const empty = new DatabaseSync(at('made'))
  empty.exec(made)
  empty.close()
  const of = { key: asked?.key ?? '', file: at('made') }
  const left = carryToSqlite(at('dump'), at('target'), of, [{ name: 't', rows: counted }])
  expect(left).toBeNull()
  const database = new DatabaseSync(at('target'), { readOnly: true, readBigInts: true })
  const found: Carried = {
    rows: database.prepare('select * from t').all(),
    next: database.prepare("select seq from sqlite_sequence where name = 't'").get()?.['seq'],
  }
  database.close()
  return found
}

const numbered =
  'CREATE TABLE t ("id" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, ' +
  '"a" TEXT COLLATE NOCASE, "b" BLOB) STRICT'
const numberedHere = tableOf(
  '`id` bigint(20) unsigned NOT NULL AUTO_INCREMENT, `a` longtext DEFAULT NULL, ' +
    '`b` longblob DEFAULT NULL, PRIMARY KEY (`id`)',
  ' AUTO_INCREMENT=9',
)

test('texts and bytes are what they were, and numbers go on', () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('; -- \n', '\\', "\\'", '\0*\0x', '%_ \\%', 'đường 🌧 𠜎', '\ufeff', '0x41'),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(value, fc.uint8Array({ maxLength: 40 }))), (given) => {
      const rows = given.map(
        ([a, b], at) =>
          `INSERT INTO \`t\` (\`id\`, \`a\`, \`b\`) VALUES ('${at + 1}',${text(a)},${binary(b)})`,
      )
      const { rows: found, next } = carry(numberedHere, numbered, rows)
      expect(found.map(({ a }) => a)).toEqual(given.map(([a]) => a))
      expect(found.map(({ b }) => Buffer.from(b as Uint8Array))).toEqual(
        given.map(([, b]) => Buffer.from(b)),
      )
      expect(next).toBe(8n)
    }),
    { numRuns: 30 },
  )
})

const numbers = (type: string, kind: string, value: string) =>
  carry(
    tableOf(`\`n\` ${type} DEFAULT NULL`),
    `CREATE TABLE t ("n" ${kind}) STRICT; CREATE TABLE s (i INTEGER PRIMARY KEY AUTOINCREMENT)`,
    [`INSERT INTO \`t\` (\`n\`) VALUES (${value})`],
  ).rows[0]?.['n']

test('numbers are what they were, or are refused', () => {
  expect(numbers('bigint(20)', 'INTEGER', "'-9223372036854775808'")).toBe(-(2n ** 63n))
  expect(numbers('bigint(20) unsigned', 'INTEGER', "'9223372036854775807'")).toBe(2n ** 63n - 1n)
  expect(numbers('decimal(19,4)', 'REAL', "'123456789.1250'")).toBe(123456789.125)
  expect(numbers('double', 'REAL', "'0.1'")).toBe(0.1)
  expect(numbers('double', 'REAL', "'-1.7976931348623157e308'")).toBe(-Number.MAX_VALUE)
  expect(numbers('double', 'REAL', "'1e20'")).toBe(1e20)
  expect(numbers('decimal(10,2)', 'REAL', 'NULL')).toBe(null)
  for (const [type, kind, value] of [
    ['bigint(20) unsigned', 'INTEGER', "'9223372036854775808'"],
    ['decimal(40,10)', 'REAL', "'12345678901234567890.5000000000'"],
    ['decimal(65,0)', 'REAL', "'9007199254740993'"],
  ] as const)
    expect(() => numbers(type, kind, value)).toThrow(/a value of t\.n/)
})

test('a row that is missing, is there twice or has bytes that are no text is refused', () => {
  const row = (id: number, a: string): string =>
    `INSERT INTO \`t\` (\`id\`, \`a\`, \`b\`) VALUES ('${id}',${a},NULL)`
  expect(() => carry(numberedHere, numbered, [row(1, "'a'")], 2)).toThrow(/as many rows of t/)
  expect(() => carry(numberedHere, numbered, [row(1, "'a'"), row(1, "'b'")])).toThrow(/a row of t/)
  expect(() => carry(numberedHere, numbered, [row(1, '0xff')])).toThrow(/a value of t\.a/)
  // The table differs from what was asked for: a value would be cut or changed.
  const other = numbered.replace('"b" BLOB', '"b" TEXT')
  expect(() => carry(numberedHere, other, [])).toThrow(/the table t, which the SQLite driver/)
  // A trigger changes a value after it was bound.
  const changes = `${numbered}; CREATE TRIGGER x AFTER INSERT ON t
    BEGIN UPDATE t SET a = 'b' WHERE id = new.id; END`
  expect(() => carry(numberedHere, changes, [row(1, "'a'")])).toThrow(/the rows of t as they were/)
  expect(() => carry(numberedHere, numbered, ["INSERT INTO `t` (`id`) VALUES ('1')"])).toThrow(
    /rows of t that are not known/,
  )
  expect(() => carry(numberedHere, numbered, ["INSERT INTO `u` (`id`) VALUES ('1')"])).toThrow(
    /rows of the table u/,
  )
  const bond = 'CONSTRAINT `f` FOREIGN KEY (`id`) REFERENCES `s` (`i`)'
  const bound = numbered.replace(') STRICT', ', FOREIGN KEY (id) REFERENCES s (i)) STRICT')
  const there = `CREATE TABLE s (i INTEGER PRIMARY KEY); ${bound}`
  const bonded = numberedHere.replace('KEY (`id`)', `KEY (\`id\`), ${bond}`)
  expect(() => carry(bonded, there, [row(1, "'a'")])).toThrow(/a foreign key of t/)
})

test('a table is known word by word, or refused', () => {
  const known = [
    "`a` enum('Có, (x)','it''s \\\\') NOT NULL DEFAULT 'Có, (x)' COMMENT 'stored as (b), ;'",
    '`a` timestamp NULL DEFAULT current_timestamp() ON UPDATE current_timestamp()',
    '`a` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`a`))',
    '`a` decimal(26,8) unsigned NOT NULL DEFAULT 0.00000000, UNIQUE KEY `k` (`a`) USING BTREE',
    '`a` varchar(9) NOT NULL, KEY `k` (`a`(4)), FULLTEXT KEY `f` (`a`)',
    '`a` int(11), CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `b` (`c`) ON DELETE SET NULL',
  ]
  for (const items of known) expect(carriedTable(tableOf(items))?.name, items).toBe('t')
  const odd = [
    '`a` bit(3)',
    '`a` point',
    '`a` uuid',
    '`a` inet6',
    '`a` int(5) unsigned zerofill',
    '`a` int(11) INVISIBLE',
    '`a` int(11) GENERATED ALWAYS AS (`b` * 2) STORED',
    '`a` varchar(36) DEFAULT (uuid())',
    '`a` datetime(6) DEFAULT current_timestamp(6)',
    '`a` int(11) CHECK (`a` > 0)',
    '`a` int(11), CONSTRAINT `c` CHECK (`a` > 0)',
    '`a` point, SPATIAL KEY `k` (`a`)',
    '`a` int(11) NOT NULL AUTO_INCREMENT, KEY `k` (`a`)',
    '`a` int(11) NOT NULL AUTO_INCREMENT, `b` int(11) NOT NULL, PRIMARY KEY (`a`,`b`)',
    '`a` int(11), KEY `k` (`a`) IGNORED',
  ]
  for (const items of odd) expect(() => carriedTable(tableOf(items)), items).toThrow(UnfitDatabase)
  expect(() => carriedTable(tableOf('`a` int(11)').replace('`t`', '`sqlite_x`'))).toThrow(
    UnfitDatabase,
  )
})

test('a dump with anything else is refused', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-carry-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'dump')
  for (const statement of [
    'CREATE TRIGGER `x` BEFORE INSERT ON `t` FOR EACH ROW SET @a = 1',
    'CREATE VIEW `v` AS SELECT 1',
    'ALTER TABLE `t` ADD KEY (`a`)',
    tableOf('`b` int(11)').replace('`t`', '`T`'),
  ]) {
    fs.writeFileSync(file, `${tableOf('`a` int(11)')};\n${statement};\n`)
    expect(() => carryToSqlite(file, `${file}.target`, null, []), statement).toThrow(UnfitDatabase)
  }
})

test('files where SQLite has its database are refused', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-carry-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  const at = (name: string): string => path.join(folder, name)
  fs.mkdirSync(at('files/wp-content/database'), { recursive: true })
  fs.writeFileSync(at('dump'), `${tableOf('`a` int(11)')};\n`)
  const pack = (database: 'sqlite' | 'mariadb') =>
    packChanges(
      { filesDir: at('files'), databaseDir: at('database') },
      fs.openSync(at(`${database}.tar.gz`), 'w'),
      {
        compression: 'gzip',
        release: null,
        scratchFile: at('dump'),
        maxBytes: 1e9,
        since: null,
        tried: [],
        listing: at('listing.json'),
        database: { for: database, counted: [{ name: 't', rows: 0 }] },
      },
    )
  await expect(pack('sqlite')).rejects.toThrow(UnfitDatabase)
  expect(await pack('mariadb')).toMatchObject({ files: 0 })
})
