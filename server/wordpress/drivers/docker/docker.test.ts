/** The driver on a real engine, which this file starts in a folder of its own. */
import fs from 'node:fs/promises'
import path from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { withEngine } from '../../../../test/docker-tests.ts'
import type { TestEngine } from '../../../../test/docker-engine.ts'
import { dockerFixture, startLoadedEngine } from '../../../../test/docker-wordpress.ts'
import { fixture } from '../../../../test/embedded-wordpress.ts'
import type { SiteAddress, SiteRuntime } from '../../driver.ts'
import { ask, conformance, eventually, specOf } from '../conformance.ts'
import { betweenVisits } from '../site.conformance.ts'
import { disksOf } from './disks.ts'

const run = promisify(execFile)

const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }

/** What a hostile plugin learns about its surroundings. */
const lookAround = `<?php
ini_set( 'default_socket_timeout', '2' );
$reached = array();
foreach ( array( '127.0.0.1:80', '169.254.169.254:80', '172.17.0.1:2375', '10.0.0.1:80' ) as $to )
	if ( @stream_socket_client( "tcp://$to", $code, $why, 2 ) ) $reached[] = $to;
$status = file_get_contents( '/proc/self/status' );
$of = fn( $name ) => preg_match( "~^$name:\\\\s+(\\\\S+)~m", $status, $found ) ? $found[1] : null;
preg_match_all( '~^\\\\s*(\\\\w+):~m', file_get_contents( '/proc/net/dev' ), $interfaces );
echo json_encode( array(
	'reached'    => $reached,
	'interfaces' => $interfaces[1],
	'rights'     => array( $of( 'CapEff' ), $of( 'CapPrm' ), $of( 'CapBnd' ) ),
	'gains'      => $of( 'NoNewPrivs' ),
	'filter'     => $of( 'Seccomp' ),
	'isRoot'     => 0 === posix_getuid(),
	'engine'     => array_filter( array( '/var/run/docker.sock', '/run/docker.sock' ), 'file_exists' ),
	'database'   => array_filter( array( '/wordpress/wp-content/database', '/wordpress/../database',
		'/database', '/var/lib/mysql' ), 'file_exists' ),
	'written'    => array_filter( array( '/usr/x', '/etc/x', '/internal/shared/x', '/run/secrets/x',
		'/internal/database-disk/x' ), fn( $file ) => @file_put_contents( $file, 'x' ) ),
	'programs'   => array_filter( array( 'exec', 'shell_exec', 'proc_open', 'popen', 'symlink', 'link',
		'pcntl_fork' ), 'function_exists' ),
	'processes'  => count( glob( '/proc/[0-9]*' ) ) < 20,
) );
`

const takeMemory = `<?php
ini_set( 'memory_limit', '-1' );
set_time_limit( 60 );
$all = array();
for ( ; ; ) $all[] = str_repeat( chr( random_int( 65, 90 ) ), 8388608 );
`

/**
 * Rows that a dump could spoil: line breaks, quotes, other alphabets, bytes, NULL, zero as a key.
 */
const writeOdd = String.raw`<?php require __DIR__ . '/wp-load.php';
global $wpdb;
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
dbDelta( "CREATE TABLE {$wpdb->prefix}odd (
  id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  said longtext NOT NULL,
  bytes longblob,
  price decimal(10,2) NOT NULL DEFAULT '0.00',
  PRIMARY KEY  (id),
  KEY price (price)
) {$wpdb->get_charset_collate()};" );
$wpdb->insert( "{$wpdb->prefix}odd", array(
	'id'    => 'one' === $_GET['n'] ? 7 : null,
	'said'  => "Đường \u{1F600};\n-- 'x' \"y\" \\\\ \r\n; " . $_GET['n'],
	'bytes' => null,
	'price' => '12.25',
) );
update_option( 'odd', array( 'n' => $_GET['n'], 'list' => array( 1, null, "a\nb" ) ) );
echo $wpdb->last_error;
`
const readOdd = `<?php require __DIR__ . '/wp-load.php';
global $wpdb;
$odd = "{$wpdb->prefix}odd";
echo json_encode( array(
	'rows'   => (int) $wpdb->get_var( "SELECT COUNT(*) FROM $odd" ),
	'all'    => $wpdb->get_results( "SELECT * FROM $odd ORDER BY id", ARRAY_A ),
	'option' => get_option( 'odd' ),
	'found'  => $wpdb->get_var( "SELECT COUNT(*) FROM $odd WHERE said LIKE '%DUONG%'" ),
	'next'   => 1 + (int) $wpdb->get_var( "SELECT MAX(id) FROM $odd" ),
) );
`
const makeLong = `<?php require __DIR__ . '/wp-load.php';
global $wpdb;
$long = str_repeat( 'x', 70000 );
$wpdb->query( "UPDATE $wpdb->posts SET post_excerpt = '$long' WHERE ID = 1" );
echo $wpdb->get_var( "SELECT LENGTH( post_excerpt ) FROM $wpdb->posts WHERE ID = 1" );
`
const makePast = `<?php
$db = new PDO( 'sqlite:' . __DIR__ . '/wp-content/database/.ht.sqlite' );
$db->exec( 'create table past_wordpress (a)' );
echo 'made';
`

function onlyHere(open: typeof dockerFixture): void {
  describe('the driver docker alone', { timeout: 120_000 }, () => {
    let parts: Awaited<ReturnType<typeof dockerFixture>>
    let driver: SiteRuntime
    const spec = specOf()
    const page = async (target: string) =>
      ask((await driver.addresses(spec.id))[0] as SiteAddress, spec.url + target)
    const inspect = async (role: string, what: string): Promise<string> => {
      const [id = ''] = (
        await parts.engine.docker('ps', '-q', `--filter=label=portal.role=${role}`)
      ).split('\n')
      return (await parts.engine.docker('inspect', '-f', what, id)).trim()
    }

    const mountsOf = async (id: string): Promise<string[]> =>
      (await fs.readFile('/proc/self/mounts', 'utf8'))
        .split('\n')
        .filter((line) => line.includes(`/${id}/database-disk`))

    beforeAll(async () => {
      parts = await open()
      driver = parts.driver
      await driver.install(spec, admin)
      await driver.start(spec)
    }, 120_000)
    afterAll(() => parts?.dispose(), 60_000)

    test('says that MariaDB stands behind it', () => {
      expect(driver.name).toBe('docker')
      expect(driver.capabilities.database).toBe('mariadb')
    })

    test('a hostile plugin finds no way out, and no right to look for one', async () => {
      await parts.put(spec.id, 'probe-around.php', lookAround)
      expect(JSON.parse((await page('/probe-around.php')).text)).toEqual({
        reached: [],
        interfaces: ['lo'],
        rights: ['0000000000000000', '0000000000000000', '0000000000000000'],
        gains: '1',
        filter: '2',
        isRoot: false,
        engine: [],
        database: [],
        written: [],
        programs: [],
        processes: true,
      })
    })

    test('the site reaches itself, by both schemes, and nobody else', async () => {
      await parts.put(
        spec.id,
        'probe-own.php',
        `<?php
require __DIR__ . '/wp-load.php';
$of = fn( $answer ) => is_wp_error( $answer ) ? $answer->get_error_code()
	: wp_remote_retrieve_response_code( $answer );
echo json_encode( array(
	'http'  => $of( wp_remote_get( home_url( '/wp-login.php' ) ) ),
	'https' => $of( wp_remote_get( set_url_scheme( home_url( '/wp-login.php' ), 'https' ) ) ),
	'post'  => $of( wp_remote_post( admin_url( 'admin-ajax.php' ), array( 'body' => 'action=x' ) ) ),
	'local' => $of( wp_remote_get( 'http://127.0.0.1/' ) ),
	'other' => $of( wp_remote_get( 'http://other.example/' ) ),
) );`,
      )
      expect(JSON.parse((await page('/probe-own.php')).text)).toEqual({
        http: 200,
        https: 200,
        post: 400,
        local: 'http_request_not_executed',
        other: 'http_request_not_executed',
      })
    })

    test('what is written is told before its answer: by its tags, or as everything', async () => {
      const told: (readonly string[] | null)[] = []
      driver.onWrite((site, tags) => {
        if (site === spec.id) told.push(tags)
      })
      const heard = async (target: string, headers = {}, method = 'GET') => {
        told.length = 0
        const [at] = await driver.addresses(spec.id)
        await ask(at as SiteAddress, spec.url + target, { method, headers })
        return [...told]
      }
      await parts.put(
        spec.id,
        'probe-write.php',
        `<?php require __DIR__ . '/wp-load.php'; update_option( 'blogdescription', uniqid() );`,
      )
      const [first] = await heard('/probe-write.php')
      expect(first).toEqual(expect.arrayContaining([expect.any(String)]))
      await heard('/')
      expect(await heard('/?again')).toEqual([])
      // A page that may be cached names what was read for it.
      const [at] = await driver.addresses(spec.id)
      const kept = await ask(at as SiteAddress, `${spec.url}/`, {
        headers: { 'x-portal-page': '1' },
      })
      expect(kept.headers['x-portal-page']).toBe('1')
      // A signed-in visitor may have changed a file.
      const cookie = 'wordpress_logged_in_x=y'
      expect(await heard('/wp-login.php', { cookie }, 'POST')).toContain(null)
    })

    test('a new plan holds at once, and nothing is started for it', async () => {
      const [before] = await driver.addresses(spec.id)
      const began = await inspect('web-1', '{{.State.StartedAt}}')
      await driver.start({ ...spec, ramMb: 1_024, cpu: 2 })
      expect(await inspect('web-1', '{{.HostConfig.Memory}}')).toBe(String(1_024 * 2 ** 20))
      expect(await inspect('database', '{{.HostConfig.Memory}}')).toBe(String(512 * 2 ** 20))
      // A plan with more processors than this machine keeps its full share, for when all containers
      // compute.
      await driver.start({ ...spec, ramMb: 1_024, cpu: 16 })
      for (const role of ['web-1', 'database'])
        expect(await inspect(role, '{{.HostConfig.CpuShares}}')).toBe('2048')
      expect(await inspect('web-1', '{{.State.StartedAt}}')).toBe(began)
      expect(await driver.addresses(spec.id)).toEqual([before])
      await driver.start(spec)
    })

    test('a larger disk for the database is there at once, or after its next start', async () => {
      const bytesOf = async (): Promise<number> => {
        const [line = ''] = await mountsOf(spec.id)
        const { blocks, bsize } = await fs.statfs(line.split(' ')[1]!)
        return blocks * bsize
      }
      const began = await inspect('database', '{{.State.StartedAt}}')
      const before = await bytesOf()
      const larger = { ...spec, databaseDiskMb: spec.databaseDiskMb + 400 }
      await driver.start(larger)
      // Growing a mounted disk needs CAP_SYS_RESOURCE, which not every root has.
      const told = (): boolean => JSON.stringify(parts.warned).includes('comes at its next start')
      const isLarger = async (): Promise<boolean> => (await bytesOf()) > before + 380 * 2 ** 20
      await eventually(async () => expect((await isLarger()) || told()).toBe(true))
      expect(await inspect('database', '{{.State.StartedAt}}')).toBe(began)
      expect(await isLarger()).toBe(!told())
      await driver.stop(spec.id)
      await driver.start(larger)
      expect(await isLarger()).toBe(true)
      // The limit is the plan's again; the file keeps its size.
      await driver.start(spec)
      expect((await page('/?smaller')).status).toBe(200)
    })

    test('what takes more memory than its plan has ends, and the site comes back', async () => {
      await parts.put(spec.id, 'probe-memory.php', takeMemory)
      const answer = await page('/probe-memory.php').catch(() => null)
      expect(answer?.status ?? 502).toBeGreaterThanOrEqual(500)
      // PHP may end at its own limit; a program beside it ends at the plan's, by the kernel.
      const since = String(Date.now() / 1_000)
      const program = ['perl', '-e', "my @all; push @all, 'x' x 8388608 while 1"]
      const taking = parts.engine.docker('exec', await inspect('web-1', '{{.Id}}'), ...program)
      await expect(taking).rejects.toThrow()
      await eventually(async () => {
        const span = [`--since=${since}`, `--until=${Date.now() / 1_000}`]
        const filters = ['--filter=event=oom', `--filter=label=portal.site=${spec.id}`]
        expect(await parts.engine.docker('events', ...span, ...filters)).toContain(' oom ')
      })
      await eventually(async () => expect((await page('/')).status).toBe(200))
    })

    test('a database that is killed comes back, with what was written', async () => {
      const first = await driver.console(spec.id, {
        verb: 'option update',
        args: ['kept', 'yes'],
        flags: {},
        after: null,
      })
      expect(first).toMatchObject({ ok: true })
      await parts.kill(spec.id, 'database')
      await eventually(async () => expect((await page('/')).status).toBe(200))
      const order = { verb: 'option get', args: ['kept'], flags: {}, after: null }
      expect(await driver.console(spec.id, order)).toMatchObject({ ok: true, value: 'yes' })
    })

    test('only root writes where the image of a database lies; no other is mounted', async () => {
      const site = path.join(parts.dataDir, 'sites', spec.id)
      const [content, kept] = [path.join(site, 'wordpress'), path.join(site, 'kept')]
      const user = (await fs.stat(path.join(content, 'files'))).uid
      expect(user).not.toBe(0)
      const rights = async (...names: string[]) => {
        const { uid, mode } = await fs.stat(path.join(site, ...names))
        return [uid, (mode & 0o777).toString(8)]
      }
      expect(await rights()).toEqual([0, '710'])
      expect(await rights('wordpress')).toEqual([0, '711'])
      expect(await rights('wordpress', 'database')).toEqual([0, '700'])
      expect(await rights('wordpress', 'database', 'disk.img')).toEqual([0, '600'])
      await driver.stop(spec.id)
      const refused = async () => {
        await expect(driver.start(spec)).rejects.toMatchObject({ kind: 'rejected' })
        expect(await mountsOf(spec.id)).toEqual([])
      }

      // A forged disk in its place, with links in its file system.
      await fs.rename(path.join(content, 'database'), kept)
      const forged = path.join(content, 'database', 'disk.img')
      await fs.mkdir(path.dirname(forged))
      const inside = path.join(site, 'inside')
      await fs.mkdir(inside)
      await fs.symlink('/etc', path.join(inside, 'data'))
      await run('truncate', ['-s', '400M', forged])
      await run('mkfs.ext4', ['-q', '-F', '-d', inside, forged])
      await run('chown', ['-R', `${user}:${user}`, path.dirname(forged)])
      // A mount writes its time into the superblock.
      const superblock = async () =>
        (await run('dd', [`if=${forged}`, 'bs=1024', 'skip=1', 'count=1', 'status=none'])).stdout
      const before = [(await fs.stat('/etc')).uid, await superblock()]
      await refused()
      expect([(await fs.stat('/etc')).uid, await superblock()]).toEqual(before)

      // A link to the real disk, in place of the file, and of the folders above it.
      await fs.rm(forged)
      await fs.symlink(path.join(kept, 'disk.img'), forged)
      await refused()
      await fs.rm(path.dirname(forged), { recursive: true })
      await fs.symlink(kept, path.dirname(forged))
      await refused()

      await fs.rm(path.dirname(forged))
      await fs.rename(kept, path.dirname(forged))
      await fs.rm(inside, { recursive: true })
      await driver.start(spec)
      expect((await page('/')).status).toBe(200)
    })

    test('a site that was laid out with its database below its files goes on', async () => {
      const order = { verb: 'option update', args: ['laid', 'before'], flags: {}, after: null }
      expect(await driver.console(spec.id, order)).toMatchObject({ ok: true })
      driver = await parts.reopen(async () => {
        const site = path.join(parts.dataDir, 'sites', spec.id)
        const [content, files] = [path.join(site, 'wordpress'), path.join(site, 'files')]
        await fs.rename(path.join(content, 'files'), files)
        await fs.rename(path.join(content, 'database'), path.join(files, 'wp-content', 'database'))
        await fs.rmdir(content)
        await fs.rename(files, content)
      })
      await driver.start(spec)
      expect((await page('/?laid-out')).status).toBe(200)
      const read = { ...order, verb: 'option get', args: ['laid'] } as const
      expect(await driver.console(spec.id, read)).toMatchObject({ ok: true, value: 'before' })
    })

    test('a newer image takes over while pages are answered; a broken one does not', async () => {
      const { docker } = parts.engine
      const name = parts.images.wordpress
      const imageOf = (): Promise<string> => inspect('web-1', '{{.Image}}')
      const said = async (words: string): Promise<boolean> =>
        (await driver.log(spec.id).tail(500)).some(({ text }) => text.includes(words))
      /** Makes another image under the same name, in which this command was run. */
      const rebuild = async (command: string): Promise<string> => {
        const made = `rebuilt-${++rebuilt}`
        const as = ['--name', made, '--network', 'none', '--user', '0', '--entrypoint', 'sh']
        await docker('run', ...as, name, '-c', command)
        return (await docker('commit', made, name)).trim()
      }
      let rebuilt = 0
      const before = await imageOf()
      let goesOn = true
      const statuses: number[] = []
      const visits = (async () => {
        for (let n = 0; goesOn; n++) {
          statuses.push((await page(`/?visit=${n}`)).status)
          await betweenVisits()
        }
      })()
      const newer = await rebuild('touch /newer')
      await eventually(async () => expect(await imageOf()).toBe(newer))
      expect(newer).not.toBe(before)

      await rebuild('rm /usr/sbin/php-fpm*')
      await eventually(async () => expect(await said('does not answer with the newer')).toBe(true))
      goesOn = false
      await visits
      expect(statuses.filter((status) => status !== 200)).toEqual([])
      expect(statuses.length).toBeGreaterThan(5)
      // A container that ends meanwhile is started again from the newer image.
      await docker('kill', await inspect('web-1', '{{.Id}}'))
      await eventually(async () => expect((await page('/?back')).status).toBe(200))
      expect(await imageOf()).toBe(newer)
      // The newer image is also used after the machine was down.
      driver = await parts.reopen(async () => {})
      await driver.start(spec)
      expect((await page('/?up')).status).toBe(200)
      expect(await imageOf()).toBe(newer)
      await docker('tag', before, name)
    })

    test('a database that does not start leaves no disk mounted', async () => {
      await driver.stop(spec.id)
      const { mariadb } = parts.images
      await parts.engine.docker('tag', mariadb, 'kept')
      await parts.engine.docker('rmi', mariadb)
      await expect(driver.start(spec)).rejects.toMatchObject({ kind: 'unavailable' })
      expect(await mountsOf(spec.id)).toEqual([])
      await parts.engine.docker('tag', 'kept', mariadb)
      await driver.start(spec)
      expect((await page('/')).status).toBe(200)
    })

    test('a site that starts during its backup keeps its database', async () => {
      await driver.stop(spec.id)
      const file = path.join(parts.dataDir, 'backup.tar.gz')
      const copied = driver.backup(spec.id, file)
      await eventually(async () =>
        expect(await parts.engine.docker('ps', '-q', '--filter=label=portal.role=dump')).not.toBe(
          '',
        ),
      )
      await driver.start(spec)
      expect((await copied).tables.length).toBeGreaterThan(5)
      expect(await mountsOf(spec.id)).toHaveLength(1)
      expect((await page('/?after')).status).toBe(200)
      await driver.stop(spec.id)
      expect(await mountsOf(spec.id)).toEqual([])
      await driver.start(spec)
    })

    test('a copy that would lose a view or a trigger is not made', async () => {
      await parts.put(
        spec.id,
        'more-than-tables.php',
        `<?php
require __DIR__ . '/wp-load.php';
global $wpdb;
foreach ( explode( '|', $_GET['run'] ) as $sql ) $wpdb->query( $sql );
echo $wpdb->last_error;`,
      )
      const run = async (sql: string) =>
        (await page(`/more-than-tables.php?run=${encodeURIComponent(sql)}`)).text
      const file = path.join(parts.dataDir, 'backup.tar.gz')
      expect(await run('CREATE VIEW seen AS SELECT option_name FROM wp_options')).toBe('')
      await expect(driver.backup(spec.id, file)).rejects.toThrow(/tables only.* view seen/)
      const trigger = 'CREATE TRIGGER noted BEFORE DELETE ON wp_options FOR EACH ROW SET @n = 1'
      expect(await run(`DROP VIEW seen|${trigger}`)).toBe('')
      await expect(driver.backup(spec.id, file)).rejects.toThrow(/tables only.* trigger noted/)
      expect(await run('DROP TRIGGER noted')).toBe('')
      expect((await driver.backup(spec.id, file)).tables.length).toBeGreaterThan(5)
    })

    test('on btrfs, a plain folder is counted, and nothing fails', async () => {
      const told: string[] = []
      const disks = await disksOf(parts.dataDir, (_detail, message) => told.push(message))
      expect(disks.isHeld).toBe(true)
      const folder = path.join(parts.dataDir, 'plain')
      await fs.mkdir(folder)
      await disks.limit(folder, 1_000_000)
      expect(await disks.used(folder)).toBe(null)
      expect(told).toEqual([expect.stringContaining('counted and not held')])
    })

    test('a site with SQLite comes here by rounds, and nothing of it is cut', async () => {
      const other = await fixture()
      onTestFinished(() => other.dispose())
      const from = specOf({ url: 'http://grows.localhost:8082' })
      const of = (round: number) => ({ moveId: from.id, round, database: 'mariadb' }) as const
      const archive = path.join(parts.dataDir, 'round.tar.gz')
      const follow = async (round: number): Promise<void> => {
        await other.driver.copyOut(from.id, of(round), archive)
        await driver.copyIn(from, of(round), archive, [])
      }
      const at = async (runtime: SiteRuntime, target: string): Promise<string> => {
        const [address] = await runtime.addresses(from.id)
        return (await ask(address!, from.url + target)).text
      }
      await other.driver.install(from, admin)
      await other.driver.start(from)
      await other.put(from.id, 'probe-odd.php', writeOdd)
      await other.put(from.id, 'probe-read.php', readOdd)
      expect(await at(other.driver, '/probe-odd.php?n=one')).toBe('')
      const written = await at(other.driver, '/probe-read.php')
      expect(JSON.parse(written)).toMatchObject({ rows: 1, next: 8 })
      await follow(0)
      await driver.holdWrites(from.id, 600_000)
      await driver.start(from)
      expect(await at(driver, '/probe-read.php')).toBe(written)
      expect(await at(other.driver, '/probe-odd.php?n=two')).toBe('')
      await follow(1)
      const later = await at(driver, '/probe-read.php')
      expect(JSON.parse(later)).toMatchObject({ rows: 2, next: 9 })
      expect(later).toBe(await at(other.driver, '/probe-read.php'))
      expect(await at(driver, '/')).toContain('Cửa hàng')
      // SQLite holds a longer value than MySQL's column would: it is refused, not cut silently.
      await other.put(from.id, 'probe-long.php', makeLong)
      expect(await at(other.driver, '/probe-long.php')).toBe('70000')
      await expect(follow(2)).rejects.toMatchObject({
        kind: 'rejected',
        message: expect.stringContaining('does not fit') as string,
      })
      // A site with data that MySQL cannot hold stays here, and nothing is lost silently.
      await other.put(from.id, 'probe-past.php', makePast)
      expect(await at(other.driver, '/probe-past.php')).toBe('made')
      await expect(other.driver.copyOut(from.id, of(3), archive)).rejects.toMatchObject({
        kind: 'rejected',
        message: expect.stringContaining('past_wordpress') as string,
      })
      await driver.remove(from.id)
    })

    test('a site of another runtime is not started on it', async () => {
      const mark = path.join(parts.dataDir, 'sites', spec.id, 'installed.json')
      const own = await fs.readFile(mark, 'utf8')
      await driver.stop(spec.id)
      await fs.writeFile(mark, '{}')
      await expect(driver.start(spec)).rejects.toMatchObject({ kind: 'rejected' })
      await fs.writeFile(mark, own)
      await driver.start(spec)
      expect((await page('/')).status).toBe(200)
    })
  })
}

await withEngine('WordPress driver docker', () => {
  let engine: Promise<TestEngine> | undefined
  const fixtureHere = async () => await dockerFixture(await (engine ??= startLoadedEngine()))
  conformance('docker', fixtureHere)
  onlyHere(fixtureHere)
  afterAll(async () => {
    await (await engine)?.stop()
  }, 120_000)
})
