/**
 * Statements of plugins that the two runtimes may answer differently. Each is run by WordPress's
 * own `$wpdb`, or by a connection of the plugin's own, on a site of either runtime, and judged by
 * MySQL's manual. Prints a table for docs/plugins.md.
 */
import type { SiteRuntime } from '../server/wordpress/driver.ts'
import { ask, specOf, type Fixture } from '../server/wordpress/drivers/site.conformance.ts'
import { withoutEngine } from '../test/docker-engine.ts'
import { dockerFixture, ensureImages } from '../test/docker-wordpress.ts'
import { fixture as embeddedFixture } from '../test/embedded-wordpress.ts'

const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }

/**
 * PHP that returns whether the result is right; `$t` is a table with rows (1, 'Đường', 4), (2,
 * 'đường', 6).
 */
const all: Readonly<Record<string, string>> = {
  'values assigned to variables within a SELECT':
    'return "6" === (string) $v( "SELECT MAX( n ) FROM ( SELECT @s := @s + size AS n ' +
    'FROM $t, ( SELECT @s := 0 ) AS z WHERE id = 2 ) AS q" );',
  DIV: 'return "2" === (string) $v( "SELECT 5 DIV 2" );',
  '<=>': 'return "1" === (string) $v( "SELECT NULL <=> NULL" );',
  XOR: 'return "1" === (string) $v( "SELECT 1 XOR 0" );',
  '!': 'return "1" === (string) $v( "SELECT !0" );',
  STD: 'return 1.0 === (float) $v( "SELECT STD( size ) FROM $t" );',
  BIT_OR: 'return "6" === (string) $v( "SELECT BIT_OR( size ) FROM $t" );',
  'a view':
    '$wpdb->query( "CREATE VIEW seen AS SELECT size FROM $t" );' +
    'return "2" === (string) $v( "SELECT COUNT( * ) FROM seen" );',
  'a trigger':
    '$wpdb->query( "CREATE TRIGGER doubled BEFORE INSERT ON $t FOR EACH ROW ' +
    'SET NEW.size = NEW.size * 2" );' +
    '$wpdb->query( "INSERT INTO $t VALUES ( 3, \'x\', 5 )" );' +
    'return "10" === (string) $v( "SELECT size FROM $t WHERE id = 3" );',
  'a procedure':
    '$wpdb->query( "CREATE PROCEDURE said() SELECT 7 AS n" );' +
    'return "7" === (string) $v( "CALL said()" );',
  'texts that are equal whatever their case, beyond ASCII':
    'return "2" === (string) $v( "SELECT COUNT( * ) FROM $t WHERE name = \'ĐƯỜNG\'" );',
  'several rows of GROUP_CONCAT by an order':
    'return "6,4" === $v( "SELECT GROUP_CONCAT( size ORDER BY size DESC ) FROM $t" );',
  'a connection of the plugin’s own (mysqli)':
    '$own = @mysqli_connect( "localhost", DB_USER, DB_PASSWORD, DB_NAME, 0, ' +
    'substr( DB_HOST, strpos( DB_HOST, ":" ) + 1 ) );' +
    'return $own && "2" === (string) $own->query( "SELECT 2" )->fetch_row()[0];',
  'a connection of the plugin’s own (PDO)':
    '$own = new PDO( "mysql:unix_socket=" . substr( DB_HOST, strpos( DB_HOST, ":" ) + 1 ) ' +
    '. ";dbname=" . DB_NAME, DB_USER, DB_PASSWORD );' +
    'return "2" === (string) $own->query( "SELECT 2" )->fetchColumn();',
  'two transactions at once':
    '$own = @mysqli_connect( "localhost", DB_USER, DB_PASSWORD, DB_NAME, 0, ' +
    'substr( DB_HOST, strpos( DB_HOST, ":" ) + 1 ) );' +
    '$wpdb->query( "START TRANSACTION" );' +
    '$wpdb->query( "UPDATE $t SET size = 5 WHERE id = 1" );' +
    '$own->query( "UPDATE $t SET size = 7 WHERE id = 2" );' +
    '$wpdb->query( "COMMIT" );' +
    'return "12" === (string) $v( "SELECT SUM( size ) FROM $t" );',
}

const code = `<?php
require __DIR__ . '/wp-load.php';
$wpdb->suppress_errors();
$t = "{$wpdb->prefix}tried";
$v = fn( $sql ) => $wpdb->get_var( $sql );
$answers = array();
foreach ( json_decode( base64_decode( '${Buffer.from(JSON.stringify(all)).toString('base64')}' ),
	true ) as $name => $act ) {
	foreach ( array( 'TRIGGER doubled', 'PROCEDURE said', 'VIEW seen', "TABLE $t" ) as $old )
		$wpdb->query( 'DROP ' . preg_replace( '/ /', ' IF EXISTS ', $old, 1 ) );
	$wpdb->query( "CREATE TABLE $t ( id int PRIMARY KEY, name varchar(40), size int )
		{$wpdb->get_charset_collate()}" );
	$wpdb->query( "INSERT INTO $t VALUES ( 1, 'Đường', 4 ), ( 2, 'đường', 6 )" );
	try {
		$answers[ $name ] = true === ( function () use ( $act, $wpdb, $t, $v ) {
			return eval( $act );
		} )();
	} catch ( Throwable $error ) {
		$answers[ $name ] = false;
	}
	$wpdb->query( 'ROLLBACK' );
}
echo '<answers>', json_encode( $answers ), '</answers>';
`

type Parts = Fixture & { readonly driver: SiteRuntime }

async function answersOf(parts: Parts): Promise<Record<string, boolean>> {
  const spec = specOf({ ramMb: 1_000 })
  await parts.driver.install(spec, admin)
  await parts.driver.start(spec)
  await parts.put(spec.id, 'statements.php', code)
  const [address] = await parts.driver.addresses(spec.id)
  const { text } = await ask(address!, `${spec.url}/statements.php`)
  const [, answers] = /<answers>(.*)<\/answers>/s.exec(text) ?? []
  if (answers === undefined) throw new Error(`no answers: ${text.slice(0, 500)}`)
  return JSON.parse(answers) as Record<string, boolean>
}

const why = withoutEngine() ?? (await ensureImages())
if (why !== undefined) console.log(`Not tried: ${why}.`)
else {
  const tryIn = async (open: () => Promise<Parts>): Promise<Record<string, boolean>> => {
    const parts = await open()
    try {
      return await answersOf(parts)
    } finally {
      await parts.dispose()
    }
  }
  const before = await tryIn(embeddedFixture)
  const now = await tryIn(dockerFixture)
  const names = Object.keys(all)
  const say = (is: boolean | undefined): string => (is ? 'yes' : 'no')
  console.log('| What a plugin says | SQLite | MariaDB |\n| --- | --- | --- |')
  for (const name of names) console.log(`| ${name} | ${say(before[name])} | ${say(now[name])} |`)
  const count = (of: Record<string, boolean>) => names.filter((name) => of[name]).length
  console.log(`\nSQLite ${count(before)} of ${names.length}, MariaDB ${count(now)}`)
}
