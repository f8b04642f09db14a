/** Every WordPress driver under load: full disks, a container that dies, parallel writes. */
import { beforeAll, expect, test } from 'vitest'
import type { SiteAddress, WordpressDriver } from '../driver.ts'
import { eventually, type Fixture, type Site } from './site.conformance.ts'

/** Writes as many MB as its query asks for, until the disk is full. */
export const fillFile = `<?php // probe: fill-file
$f = fopen( __DIR__ . '/wp-content/uploads-fill-' . $_GET['n'], 'w' );
$block = str_repeat( 'x', 1048576 );
$written = 0;
for ( $i = 0; $i < (int) $_GET['mb']; $i++ ) {
	$n = @fwrite( $f, $block );
	if ( $n !== 1048576 ) { $written += (int) $n; break; }
	$written += $n;
}
fclose( $f );
echo 'written=' . intdiv( $written, 1048576 );
`
const fillTable = `<?php // probe: fill-table
require __DIR__ . '/wp-load.php';
global $wpdb;
$wpdb->suppress_errors();
$ok = 0;
for ( $i = 0; $i < (int) $_GET['rows']; $i++ ) {
	$row = array( 'post_id' => 1, 'meta_key' => 'fill' );
	$row['meta_value'] = str_repeat( chr( 97 + $i % 26 ), 100000 );
	if ( ! $wpdb->insert( $wpdb->postmeta, $row ) ) break;
	$ok++;
}
echo "ok=$ok rows=";
echo $wpdb->get_var( "SELECT COUNT(*) FROM {$wpdb->postmeta} WHERE meta_key = 'fill'" );
`

export function bearsPressure(site: Site): void {
  const { spec, page, session, write, titles } = site
  let fixture: Fixture
  let driver: WordpressDriver
  beforeAll(() => {
    fixture = site.made()
    driver = fixture.driver
  })

  test('holds the disk budget for files, and grows it while running', async () => {
    const used = (await driver.state(spec.id)).diskUsedMb
    await driver.start({ ...spec, diskMb: used + 20 })
    await fixture.put(spec.id, 'probe-fill.php', fillFile)
    const full = await page('/probe-fill.php?n=1&mb=60')
    const written = Number(/written=(\d+)/.exec(full.text)?.[1])
    expect(written).toBeGreaterThan(10)
    expect(written).toBeLessThanOrEqual(20)
    expect((await page('/')).status).toBe(200)
    await driver.start({ ...spec, diskMb: used + 100 })
    await eventually(async () =>
      expect((await page('/probe-fill.php?n=2&mb=30')).text).toBe('written=30'),
    )
    await driver.start(spec)
    expect((await driver.state(spec.id)).containers[0]?.restarts).toBe(0)
  })

  test('holds the disk budget for the database, which stays whole', async () => {
    const used = (await driver.state(spec.id)).databaseUsedMb
    await driver.start({ ...spec, databaseDiskMb: used + 3 })
    await fixture.put(spec.id, 'probe-rows.php', fillTable)
    const full = /ok=(\d+) rows=(\d+)/.exec((await page('/probe-rows.php?rows=80')).text)
    expect(Number(full?.[1])).toBeLessThan(40)
    expect(full?.[2]).toBe(full?.[1])
    expect((await page('/')).status).toBe(200)
    await driver.start(spec)
    await eventually(async () =>
      expect((await page('/probe-rows.php?rows=40')).text).toContain('ok=40'),
    )
    expect(await titles()).toContain('Bài đầu tiên')
  })

  test('replaces a container that dies', async () => {
    await fixture.kill(spec.id, 'web-1')
    await eventually(async () => {
      expect((await driver.state(spec.id)).containers).toMatchObject([{ ready: true, restarts: 1 }])
      expect((await page('/')).status).toBe(200)
    })
  })

  test('serves with two containers, one content, and does without either', async (context) => {
    if (driver.capabilities.maxContainers < 2) context.skip('one container a site')
    const two = { ...spec, containers: 2 }
    await driver.start(two)
    await eventually(async () => expect(await driver.addresses(spec.id)).toHaveLength(2))
    expect((await driver.answering())[spec.id]).toBe(2)
    const [one, other] = (await driver.addresses(spec.id)) as [SiteAddress, SiteAddress]
    // One session for all: WordPress itself loses sessions that are opened at the same moment.
    const headers = await session()
    const posts = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        write(`Song song ${index}`, index % 2 === 0 ? one : other, headers),
      ),
    )
    expect(posts.map((post) => post.status)).toEqual(posts.map(() => 201))
    expect((await titles()).filter((title) => title.startsWith('Song song'))).toHaveLength(12)
    await fixture.kill(spec.id, 'web-2')
    await eventually(async () => expect(await driver.addresses(spec.id)).toHaveLength(1))
    expect((await page('/')).status).toBe(200)
    await eventually(async () => expect(await driver.addresses(spec.id)).toHaveLength(2))
    await driver.start(spec)
    expect(await driver.addresses(spec.id)).toHaveLength(1)
    expect((await page('/')).status).toBe(200)
  })

  // One has several processes of PHP; of four the most wait for the one database.
  test.each([1, 4])('keeps each write once, in parallel over %i containers', async (containers) => {
    const headers = await session()
    await driver.start({ ...spec, containers })
    await eventually(async () => expect(await driver.addresses(spec.id)).toHaveLength(containers))
    const addresses = await driver.addresses(spec.id)
    const prefix = `Cùng lúc trên ${containers}:`
    const wanted = Array.from({ length: 16 }, (_, index) => `${prefix} ${index}`)
    const posts = await Promise.all(
      wanted.map((title, index) => write(title, addresses[index % addresses.length]!, headers)),
    )
    expect(posts.map((post) => post.status)).toEqual(posts.map(() => 201))
    expect((await titles()).filter((title) => title.startsWith(prefix)).toSorted()).toEqual(
      wanted.toSorted(),
    )
  })
}
