import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import fs from 'node:fs/promises'
import { existsSync } from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  filesDir,
  fixture,
  open,
  phpProcessesOf,
  processesOf,
  runtimeDir,
} from '../../../../test/embedded-wordpress.ts'
import { freePort } from '../../../../test/free-port.ts'
import type { SiteAddress, SiteRuntime } from '../../driver.ts'
import { ask, conformance, eventually, specOf } from '../conformance.ts'
import { lineThrough } from '../../../sites-line.ts'
import { connectRuntime, serveRuntime } from '../remote/index.ts'

/** The driver as the portal uses it: from the other end of a line. */
conformance('embedded, over the line', async () => {
  const parts = await fixture()
  const { port1, port2 } = new MessageChannel()
  const [far, near] = [lineThrough(port1), lineThrough(port2)]
  serveRuntime(far, parts.driver)
  far.listen()
  near.listen()
  return {
    ...parts,
    driver: await connectRuntime(near),
    async dispose() {
      await parts.dispose()
      port1.close()
    },
  }
})

const repository = path.resolve(import.meta.dirname, '../../../..')

describe('the embedded driver alone', { timeout: 120_000 }, () => {
  let parts: Awaited<ReturnType<typeof fixture>>
  let driver: SiteRuntime
  const spec = specOf()
  const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }
  const page = async (target: string) =>
    ask((await driver.addresses(spec.id))[0] as SiteAddress, spec.url + target)
  const folder = () => path.join(parts.dataDir, 'sites', spec.id, 'wordpress')

  beforeAll(async () => {
    parts = await fixture({ cronMs: 3_000 })
    driver = parts.driver
    await driver.install(spec, admin)
    await driver.start(spec)
  }, 120_000)
  afterAll(async () => {
    await driver?.close()
    await parts?.dispose()
  }, 60_000)

  test('PHP reaches nothing on this machine or its networks', async () => {
    let reached = 0
    const secret = net.createServer((socket) => {
      reached++
      socket.end('HTTP/1.0 200 OK\r\n\r\nsecret')
    })
    secret.listen(0, '127.0.0.1')
    await once(secret, 'listening')
    const { port } = secret.address() as net.AddressInfo
    await parts.put(
      spec.id,
      'probe-net.php',
      `<?php
ini_set( 'default_socket_timeout', '3' );
$hosts = array( '127.0.0.1', '127.1', '0.0.0.0', '2130706433', '0x7f000001', 'localhost',
	'[::1]', '[::ffff:127.0.0.1]', '10.0.0.1', '192.168.1.1', '169.254.169.254' );
foreach ( $hosts as $host ) {
	$socket = @fsockopen( $host, ${port}, $number, $message, 3 );
	$line = false;
	if ( $socket ) {
		stream_set_timeout( $socket, 3 );
		@fwrite( $socket, "GET / HTTP/1.0\\r\\n\\r\\n" );
		$line = @fgets( $socket );
	}
	echo $host, ' ', var_export( $line, true ), "\\n";
}
$curl = curl_init( 'http://127.0.0.1:${port}/' );
curl_setopt_array( $curl, array( CURLOPT_RETURNTRANSFER => 1, CURLOPT_TIMEOUT => 3 ) );
echo 'curl ', var_export( curl_exec( $curl ), true ), "\\n";
echo 'stream ', var_export( @file_get_contents( 'http://127.0.0.1:${port}/' ), true ), "\\n";
$self = 'http://127.0.0.1:${(await driver.addresses(spec.id))[0]!.port}/readme.html';
echo 'self ', var_export( @file_get_contents( $self ), true ), "\\n";
`,
    )
    const answer = await page('/probe-net.php')
    expect(answer.text.trim().split('\n')).toHaveLength(14)
    for (const line of answer.text.trim().split('\n')) expect(line).toMatch(/ false$/)
    expect(reached).toBe(0)
    await eventually(async () =>
      expect(
        (await driver.log(spec.id).tail(50)).some((line) =>
          line.text.includes('connection refused by the platform'),
        ),
      ).toBe(true),
    )
    secret.close()
  })

  test('WordPress’s own jobs may take longer than a page', async () => {
    await parts.put(
      spec.id,
      'wp-content/mu-plugins/probe-time.php',
      `<?php
if ( wp_doing_cron() )
	file_put_contents( ABSPATH . 'cron-time.txt', ini_get( 'max_execution_time' ) );`,
    )
    await parts.put(spec.id, 'page-time.php', "<?php echo ini_get( 'max_execution_time' );")
    await eventually(async () =>
      expect(await fs.readFile(path.join(folder(), 'cron-time.txt'), 'utf8')).toBe('180'),
    )
    expect((await page('/page-time.php')).text).toBe('60')
  })

  test('what it takes is known: memory, disks, and the processor it used', async () => {
    await parts.put(
      spec.id,
      'compute.php',
      '<?php $end = microtime( true ) + 0.5; while ( microtime( true ) < $end ) { $x = 1; }',
    )
    const before = driver.figures().find(({ site }) => site === spec.id)
    expect(before).toMatchObject({
      memoryMb: expect.any(Number) as number,
      filesMb: expect.any(Number) as number,
    })
    expect(before!.memoryMb).toBeGreaterThan(20)
    await page('/compute.php')
    await eventually(async () => {
      const after = driver.figures().find(({ site }) => site === spec.id)
      expect(after!.cpuMs - before!.cpuMs).toBeGreaterThan(100)
    })
  })

  test('PHP opens no port of the host', async () => {
    const port = await freePort()
    await parts.put(
      spec.id,
      'probe-listen.php',
      `<?php
$s = @stream_socket_server( 'tcp://0.0.0.0:${port}', $n, $m );
touch( __DIR__ . '/listens' );
for ( $i = 0; $i < 2000 && ! file_exists( __DIR__ . '/tried' ); $i++ ) {
	usleep( 10000 );
	clearstatcache();
}
echo $i < 2000 ? 'released' : 'left alone';`,
    )
    // The port is tried while PHP, which has asked for it, still runs.
    const asked = page('/probe-listen.php')
    await eventually(() => expect(existsSync(path.join(folder(), 'listens'))).toBe(true))
    const client = net.connect(port, '127.0.0.1')
    const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNREFUSED')
    await parts.put(spec.id, 'tried', '')
    expect((await asked).text).toBe('released')
    await eventually(async () => expect((await page('/')).status).toBe(200))
  })

  test('PHP starts no program, sees no environment, no file of ours; mail() is ours', async () => {
    await parts.put(
      spec.id,
      'probe-host.php',
      `<?php
foreach ( array( 'exec', 'shell_exec', 'system', 'passthru', 'proc_open', 'popen' ) as $name )
	if ( function_exists( $name ) ) echo "$name ";
echo var_export( @mail( 'a@example.com', 'x', 'y' ), true ), ' ';
$ours = array_filter( array_keys( getenv() ), fn( $k ) => str_contains( $k, 'VITEST' ) );
echo count( $ours ), ' ';
$told = json_encode( getenv(), JSON_UNESCAPED_SLASHES );
echo preg_match( '~' . preg_quote( '${repository}' ) . '|node_modules~', $told );
echo getenv( '_' ), ' ';
foreach ( array( '/etc/passwd', '/proc/self/environ', '/wordpress/../../etc/passwd',
	'${path.resolve(import.meta.dirname, '../../../../package.json')}' ) as $file )
	echo var_export( @file_get_contents( $file ), true ), ' ';`,
    )
    expect((await page('/probe-host.php')).text).toBe('false 0 0php false false false false ')
  })

  test('runs what WordPress has planned, without a visitor', async () => {
    await parts.put(
      spec.id,
      'wp-content/mu-plugins/planned.php',
      "<?php add_action( 'portal_planned', fn() => file_put_contents( WP_CONTENT_DIR . " +
        "'/planned.txt', 'ran' ) );",
    )
    await parts.put(
      spec.id,
      'probe-plan.php',
      "<?php require __DIR__ . '/wp-load.php'; var_export( wp_schedule_single_event( time() - " +
        "1, 'portal_planned' ) );",
    )
    expect((await page('/probe-plan.php')).text).toBe('true')
    await eventually(async () =>
      expect(await fs.readFile(path.join(folder(), 'wp-content/planned.txt'), 'utf8')).toBe('ran'),
    )
  })

  test('no way around the disk budget; what is deleted is free again', async () => {
    await driver.start({ ...spec, diskMb: (await driver.state(spec.id)).diskUsedMb + 8 })
    await parts.put(
      spec.id,
      'probe-budget.php',
      `<?php
$dir = __DIR__ . '/wp-content/';
$mb = 1048576;
$f = fopen( $dir . 'truncated', 'w' ); @ftruncate( $f, 50 * $mb ); fclose( $f );
for ( $i = 0; $i < 20; $i++ )
	@file_put_contents( $dir . 'appended', str_repeat( 'x', $mb ), FILE_APPEND );
file_put_contents( sys_get_temp_dir() . '/big', str_repeat( 'x', 20 * $mb ) );
@copy( sys_get_temp_dir() . '/big', $dir . 'copied' );
@rename( sys_get_temp_dir() . '/big', $dir . 'moved' );
@mkdir( $dir . 'database/sub' );
clearstatcache();
$all = 0;
foreach ( array( 'truncated', 'appended', 'copied', 'moved' ) as $name ) {
	$all += file_exists( $dir . $name ) ? filesize( $dir . $name ) : 0;
	@unlink( $dir . $name );
}
@unlink( sys_get_temp_dir() . '/big' );
$again = @file_put_contents( $dir . 'again', str_repeat( 'x', 5 * $mb ) );
echo $all <= 8 * $mb ? 'held ' : "broken $all ", $again === 5 * $mb ? 'free' : 'still full';
unlink( $dir . 'again' );`,
    )
    expect((await page('/probe-budget.php')).text).toBe('held free')
    await driver.start(spec)
  })

  test('addresses inside serialized values are replaced, of any class', async () => {
    await parts.put(
      spec.id,
      'probe-serialized.php',
      `<?php
define( 'SHORTINIT', true );
require __DIR__ . '/wp-load.php';
global $wpdb;
class Probe_Widget { public $link; private $hidden; protected $list;
	public function __construct( $at ) {
		$this->link = "$at/a"; $this->hidden = "$at/b"; $this->list = array( $at, 7, null, true, 1.5 );
	} }
$at = 'http://old.example.org';
$values = array(
	'probe_array' => serialize( array( 'url' => "$at/đường-lên", $at => array( "$at/x", 12 ) ) ),
	'probe_object' => serialize( array(
		new Probe_Widget( $at ), new ArrayObject( array( $at ) ) ) ),
	'probe_twice' => serialize( array(
		serialize( array( "$at/deep" ) ), wp_json_encode( "$at/j" ) ) ),
	'probe_json' => wp_json_encode( array( 'a' => "$at/b", 'q' => rawurlencode( "$at/c" ) ) ),
	'probe_broken' => 'a:1:{s:3:"url";s:99:"' . $at . '";}',
);
foreach ( $values as $name => $value ) {
	if ( isset( $_GET['write'] ) )
		$wpdb->replace( $wpdb->options, array( 'option_name' => $name, 'option_value' => $value ) );
	else
		$values[ $name ] = $wpdb->get_var( $wpdb->prepare(
			"SELECT option_value FROM $wpdb->options WHERE option_name = %s", $name ) );
}
if ( isset( $_GET['write'] ) ) exit;
$array = unserialize( $values['probe_array'] );
list( $widget, $store ) = unserialize( $values['probe_object'] );
list( $deep, $json ) = unserialize( $values['probe_twice'] );
echo json_encode( array(
	'array' => $array, 'object' => print_r( $widget, true ), 'store' => $store[0] ?? null,
	'deep' => unserialize( $deep ), 'json' => json_decode( $json ),
	'plain' => json_decode( $values['probe_json'], true ), 'broken' => $values['probe_broken'],
), JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE );
`,
    )
    expect((await page('/probe-serialized.php?write=1')).status).toBe(200)
    const change = { from: ['old.example.org'], to: 'https://cửa-hàng.example.vn', dryRun: false }
    const { tables } = await driver.replaceAddresses(spec.id, change, null)
    expect(tables).toEqual({ wp_options: 4 })
    const to = change.to
    const { object, ...values } = JSON.parse((await page('/probe-serialized.php')).text) as Record<
      string,
      unknown
    >
    expect(values).toEqual({
      // Keys of an array are not addresses.
      array: { url: `${to}/đường-lên`, 'http://old.example.org': [`${to}/x`, 12] },
      store: to,
      deep: [`${to}/deep`],
      json: `${to}/j`,
      plain: { a: `${to}/b`, q: encodeURIComponent(`${to}/c`) },
      broken: 'a:1:{s:3:"url";s:99:"http://old.example.org";}',
    })
    expect(String(object).match(/cửa-hàng/g)).toHaveLength(3)
    expect(object).not.toContain('old.example')
  })

  test('serves nothing that is not meant to be served', async () => {
    for (const target of [
      '/wp-content/database/.ht.sqlite',
      '/.env',
      '/wp-content/%2e%2e/%2e%2e/installed.json',
      '/wp-content/database/',
    ]) {
      expect((await page(target)).status, target).toBeGreaterThanOrEqual(400)
    }
    await parts.put(spec.id, 'wp-content/uploads/evil.php', '<?php echo "ran";')
    expect((await page('/wp-content/uploads/evil.php')).text).not.toContain('ran')
  })

  test('takes 20 MB uploads, refuses bodies above 64 MB', async () => {
    await parts.put(
      spec.id,
      'probe-body.php',
      `<?php echo strlen( file_get_contents( 'php://input' ) );`,
    )
    const to = (await driver.addresses(spec.id))[0] as SiteAddress
    const headers = { 'content-type': 'application/octet-stream' }
    const big = await ask(to, `${spec.url}/probe-body.php`, {
      method: 'POST',
      headers,
      body: Buffer.alloc(20_000_000),
    })
    expect(big.text).toBe('20000000')
    const tooBig = await ask(to, `${spec.url}/probe-body.php`, {
      method: 'POST',
      headers: { ...headers, 'content-length': '70000000' },
    }).catch(() => null)
    expect(tooBig?.status ?? 413).toBe(413)
  })

  test('knows the visitor and the scheme from the edge', async () => {
    await parts.put(
      spec.id,
      'probe-server.php',
      `<?php echo $_SERVER['REMOTE_ADDR'], ' ', $_SERVER['HTTPS'], ' ', $_SERVER['HTTP_HOST'];`,
    )
    const to = (await driver.addresses(spec.id))[0] as SiteAddress
    const answer = await ask(to, `${spec.url}/probe-server.php`, {
      headers: { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' },
    })
    expect(answer.text).toBe(`203.0.113.9 on ${new URL(spec.url).host}`)
  })

  test('PHP makes no symbolic link; one from outside is never served or followed', async () => {
    await parts.put(
      spec.id,
      'probe-link.php',
      `<?php var_export( @symlink( '/etc', __DIR__ . '/wp-content/link' ) );`,
    )
    expect((await page('/probe-link.php')).text).toBe('false')
    const outside = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-outside-'))
    await fs.writeFile(path.join(outside, 'big.txt'), Buffer.alloc(50_000_000, 'x'))
    const before = (await driver.state(spec.id)).diskUsedMb
    await fs.symlink(outside, path.join(folder(), 'wp-content/outside'))
    expect((await driver.state(spec.id)).diskUsedMb).toBe(before)
    expect((await page('/wp-content/outside/big.txt')).text).not.toContain('xxxx')
    const other = path.join(parts.dataDir, 'sites', randomUUID())
    await fs.mkdir(path.join(other, 'wordpress'), { recursive: true })
    await fs.symlink(outside, path.join(other, 'wordpress', 'outside'))
    await driver.remove(path.basename(other))
    expect(existsSync(other)).toBe(false)
    expect(existsSync(path.join(outside, 'big.txt'))).toBe(true)
    await fs.rm(outside, { recursive: true })
    await fs.rm(path.join(folder(), 'wp-content/outside'))
  })

  test('a container above its memory is replaced, and the log says so', async () => {
    await parts.put(
      spec.id,
      'probe-memory.php',
      "<?php ini_set( 'memory_limit', '-1' ); $a = array(); for ( $i = 0; $i < 900; $i++ ) { " +
        '$a[] = str_repeat( chr( $i % 250 ), 1048576 ); } $end = microtime( true ) + 20; while ' +
        "( microtime( true ) < $end ) {} echo 'done';",
    )
    await page('/probe-memory.php').catch(() => null)
    await eventually(async () => {
      expect(
        (await driver.log(spec.id).tail(50)).some((line) =>
          /memory \d+ MB is above the plan's 640 MB/.test(line.text),
        ),
      ).toBe(true)
      expect((await page('/')).status).toBe(200)
    })
  })

  test('a new life of the driver keeps the log and ends what the old one left', async () => {
    const before = (await driver.log(spec.id).tail(3)).map((line) => line.text)
    await driver.stop(spec.id)
    await driver.close()
    // A container that did not notice the end of its parent: the same program, started without one.
    const runDir = path.join(parts.dataDir, 'sites', spec.id, 'run')
    const stray = spawn(
      process.execPath,
      [
        '-e',
        'setInterval(() => {}, 1000)',
        'wordpress-wasm/main.js',
        '--site',
        spec.id,
        '--container',
        'web-1',
      ],
      { stdio: 'ignore' },
    )
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      stdio: 'ignore',
    })
    await fs.mkdir(runDir, { recursive: true })
    await fs.writeFile(path.join(runDir, 'web-1.7.pid'), String(stray.pid))
    await fs.writeFile(path.join(runDir, 'web-2.8.pid'), String(bystander.pid))
    const strayEnd = once(stray, 'exit')
    driver = open(parts.dataDir)
    expect((await driver.log(spec.id).tail(200)).map((line) => line.text)).toEqual(
      expect.arrayContaining(before),
    )
    await driver.start(spec)
    await strayEnd
    expect(bystander.exitCode).toBeNull()
    bystander.kill('SIGKILL')
    expect((await page('/')).status).toBe(200)
    const sequence = (await driver.log(spec.id).tail(5_000)).map((line) => line.seq)
    expect(sequence).toEqual(sequence.map((_, index) => sequence[0]! + index))
  })

  test('nothing of a removed site is kept in memory', async () => {
    const id = randomUUID()
    const before = driver.log(id)
    expect(driver.log(id)).toBe(before)
    await Promise.all([driver.remove(id), driver.remove(id)])
    expect(driver.log(id)).not.toBe(before)
    await driver.remove(id)
  })

  test('a site that there is no memory for is refused, and leaves nothing', async () => {
    const dataDir = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-full-'))
    const small = open(dataDir, { freeMb: () => 512 + 6 * 320 })
    expect(await small.room()).toBe(6)
    const wanted = specOf()
    await expect(small.install({ ...wanted, containers: 7 }, admin)).rejects.toMatchObject({
      kind: 'full',
    })
    expect(await small.list()).toEqual([])
    await small.close()
    // A few containers may always be tried.
    const none = open(dataDir, { freeMb: () => 100 })
    expect(await none.room()).toBe(4)
    await none.close()
    // No site is placed on a nearly full disk.
    let freeBytes = 1_000_000_000
    const diskSpace = () => ({ free: freeBytes, size: 100 * 2 ** 30 })
    const full = open(dataDir, { diskSpace })
    expect(await full.room()).toBe(0)
    await expect(full.install(specOf(), admin)).rejects.toMatchObject({ kind: 'full' })
    expect(await full.list()).toEqual([])
    freeBytes *= 3
    expect(await full.room()).toBeGreaterThan(0)
    await full.close()
    await fs.rm(dataDir, { recursive: true })
  })

  test('a portal killed outright leaves no container, even in the middle of PHP', async () => {
    const dataDir = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-killed-'))
    const victim = specOf()
    const script = `
      import { createEmbedded } from ${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))}
      const [dataDir, runtimeDir, filesDir, spec, admin] = JSON.parse(process.argv[1])
      const driver = createEmbedded({ dataDir, runtimeDir, filesDir, nodePath: process.execPath,
        settings: { internet: false, maxContainers: 4, pageSeconds: 60, maxCpu: null,
          maxRamMb: null },
        log: console })
      await driver.install(spec, admin)
      await driver.start(spec)
      console.log(JSON.stringify(driver.upstreams(spec.id)))`
    const portal = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        script,
        JSON.stringify([dataDir, runtimeDir, filesDir, victim, admin]),
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const [line] = (await once(portal.stdout, 'data')) as [Buffer]
    const [address] = JSON.parse(line.toString()) as SiteAddress[]
    await fs.writeFile(
      path.join(dataDir, 'sites', victim.id, 'wordpress', 'forever.php'),
      '<?php set_time_limit( 0 ); while ( true ) {}',
    )
    const stuck = ask(address!, `${victim.url}/forever.php`).catch(() => null)
    const left = () => [...processesOf(victim.id), ...phpProcessesOf(victim.id)]
    // Two processes: the container and its PHP.
    expect(left()).toHaveLength(2)
    portal.kill('SIGKILL')
    await eventually(() => expect(left()).toEqual([]), 10_000)
    await stuck
    await fs.rm(dataDir, { recursive: true, force: true, maxRetries: 3 })
  })
})
