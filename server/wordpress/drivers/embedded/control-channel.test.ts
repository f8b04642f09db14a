/**
 * Whatever a site's PHP writes is text for the log: PHP has no access to the channel on which the
 * runtime reports its address, and the edge connects only to the site's own container.
 */
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture } from '../../../../test/embedded-wordpress.ts'
import { createEdge, createHostTable, type Edge } from '../../../edge/index.ts'
import type { SiteAddress, SiteRuntime } from '../../driver.ts'
import { ask, eventually, specOf } from '../conformance.ts'
import { readLines } from '../machine/lines.ts'

/**
 * Everything in PHP's file system that is a device or leads to a descriptor, found by a search, and
 * the known ones.
 */
const devices = `<?php
function portal_devices( $dir, &$found ) {
	foreach ( @scandir( $dir ) ?: array() as $name ) {
		if ( '.' === $name || '..' === $name ) continue;
		$path = "$dir/$name";
		$type = @filetype( $path );
		if ( 'dir' === $type ) portal_devices( $path, $found );
		elseif ( 'file' !== $type ) $found[] = $path;
	}
}
$found = array( '/dev/tty', '/dev/tty1', '/dev/stdout', '/dev/stderr', '/dev/stdin', '/dev/console',
	'php://stdout', 'php://stderr', 'php://output' );
for ( $fd = 0; $fd < 40; $fd++ )
	array_push( $found, "php://fd/$fd", "/dev/fd/$fd", "/proc/self/fd/$fd" );
foreach ( array( '/dev', '/proc', '/request' ) as $dir ) portal_devices( $dir, $found );
$found = array_values( array_unique( $found ) );`

const forge = (word: string) => `<?php
/* Plugin Name: forger */
if ( ! isset( $_GET['forge'] ) ) return;
${devices.slice(5)}
$written = array();
foreach ( $found as $device ) {
	$handle = @fopen( $device, 'r+' ) ?: @fopen( $device, 'w' );
	if ( ! $handle ) continue;
	foreach ( json_decode( '${word}' ) as $line ) @fwrite( $handle, "\\n" . $line . "\\n" );
	@fclose( $handle );
	$written[] = $device;
}
file_put_contents( __DIR__ . '/../forged.json', json_encode( $written ) );`

describe('the control channel', { timeout: 180_000 }, () => {
  let parts: Awaited<ReturnType<typeof fixture>>
  let driver: SiteRuntime
  let edge: Edge
  let edgePort: number
  let reached = 0
  const spec = specOf()
  const name = new URL(spec.url).hostname
  const inbox = http.createServer((_request, response) => {
    reached++
    response.end('codes of all customers')
  })
  const visit = (target: string) =>
    ask({ host: '127.0.0.1', port: edgePort }, `http://${name}${target}`)

  beforeAll(async () => {
    parts = await fixture()
    driver = parts.driver
    await driver.install(spec, { user: 'boss', password: 'Another#1pass', email: 'b@example.com' })
    await driver.start(spec)
    const hosts = createHostTable(driver.upstreams)
    const entries = [{ host: name, site: spec.id, state: 'live' }] as const
    hosts.apply({ base: null, version: 'one', sites: null, entries })
    edge = createEdge({
      resolve: hosts.resolve,
      port: 0,
      host: '127.0.0.1',
      log: { warn: () => {} },
      note: () => {},
    })
    edgePort = await edge.listen()
    inbox.listen(0, '127.0.0.1')
    await once(inbox, 'listening')
  }, 120_000)
  afterAll(async () => {
    inbox.close()
    await edge?.close()
    await parts?.dispose()
  }, 60_000)

  test('a plugin that writes control lines everywhere moves and ends nothing', async () => {
    const { port } = inbox.address() as AddressInfo
    const said = [
      { ev: 'listening', port },
      { ev: 'listening', port: `x@127.0.0.1:${port}` },
      { ev: 'installed', ms: 1 },
      { ev: 'beat', rss: 9_000_000_000_000 },
      { ev: 'fatal', rejected: true, m: 'forged' },
      { ev: 'limits', ssdBytes: 1, databaseBytes: 1 },
      { s: 'access', m: 'GET', u: '/forged', st: 200, b: 1, ms: 1, ip: '6.6.6.6', ua: 'forged' },
      { op: 'limits', ssdBytes: 1, databaseBytes: 1 },
    ].map((line) => JSON.stringify(line))
    await parts.put(
      spec.id,
      'wp-content/mu-plugins/forger.php',
      forge(JSON.stringify(said).replaceAll('\\', '\\\\')),
    )
    const before = driver.upstreams(spec.id)
    await visit('/wp-login.php?forge=1')
    const { text } = await visit('/wp-content/forged.json')
    const written = JSON.parse(text) as string[]
    for (const device of ['/dev/tty', '/dev/tty1', '/dev/stdout', '/dev/stderr'])
      expect(written).toContain(device)
    // It is text in the log, and no event: an access line made by PHP would look like the
    // container's.
    await eventually(async () =>
      expect(
        (await driver.log(spec.id).tail(2_000)).filter((line) => line.text.includes('"listening"'))
          .length,
      ).toBeGreaterThanOrEqual(4),
    )
    const lines = (await driver.log(spec.id).tail(2_000)).map((line) => line.text)
    expect(lines.some((line) => line.startsWith('6.6.6.6 '))).toBe(false)
    expect(driver.upstreams(spec.id)).toEqual(before)
    for (let turn = 0; turn < 5; turn++) {
      const answer = await visit('/inbox.json')
      expect(answer.text).not.toContain('codes of all customers')
      expect(answer.status).toBe(404)
    }
    expect(reached).toBe(0)
    const state = await driver.state(spec.id)
    expect(state).toMatchObject({ state: 'running', containers: [{ ready: true, restarts: 0 }] })
    expect(state.containers[0]?.memoryMb).toBeLessThan(1_000)
  })

  test('PHP reads nothing of what the container is told', async () => {
    await parts.put(
      spec.id,
      'probe-read.php',
      `${devices}
$heard = '';
foreach ( $found as $device ) {
	if ( preg_match( '~random|^/request~', $device ) ) continue;
	$handle = @fopen( $device, 'r' );
	if ( ! $handle ) continue;
	stream_set_blocking( $handle, false );
	$heard .= @fread( $handle, 65536 );
	@fclose( $handle );
}
file_put_contents( __DIR__ . '/wp-content/heard.txt', $heard );`,
    )
    await visit('/probe-read.php')
    await driver.start({ ...spec, hosts: ['secret-name.example'] })
    await visit('/probe-read.php')
    expect((await visit('/wp-content/heard.txt')).text).not.toMatch(/secret-name|siteDir/)
    // The container itself has received the new name.
    await eventually(async () => {
      const [to] = driver.upstreams(spec.id) as [SiteAddress]
      expect(
        (await ask(to, `${spec.url}/`, { headers: { host: 'secret-name.example' } })).status,
      ).toBe(200)
    })
    await driver.start(spec)
  })

  test('a line without an end costs the parent no memory', async () => {
    const stream = new PassThrough()
    const lines: string[] = []
    let isTooLong = false
    readLines(
      stream,
      1_000,
      (line) => lines.push(line),
      () => (isTooLong = true),
    )
    stream.write('one\ntwo')
    stream.write(' and more\r\n')
    for (let turn = 0; turn < 50; turn++) stream.write('x'.repeat(100))
    stream.write('\nthree\nend')
    stream.end()
    await once(stream, 'close')
    expect(lines).toEqual(['one', 'two and more', 'x'.repeat(1_000), 'three', 'end'])
    expect(isTooLong).toBe(true)
  })
})
