/**
 * The tags of a statement are right if a result changes only by writes that share a tag with it.
 * This is tested on a real database with generated statements, and on those of WordPress.
 */
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tagsOfSql } from '../../../../runtimes/wordpress-wasm/src/sql-tags.js'

const tags = (sql: string) => tagsOfSql(sql, 'wp_')
const meets = (read: readonly string[] | null, written: readonly string[] | null): boolean =>
  read === null || written === null
    ? written === null || written.length > 0
    : written.some((tag) => read.includes(tag))

const tables = `
  create table wp_options (option_id integer primary key, option_name text collate nocase unique,
    option_value text, autoload text);
  create table wp_posts (ID integer primary key, post_title text, post_type text,
    post_parent int default 0);
  create table wp_postmeta (meta_id integer primary key, post_id int, meta_key text collate nocase,
    meta_value text);
  insert into wp_options (option_name, option_value, autoload) values
    ('blogname', 'a', 'on'), ('_transient_x', 'b', 'off'), ('cron', 'c', 'on');
  insert into wp_posts (post_title, post_type, post_parent) values
    ('one', 'post', 0), ('two', 'post', 1), ('three', 'page', 1);
  insert into wp_postmeta (post_id, meta_key, meta_value) values
    (1, 'colour', 'red'), (2, 'colour', 'blue'), (2, '_edit_lock', 'x'), (3, 'size', '5');`

const id = fc.integer({ min: 1, max: 4 })
const idText = fc.oneof(
  id.map(String),
  id.map((one) => `'${one}'`),
  id.map((one) => `'0${one}'`),
)
const option = fc.constantFrom(
  `'blogname'`,
  `'BLOGNAME'`,
  `'cron'`,
  `'_transient_x'`,
  `'new-one'`,
  `'näme'`,
)
const value = fc.constantFrom(
  `'v'`,
  `'it''s'`,
  `'where option_name = "x" -- '`,
  `'/* not a comment'`,
  `'; drop'`,
)
const keyed = (column: string, key: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    key.map((one) => `${column} = ${one}`),
    fc.array(key, { minLength: 1, maxLength: 3 }).map((all) => `${column} IN (${all.join(', ')})`),
    key.map((one) => `NOT ${column} = ${one}`),
    key.map((one) => `${column} <> ${one}`),
    key.map((one) => `(${column} = ${one})`),
    fc.tuple(key, key).map(([a, b]) => `${column} BETWEEN ${a} AND ${b}`),
    fc.tuple(key, key).map(([a, b]) => `1 BETWEEN 0 AND ${column} = ${a} AND ${column} = ${b}`),
    key.map((one) => `CASE WHEN 1 THEN 1 AND ${column} = ${one} AND 1 END`),
    key.map((one) => `${column} = ${one} IS NOT NULL`),
    key.map((one) => `0 = ${column} = ${one}`),
  )
const conditions = (one: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(one, fc.array(fc.tuple(fc.constantFrom('AND', 'OR', 'and'), one), { maxLength: 2 }))
    .map(([first, more]) => [first, ...more.map((pair) => pair.join(' '))].join(' '))
const whereOf = {
  wp_options: conditions(
    fc.oneof(
      keyed('option_name', option),
      keyed('`option_name`', option),
      fc.constant(`autoload = 'on'`),
      fc.constant(`option_name LIKE '%name'`),
      fc.constant('option_id > 1'),
    ),
  ),
  wp_posts: conditions(
    fc.oneof(
      keyed('ID', idText),
      keyed('wp_posts.ID', idText),
      fc.constant(`post_type = 'post'`),
      fc.constant('post_parent IN (SELECT post_id FROM wp_postmeta)'),
      fc.constant('post_title IS NOT NULL'),
    ),
  ),
  wp_postmeta: conditions(
    fc.oneof(
      keyed('post_id', idText),
      fc.constant(`meta_key = '_edit_lock'`),
      fc.constant(`meta_key = 'colour'`),
      fc.constant('meta_id = 2'),
    ),
  ),
}
type Table = keyof typeof whereOf
const table = fc.constantFrom<Table[]>('wp_options', 'wp_posts', 'wp_postmeta')
/** A column of posts without an alias in front. */
const ownColumn = /(?<!\.)\b(ID|post_type|post_parent|post_title)\b/g
const read = fc.oneof(
  table.chain((name) => whereOf[name].map((where) => `SELECT * FROM ${name} WHERE ${where}`)),
  table.chain((name) =>
    whereOf[name].map((where) => `SELECT COUNT(*) FROM \`${name}\` WHERE ${where} ORDER BY 1`),
  ),
  idText.map(
    (one) => `SELECT post_id, meta_key, meta_value FROM wp_postmeta WHERE post_id IN (${one}, 2)
      AND meta_key <> '_edit_lock'`,
  ),
  whereOf.wp_posts.map(
    (where) => `SELECT p.post_title, m.meta_value FROM wp_posts AS wp_posts JOIN wp_posts AS p
      ON p.ID = wp_posts.ID LEFT JOIN wp_postmeta m ON m.post_id = p.ID
      WHERE ${where.replaceAll(ownColumn, 'wp_posts.$1')}`,
  ),
  option.map(
    (one) => `SELECT (SELECT option_value FROM wp_options WHERE option_name = ${one}),
    post_title FROM wp_posts WHERE ID = 1`,
  ),
)
const write = fc.oneof(
  fc
    .tuple(whereOf.wp_options, value)
    .map(([where, one]) => `UPDATE wp_options SET option_value = ${one} WHERE ${where}`),
  fc
    .tuple(option, whereOf.wp_options)
    .map(([one, where]) => `UPDATE wp_options SET option_name = ${one} WHERE ${where}`),
  fc
    .tuple(whereOf.wp_posts, value)
    .map(([where, one]) => `UPDATE wp_posts SET post_title = ${one} WHERE ${where}`),
  fc
    .tuple(whereOf.wp_postmeta, value)
    .map(([where, one]) => `UPDATE wp_postmeta SET meta_value = ${one} WHERE ${where}`),
  table.chain((name) => whereOf[name].map((where) => `DELETE FROM ${name} WHERE ${where}`)),
  fc.tuple(option, value).map(
    ([one, text]) => `INSERT OR REPLACE INTO wp_options (option_name, option_value, autoload)
      VALUES (${one}, ${text}, 'on')`,
  ),
  fc.tuple(option, value).map(
    ([one, text]) => `INSERT INTO wp_options (option_name, option_value) VALUES (${one}, ${text})
      ON CONFLICT DO UPDATE SET option_value = ${text}`,
  ),
  fc
    .tuple(option, id)
    .map(
      ([one, number]) =>
        `REPLACE INTO wp_options (option_id, option_name) VALUES (${number}, ${one})`,
    ),
  value.map((one) => `INSERT INTO wp_posts (post_title, post_type) VALUES (${one}, 'post')`),
  fc.tuple(idText, value).map(
    ([one, text]) => `INSERT INTO wp_postmeta (post_id, meta_key, meta_value)
      VALUES (${one}, 'colour', ${text}), (2, '_edit_lock', 'y')`,
  ),
  fc.constant(`INSERT INTO wp_postmeta (post_id, meta_key) SELECT ID, 'copied' FROM wp_posts`),
)

test('no result changes by a write that has none of its tags', () => {
  let changed = 0
  let apart = 0
  fc.assert(
    fc.property(read, write, (select, change) => {
      const database = new DatabaseSync(':memory:')
      try {
        database.exec(tables)
        const before = JSON.stringify(database.prepare(select).all())
        try {
          database.exec(change)
        } catch {
          // The statement was refused (a unique key): nothing was changed.
        }
        const differs = JSON.stringify(database.prepare(select).all()) !== before
        const isMet = meets(tags(select).reads, tags(change).writes)
        if (differs) changed++
        if (!isMet) apart++
        expect(differs && !isMet, `${select}\n${change}`).toBe(false)
      } finally {
        database.close()
      }
    }),
    { numRuns: Number(process.env['STATEMENTS'] ?? 3_000) },
  )
  // Otherwise the test has tested nothing.
  expect(changed).toBeGreaterThan(100)
  expect(apart).toBeGreaterThan(100)
})

test('whatever text there is, nothing throws', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', 'SELECT ', 'UPDATE '),
      (a, b) => {
        tags(b + a)
      },
    ),
  )
})

test.each<[string, string, boolean]>([
  // Statements of WordPress, and whether the second drops pages that have read the first.
  [
    `SELECT option_value FROM wp_options WHERE option_name = '_transient_feed' LIMIT 1`,
    `UPDATE \`wp_options\` SET \`option_value\` = 'x' WHERE \`option_name\` = 'blogname'`,
    false,
  ],
  [
    `SELECT option_value FROM wp_options WHERE option_name = 'blogname' LIMIT 1`,
    `UPDATE \`wp_options\` SET \`option_value\` = 'x' WHERE \`option_name\` = 'blogname'`,
    true,
  ],
  [
    `SELECT option_value FROM wp_options WHERE option_name = '_transient_a' LIMIT 1`,
    `INSERT INTO \`wp_options\` (\`option_name\`, \`option_value\`, \`autoload\`)
      VALUES ('_transient_b', 'v', 'off') ON DUPLICATE KEY UPDATE
      \`option_name\` = VALUES(\`option_name\`),
      \`option_value\` = VALUES(\`option_value\`), \`autoload\` = VALUES(\`autoload\`)`,
    false,
  ],
  [
    `SELECT post_id, meta_key, meta_value FROM wp_postmeta WHERE post_id IN (5,6)
      ORDER BY meta_id ASC`,
    `UPDATE \`wp_postmeta\` SET \`meta_value\` = '1:1'
      WHERE \`post_id\` = 5 AND \`meta_key\` = '_edit_lock'`,
    false,
  ],
  [
    `SELECT meta_value FROM wp_postmeta WHERE post_id = 5 AND meta_key = '_edit_lock'`,
    `UPDATE \`wp_postmeta\` SET \`meta_value\` = '1:1'
      WHERE \`post_id\` = 5 AND \`meta_key\` = '_edit_lock'`,
    true,
  ],
  [
    `SELECT post_id, meta_key, meta_value FROM wp_postmeta WHERE post_id IN (5)`,
    `INSERT INTO \`wp_postmeta\` (\`post_id\`, \`meta_key\`, \`meta_value\`)
      VALUES (5, 'price', '9')`,
    true,
  ],
  [
    `SELECT SQL_CALC_FOUND_ROWS wp_posts.ID FROM wp_posts
      WHERE 1=1 AND wp_posts.post_type = 'post'`,
    `UPDATE \`wp_posts\` SET \`post_title\` = 'x' WHERE \`ID\` = 7`,
    true,
  ],
  ['SELECT * FROM wp_users WHERE ID IN (1)', 'ALTER TABLE wp_users ADD x int', true],
  ['SELECT 1 FROM wp_posts', 'CREATE TRIGGER t AFTER INSERT ON a FOR EACH ROW BEGIN END', true],
  ['SELECT 1 FROM wp_posts', 'UPDATE wp_users SET a = 1; DELETE FROM wp_posts', true],
  ['SELECT 1 FROM wp_posts', 'UPDATE wp_users SET a = 1 /*! , b = 2 */ WHERE ID = 1', true],
  ['SELECT 1 FROM wp_posts', `UPDATE wp_users SET a = 'open`, true],
  ['SELECT 1 FROM wp_posts', 'CALL anything()', true],
  ['SELECT 1 FROM wp_posts', 'TRUNCATE TABLE wp_posts', true],
  ['SELECT * FROM wp_posts WHERE ID = 99', `INSERT INTO wp_posts (post_title) VALUES ('x')`, true],
  ['SELECT 1 FROM wp_posts', 'START TRANSACTION', false],
  [
    'SELECT name, value FROM wp_posts WHERE a = 1 ORDER BY name LIMIT 1',
    'UPDATE wp_woocommerce_sessions SET value = 2 WHERE name = 3 ORDER BY name LIMIT 1',
    false,
  ],
  [
    'SELECT name FROM wp_posts WHERE a = 1',
    'DELETE FROM wp_sessions WHERE name IN (SELECT name FROM wp_posts)',
    false,
  ],
  ['SELECT 1 FROM wp_posts', 'UPDATE wp_users u JOIN wp_posts p ON 1 SET p.a = u.a', true],
  ['SELECT 1 FROM wp_posts', 'DELETE p FROM wp_users u, wp_posts p WHERE u.a = p.a', true],
  ['SELECT 1 FROM wp_posts', 'DELETE FROM u, p USING wp_users u, wp_posts p', true],
  ['SELECT 1 FROM wp_posts', 'UPDATE other.wp_posts SET a = 1', true],
  ['SELECT 1 FROM wp_posts', `SET sql_mode = 'NO_BACKSLASH_ESCAPES'`, true],
  ['SELECT @a', 'UPDATE wp_users SET a = 1 WHERE ID = 1', true],
])('%s / %s: %s', (select, change, expected) => {
  expect(meets(tags(select).reads, tags(change).writes)).toBe(expected)
})
