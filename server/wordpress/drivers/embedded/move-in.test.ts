/**
 * Sites of other hosts, moved in: MariaDB's own dump with wp-content, and the packages of plugins,
 * loaded by real PHP into the site's own database.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { fixture } from '../../../../test/embedded-wordpress.ts'
import { missingForLamp, openLampServer } from '../../../../test/lamp-server.ts'
import { tarGzOf, wpressOf, zipOf, type PackedFile } from '../../../../test/packages.ts'
import type { ImportedSite, SiteRuntime } from '../../driver.ts'
import { ask, specOf } from '../conformance.ts'
import { signIn } from '../site.conformance.ts'

const admin = { user: 'boss', password: 'Another#1pass', email: 'b@example.com' }

describe('a site is moved in', { timeout: 400_000 }, () => {
  let parts: Awaited<ReturnType<typeof fixture>>
  let driver: SiteRuntime
  const from = specOf({ url: 'https://www.shop-cu.example' })
  const into = specOf({ url: 'http://moi.localhost:8082' })
  /** The original, unpacked from its backup. */
  let unpacked: string
  const page = async (spec: typeof into, target: string) =>
    (await ask(driver.upstreams(spec.id)[0]!, spec.url + target)).text
  const put = (spec: typeof into, name: string, code: string) =>
    parts.put(spec.id, name, `<?php require __DIR__ . '/wp-load.php'; ${code}`)
  const probe = `global $wpdb;
echo json_encode( array( get_option( 'probe_array' ), get_option( 'probe_object' ),
	$wpdb->get_results( "SELECT post_title, post_content FROM $wpdb->posts
		WHERE post_title LIKE 'Đường%'" ),
	$wpdb->get_results( "SELECT id, place, size, kind, hex(raw) AS raw, seen
		FROM {$wpdb->prefix}visits ORDER BY id" ),
	get_theme_mod( 'probe' ), get_option( 'home' ) ), JSON_UNESCAPED_UNICODE );`

  const moveIn = async (files: readonly Buffer[], maker?: string): Promise<ImportedSite> => {
    const paths = await Promise.all(
      files.map(async (bytes, index) => {
        const file = path.join(parts.dataDir, `upload-${index}`)
        await fs.writeFile(file, bytes)
        return file
      }),
    )
    const laidOut = await driver.layOutImport(into, paths)
    expect(laidOut).toHaveProperty('found')
    if (maker !== undefined) expect(laidOut).toMatchObject({ found: { maker } })
    for (;;) {
      const step = await driver.stepImport(into, [])
      expect(step.problem).toBeNull()
      if (step.site) return step.site
    }
  }
  const switchOver = async (): Promise<void> => {
    await driver.switchImport(into, randomUUID())
    await driver.start(into)
  }
  const filesBelow = async (folder: string, prefix: string): Promise<PackedFile[]> => {
    const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true })
    return await Promise.all(
      entries
        .filter((entry) => entry.isFile())
        .map(async (entry) => {
          const full = path.join(entry.parentPath, entry.name)
          return {
            name: prefix + path.relative(folder, full),
            content: await fs.readFile(full),
          }
        }),
    )
  }
  /** wp-content of the original, without what WordPress ships. */
  const content = (prefix: string) =>
    filesBelow(path.join(unpacked, 'wordpress/wp-content/uploads'), `${prefix}uploads/`)
  const theme = (prefix: string): PackedFile[] => [
    {
      name: `${prefix}themes/nhe/style.css`,
      content: '/*\nTheme Name: Nhẹ\n*/',
    },
    {
      name: `${prefix}themes/nhe/index.php`,
      content:
        '<?php while ( have_posts() ) { the_post(); the_title( "<h2>", "</h2>" ); the_content(); }',
    },
    { name: `${prefix}plugins/chao/chao.php`, content: '<?php /* Plugin Name: Chào */' },
  ]
  let told: string

  beforeAll(async () => {
    parts = await fixture()
    driver = parts.driver
    for (const spec of [from, into]) {
      await driver.install(spec, { ...admin, user: spec === from ? 'chu.cu' : 'chu.moi' })
      await driver.start(spec)
    }
    await parts.put(from.id, 'wp-content/uploads/2026/11/ảnh đẹp 🌧.txt', 'ảnh')
    await put(
      from,
      'probe-fill.php',
      `global $wpdb;
$wpdb->query( "CREATE TABLE {$wpdb->prefix}visits (id bigint unsigned NOT NULL AUTO_INCREMENT,
	place varchar(40) NOT NULL DEFAULT 'it''s', size decimal(8,2), kind enum('a','b') DEFAULT 'a',
	raw longblob, seen timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
	PRIMARY KEY (id), UNIQUE KEY place (place), KEY kind (kind, place(10)))" );
$wpdb->insert( $wpdb->prefix . 'visits', array( 'size' => 12.5,
	'place' => "Huế 'n' \\\\ \\n 🌧; -- x",
	'raw' => "\\x00\\xff'\\\\" ) );
$wpdb->insert( $wpdb->prefix . 'visits', array( 'place' => '' ) );
$link = 'https://www.shop-cu.example/wp-content/uploads/2026/11/a.jpg';
for ( $i = 0; $i < 300; $i++ ) $wpdb->insert( $wpdb->posts, array( 'post_title' => "Bài $i",
	'post_content' => str_repeat( 'Một ngày đẹp trời; ', 40 ) . "<img src='$link'>",
	'post_status' => 'publish', 'post_type' => 'post', 'post_excerpt' => '', 'to_ping' => '',
	'pinged' => '', 'post_content_filtered' => '' ) );
wp_insert_post( array( 'post_title' => 'Đường về Huế 🌧', 'post_status' => 'publish',
	'post_content' => "Mưa <a href='$link'>ảnh</a>" ) );
update_option( 'probe_array', array( 'đường' => "d'or", 'n' => null, 'link' => $link,
	'list' => range( 1, 3 ) ) );
update_option( 'probe_object', (object) array( 'at' => 'http://shop-cu.example/x', 'q' => 'ở' ) );
set_theme_mod( 'probe', 'có' );
update_option( 'active_plugins', array( 'chao/chao.php', 'gone/gone.php' ) );
switch_theme( 'nhe' );
set_theme_mod( 'probe', 'có' );
echo 'filled';`,
    )
    for (const file of theme('wp-content/'))
      await parts.put(from.id, file.name, String(file.content))
    expect(await page(from, '/probe-fill.php')).toBe('filled')
    await put(from, 'probe-values.php', probe)
    told = (await page(from, '/probe-values.php'))
      .replaceAll('https:\\/\\/www.shop-cu.example', 'http:\\/\\/moi.localhost:8082')
      .replaceAll('http:\\/\\/shop-cu.example', 'http:\\/\\/moi.localhost:8082')
      .replaceAll('https://www.shop-cu.example', into.url)
    const archive = path.join(parts.dataDir, 'away.tar.gz')
    await driver.backup(from.id, archive)
    unpacked = path.join(parts.dataDir, 'unpacked')
    await fs.mkdir(unpacked)
    execFileSync('tar', ['-xzf', archive, '-C', unpacked])
  }, 300_000)
  afterAll(async () => {
    await parts?.dispose()
  }, 60_000)

  /** The new site answers what the original answered, except for the address. */
  const expectMoved = async (moved: ImportedSite): Promise<void> => {
    expect(moved.home).toBe('https://www.shop-cu.example')
    expect(moved.admins).toEqual(['chu.cu'])
    expect(moved.paths[0]).toBe('/')
    expect(moved.paths.length).toBeGreaterThan(3)
    expect(moved.notes).toContainEqual({ code: 'plugins_missing', detail: 'gone/gone.php' })
    await put(into, 'probe-values.php', probe)
    expect(JSON.parse(await page(into, '/probe-values.php'))).toEqual(JSON.parse(told))
    expect(await page(into, '/')).toContain('Đường về Huế 🌧')
    expect(await page(into, '/wp-content/uploads/2026/11/ảnh đẹp 🌧.txt')).toBe('ảnh')
    expect(
      await signIn(driver.upstreams(into.id)[0]!, into.url, 'chu.cu', admin.password),
    ).not.toBeNull()
    expect(
      await signIn(driver.upstreams(into.id)[0]!, into.url, 'chu.moi', admin.password),
    ).toBeNull()
  }

  test('from the SQL of an archive of ours and its wp-content, as two files', async () => {
    const sql = await fs.readFile(path.join(unpacked, 'database.sql'))
    const moved = await moveIn([
      gzipSync(sql),
      zipOf([...(await content('site/wp-content/')), ...theme('site/wp-content/')]),
    ])
    await switchOver()
    await expectMoved(moved)
  })

  test('from a package of All-in-One WP Migration', async () => {
    const sql = (await fs.readFile(path.join(unpacked, 'database.sql'), 'utf8'))
      .replaceAll('`wp_', '`SERVMASK_PREFIX_')
      .replaceAll("'wp_user_roles'", "'SERVMASK_PREFIX_user_roles'")
      .replaceAll("'wp_capabilities'", "'SERVMASK_PREFIX_capabilities'")
      .replaceAll("'wp_user_level'", "'SERVMASK_PREFIX_user_level'")
    const moved = await moveIn([
      wpressOf([
        { name: 'package.json', content: '{}' },
        { name: 'database.sql', content: sql },
        ...(await content('')),
        ...theme(''),
      ]),
    ])
    await switchOver()
    await expectMoved(moved)
  })

  test('from the files of an UpdraftPlus backup, and from a package of Duplicator', async () => {
    const sql = await fs.readFile(path.join(unpacked, 'database.sql'), 'utf8')
    const updraft =
      '# WordPress MySQL database backup\n# Created by UpdraftPlus version 1.24\n' +
      '# WordPress Version: 6.4\n\n' +
      sql
    const [uploads, others] = [await content(''), theme('')]
    const half = Math.ceil(uploads.length / 2)
    const from = (folder: string) => others.filter(({ name }) => name.startsWith(folder))
    const moved = await moveIn(
      [
        gzipSync(updraft),
        zipOf(from('plugins/')),
        zipOf(from('themes/')),
        zipOf(uploads.slice(0, half)),
        zipOf(uploads.slice(half)),
        zipOf([{ name: 'languages/vi.po', content: 'msgid ""' }]),
      ],
      'updraftplus',
    )
    await switchOver()
    await expectMoved(moved)
    const again = await moveIn(
      [
        zipOf([
          { name: 'dup-installer/dup-database__abc123.sql', content: sql },
          { name: 'dup-installer/main.installer.php', content: '<?php' },
          { name: 'installer-backup.php', content: '<?php' },
          { name: 'wp-includes/version.php', content: "<?php $wp_version = '6.4.1';" },
          { name: 'wp-login.php', content: '<?php die("theirs");' },
          ...(await content('wp-content/')),
          ...theme('wp-content/'),
        ]),
      ],
      'duplicator',
    )
    await switchOver()
    await expectMoved(again)
    expect(await page(into, '/wp-login.php')).not.toContain('theirs')
    const left = await fs.readdir(path.join(parts.dataDir, 'sites', into.id, 'wordpress'))
    expect(left.filter((name) => /dup-|installer/.test(name))).toEqual([])
  })

  test('a copy that cannot be looked at now is not gone: the next step goes on', async () => {
    const sql = await fs.readFile(path.join(unpacked, 'database.sql'))
    await moveIn([gzipSync(sql), zipOf(theme('site/wp-content/'))])
    const state = path.join(parts.dataDir, 'sites', into.id, 'import', 'state.json')
    await fs.rename(state, `${state}.aside`)
    await expect(driver.stepImport(into, [])).rejects.toMatchObject({ kind: 'rejected' })
    // A link to itself opens with a fault that is not its absence.
    await fs.symlink(state, state)
    await expect(driver.stepImport(into, [])).rejects.toMatchObject({ kind: 'unavailable' })
    await fs.rename(`${state}.aside`, state)
    expect(await driver.stepImport(into, [])).toMatchObject({ phase: 'done' })
    await driver.dropImport(into.id)
  })

  const missing = missingForLamp()
  test.skipIf(missing.length > 0)(
    missing.length > 0
      ? `MariaDB's own dump was not moved in: ${missing.join(', ')} not installed`
      : 'from the dump that MariaDB writes, with another prefix, views, triggers and other tables',
    async () => {
      const lamp = await openLampServer()
      onTestFinished(() => lamp.close())
      const sql = (await fs.readFile(path.join(unpacked, 'database.sql'), 'utf8'))
        .replaceAll('`wp_', '`cua_hang_')
        .replaceAll("'wp_user_roles'", "'cua_hang_user_roles'")
        .replaceAll("'wp_capabilities'", "'cua_hang_capabilities'")
        .replaceAll("'wp_user_level'", "'cua_hang_user_level'")
      lamp.sql(sql)
      lamp.sql(`create view cua_hang_seen as select * from cua_hang_posts;
create table other_shop (id int, secret text);
insert into other_shop values (1, 'x');
create trigger cua_hang_t before insert on cua_hang_posts for each row set new.post_title = 'x';
delimiter ;;
create procedure cua_hang_p() begin select 1; select 2; end;;
delimiter ;`)
      const dump = lamp.dump('--routines', '--triggers', '--extended-insert')
      const files = [...(await content('wp-content/')), ...theme('wp-content/')]
      const together = await tarGzOf([
        ...files,
        { name: 'backup/db.sql', content: dump },
        { name: 'wp-config.php', content: "<?php\n$table_prefix = 'cua_hang_'; system('id');" },
        { name: 'google1234.html', content: 'google-site-verification' },
        { name: 'shell.php', content: '<?php system($_GET["c"]);' },
        { name: 'wp-content/object-cache.php', content: '<?php die("redis");' },
      ])
      const moved = await moveIn([together])
      await switchOver()
      await expectMoved(moved)
      expect(await page(into, '/google1234.html')).toBe('google-site-verification')
      const files_ = path.join(parts.dataDir, 'sites', into.id, 'wordpress')
      for (const name of ['shell.php', 'wp-content/object-cache.php'])
        await expect(fs.access(path.join(files_, name))).rejects.toThrow()
      expect(await fs.readFile(path.join(files_, 'wp-config.php'), 'utf8')).not.toContain('system')
      await put(
        into,
        'probe-tables.php',
        'global $wpdb; echo json_encode( $wpdb->get_col( "SHOW TABLES" ) );',
      )
      const tables = JSON.parse(await page(into, '/probe-tables.php')) as string[]
      expect(tables).toContain('cua_hang_visits')
      expect(tables.filter((name) => !name.startsWith('cua_hang_'))).toEqual([])
      expect(tables).not.toContain('cua_hang_seen')
    },
  )
})
