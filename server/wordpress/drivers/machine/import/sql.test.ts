/** Dumps of several programs, cut at any place, and hostile ones. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { stageDump } from './sql-dump.ts'
import { rowsOf, StatementReader } from './sql-statements.ts'
import { applyAlter, createStatement, readCreate, readInsert } from './sql-tables.ts'

const latin1 = (text: string): string => Buffer.from(text).toString('latin1')
const statementsOf = (text: string, cuts: readonly number[] = []): string[] => {
  const reader = new StatementReader()
  const found: string[] = []
  let from = 0
  for (const cut of [...cuts.map((one) => one % (text.length + 1)), text.length].toSorted(
    (a, b) => a - b,
  )) {
    found.push(...reader.push(text.slice(from, cut)))
    from = cut
  }
  found.push(...reader.push('', true))
  return found
}
// oxlint-disable no-control-regex
const quoted = (value: string): string =>
  `'${value.replace(/[\0\n\r\x1a'\\]/g, (char) => {
    const escapes: Record<string, string> = { '\0': '0', '\n': 'n', '\r': 'r', '\x1a': 'Z' }
    return `\\${escapes[char] ?? char}`
  })}'`

test('values come back as they were, wherever the dump is cut', () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('; -- ', '/* */', '`', "''", '\\', 'đường 🌧', '#', '"', '\0\n', '--'),
  )
  const rows = fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(rows, fc.array(fc.nat(), { maxLength: 6 }), (given, cuts) => {
      const tuples = given.map((row) => `(${row.map(quoted).join(', ')})`).join(',')
      const text = latin1(`-- dump\nINSERT INTO \`a;b\` VALUES ${tuples};\nSELECT 1;`)
      const [insert = '', ...rest] = statementsOf(text, cuts)
      const read = readInsert(insert)
      expect(read).toMatchObject({ table: 'a;b', columns: null, replaces: false })
      expect([...rowsOf(insert, read!.at)]).toEqual(given)
      expect(rest).toEqual(['SELECT 1'])
    }),
  )
})

test('a statement with many rows is read to its end', () => {
  const rows = Array.from({ length: 3_000 }, (_, at) => [String(at), 'x'.repeat(370)])
  const written = rows.map((row) => `(${row.map(quoted).join(',')})`).join(',')
  for (let turn = 0; turn < 5; turn++) expect([...rowsOf(written, 0)]).toEqual(rows)
  expect([...rowsOf('(1) ON DUPLICATE KEY UPDATE a = 1', 0)]).toEqual([['1']])
  expect([...rowsOf('(1)(2)', 0)]).toEqual([['1'], undefined])
})

test('any bytes are read without a fault', () => {
  const part = fc.constantFrom("'", '"', '`', ';', '--', ' ', '\n', '/*', '*/', '#', '\\', '(', 'x')
  const text = fc.array(part).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 4 }), (given, cuts) => {
      expect(statementsOf(given, cuts)).toEqual(statementsOf(given))
      for (const statement of statementsOf(given)) {
        readCreate(statement)
        applyAlter(statement, new Map())
        readInsert(statement)
      }
    }),
  )
})

test('values of every kind are read', () => {
  const text = "(NULL, -1.5e3, 0x00ff, x'C3A9', _binary 'a', b'101', TRUE, 'it''s', \"a\"\"b\")"
  expect([...rowsOf(text, 0)]).toEqual([
    [null, '-1.5e3', Buffer.from([0, 255]), 'é', 'a', '5', '1', "it's", 'a"b'],
  ])
  // Anything but a plain value is not run.
  expect([...rowsOf("(1, LOAD_FILE('/etc/passwd'))", 0)]).toEqual([undefined])
  expect([...rowsOf('(1, (SELECT 1))', 0)]).toEqual([undefined])
})

test('keys that come after the rows belong to their table', () => {
  const table = readCreate(`CREATE TABLE \`wp_posts\` (
    \`ID\` bigint(20) unsigned NOT NULL,
    \`a,b\` varchar(20) CHARACTER SET utf8 COLLATE utf8_general_ci DEFAULT 'x,(y' COMMENT 'it''s',
    \`j\` longtext CHECK (json_valid(\`j\`)),
    \`g\` varchar(9) GENERATED ALWAYS AS (concat(\`j\`, ')')) STORED COMMENT 'made',
    \`c\` datetime DEFAULT current_timestamp() ON UPDATE current_timestamp(),
    CONSTRAINT \`f\` FOREIGN KEY (\`ID\`) REFERENCES \`x\` (\`y\`),
    KEY \`by_j\` (\`j\`(191)) USING BTREE COMMENT 'k'
  ) ENGINE=MyISAM DEFAULT CHARSET=latin1`)
  const tables = new Map([['wp_posts', table!]])
  for (const statement of [
    'ALTER TABLE `wp_posts` ADD PRIMARY KEY (`ID`), ADD UNIQUE KEY `u` (`a,b`)',
    'ALTER TABLE `wp_posts` MODIFY `ID` bigint(20) unsigned NOT NULL AUTO_INCREMENT,' +
      ' AUTO_INCREMENT=9',
    'CREATE INDEX i ON wp_posts (`c` DESC)',
  ])
    expect(applyAlter(statement, tables)).toBe(true)
  expect(createStatement(table!, 'wp_posts')).toBe(
    'CREATE TABLE `wp_posts` (`ID` bigint(20) unsigned NOT NULL AUTO_INCREMENT, ' +
      "`a,b` varchar(20)   DEFAULT 'x,(y', `j` longtext, `g` varchar(9), " +
      '`c` datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, ' +
      'KEY `by_j` (`j`(191)), PRIMARY KEY (`ID`), UNIQUE KEY `u` (`a,b`), KEY `i` (`c`)) ' +
      'DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci',
  )
})

test('no dump makes its reader slow', () => {
  // CPU time of this process, so that other work on the machine does not count.
  const began = process.cpuUsage()
  for (const part of ['CHECK(', 'AS (', "COMMENT '", 'CONSTRAINT ', '((', "''", '``', 'KEY (', ' '])
    for (const whole of [
      `CREATE TABLE \`a\` (\`b\` int ${part.repeat(20_000)}, c int)`,
      `CREATE TABLE \`a\` (${part.repeat(20_000)}))`,
      `ALTER TABLE \`a\` ADD ${part.repeat(20_000)}`,
    ]) {
      readCreate(whole)
      applyAlter(whole, new Map([['a', { name: 'a', columns: [], keys: [] }]]))
    }
  // As long as mysqldump's statements, with many values each.
  const rows = Array.from({ length: 50_000 }, (_one, index) => `(${index},'một ''ngày'' ${index}')`)
  const insert = latin1(`INSERT INTO a VALUES ${rows.join(',')}`)
  expect([...rowsOf(insert, readInsert(insert)!.at)]).toHaveLength(rows.length)
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5_000)
})

test('nothing but tables and their rows is staged', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portal-dump-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'dump.sql')
  const needed = ['options', 'posts', 'users', 'usermeta']
  fs.writeFileSync(
    file,
    `${needed.map((name) => `CREATE TABLE a_${name} (id int);`).join('\n')}
USE mysql;
GRANT ALL ON *.* TO 'x'@'%';
CREATE USER 'x'@'%';
LOAD DATA INFILE '/etc/passwd' INTO TABLE a_posts;
CREATE TABLE stolen (id int); INSERT INTO stolen VALUES (1);
CREATE DEFINER=\`root\`@\`%\` VIEW a_v AS SELECT 1;
INSERT INTO a_posts SELECT * FROM mysql.user;
INSERT INTO a_posts VALUES (1),(2);
DELIMITER ;;
CREATE TRIGGER t BEFORE INSERT ON a_posts FOR EACH ROW BEGIN DELETE FROM a_users; END;;
DELIMITER ;
UPDATE a_users SET id = 2;
DROP TABLE a_posts;
`,
  )
  const target = path.join(folder, 'staged')
  const staged = await stageDump(file, target, undefined)
  expect(staged).toMatchObject({ prefix: 'a_', tables: 4, rows: 2 })
  const lines = fs.readFileSync(target, 'utf8').trim().split('\n')
  expect(lines.map((line) => Object.keys(JSON.parse(line) as object))).toEqual([
    ...needed.map(() => ['table', 'create']),
    ['table', 'columns', 'replaces', 'rows'],
  ])
  const told = staged.notes.map(({ code, detail }) => `${code}: ${detail}`).join('\n')
  for (const word of ['grant', 'user', 'load data', 'view', 'routine', 'update', 'stolen'])
    expect(told).toContain(word)
  expect(told).toContain('rows_left_out: 1')
})
