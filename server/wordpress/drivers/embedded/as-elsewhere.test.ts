/**
 * What WordPress has on any other host: a search that handles Vietnamese letters, locks between
 * containers, its own disk, its own address.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import fs from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { fixture } from '../../../../test/embedded-wordpress.ts'
import { freePort } from '../../../../test/free-port.ts'
import { missingForLamp, openLampServer } from '../../../../test/lamp-server.ts'
import { createEdge, createHostTable, type Edge } from '../../../edge/index.ts'
import type { SiteAddress, SiteRuntime } from '../../driver.ts'
import { ask, eventually, specOf } from '../conformance.ts'

describe('WordPress as elsewhere', { timeout: 240_000 }, () => {
  let parts: Awaited<ReturnType<typeof fixture>>
  let driver: SiteRuntime
  let edge: Edge
  let spec = specOf()
  const page = async (target: string, container = 0) =>
    (await ask(driver.upstreams(spec.id)[container] as SiteAddress, spec.url + target)).text
  const put = (name: string, code: string) =>
    parts.put(spec.id, name, `<?php require __DIR__ . '/wp-load.php'; ${code}`)

  beforeAll(async () => {
    parts = await fixture()
    driver = parts.driver
    const port = await freePort()
    spec = specOf({ url: `http://as-elsewhere.localhost:${port}` })
    await driver.install(spec, { user: 'boss', password: 'Another#1pass', email: 'b@example.com' })
    await driver.start(spec)
    const hosts = createHostTable(driver.upstreams)
    const entries = [{ host: 'as-elsewhere.localhost', site: spec.id, state: 'live' }] as const
    hosts.apply({ base: null, version: 'one', sites: null, entries })
    edge = createEdge({
      resolve: hosts.resolve,
      port,
      host: '127.0.0.1',
      log: { warn: () => {} },
      note: () => {},
    })
    await edge.listen()
  }, 200_000)
  afterAll(async () => {
    await edge?.close()
    await parts?.dispose()
  }, 60_000)

  test('a search finds Vietnamese text in any case, with and without marks, and soon', async () => {
    await put(
      'probe-fill.php',
      // The database doubles the rows twelve times: 4,096 insertions by PHP take a minute on a busy
      // machine.
      `global $wpdb;
$at = '2026-01-01 00:00:00';
$wpdb->insert( $wpdb->posts, array( 'post_title' => 'Bài số', 'post_status' => 'publish',
	'post_content' => str_repeat( 'Một ngày đẹp trời ở thành phố biển, kể chuyện xưa. ', 30 ),
	'post_type' => 'post', 'post_excerpt' => '', 'to_ping' => '', 'pinged' => '',
	'post_content_filtered' => '', 'post_date' => $at, 'post_date_gmt' => $at,
	'post_modified' => $at, 'post_modified_gmt' => $at ) );
$rest = 'post_status, post_type, post_excerpt, to_ping, pinged, post_content_filtered, post_date,
	post_date_gmt, post_modified, post_modified_gmt';
for ( $i = 0; $i < 12; $i++ ) $wpdb->query( "INSERT INTO $wpdb->posts
	( post_title, post_content, $rest ) SELECT CONCAT( 'Bài số ', ID ),
	CONCAT( post_content, ID ), $rest FROM $wpdb->posts WHERE post_title LIKE 'Bài số%'" );
wp_insert_post( array( 'post_title' => 'Đường lên Đà Lạt', 'post_status' => 'publish',
	'post_content' => 'Giảm 50% hôm nay, mã A_1' ) );
echo $wpdb->get_var( "SELECT COUNT(*) FROM $wpdb->posts WHERE post_title LIKE '%Bài số%'" );`,
    )
    expect(await page('/probe-fill.php')).toBe('4096')
    await put(
      'probe-search.php',
      `$told = array();
foreach ( json_decode( stripslashes( $_GET['s'] ) ) as $word ) {
	$began = microtime( true );
	$found = new WP_Query( array( 's' => $word, 'posts_per_page' => 5, 'fields' => 'ids',
		'no_found_rows' => true ) );
	$told[ $word ] = array( array_map( 'get_the_title', $found->posts ), microtime( true ) - $began );
}
echo json_encode( $told, JSON_UNESCAPED_UNICODE );`,
    )
    const hits = [
      'Đường lên',
      'đường lên',
      'ĐƯỜNG',
      'duong len',
      'DA LAT',
      'đà lạt',
      'dà làt',
      '50%',
      'A_1',
    ]
    const decomposed = 'đường lên'.normalize('NFD')
    const none = ['duong xuong', 'A-1', '50%x', 'Đường_lên']
    const asked = encodeURIComponent(JSON.stringify([...hits, decomposed, ...none]))
    const told = JSON.parse(await page(`/probe-search.php?s=${asked}`)) as Record<
      string,
      [string[], number]
    >
    for (const word of [...hits, decomposed])
      expect(told[word]?.[0], word).toEqual(['Đường lên Đà Lạt'])
    for (const word of none) expect(told[word]?.[0], word).toEqual([])
    // On a busy machine a search takes seconds; alone, a third of one.
    const times = Object.values(told).map(([, seconds]) => seconds)
    expect(times.toSorted((a, b) => a - b)[times.length >> 1]).toBeLessThan(10)
    await put(
      'probe-like.php',
      `global $wpdb;
echo json_encode( array_map( fn( $sql ) => $wpdb->get_var( "SELECT $sql" ), array(
	"'Ngày' LIKE 'NGÀY'", "'abc' LIKE 'A_C'", "'ábc' LIKE 'a_c'",
	"'abc' LIKE 'a%'", "'xabc' LIKE 'a%'",
	"NULL LIKE 'a'", "'a%c' LIKE 'a\\\\\\\\%c'", "'abc' LIKE 'a\\\\\\\\%c'",
	"'abc' NOT LIKE 'ABC'" ) ) );`,
    )
    expect(JSON.parse(await page('/probe-like.php'))).toEqual([
      '1',
      '1',
      '1',
      '1',
      '0',
      null,
      '1',
      '0',
      '0',
    ])
  })

  test('disk_free_space() tells the plan’s disk', async () => {
    await put(
      'probe-space.php',
      `echo json_encode( array( disk_total_space( __DIR__ ), disk_free_space( __DIR__ ) ) );`,
    )
    const [total, free] = JSON.parse(await page('/probe-space.php')) as [number, number]
    expect(total).toBe(spec.diskMb * 1_048_576)
    const used = (await driver.state(spec.id)).diskUsedMb
    expect(Math.abs(total - free - used * 1_048_576)).toBeLessThan(8 * 1_048_576)
  })

  test('the site reaches itself where another PHP answers, else does not wait', async () => {
    await put(
      'probe-self.php',
      `$began = microtime( true );
$answer = wp_remote_get( home_url( '/wp-login.php' ), array( 'timeout' => 30 ) );
$said = is_wp_error( $answer )
	? $answer->get_error_message() : wp_remote_retrieve_response_code( $answer );
echo json_encode( array( $said, microtime( true ) - $began ) );`,
    )
    // Through the edge, as a visitor comes: the edge counts busy containers.
    const through = async () =>
      JSON.parse(
        (
          await ask(
            { host: '127.0.0.1', port: Number(new URL(spec.url).port) },
            `${spec.url}/probe-self.php`,
          )
        ).text,
      ) as [number, number]
    const [alone, tookSeconds] = await through()
    expect(alone).toBe(503)
    expect(tookSeconds).toBeLessThan(15)
    await driver.start({ ...spec, containers: 2 })
    await eventually(() => expect(driver.upstreams(spec.id)).toHaveLength(2), 90_000)
    expect((await through())[0]).toBe(200)
    // A plan with memory for a second PHP process needs no second container.
    await driver.start({ ...spec, ramMb: 1_000, containers: 1 })
    expect((await through())[0]).toBe(200)
  })

  test('GET_LOCK is one lock for all containers', async () => {
    await driver.start({ ...spec, containers: 2 })
    await eventually(() => expect(driver.upstreams(spec.id)).toHaveLength(2), 90_000)
    await put(
      'probe-lock.php',
      `global $wpdb;
$take = fn( $name, $wait = 0 ) => $wpdb->get_var( "SELECT GET_LOCK('$name', $wait)" );
$free = fn( $name ) => $wpdb->get_var( "SELECT RELEASE_LOCK('$name')" );
if ( 'hold' === $_GET['do'] ) {
	$told = $take( 'cron' );
	file_put_contents( WP_CONTENT_DIR . '/held.txt', 'x' );
	while ( ! file_exists( WP_CONTENT_DIR . '/release.txt' ) ) {
		usleep( 10000 );
		clearstatcache();
	}
	echo json_encode( array( $told, $free( 'cron' ) ) );
}
if ( 'try' === $_GET['do'] )
	echo json_encode( array( $take( 'cron' ), $take( 'other' ), $free( 'other' ),
		$free( 'cron' ), $free( 'nobody' ) ) );
if ( 'wait' === $_GET['do'] ) {
	file_put_contents( WP_CONTENT_DIR . '/waits.txt', 'x' );
	echo json_encode( array( $take( 'cron', 60 ), $take( 'cron' ),
		$free( 'cron' ), $free( 'cron' ), $free( 'cron' ) ) );
}
if ( 'leave' === $_GET['do'] ) echo json_encode( array( $take( 'cron', 60 ) ) );`,
    )
    const json = async (what: string, container: number) =>
      JSON.parse(await page(`/probe-lock.php?do=${what}`, container)) as (string | null)[]
    const stands = (file: string) =>
      eventually(() =>
        expect(
          existsSync(path.join(parts.dataDir, 'sites', spec.id, 'wordpress/wp-content', file)),
        ).toBe(true),
      )
    const held = json('hold', 0)
    await stands('held.txt')
    // A lock of another request, one of our own, and a free one.
    expect(await json('try', 1)).toEqual(['0', '1', '1', '0', null])
    // A lock is waited for; held twice, it must be released twice.
    const waited = json('wait', 1)
    await stands('waits.txt')
    await parts.put(spec.id, 'wp-content/release.txt', '')
    expect(await waited).toEqual(['1', '1', '1', '1', null])
    expect(await held).toEqual(['1', '1'])
    // A lock ends with the request that held it.
    expect(await json('leave', 0)).toEqual(['1'])
    expect(await json('try', 1)).toEqual(['1', '1', '1', '1', null])
  })

  const missing = missingForLamp()
  test.skipIf(missing.length > 0)(
    missing.length > 0
      ? `a backup was not run on another host: ${missing.join(', ')} not installed`
      : 'a backup runs on PHP with MariaDB, as its README says',
    async () => {
      await put(
        'probe-values.php',
        `global $wpdb;
$wpdb->query( "CREATE TABLE {$wpdb->prefix}visits (id bigint unsigned NOT NULL AUTO_INCREMENT,
	place varchar(40) NOT NULL DEFAULT 'it''s', size decimal(8,2), kind enum('a','b') DEFAULT 'a',
	raw longblob, seen timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
	PRIMARY KEY (id), UNIQUE KEY place (place), KEY kind (kind, place(10)))" );
$wpdb->insert( $wpdb->prefix . 'visits', array( 'place' => "Huế 'n' \\\\ \n 🌧", 'size' => 12.5,
	'raw' => "\x00\xff'\\\\" ) );
wp_insert_post( array( 'post_title' => 'Đường về Huế', 'post_status' => 'publish' ) );
update_option( 'probe_array', array( 'đường' => "d'or", 'n' => null, 'list' => range( 1, 3 ) ) );
echo md5( serialize( get_option( 'probe_array' ) ) ), ' ',
	bin2hex( $wpdb->get_var( "SELECT raw FROM {$wpdb->prefix}visits" ) );`,
      )
      const [sum = '', raw = ''] = (await page('/probe-values.php')).split(' ')
      expect(sum).toMatch(/^[0-9a-f]{32}$/)
      expect(raw).toMatch(/^00[0-9a-f]+275c$/)
      const archive = path.join(parts.dataDir, 'away.tar.gz')
      const figures = await driver.backup(spec.id, archive)
      const lamp = await openLampServer()
      onTestFinished(() => lamp.close())
      const unpacked = path.join(parts.dataDir, 'unpacked')
      await fs.mkdir(unpacked)
      execFileSync('tar', ['-xzf', archive, '-C', unpacked])
      expect(await fs.readFile(path.join(unpacked, 'README.txt'), 'utf8')).toContain('database.sql')
      await fs.rename(path.join(unpacked, 'wordpress'), lamp.folder)
      await expect(fs.access(path.join(lamp.folder, 'wp-content/db.php'))).rejects.toThrow()
      lamp.sql(await fs.readFile(path.join(unpacked, 'database.sql'), 'utf8'))
      // Every table of WordPress, and every row.
      for (const { name, rows } of figures.tables)
        if (name.startsWith('wp_'))
          expect([name, lamp.sql(`select count(*) from ${name}`).trim()]).toEqual([
            name,
            String(rows),
          ])
      expect(lamp.sql('select place, size, kind, hex(raw) from wp_visits').trim()).toBe(
        "Huế 'n' \\\\ \\n 🌧\t12.50\ta\t" + raw.toUpperCase(),
      )
      const config = path.join(lamp.folder, 'wp-config.php')
      let text = await fs.readFile(config, 'utf8')
      for (const [name, value] of Object.entries(lamp.settings))
        text = text.replace(
          new RegExp(`define\\( '${name}', '[^']*' \\)`),
          `define( '${name}', '${value}' )`,
        )
      await fs.writeFile(config, text)
      const at = await lamp.serve()
      lamp.sql(
        `update wp_options set option_value = '${at}' where option_name in ('home', 'siteurl')`,
      )
      const front = await fetch(at)
      expect(front.status).toBe(200)
      expect(await front.text()).toContain('Đường về Huế')
      const found = await (await fetch(`${at}/?s=${encodeURIComponent('duong ve hue')}`)).text()
      expect(found).toContain('Đường về Huế')
      await fs.writeFile(
        path.join(lamp.folder, 'probe-option.php'),
        "<?php require 'wp-load.php'; echo md5( serialize( get_option( 'probe_array' ) ) );",
      )
      expect(await (await fetch(`${at}/probe-option.php`)).text()).toBe(sum)
    },
  )
})
