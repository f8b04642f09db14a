/**
 * Statements of plugins that SQLite does not know: the site answers them as MariaDB does. The
 * expected answers are listed here; where MariaDB is installed, it is asked the same.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { fixture } from '../../../../test/embedded-wordpress.ts'
import { missingForLamp, openLampServer } from '../../../../test/lamp-server.ts'
import type { SiteRuntime } from '../../driver.ts'
import { ask, specOf } from '../conformance.ts'

const table = `CREATE TABLE probe (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, kind varchar(20),
  name varchar(40), size int, day datetime, FULLTEXT KEY words (name, kind)) ENGINE=InnoDB
  DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_unicode_520_ci`
const rows = `INSERT INTO probe (kind, name, size, day) VALUES
  ('tea', 'Trà sen', 3, '2026-01-31 08:00:00'), ('tea', 'trà xanh', 12, '2026-02-28 23:59:59'),
  ('coffee', 'Cà phê sữa đá', 7, '2026-02-28 07:30:00'), ('tea', 'Trà sen', 5, NULL),
  ('cake', NULL, 1, '2025-12-29 00:00:00')`

/** The value of each expression as MySQL prints it; null: NULL. */
const values: Readonly<Record<string, string | null>> = {
  "FIND_IN_SET('b', 'a,b,c')": '2',
  "FIND_IN_SET('B', 'a,b,c')": '2',
  "FIND_IN_SET('d', 'a,b,c')": '0',
  "FIND_IN_SET('', '')": '0',
  "FIND_IN_SET(NULL, 'a')": null,
  "SUBSTRING_INDEX('www.example.com', '.', 2)": 'www.example',
  "SUBSTRING_INDEX('www.example.com', '.', -2)": 'example.com',
  "SUBSTRING_INDEX('www', '.', 2)": 'www',
  "SUBSTRING_INDEX('www.example.com', '.', 0)": '',
  "STR_TO_DATE('28/02/2026 7:05', '%d/%m/%Y %H:%i')": '2026-02-28 07:05:00',
  "STR_TO_DATE('March 5, 2026', '%M %e, %Y')": '2026-03-05',
  "STR_TO_DATE('2026-02-05 and more', '%Y-%m-%d')": '2026-02-05',
  "STR_TO_DATE('11:07:00 PM', '%h:%i:%s %p')": '23:07:00',
  "STR_TO_DATE('30/02/2026', '%d/%m/%Y')": '2026-02-30',
  "STR_TO_DATE('32/02/2026', '%d/%m/%Y')": null,
  "STR_TO_DATE('x', '%Y')": null,
  "TIMESTAMPDIFF(MONTH, '2026-01-31', '2026-02-28')": '0',
  "TIMESTAMPDIFF(MONTH, '2026-01-31', '2026-03-31')": '2',
  "TIMESTAMPDIFF(YEAR, '2026-03-01', '2024-02-29')": '-2',
  "TIMESTAMPDIFF(MINUTE, '2026-01-01', '2026-01-01 02:10:59')": '130',
  "TIMESTAMPDIFF(WEEK, '2026-01-01', '2026-01-20')": '2',
  "TIMESTAMPDIFF(SECOND, '1970-01-01', '2071-06-01 00:00:01')": '3200342401',
  "TIMESTAMPDIFF(HOUR, '2026-01-01 02:10:59', '2026-01-01')": '-2',
  "TIMESTAMPADD(HOUR, 2, '2061-01-01 23:30:00')": '2061-01-02 01:30:00',
  "TIMESTAMPDIFF(DAY, NULL, '2026-01-20')": null,
  "TIMESTAMPADD(MONTH, 1, '2026-01-31')": '2026-02-28',
  "TIMESTAMPADD(HOUR, -1, '2026-01-01 00:30:00')": '2025-12-31 23:30:00',
  "ADDDATE('2026-01-31', INTERVAL 1 DAY)": '2026-02-01',
  "ADDDATE('2026-01-31', 1)": '2026-02-01',
  "DATE_ADD('2026-01-31', INTERVAL 1 MONTH)": '2026-02-28',
  "DATE_SUB('2026-03-01 10:00:00', INTERVAL 2 WEEK)": '2026-02-15 10:00:00',
  "'2026-01-31' + INTERVAL 1 + 1 DAY": '2026-02-02',
  '(SELECT MAX(probe.day) - INTERVAL 5 MINUTE FROM probe)': '2026-02-28 23:54:59',
  '(SELECT COUNT(*) FROM probe WHERE NOW() > (day) + INTERVAL id HOUR AND id > 1)': '3',
  "EXTRACT(YEAR_MONTH FROM '2026-02-05 10:00:00')": '202602',
  "EXTRACT(WEEK FROM '2026-01-03')": '0',
  "WEEK('2026-01-03', 2)": '52',
  "DATE_FORMAT('2026-01-03', '%X %V')": '2025 52',
  "DATE_FORMAT('2026-11-25', '%X %V')": '2026 47',
  "EXTRACT(HOUR FROM '2026-02-05 10:00:00')": '10',
  "LAST_DAY('2028-02-05')": '2028-02-29',
  "TO_DAYS('2007-10-07')": '733321',
  'FROM_DAYS(733321)': '2007-10-07',
  "QUARTER('2026-08-01')": '3',
  "DAYNAME('2026-11-25')": 'Wednesday',
  "MONTHNAME('2026-11-25')": 'November',
  "DAYOFYEAR('2026-02-03')": '34',
  "WEEKOFYEAR('2026-12-31')": '53',
  "YEARWEEK('2026-11-25', 1)": '202648',
  "TIME_TO_SEC('01:02:03')": '3723',
  'SEC_TO_TIME(3723)': '01:02:03',
  'PERIOD_DIFF(202603, 202511)': '4',
  "CONVERT_TZ('2026-01-01 12:00:00', '+00:00', '+07:00')": '2026-01-01 19:00:00',
  "MD5('a')": '0cc175b9c0f1b6a831c399e269772661',
  "SHA1('abc')": 'a9993e364706816aba3e25717850c26c9cd0d89d',
  "SHA2('abc', 224)": '23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7',
  "CRC32('MySQL')": '3259397556',
  "ELT(2, 'a', 'b')": 'b',
  "LPAD('hi', 4, '?')": '??hi',
  "RPAD('đường', 3, '?')": 'đườ',
  "REPEAT('ab', 3)": 'ababab',
  "CONCAT('[', SPACE(2), ']')": '[  ]',
  "STRCMP('a', 'B')": '-1',
  'FORMAT(1234567.891, 2)': '1,234,567.89',
  'TRUNCATE(1.999, 1)': '1.9',
  "INET6_NTOA(INET6_ATON('2001:db8::1'))": '2001:db8::1',
  "HEX(INET6_ATON('10.0.5.9'))": '0A000509',
  "DATEDIFF('2026-12-31', '2026-12-20 08:30:00')": '11',
  "DATE_FORMAT('2026-12-20 08:05:09', '%Y-%m-%d %H:%i:%s')": '2026-12-20 08:05:09',
  "DATE_FORMAT('2026-12-20 18:05:09', '%W %D %M %e %y, %l:%i %p %% %j')":
    'Sunday 20th December 20 26, 6:05 PM % 354',
  "DATE_FORMAT('2027-01-01 18:05:09', '%b %c %T %r %U %u %k %h %a %x-%v')":
    'Jan 1 18:05:09 06:05:09 PM 00 00 18 06 Fri 2026-53',
  "WEEK('2026-12-20')": '51',
  "WEEK('2027-01-01', 1)": '0',
  "CAST('2026-01-01 10:00:00' AS DATE)": '2026-01-01',
  "CAST('20260102' AS DATE)": '2026-01-02',
  "CAST('2026-01-02' AS DATETIME)": '2026-01-02 00:00:00',
  "CAST('7' AS SIGNED) + 1": '8',
  'MAKEDATE(2026, 32)': '2026-02-01',
  "ADDTIME('2026-01-01 10:00:00', '01:00:00')": '2026-01-01 11:00:00',
  "SUBTIME('10:00:00', '01:00:00')": '09:00:00',
  "TIMEDIFF('10:00:00', '09:30:00')": '00:30:00',
  "'2026-01-31' + INTERVAL 1 MONTH + INTERVAL 2 DAY - INTERVAL 1 HOUR": '2026-03-01 23:00:00',
  "LENGTH('đường')": '9',
  "CHARACTER_LENGTH('đường')": '5',
  "LOCATE('Ờ', 'đường')": '3',
  "INSTR('Foobar', 'BAR')": '4',
  "POSITION('b' IN 'abc')": '2',
  "RIGHT('đường', 2)": 'ng',
  "UPPER('đường')": 'ĐƯỜNG',
  "LOWER('ĐƯỜNG')": 'đường',
  "TRIM(LEADING 'x' FROM 'xxax')": 'ax',
  "TRIM(BOTH '/' FROM '/a/')": 'a',
  "TRIM('  a ')": 'a',
  'HEX(255)': 'FF',
  "HEX('abc')": '616263',
  'BIN(5)': '101',
  "CONV('ff', 16, 10)": '255',
  "ASCII('a')": '97',
  'BIT_COUNT(7)': '3',
  "SOUNDEX('Robert')": 'R163',
  "JSON_CONTAINS('[1,2]', '1')": '1',
  "JSON_LENGTH('[1,2,3]')": '3',
  'LAST_INSERT_ID() >= 0': '1',
  'ROUND(5/2, 1)': '2.5',
  '(SELECT SUM(size) / COUNT(*) FROM probe) = 5.6': '1',
  '1 = 2 || 3 = 3': '1',
  '1 = 1 && 3 = 4': '0',
  "CONCAT_WS(', ', 'a', NULL, 'b')": 'a, b',
  'JSON_UNQUOTE(JSON_EXTRACT(\'{"a":"b"}\', \'$.a\'))': 'b',
  '(SELECT LENGTH(GROUP_CONCAT(id)) FROM probe)': '9',
  "(SELECT GROUP_CONCAT(name ORDER BY size DESC SEPARATOR ' | ') FROM probe WHERE kind = 'tea')":
    'trà xanh | Trà sen | Trà sen',
  "(SELECT GROUP_CONCAT(DISTINCT kind ORDER BY kind ASC SEPARATOR '') FROM probe)": 'cakecoffeetea',
  "(SELECT GROUP_CONCAT(kind, '=', size ORDER BY size SEPARATOR ';') FROM probe WHERE size > 4)":
    'tea=5;coffee=7;tea=12',
  '(SELECT GROUP_CONCAT(name) FROM probe WHERE size > 99)': null,
  "(SELECT COUNT(*) FROM probe WHERE MATCH (name, kind) AGAINST ('coffee'))": '1',
  "(SELECT COUNT(*) FROM probe WHERE MATCH (name, kind) AGAINST ('+trà -xanh' IN BOOLEAN MODE))":
    '2',
  "(SELECT MAX(id) FROM probe WHERE MATCH (name, kind) AGAINST ('cof*' IN BOOLEAN MODE))": '3',
  '(SELECT COUNT(*) FROM probe WHERE MATCH (name, kind) AGAINST (\'"sữa đá"\' IN BOOLEAN MODE))':
    '1',
  "(SELECT COUNT(*) FROM probe WHERE name = 'GROUP_CONCAT(x SEPARATOR y) @@version')": '0',
  '@@lower_case_table_names': '0',
}
/** Several statements, then a query of their result and its value. */
const acts: Readonly<Record<string, readonly [readonly string[], string, string]>> = {
  like: [
    ['CREATE TABLE probe_like LIKE probe', "INSERT INTO probe_like (kind) VALUES ('new')"],
    'SELECT CONCAT(id, kind) FROM probe_like',
    '1new',
  ],
  names: [
    [
      'CREATE TABLE probe_names (length int, `right` int, KEY length (length), KEY hex (`right`))',
      'ALTER TABLE probe_names ADD KEY lower (length)',
      'INSERT INTO probe_names (length, `right`) VALUES (3, 4)',
    ],
    'SELECT length + `right` FROM probe_names',
    '7',
  ],
  select: [
    ["CREATE TABLE probe_tea AS SELECT id, name, size * 2 AS twice FROM probe WHERE kind = 'tea'"],
    'SELECT SUM(twice) FROM probe_tea',
    '40',
  ],
  temporary: [
    ['CREATE TEMPORARY TABLE probe_some (SELECT size FROM probe WHERE size > 4)'],
    'SELECT COUNT(*) FROM probe_some',
    '3',
  ],
  again: [
    [
      'CREATE TABLE IF NOT EXISTS probe_once AS SELECT size FROM probe',
      'CREATE TABLE IF NOT EXISTS probe_once AS SELECT size FROM probe',
    ],
    'SELECT COUNT(*) FROM probe_once',
    '5',
  ],
}

describe('statements of MySQL', { timeout: 240_000 }, () => {
  let parts: Awaited<ReturnType<typeof fixture>>
  let driver: SiteRuntime
  const spec = specOf()
  const json = async (code: string): Promise<unknown> => {
    await parts.put(spec.id, 'probe.php', `<?php require __DIR__ . '/wp-load.php';${code}`)
    const { text } = await ask(driver.upstreams(spec.id)[0]!, `${spec.url}/probe.php`)
    return JSON.parse(text)
  }
  /** Runs the statements in one request; answers the first column of each one's first row. */
  const first = (statements: readonly string[]): Promise<unknown> =>
    json(`global $wpdb;
foreach ( json_decode( '${JSON.stringify(statements).replaceAll(/[\\']/g, '\\$&')}' ) as $sql ) {
	$wpdb->query( $sql );
	$row = array_values( (array) ( $wpdb->last_result[0] ?? array( '' ) ) );
	$told[ $sql ] = $wpdb->last_error ?: $row[0];
}
echo json_encode( $told );`)

  beforeAll(async () => {
    parts = await fixture()
    driver = parts.driver
    await driver.install(spec, { user: 'boss', password: 'Another#1pass', email: 'b@example.com' })
    await driver.start(spec)
    await first([table, rows])
  }, 200_000)
  afterAll(() => parts?.dispose(), 60_000)

  test('expressions have the values that MySQL gives them', async () => {
    const told = (await first(Object.keys(values).map((one) => `SELECT ${one}`))) as object
    for (const [sql, value] of Object.entries(told))
      expect([sql, value]).toEqual([sql, values[sql.replace('SELECT ', '')]])
  })

  test.each(Object.entries(acts))('a table made by a statement: %s', async (_name, act) => {
    const [statements, question, value] = act
    expect(await first([...statements, question])).toMatchObject({ [question]: value })
  })

  test('a table that is made like another has its keys, and page and count go on', async () => {
    const shown = (await first(['SHOW CREATE TABLE probe_like', 'SHOW VARIABLES'])) as object
    expect(Object.values(shown)).toEqual(['probe_like', 'character_set_client'])
    const told = await json(`global $wpdb;
echo json_encode( array( count( $wpdb->get_results( 'SHOW INDEX FROM probe_like' ) ),
	$wpdb->get_row( "SHOW VARIABLES LIKE 'max_allowed_packet'", ARRAY_A ),
	$wpdb->get_results( 'SHOW TRIGGERS' ), $wpdb->get_var( 'SHOW ENGINES' ),
	$wpdb->query( "INSERT INTO probe_like (kind) VALUES ('MATCH (a) AGAINST (''b'') @@version')" ),
	$wpdb->get_var( 'SELECT kind FROM probe_like ORDER BY id DESC LIMIT 1' ) ) );`)
    expect(told).toEqual([
      3,
      { Variable_name: 'max_allowed_packet', Value: '67108864' },
      [],
      'InnoDB',
      1,
      "MATCH (a) AGAINST ('b') @@version",
    ])
  })

  const missing = missingForLamp()
  test.skipIf(missing.length > 0)(
    missing.length > 0
      ? `MariaDB was not asked: ${missing.join(', ')} not installed`
      : 'MariaDB gives the same values',
    async () => {
      const lamp = await openLampServer()
      onTestFinished(() => lamp.close())
      lamp.sql(`set names utf8mb4;${table};${rows}`)
      const questions = Object.keys(values).map((one) => `select ${one}`)
      const told = lamp.sql(`set names utf8mb4, sql_mode = '';\n${questions.join(';\n')}`)
      expect(told.split('\n').slice(0, -1)).toEqual(
        Object.values(values).map((value) => value ?? 'NULL'),
      )
      for (const [statements, question, value] of Object.values(acts))
        expect(lamp.sql(['set names utf8mb4', ...statements, question].join(';')).trim()).toBe(
          value,
        )
    },
  )
})
