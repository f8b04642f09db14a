/**
 * No way around a site's disk limit, and nothing stays of a removed site: deep folders, closed
 * folders, files without a name.
 */
import fs from 'node:fs/promises'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, open } from '../../../../test/embedded-wordpress.ts'
import type { SiteAddress, SiteRuntime } from '../../driver.ts'
import { ask, eventually, specOf } from '../conformance.ts'
import { bytesBelow, removeTree, sweepDoomed } from '../machine/files.ts'

const megabyte = 1_048_576

/**
 * Makes a chain of folders below `top` whose path is longer than any call accepts (PATH_MAX), with
 * a file at its end. Answers their number.
 */
function digTooDeep(top: string): number {
  const part = 'd'.repeat(200)
  const start = process.cwd()
  mkdirSync(top, { recursive: true })
  try {
    process.chdir(top)
    for (let depth = 0; depth < 30; depth++) {
      mkdirSync(part)
      process.chdir(part)
    }
    writeFileSync('deep.bin', Buffer.alloc(megabyte))
  } finally {
    process.chdir(start)
  }
  return 30
}

describe('the disk of a site', { timeout: 180_000 }, () => {
  let parts: Awaited<ReturnType<typeof fixture>>
  let driver: SiteRuntime
  const spec = specOf()
  const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }
  const page = async (target: string) =>
    ask((await driver.addresses(spec.id))[0] as SiteAddress, spec.url + target)
  const folder = () => path.join(parts.dataDir, 'sites', spec.id, 'wordpress')

  beforeAll(async () => {
    parts = await fixture()
    driver = parts.driver
    await driver.install(spec, admin)
    await driver.start(spec)
  }, 120_000)
  afterAll(() => parts?.dispose(), 60_000)

  test('PHP makes no path that the host could not open, by folders or by moving them', async () => {
    await parts.put(
      spec.id,
      'probe-deep.php',
      `<?php
$top = __DIR__ . '/wp-content/deep';
$part = str_repeat( 'd', 200 );
$made = 0;
$chain = function ( $at, $count ) use ( $part, &$made ) {
	@mkdir( $at );
	for ( $i = 0; $i < $count; $i++ ) {
		$at .= '/' . $part;
		if ( ! @mkdir( $at ) ) return dirname( $at );
		$made++;
	}
	return $at;
};
$low = $chain( $top . '-a', 15 );
file_put_contents( $low . '/data.bin', str_repeat( 'x', 1000 ) );
$high = $chain( $top . '-b', 8 );
$moved = @rename( $top . '-a', $high . '/a' );
$file = @file_put_contents( $low . '/' . str_repeat( 'f', 250 ), 'x' );
$short = @rename( $low . '/data.bin', $top . '-a/data.bin' );
echo json_encode( array( 'made' => $made, 'moved' => $moved, 'short' => $short ) );`,
    )
    const told = JSON.parse((await page('/probe-deep.php')).text) as Record<string, unknown>
    expect(told).toMatchObject({ moved: false, short: true })
    expect(told['made']).toBeGreaterThan(4)
    expect(told['made']).toBeLessThan(12)
    let longest = 0
    for (const name of await fs.readdir(folder(), { recursive: true }))
      longest = Math.max(longest, Buffer.byteLength(path.join(folder(), name)))
    expect(longest).toBeLessThanOrEqual(1_024)
    const copy = path.join(parts.dataDir, 'deep.tar.gz')
    const figures = await driver.backup(spec.id, copy)
    expect(await driver.prove(copy)).toEqual(figures)
  })

  test('PHP closes no folder to whoever measures it, backs it up and removes it', async () => {
    await parts.put(
      spec.id,
      'probe-closed.php',
      `<?php
$dir = __DIR__ . '/wp-content/closed';
mkdir( $dir, 0 );
file_put_contents( $dir . '/data.bin', str_repeat( 'x', 1000 ) );
chmod( $dir . '/data.bin', 0 );
chmod( $dir, 0 );
umask( 0777 );
mkdir( $dir . '2' );
file_put_contents( $dir . '2/data.bin', 'x' );
echo 'done';`,
    )
    expect((await page('/probe-closed.php')).text).toBe('done')
    for (const name of ['closed', 'closed2']) {
      expect((await fs.stat(path.join(folder(), 'wp-content', name))).mode & 0o700).toBe(0o700)
      const file = path.join(folder(), 'wp-content', name, 'data.bin')
      expect((await fs.stat(file)).mode & 0o600).toBe(0o600)
    }
  })

  test('a file that is open and has no name any more counts until it is closed', async () => {
    await driver.start({ ...spec, diskMb: (await driver.state(spec.id)).diskUsedMb + 20 })
    await parts.put(
      spec.id,
      'probe-unlinked.php',
      `<?php
$mb = 1048576; $block = str_repeat( 'x', $mb ); $all = 0; $held = array();
for ( $n = 0; $n < 6; $n++ ) {
	$name = __DIR__ . "/wp-content/held-$n";
	$f = fopen( $name, 'w' );
	for ( $i = 0; $i < 8; $i++ ) {
		$w = @fwrite( $f, $block );
		$all += (int) $w;
		if ( $w !== $mb ) break;
	}
	0 === $n % 2 ? unlink( $name ) : ( file_put_contents( "$name.new", 'x' )
		&& rename( "$name.new", $name ) && unlink( $name ) );
	$held[] = $f;
}
foreach ( $held as $f ) fclose( $f );
$after = @file_put_contents( __DIR__ . '/wp-content/after', str_repeat( 'x', 12 * $mb ) );
@unlink( __DIR__ . '/wp-content/after' );
echo $all <= 20 * $mb ? 'held' : "broken $all", ' ', $after === 12 * $mb ? 'free' : 'still full';`,
    )
    expect((await page('/probe-unlinked.php')).text).toBe('held free')
    await driver.start(spec)
  })

  test('containers of one site together write no more than there is room for', async () => {
    const freeMb = 30
    const diskMb = (await driver.state(spec.id)).diskUsedMb + freeMb
    await driver.start({ ...spec, containers: 4, diskMb })
    await eventually(async () => expect(await driver.addresses(spec.id)).toHaveLength(4), 120_000)
    await parts.put(
      spec.id,
      'probe-fill.php',
      `<?php
$n = (int) $_GET['n'];
// Nobody begins before all are there: the disk could be full by then.
touch( __DIR__ . "/wp-content/fill-came-$n" );
$come = fn() => count( glob( __DIR__ . '/wp-content/fill-came-*' ) );
for ( $i = 0; $i < 5000 && $come() < 4; $i++ ) usleep( 5000 );
$all = 0; $f = fopen( __DIR__ . "/wp-content/fill-$n", 'w' );
$block = str_repeat( 'x', 65536 );
for ( $i = 0; $i < 700; $i++ ) {
	$w = @fwrite( $f, $block ); $all += (int) $w;
	if ( $w !== 65536 ) break;
	usleep( 500 );
}
fclose( $f ); echo $all, ' ', disk_free_space( __DIR__ );`,
    )
    const addresses = await driver.addresses(spec.id)
    const told = await Promise.all(
      addresses.map((address, n) =>
        ask(address as SiteAddress, `${spec.url}/probe-fill.php?n=${n}`),
      ),
    )
    const written = told.map(({ text }) => Number(text.split(' ')[0]))
    const all = written.reduce((sum, bytes) => sum + bytes, 0)
    // Disks are reported in whole megabytes.
    expect(all, told.map(({ text }) => text).join()).toBeLessThanOrEqual((freeMb + 1) * megabyte)
    expect(all).toBeGreaterThan((freeMb - 2) * megabyte)
    // All containers report that hardly anything is left, and each wrote its part.
    expect(Math.max(...told.map(({ text }) => Number(text.split(' ')[1])))).toBeLessThan(megabyte)
    expect(Math.min(...written)).toBeGreaterThan(megabyte)
    // Space that one container frees can be used by another after its next measurement.
    await fs.rm(path.join(folder(), 'wp-content', 'fill-0'))
    await eventually(async () => {
      const [, second] = addresses
      const { text } = await ask(second as SiteAddress, `${spec.url}/probe-fill.php?n=9`)
      expect(Number(text.split(' ')[0])).toBeGreaterThan(megabyte)
    })
    for (const name of await fs.readdir(path.join(folder(), 'wp-content')))
      if (name.startsWith('fill-')) await fs.rm(path.join(folder(), 'wp-content', name))
    await driver.start(spec)
  })

  test('a site with paths beyond what the host can open is removed whole', async () => {
    const { id } = specOf()
    digTooDeep(path.join(parts.dataDir, 'sites', id, 'wordpress', 'wp-content', 'deep'))
    await driver.remove(id)
    expect(await fs.readdir(path.join(parts.dataDir, 'sites'))).toEqual([spec.id])
  })
})

describe('folders that are removed', () => {
  let dir: string
  beforeAll(async () => {
    dir = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-doomed-'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  test('what an earlier try left is removed by the next, which is no success before', async () => {
    const doomed = path.join(dir, '.removing-site-1-abc')
    digTooDeep(doomed)
    // The folder itself is gone: the interrupted try had renamed it.
    await removeTree(path.join(dir, 'site'))
    expect(await fs.readdir(dir)).toEqual([])
  })

  test('a folder that cannot be read is an error, not empty', async () => {
    const top = path.join(dir, 'unreadable')
    digTooDeep(top)
    await expect(bytesBelow(top)).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
    expect(await bytesBelow(path.join(dir, 'absent'))).toBe(0)
    await removeTree(top)
  })

  test('a start sweeps what sites left; what cannot be removed is counted', async () => {
    const sites = path.join(dir, 'sites')
    const site = '0a0a0a0a-0000-4000-8000-000000000000'
    digTooDeep(path.join(sites, '.removing-gone-1-x'))
    await fs.mkdir(path.join(sites, '.scratch-old/wordpress'), { recursive: true })
    await fs.mkdir(path.join(sites, site, '.removing-restoring-1-y/sub'), { recursive: true })
    const first = open(dir)
    await eventually(async () => {
      expect(await fs.readdir(sites)).toEqual([site])
      expect(await fs.readdir(path.join(sites, site))).toEqual([])
    })
    expect(await first.unremoved()).toBe(0)
    await first.close()
  })

  test.skipIf(process.getuid?.() !== 0)(
    'what the system does not let go of is told in the count, and is gone when it does',
    async () => {
      const { execFileSync } = await import('node:child_process')
      const kept = path.join(dir, 'kept')
      const mounted = path.join(kept, '.removing-busy-1-z', 'mounted')
      await fs.mkdir(mounted, { recursive: true })
      try {
        execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', mounted], { stdio: 'ignore' })
      } catch {
        // This machine permits no mounts, so nothing can be busy.
        return
      }
      try {
        expect(await sweepDoomed(kept)).toBe(1)
        await expect(removeTree(path.join(kept, 'busy'))).rejects.toThrow('could not be removed')
      } finally {
        execFileSync('umount', [mounted])
      }
      expect(await sweepDoomed(kept)).toBe(0)
      expect(await fs.readdir(kept)).toEqual([])
    },
  )
})
