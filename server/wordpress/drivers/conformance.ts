// What every WordPress driver must hold, told from plain to odd. A driver's own test calls `conformance` with a way to make it.
import http from 'node:http'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LogLine, SiteAddress, SiteAdmin, SiteCopy, SiteSpec, WordpressDriver } from '../driver.ts'

/** A driver under test, and what only its own test knows how to do from outside. */
export interface Fixture {
  readonly driver: WordpressDriver
  /** Ends whatever runs the sites, as the end of its process would after a signal. May be called twice. */
  close(): Promise<void>
  /** Puts a file into the site's WordPress folder. */
  put(id: string, file: string, text: string): Promise<void>
  /** Kills a container as an accident would, without asking the driver. */
  kill(id: string, container: string): Promise<void>
  /** Names of everything that exists for the site outside the driver: folders, processes, volumes. */
  traces(id: string): Promise<readonly string[]>
  dispose(): Promise<void>
}

export interface Page {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

/** One request straight to a container, with the Host that browsers send. */
export function ask(
  to: SiteAddress,
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Page> {
  const { host, pathname, search } = new URL(url)
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        host: to.host,
        port: to.port,
        path: pathname + search,
        method: options.method ?? 'GET',
        headers: { host, ...options.headers },
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') }),
        )
      },
    )
    request.setTimeout(60_000, () => request.destroy(new Error(`no answer from ${url}`)))
    request.on('error', reject)
    request.end(options.body)
  })
}

/** Waits until `condition` holds; the last failure is the reason when it never does. */
export async function eventually(condition: () => Promise<void> | void, withinMs = 30_000): Promise<void> {
  const deadline = Date.now() + withinMs
  for (;;) {
    try {
      await condition()
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

export const specOf = (changes: Partial<SiteSpec> = {}): SiteSpec => {
  const id = changes.id ?? randomUUID()
  return {
    id,
    url: `http://${id.slice(0, 8)}.localhost:8082`,
    hosts: [],
    title: 'Cửa hàng "Mây" & Gió',
    language: 'vi',
    cpu: 1,
    ramMb: 640,
    diskMb: 10_240,
    databaseDiskMb: 10_240,
    containers: 1,
    generation: 0,
    ...changes,
  }
}

/** A person at the login form. Answers the session's cookies, or null when WordPress says no. */
export async function signIn(to: SiteAddress, url: string, user: string, password: string): Promise<string | null> {
  const answer = await ask(to, `${url}/wp-login.php`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: 'wordpress_test_cookie=WP%20Cookie%20check' },
    body: new URLSearchParams({ log: user, pwd: password, testcookie: '1' }).toString(),
  })
  if (answer.status !== 302) return null
  return (answer.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
}

const fillFile = `<?php
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
const fillTable = `<?php
require __DIR__ . '/wp-load.php';
global $wpdb;
$wpdb->suppress_errors();
$ok = 0;
for ( $i = 0; $i < (int) $_GET['rows']; $i++ ) {
	if ( ! $wpdb->insert( $wpdb->postmeta, array( 'post_id' => 1, 'meta_key' => 'fill', 'meta_value' => str_repeat( chr( 97 + $i % 26 ), 100000 ) ) ) ) break;
	$ok++;
}
echo "ok=$ok rows=" . $wpdb->get_var( "SELECT COUNT(*) FROM {$wpdb->postmeta} WHERE meta_key = 'fill'" );
`
const listUsers = `<?php
require __DIR__ . '/wp-load.php';
foreach ( get_users() as $u ) echo $u->user_login, ' ', $u->user_email, ' ', implode( ',', $u->roles ), "\\n";
echo get_locale(), ' ', get_option( 'permalink_structure' ), ' ', get_option( 'blogname' );
`

export function conformance(name: string, make: () => Promise<Fixture>): void {
  describe(`WordPress driver ${name}`, { timeout: 120_000 }, () => {
    let fixture: Fixture
    let driver: WordpressDriver
    let folder: string
    const admin: SiteAdmin = { user: 'chu.boss', password: 'Mật khẩu#1 "x"', email: 'boss@example.com' }
    const spec = specOf()
    const first = async (): Promise<SiteAddress> => {
      const [address] = await driver.addresses(spec.id)
      expect(address, 'an address').toBeDefined()
      return address!
    }
    const page = async (target: string) => ask(await first(), spec.url + target)
    let copy: SiteCopy

    beforeAll(async () => {
      fixture = await make()
      driver = fixture.driver
      folder = await fs.mkdtemp(path.join(os.tmpdir(), 'portal-copies-'))
      copy = { file: path.join(folder, 'site.tar.gz'), figures: { files: 0, fileBytes: 0, filesSha256: '', databaseBytes: 0, tables: [] } }
    }, 120_000)
    afterAll(async () => {
      await fixture?.dispose()
      await fs.rm(folder, { recursive: true, force: true })
    }, 60_000)

    test('is ready and holds nothing at first', async () => {
      expect(await driver.health()).toBeUndefined()
      expect(await driver.list()).toEqual([])
      expect(await driver.state(spec.id)).toMatchObject({ state: 'absent', installed: false, containers: [] })
      expect(await driver.addresses(spec.id)).toEqual([])
      expect(await driver.log(spec.id).tail(10)).toEqual([])
    })

    test('refuses what it cannot do, and leaves nothing of it', async () => {
      await expect(driver.install(spec, null)).rejects.toMatchObject({ name: 'DriverFailure', kind: 'rejected' })
      await expect(driver.start(spec)).rejects.toMatchObject({ kind: 'rejected' })
      await expect(driver.start({ ...spec, containers: driver.capabilities.maxContainers + 1 })).rejects.toMatchObject({ kind: 'rejected' })
      await expect(driver.install({ ...spec, ramMb: driver.capabilities.minRamMb - 1 }, admin)).rejects.toMatchObject({ kind: 'rejected' })
      await expect(driver.install({ ...spec, id: '../elsewhere' }, admin)).rejects.toMatchObject({ kind: 'rejected' })
      await expect(driver.install(spec, { ...admin, user: 'no/slash' })).rejects.toMatchObject({ kind: 'rejected' })
      expect((await driver.state(spec.id)).installed).toBe(false)
    })

    test('installs once, however often it is asked, and starts', async () => {
      await Promise.all([driver.install(spec, admin), driver.install(spec, admin), driver.start(spec)])
      await driver.install(spec, null)
      await driver.start(spec)
      expect(await driver.list()).toEqual([spec.id])
      const state = await driver.state(spec.id)
      expect(state).toMatchObject({ state: 'running', installed: true, containers: [{ name: 'web-1', ready: true, restarts: 0 }] })
      expect(state.diskUsedMb).toBeGreaterThan(50)
      expect(await driver.addresses(spec.id)).toHaveLength(1)
    })

    test('serves the front page under its own address, in its language', async () => {
      const front = await page('/')
      expect(front.status).toBe(200)
      expect(front.text).toContain('<html lang="vi"')
      expect(front.text).toContain(spec.url)
      expect(front.text).not.toMatch(/127\.0\.0\.1|template\.invalid/)
      expect((await page('/wp-includes/css/dashicons.min.css')).headers['content-type']).toContain('text/css')
    })

    test('has the chosen admin and nobody else', async () => {
      await fixture.put(spec.id, 'probe-users.php', listUsers)
      expect((await page('/probe-users.php')).text).toBe(
        `${admin.user} ${admin.email} administrator\nvi /%year%/%monthnum%/%day%/%postname%/ Cửa hàng &quot;Mây&quot; &amp; Gió`,
      )
      expect(await signIn(await first(), spec.url, admin.user, 'wrong#Password1')).toBeNull()
      expect(await signIn(await first(), spec.url, 'admin', 'password')).toBeNull()
      const cookie = await signIn(await first(), spec.url, admin.user, admin.password)
      expect(cookie).not.toBeNull()
      const dashboard = await ask(await first(), `${spec.url}/wp-admin/`, { headers: { cookie: cookie! } })
      expect(dashboard.status).toBe(200)
      expect((await page('/wp-admin/install.php')).text).not.toContain('name="weblog_title"')
    })

    const session = async (): Promise<Record<string, string>> => {
      const cookie = (await signIn(await first(), spec.url, admin.user, admin.password)) ?? ''
      const nonce = (await ask(await first(), `${spec.url}/wp-admin/admin-ajax.php?action=rest-nonce`, { headers: { cookie } })).text
      return { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' }
    }
    const write = (title: string, to: SiteAddress, headers: Record<string, string>): Promise<Page> =>
      ask(to, `${spec.url}/wp-json/wp/v2/posts`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ title, content: 'Xin chào', status: 'publish' }),
      })
    const titles = async (): Promise<readonly string[]> =>
      (JSON.parse((await page('/wp-json/wp/v2/posts?per_page=100')).text) as { title: { rendered: string } }[]).map(
        (post) => post.title.rendered,
      )

    test('keeps content over a stop and a start', async () => {
      expect((await write('Bài đầu tiên', await first(), await session())).status).toBe(201)
      await Promise.all([driver.stop(spec.id), driver.stop(spec.id)])
      expect(await driver.addresses(spec.id)).toEqual([])
      expect(await driver.state(spec.id)).toMatchObject({ state: 'stopped', installed: true, containers: [] })
      await driver.stop(spec.id)
      await driver.start(spec)
      expect(await titles()).toContain('Bài đầu tiên')
    })

    test('tells what happens in its log, as it happens', async () => {
      const log = driver.log(spec.id)
      const live: LogLine[] = []
      const before = (await log.tail(1))[0]?.seq ?? 0
      let reading = Promise.resolve()
      const unwatch = log.watch(() => {
        reading = reading.then(async () => void live.push(...(await log.after(live.at(-1)?.seq ?? before, 3))))
      })
      await fixture.put(spec.id, 'probe-log.php', `<?php error_log( 'a word from PHP' );`)
      await page('/?looked-for=this')
      await page('/probe-log.php')
      await eventually(() => {
        const texts = live.map((line) => line.text)
        expect(texts.some((text) => text.includes('/?looked-for=this') && text.includes('200'))).toBe(true)
        expect(texts.some((text) => text.includes('a word from PHP'))).toBe(true)
      })
      unwatch()
      await reading
      const sequence = live.map((line) => line.seq)
      expect(sequence).toEqual(sequence.map((_, index) => before + 1 + index))
      expect((await log.after(before, sequence.length)).slice(0, sequence.length)).toEqual(live)
      expect(live[0]?.at).toBeInstanceOf(Date)
      expect(await log.after(before, 1)).toHaveLength(1)
      expect(await log.tail(2)).toHaveLength(2)
      expect(live[0]?.container).toBe('web-1')
      expect((await log.tail(5_000)).some((line) => line.text.includes(admin.password))).toBe(false)
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
      await eventually(async () => expect((await page('/probe-fill.php?n=2&mb=30')).text).toBe('written=30'))
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
      await eventually(async () => expect((await page('/probe-rows.php?rows=40')).text).toContain('ok=40'))
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
      const [one, other] = (await driver.addresses(spec.id)) as [SiteAddress, SiteAddress]
      // One session for all: WordPress itself loses sessions that are opened at the same moment.
      const headers = await session()
      const posts = await Promise.all(
        Array.from({ length: 12 }, (_, index) => write(`Song song ${index}`, index % 2 === 0 ? one : other, headers)),
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

    test.each([1, 2, 4])('keeps every write once, written in parallel over %d containers', async (containers) => {
      const headers = await session()
      await driver.start({ ...spec, containers })
      await eventually(async () => expect(await driver.addresses(spec.id)).toHaveLength(containers))
      const addresses = await driver.addresses(spec.id)
      const wanted = Array.from({ length: 16 }, (_, index) => `Cùng lúc ${containers}-${index}`)
      const posts = await Promise.all(wanted.map((title, index) => write(title, addresses[index % addresses.length]!, headers)))
      expect(posts.map((post) => post.status)).toEqual(posts.map(() => 201))
      const prefix = `Cùng lúc ${containers}-`
      expect((await titles()).filter((title) => title.startsWith(prefix)).toSorted()).toEqual(wanted.toSorted())
    })

    test('signs an administrator in by a link, once, without his password', async () => {
      const link = await driver.adminLink(spec.id, admin.user)
      expect(new URL(link).origin).toBe(spec.url)
      // A preview of the link uses nothing up.
      expect((await ask(await first(), link, { method: 'HEAD' })).status).toBe(403)
      const answers = await Promise.all(Array.from({ length: 4 }, async () => ask(await first(), link)))
      const [good] = answers.filter(({ status }) => status === 302)
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([302, 403, 403, 403])
      expect(good?.headers.location).toBe(`${spec.url}/wp-admin/`)
      const cookie = (good?.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
      const dashboard = await ask(await first(), `${spec.url}/wp-admin/profile.php`, { headers: { cookie } })
      expect(dashboard.status).toBe(200)
      expect(dashboard.text).toContain(admin.email)
      expect((await ask(await first(), link)).status).toBe(403)
      expect((await ask(await first(), `${spec.url}/portal-sign-in/${'A'.repeat(43)}`)).status).toBe(403)
      expect((await driver.log(spec.id).tail(50)).some(({ text }) => text.includes(link.slice(-20)))).toBe(false)
      // Without such a user, the oldest administrator.
      expect((await ask(await first(), await driver.adminLink(spec.id, 'nobody'))).status).toBe(302)
    })

    test('answers on further names as on its own, and on no other', async () => {
      const asked = async (host: string, target = '/', headers: Record<string, string> = {}) =>
        ask(await first(), spec.url + target, { headers: { host, ...headers } })
      const { host, port } = new URL(spec.url)
      const stranger = await asked('shop.example.org')
      expect([stranger.status, stranger.headers.location]).toEqual([302, `${spec.url}/`])
      expect((await ask(await first(), `${spec.url}/wp-login.php`, { method: 'POST', headers: { host: 'shop.example.org' } })).status).toBe(
        421,
      )
      await driver.start({ ...spec, hosts: ['shop.example.org'] })
      await eventually(async () => expect((await asked('shop.example.org')).status).toBe(200))
      const front = await asked('Shop.Example.org:1234')
      expect(front.text).toContain(`http://shop.example.org:${port}/`)
      expect(front.text).not.toContain(host)
      expect(front.text).not.toContain('1234')
      expect((await asked('shop.example.org', '/', { 'x-forwarded-proto': 'https' })).text).toContain(`https://shop.example.org:${port}/`)
      const own = await page('/')
      expect(own.text).toContain(spec.url)
      expect(own.text).not.toContain('shop.example.org')
      // A visitor's own words change nothing.
      expect((await asked(host, '/', { portal_home: 'http://evil.example', 'x-forwarded-host': 'evil.example' })).text).not.toContain(
        'evil',
      )
      const signedIn = await ask(await first(), `${spec.url}/wp-login.php`, {
        method: 'POST',
        headers: {
          host: `shop.example.org:${port}`,
          'content-type': 'application/x-www-form-urlencoded',
          cookie: 'wordpress_test_cookie=WP%20Cookie%20check',
        },
        body: new URLSearchParams({ log: admin.user, pwd: admin.password, testcookie: '1' }).toString(),
      })
      expect(signedIn.headers.location).toBe(`http://shop.example.org:${port}/wp-admin/`)
      const cookie = (signedIn.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
      expect((await asked(`shop.example.org:${port}`, '/wp-admin/', { cookie })).status).toBe(200)
      await driver.start(spec)
      await eventually(async () => expect((await asked('shop.example.org')).status).toBe(302))
    })

    test('restarts when it is asked for, once, and turns no visitor away', async () => {
      const answers: number[] = []
      let restarting = true
      const visitOnce = async () => {
        const [at] = await driver.addresses(spec.id)
        return at ? (await ask(at, `${spec.url}/wp-login.php`)).status : 503
      }
      // As below: a container may leave between being named and being asked.
      const visitor = (async () => {
        while (restarting) answers.push(await visitOnce().catch(visitOnce))
      })()
      const [before] = await driver.addresses(spec.id)
      await driver.start({ ...spec, generation: 1 })
      const [after] = await driver.addresses(spec.id)
      await driver.start({ ...spec, generation: 1 })
      expect(await driver.addresses(spec.id)).toEqual([after])
      expect(after).not.toEqual(before)
      restarting = false
      await visitor
      expect(answers.filter((status) => status !== 200)).toEqual([])
      expect((await driver.state(spec.id)).containers[0]).toMatchObject({ ready: true })
      await driver.start(spec)
    })

    test('backs up while the site is written to, and the copy is proven', async () => {
      const headers = await session()
      await fixture.put(spec.id, 'wp-content/uploads/ảnh bìa.txt', 'trước')
      let backingUp = true
      let written = 0
      const writer = (async () => {
        while (backingUp) if ((await write(`Sao lưu ${written}`, await first(), headers)).status === 201) written++
      })()
      await eventually(() => expect(written).toBeGreaterThan(0))
      const figures = await driver.backup(spec.id, copy.file)
      backingUp = false
      await writer
      copy = { ...copy, figures }
      expect(figures.files).toBeGreaterThan(1_000)
      expect(figures.tables.find(({ name }) => name.endsWith('posts'))?.rows).toBeGreaterThan(0)
      expect(await driver.prove(copy.file)).toEqual(figures)
      expect(await fs.readdir(path.dirname(copy.file))).toEqual([path.basename(copy.file)])
      expect(await driver.list()).toEqual([spec.id])
    })

    test('restores files and database, once for each time it is asked for', async () => {
      await fixture.put(spec.id, 'wp-content/uploads/ảnh bìa.txt', 'sau')
      await fixture.put(spec.id, 'wp-content/uploads/late.txt', 'late')
      expect((await write('Viết sau', await first(), await session())).status).toBe(201)
      const restoreId = randomUUID()
      const restored = async () => {
        await driver.restore(spec, copy, restoreId)
        await driver.start(spec)
      }
      await Promise.all([restored(), driver.start(spec)])
      const after = await titles()
      expect(after).toContain('Sao lưu 0')
      expect(after).not.toContain('Viết sau')
      expect((await page('/wp-content/uploads/ảnh bìa.txt')).text).toBe('trước')
      expect((await page('/wp-content/uploads/late.txt')).status).toBe(404)
      expect((await write('Viết lại', await first(), await session())).status).toBe(201)
      const [before] = await driver.addresses(spec.id)
      await restored()
      expect(await driver.addresses(spec.id)).toEqual([before])
      expect(await titles()).toContain('Viết lại')
    })

    test('puts nothing in the place of a site that is damaged, altered or too large', async () => {
      const whole = await fs.readFile(copy.file)
      const damaged = `${copy.file}.damaged`
      await fs.writeFile(damaged, whole.subarray(0, Math.floor(whole.length * 0.7)))
      await expect(driver.prove(damaged)).rejects.toMatchObject({ name: 'DriverFailure' })
      const refused: [SiteSpec, SiteCopy][] = [
        [spec, { ...copy, file: `${copy.file}.absent` }],
        [spec, { ...copy, figures: { ...copy.figures, fileBytes: copy.figures.fileBytes - 1 } }],
        [{ ...spec, diskMb: 10 }, copy],
      ]
      for (const [at, from] of refused)
        await expect(driver.restore(at, from, randomUUID())).rejects.toMatchObject({ name: 'DriverFailure' })
      expect((await page('/')).status).toBe(200)
      expect(await titles()).toContain('Viết lại')
      expect(await driver.list()).toEqual([spec.id])
    })

    test('takes a new plan and address without a gap', async () => {
      const changed = { ...spec, ramMb: spec.ramMb + 128, url: `http://renamed-${spec.id.slice(0, 8)}.localhost:8082` }
      const answers: number[] = []
      let changing = true
      // A container may leave between being named and being asked; the edge would then ask the one that is named now, and so does this visitor.
      const visit = () => page('/').catch(() => page('/'))
      const visitor = (async () => {
        while (changing) answers.push((await visit()).status)
      })()
      await driver.start(changed)
      changing = false
      await visitor
      expect(answers.length).toBeGreaterThan(0)
      expect(answers.filter((status) => status >= 400)).toEqual([])
      expect((await ask(await first(), `${changed.url}/`)).text).toContain(changed.url)
    })

    test('removes everything, however often it is asked', async () => {
      await Promise.all([driver.remove(spec.id), driver.remove(spec.id)])
      expect(await driver.list()).toEqual([])
      expect(await driver.state(spec.id)).toMatchObject({ state: 'absent', installed: false, containers: [] })
      expect(await driver.addresses(spec.id)).toEqual([])
      expect(await fixture.traces(spec.id)).toEqual([])
      await driver.remove(spec.id)
    })

    test('a stop, a start and a removal at once end in no site', async () => {
      const again = specOf()
      const results = await Promise.allSettled([
        driver.install(again, admin),
        driver.start(again),
        driver.stop(again.id),
        driver.start(again),
        driver.remove(again.id),
      ])
      expect(results.at(-1)).toMatchObject({ status: 'fulfilled' })
      for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ name: 'DriverFailure' })
      expect(await driver.state(again.id)).toMatchObject({ state: 'absent' })
      expect(await fixture.traces(again.id)).toEqual([])
    })

    test('close ends every container and takes no more', async () => {
      const last = specOf({ language: 'en' })
      await driver.install(last, admin)
      await driver.start(last)
      expect((await ask((await driver.addresses(last.id))[0]!, `${last.url}/`)).text).toContain('<html lang="en')
      await fixture.close()
      await fixture.close()
      expect((await fixture.traces(last.id)).filter((trace) => trace.startsWith('process'))).toEqual([])
      await expect(driver.start(last)).rejects.toMatchObject({ kind: 'unavailable' })
      expect(await driver.health()).toBeDefined()
    })
  })
}
