// What every WordPress driver must hold, told from plain to odd. A driver's own test calls
// `conformance` with a way to make it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FileAnswer, FileOrder, LogLine, WordpressDriver } from '../driver.ts'
import { copiesAndRestores } from './copies.conformance.ts'
import { runsTools } from './tools.conformance.ts'
import { updatesSoftware } from './updates.conformance.ts'
import { followsPhpSettings } from './php.conformance.ts'
import { movesIn } from './imports.conformance.ts'
import { bearsPressure } from './pressure.conformance.ts'
import {
  ask,
  betweenVisits,
  eventually,
  signIn,
  siteOf,
  specOf,
  type Fixture,
} from './site.conformance.ts'

export { ask, eventually, specOf, type Fixture }

const listUsers = `<?php // probe: users
require __DIR__ . '/wp-load.php';
foreach ( get_users() as $u )
	echo $u->user_login, ' ', $u->user_email, ' ', implode( ',', $u->roles ), "\\n";
echo get_locale(), ' ', get_option( 'permalink_structure' ), ' ', get_option( 'blogname' );
`

const postOf = `<?php // probe: post
require __DIR__ . '/wp-load.php';
global $wpdb;
if ( isset( $_GET['content'] ) )
	$wpdb->update( $wpdb->posts, array( 'post_content' => wp_unslash( $_GET['content'] ) ),
		array( 'ID' => 1 ) );
echo $wpdb->get_var( "SELECT post_content FROM $wpdb->posts WHERE ID = 1" );
`

const sendMail = `<?php // probe: mail
echo 'mail=', var_export( mail( $_GET['to'], $_GET['subject'] ?? '', $_GET['body'] ?? '',
	$_GET['headers'] ?? '', $_GET['parameters'] ?? '' ), true );
`

export function conformance(name: string, make: () => Promise<Fixture>): void {
  describe(`WordPress driver ${name}`, { timeout: 120_000 }, () => {
    let fixture: Fixture
    let driver: WordpressDriver
    const site = siteOf(() => fixture)
    const { spec, admin, first, page, session, write, titles } = site

    beforeAll(async () => {
      fixture = await make()
      driver = fixture.driver
    }, 120_000)
    afterAll(() => fixture?.dispose(), 60_000)

    test('is ready and holds nothing at first', async () => {
      expect(await driver.health()).toBeUndefined()
      expect(await driver.list()).toEqual([])
      expect(await driver.state(spec.id)).toMatchObject({
        state: 'absent',
        installed: false,
        containers: [],
      })
      expect(await driver.addresses(spec.id)).toEqual([])
      expect(await driver.log(spec.id).tail(10)).toEqual([])
    })

    test('refuses what it cannot do, and leaves nothing of it', async () => {
      await expect(driver.install(spec, null)).rejects.toMatchObject({
        name: 'DriverFailure',
        kind: 'rejected',
      })
      await expect(driver.start(spec)).rejects.toMatchObject({ kind: 'rejected' })
      await expect(
        driver.start({ ...spec, containers: driver.capabilities.maxContainers + 1 }),
      ).rejects.toMatchObject({ kind: 'rejected' })
      await expect(
        driver.install({ ...spec, ramMb: driver.capabilities.minRamMb - 1 }, admin),
      ).rejects.toMatchObject({ kind: 'rejected' })
      await expect(driver.install({ ...spec, id: '../elsewhere' }, admin)).rejects.toMatchObject({
        kind: 'rejected',
      })
      await expect(driver.install(spec, { ...admin, user: 'no/slash' })).rejects.toMatchObject({
        kind: 'rejected',
      })
      expect((await driver.state(spec.id)).installed).toBe(false)
    })

    test('installs once, however often it is asked, and starts', async () => {
      await Promise.all([
        driver.install(spec, admin),
        driver.install(spec, admin),
        driver.start(spec),
      ])
      await driver.install(spec, null)
      await driver.start(spec)
      expect(await driver.list()).toEqual([spec.id])
      const state = await driver.state(spec.id)
      expect(state).toMatchObject({
        state: 'running',
        installed: true,
        containers: [{ name: 'web-1', ready: true, restarts: 0 }],
      })
      expect(state.diskUsedMb).toBeGreaterThan(fixture.wordpress.mb)
      expect(await driver.addresses(spec.id)).toHaveLength(1)
    })

    test('serves the front page under its own address, in its language', async () => {
      const front = await page('/')
      expect(front.status).toBe(200)
      expect(front.text).toContain('<html lang="vi"')
      expect(front.text).toContain(spec.url)
      expect(front.text).not.toMatch(/127\.0\.0\.1|template\.invalid/)
      expect((await page('/wp-includes/css/dashicons.min.css')).headers['content-type']).toContain(
        'text/css',
      )
    })

    test('has the chosen admin and nobody else', async () => {
      await fixture.put(spec.id, 'probe-users.php', listUsers)
      expect((await page('/probe-users.php')).text).toBe(
        `${admin.user} ${admin.email} administrator\nvi /%year%/%monthnum%/%day%/%postname%/ ` +
          'Cửa hàng &quot;Mây&quot; &amp; Gió',
      )
      expect(await signIn(await first(), spec.url, admin.user, 'wrong#Password1')).toBeNull()
      expect(await signIn(await first(), spec.url, 'admin', 'password')).toBeNull()
      const cookie = await signIn(await first(), spec.url, admin.user, admin.password)
      expect(cookie).not.toBeNull()
      const dashboard = await ask(await first(), `${spec.url}/wp-admin/`, {
        headers: { cookie: cookie! },
      })
      expect(dashboard.status).toBe(200)
      expect((await page('/wp-admin/install.php')).text).not.toContain('name="weblog_title"')
    })

    test('keeps content over a stop and a start', async () => {
      expect((await write('Bài đầu tiên', await first(), await session())).status).toBe(201)
      await Promise.all([driver.stop(spec.id), driver.stop(spec.id)])
      expect(await driver.addresses(spec.id)).toEqual([])
      expect(await driver.state(spec.id)).toMatchObject({
        state: 'stopped',
        installed: true,
        containers: [],
      })
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
        reading = reading.then(
          async () => void live.push(...(await log.after(live.at(-1)?.seq ?? before, 3))),
        )
      })
      await fixture.put(
        spec.id,
        'probe-log.php',
        `<?php // probe: log\nerror_log( 'a word from PHP' );`,
      )
      await page('/?looked-for=this')
      await page('/probe-log.php')
      await eventually(() => {
        const texts = live.map((line) => line.text)
        expect(
          texts.some((text) => text.includes('/?looked-for=this') && text.includes('200')),
        ).toBe(true)
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

    bearsPressure(site)

    test('signs an administrator in by a link, once, without his password', async () => {
      const link = await driver.adminLink(spec.id, admin.user)
      expect(new URL(link).origin).toBe(spec.url)
      // A preview of the link uses nothing up.
      expect((await ask(await first(), link, { method: 'HEAD' })).status).toBe(403)
      const answers = await Promise.all(
        Array.from({ length: 4 }, async () => ask(await first(), link)),
      )
      const [good] = answers.filter(({ status }) => status === 302)
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        302, 403, 403, 403,
      ])
      expect(good?.headers.location).toBe(`${spec.url}/wp-admin/`)
      const cookie = (good?.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
      const dashboard = await ask(await first(), `${spec.url}/wp-admin/profile.php`, {
        headers: { cookie },
      })
      expect(dashboard.status).toBe(200)
      expect(dashboard.text).toContain(admin.email)
      expect((await ask(await first(), link)).status).toBe(403)
      expect(
        (await ask(await first(), `${spec.url}/portal-sign-in/${'A'.repeat(43)}`)).status,
      ).toBe(403)
      expect(
        (await driver.log(spec.id).tail(50)).some(({ text }) => text.includes(link.slice(-20))),
      ).toBe(false)
      // Without such a user, the oldest administrator.
      expect((await ask(await first(), await driver.adminLink(spec.id, 'nobody'))).status).toBe(302)
    })

    test('serves files as browsers ask for them: conditions, parts, versions', async () => {
      const name = 'wp-content/letters.txt'
      await fixture.put(spec.id, name, 'abcdefghij')
      const file = async (headers: Record<string, string> = {}, query = '', method = 'GET') =>
        ask(await first(), `${spec.url}/${name}${query}`, { method, headers })
      const whole = await file()
      expect([whole.status, whole.text]).toEqual([200, 'abcdefghij'])
      expect(whole.headers['cache-control']).toBe('public, max-age=3600')
      expect((await file({}, '?ver=2')).headers['cache-control']).toBe(
        'public, max-age=31536000, immutable',
      )
      const { etag = '', 'last-modified': since = '' } = whole.headers
      expect((await file({ 'if-none-match': etag })).status).toBe(304)
      expect((await file({ 'if-modified-since': since })).status).toBe(304)
      expect((await file({ 'if-none-match': '"other"' })).status).toBe(200)
      const head = await file({}, '', 'HEAD')
      expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '10'])
      const part = await file({ range: 'bytes=2-4' })
      expect([part.status, part.text, part.headers['content-range']]).toEqual([
        206,
        'cde',
        'bytes 2-4/10',
      ])
      expect((await file({ range: 'bytes=-3' })).text).toBe('hij')
      expect((await file({ range: 'bytes=10-' })).status).toBe(416)
      // A download goes on where it broke off, unless the file is another one by now.
      expect((await file({ range: 'bytes=8-', 'if-range': etag })).text).toBe('ij')
      expect((await file({ range: 'bytes=8-', 'if-range': '"other"' })).text).toBe('abcdefghij')
      // More headers than anybody needs are not read. While they still come, the connection may end
      // before its answer is read.
      const refused = await file({ cookie: 'x'.repeat(40_000) }).then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code,
      )
      expect([431, 'ECONNRESET', 'EPIPE']).toContain(refused)
    })

    test('answers on further names as on its own, and on no other', async () => {
      const asked = async (host: string, target = '/', headers: Record<string, string> = {}) =>
        ask(await first(), spec.url + target, { headers: { host, ...headers } })
      const { host, port } = new URL(spec.url)
      const stranger = await asked('shop.example.org')
      expect([stranger.status, stranger.headers.location]).toEqual([302, `${spec.url}/`])
      expect(
        (
          await ask(await first(), `${spec.url}/wp-login.php`, {
            method: 'POST',
            headers: { host: 'shop.example.org' },
          })
        ).status,
      ).toBe(421)
      await driver.start({ ...spec, hosts: ['shop.example.org'] })
      await eventually(async () => expect((await asked('shop.example.org')).status).toBe(200))
      const front = await asked('Shop.Example.org:1234')
      expect(front.text).toContain(`http://shop.example.org:${port}/`)
      expect(front.text).not.toContain(host)
      expect(front.text).not.toContain('1234')
      expect(
        (await asked('shop.example.org', '/', { 'x-forwarded-proto': 'https' })).text,
      ).toContain(`https://shop.example.org:${port}/`)
      const own = await page('/')
      expect(own.text).toContain(spec.url)
      expect(own.text).not.toContain('shop.example.org')
      // A visitor's own words change nothing.
      expect(
        (
          await asked(host, '/', {
            portal_home: 'http://evil.example',
            'x-forwarded-host': 'evil.example',
          })
        ).text,
      ).not.toContain('evil')
      const signedIn = await ask(await first(), `${spec.url}/wp-login.php`, {
        method: 'POST',
        headers: {
          host: `shop.example.org:${port}`,
          'content-type': 'application/x-www-form-urlencoded',
          cookie: 'wordpress_test_cookie=WP%20Cookie%20check',
        },
        body: new URLSearchParams({
          log: admin.user,
          pwd: admin.password,
          testcookie: '1',
        }).toString(),
      })
      expect(signedIn.headers.location).toBe(`http://shop.example.org:${port}/wp-admin/`)
      const cookie = (signedIn.headers['set-cookie'] ?? [])
        .map((one) => one.split(';')[0])
        .join('; ')
      expect((await asked(`shop.example.org:${port}`, '/wp-admin/', { cookie })).status).toBe(200)
      await driver.start(spec)
      await eventually(async () => expect((await asked('shop.example.org')).status).toBe(302))
    })

    test('writes stored addresses as another, and finds nothing the second time', async () => {
      await fixture.put(spec.id, 'probe-post.php', postOf)
      const content = async (written?: string): Promise<string> => {
        const query = written === undefined ? '' : `?content=${encodeURIComponent(written)}`
        return (await page(`/probe-post.php${query}`)).text
      }
      const before = await content()
      await content(
        'http://old.example.org/a https://OLD.example.org:8082/b //old.example.org ' +
          'mail@old.example.org http://old.example.org.vn http://very-old.example.org/',
      )
      const change = { from: ['old.example.org'], to: 'https://www.shop.example.org' }
      const counted = await driver.replaceAddresses(spec.id, { ...change, dryRun: true }, null)
      expect(counted).toMatchObject({ after: null, tables: { wp_posts: 1 } })
      expect(await content()).toContain('http://old.example.org/a')
      const done = await driver.replaceAddresses(spec.id, { ...change, dryRun: false }, null)
      expect(done).toMatchObject({ after: null, tables: { wp_posts: 1 } })
      expect(await content()).toBe(
        'https://www.shop.example.org/a https://www.shop.example.org/b //www.shop.example.org ' +
          'mail@old.example.org http://old.example.org.vn http://very-old.example.org/',
      )
      const again = await driver.replaceAddresses(spec.id, { ...change, dryRun: false }, null)
      expect(again).toMatchObject({ after: null, tables: {} })
      // No visitor has a ticket for it.
      const { status } = await page(`/portal-act/${'A'.repeat(43)}`)
      expect(status).toBe(404)
      await content(before)
    })

    test('acts on files: what is written is served, what is removed is gone', async () => {
      const act = (order: FileOrder): Promise<FileAnswer> => driver.files(spec.id, order)
      const write = (where: string, text: string, more: object = {}) =>
        act({
          op: 'write',
          path: where,
          upload: '00000000-0000-4000-8000-000000000001',
          offset: 0,
          data: Buffer.from(text).toString('base64'),
          isLast: true,
          replaces: false,
          ...more,
        })
      const listed = await act({ op: 'list', path: '' })
      expect(listed).toMatchObject({
        isWhole: true,
        entries: expect.arrayContaining([
          expect.objectContaining({ name: 'wp-content', kind: 'folder' }) as object,
          expect.objectContaining({ name: 'index.php', kind: 'file' }) as object,
        ]) as object[],
      })
      expect(await act({ op: 'folder', path: 'ảnh' })).toEqual({})
      expect(await act({ op: 'folder', path: 'ảnh' })).toEqual({ fault: 'exists' })
      // In two pieces, of which the second comes twice.
      expect(await write('ảnh/a.txt', 'xin ', { isLast: false })).toEqual({ bytes: 4 })
      const second = { offset: 4, isLast: false }
      for (let tries = 0; tries < 2; tries++)
        expect(await write('ảnh/a.txt', 'chào', second)).toEqual({ bytes: 9 })
      expect(await act({ op: 'read', path: 'ảnh/a.txt', offset: 0 })).toEqual({ fault: 'missing' })
      expect(await write('ảnh/a.txt', '!', { offset: 9 })).toEqual({ bytes: 10 })
      expect((await page('/%E1%BA%A3nh/a.txt')).text).toBe('xin chào!')
      expect(await write('ảnh/a.txt', 'x')).toEqual({ fault: 'exists' })
      expect(await write('ảnh/a.txt', 'khác', { replaces: true })).toEqual({ bytes: 5 })
      expect(await act({ op: 'read', path: 'ảnh/a.txt', offset: 1 })).toEqual({
        bytes: 5,
        data: Buffer.from('hác').toString('base64'),
      })
      expect(await act({ op: 'move', path: 'ảnh', to: 'hình' })).toEqual({})
      expect(await act({ op: 'list', path: 'hình' })).toMatchObject({
        entries: [{ name: 'a.txt', kind: 'file', bytes: 5 }],
      })
      const touched = {
        op: 'attributes',
        path: 'hình/a.txt',
        mode: 0o4600,
        at: 86_400_000,
      } as const
      expect(await act(touched)).toEqual({})
      expect(await act({ op: 'stat', path: 'hình/a.txt' })).toMatchObject({
        entries: [{ name: 'a.txt', kind: 'file', bytes: 5, at: 86_400_000 }],
      })
      expect(await act({ op: 'rmdir', path: 'hình' })).toEqual({ fault: 'exists' })
      expect(await act({ op: 'unlink', path: 'hình' })).toEqual({ fault: 'kind' })
      expect(await act({ op: 'rmdir', path: 'hình/a.txt' })).toEqual({ fault: 'kind' })
      expect(await act({ op: 'remove', path: 'hình' })).toEqual({})
      expect(await act({ op: 'remove', path: 'hình' })).toEqual({ fault: 'missing' })
      // The database's own files are out of reach, by any spelling.
      for (const out of ['wp-content/database', 'wp-content//Database/x', 'wp-content/db.php'])
        for (const op of ['list', 'remove', 'folder'] as const)
          expect(await act({ op, path: out })).toEqual({ fault: 'ours' })
      for (const out of ['..', 'a/../../b', 'a\0b', 'x'.repeat(300)])
        expect(await act({ op: 'list', path: out })).toEqual({ fault: 'name' })
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
        while (restarting) {
          answers.push(await visitOnce().catch(visitOnce))
          await betweenVisits()
        }
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

    updatesSoftware(site)

    followsPhpSettings(site)
    runsTools(site)

    copiesAndRestores(site)
    movesIn(site)

    test('takes a new plan and address without a gap', async () => {
      const changed = {
        ...spec,
        ramMb: spec.ramMb + 128,
        url: `http://renamed-${spec.id.slice(0, 8)}.localhost:8082`,
      }
      const answers: number[] = []
      let changing = true
      // A container may leave between being named and being asked; the edge would then ask the one
      // that is named now, and so does this visitor.
      const visit = () => page('/').catch(() => page('/'))
      const visitor = (async () => {
        while (changing) {
          answers.push((await visit()).status)
          await betweenVisits()
        }
      })()
      await driver.start(changed)
      changing = false
      await visitor
      expect(answers.length).toBeGreaterThan(0)
      expect(answers.filter((status) => status >= 400)).toEqual([])
      expect((await ask(await first(), `${changed.url}/`)).text).toContain(changed.url)
    })

    test('sends no letter where mail is off', async () => {
      await driver.start(spec)
      await fixture.put(spec.id, 'probe-mail.php', sendMail)
      expect((await page('/probe-mail.php?to=an@example.vn')).text).toBe('mail=false')
      expect(await driver.takeMail(spec.id, 10)).toEqual([])
    })

    test('hands letters over until they are taken, each under a key of its own', async () => {
      const withMail = { ...site.spec, mail: true }
      await driver.start(withMail)
      const send = async (query: Record<string, string>): Promise<string> =>
        (await page(`/probe-mail.php?${new URLSearchParams(query)}`)).text
      const headers = 'From: Shop <shop@example.vn>\r\nCc: b@example.vn\r\nBcc: c@example.vn'
      const parameters = '-fbounce@example.vn'
      const sent = { to: '"An, B" <an@example.vn>', subject: 'One', body: 'Xin chào', headers }
      expect(await send({ ...sent, parameters })).toBe('mail=true')
      expect(await send({ to: 'd@example.vn', subject: 'Two' })).toBe('mail=true')
      await eventually(async () => expect(await driver.sitesWithMail()).toEqual([spec.id]))

      const letters = await driver.takeMail(spec.id, 10)
      expect(letters.map(({ to }) => to)).toEqual([
        ['an@example.vn', 'b@example.vn', 'c@example.vn'],
        ['d@example.vn'],
      ])
      expect(letters.map(({ from }) => from)).toEqual(['bounce@example.vn', null])
      expect(letters[0]!.raw.toString()).toContain('Subject: One\r\n')
      expect(letters[0]!.raw.toString()).toMatch(/\r\n\r\nXin chào$/)
      expect(letters[0]!.at.getTime()).toBeLessThanOrEqual(Date.now())
      // Asked again, the same ones; one by one, the oldest first.
      expect(await driver.takeMail(spec.id, 10)).toEqual(letters)
      expect(await driver.takeMail(spec.id, 1)).toEqual(letters.slice(0, 1))
      await driver.mailTaken(spec.id, [letters[0]!.key, '../../escape', 'no-such-key'])
      await driver.mailTaken(spec.id, [letters[0]!.key])
      expect(await driver.takeMail(spec.id, 10)).toEqual(letters.slice(1))
      // They outlive the containers.
      await driver.stop(spec.id)
      await driver.start(withMail)
      expect(await driver.takeMail(spec.id, 10)).toEqual(letters.slice(1))
      await driver.mailTaken(spec.id, [letters[1]!.key])
      expect(await driver.takeMail(spec.id, 10)).toEqual([])
      expect(await driver.sitesWithMail()).toEqual([])
    })

    test(
      'takes no letter that is none, and no more than may wait',
      { timeout: 240_000 },
      async () => {
        const send = async (query: Record<string, string>): Promise<string> =>
          (await page(`/probe-mail.php?${new URLSearchParams(query)}`)).text
        const to = 'an@example.vn'
        for (const wrong of [
          { to: '' },
          { to: 'nobody' },
          { to: 'an@example.vn, <x>' },
          { to, headers: 'X-A: 1\r\n\r\nand text' },
          { to: Array.from({ length: 51 }, (_, n) => `p${n}@example.vn`).join(',') },
        ])
          expect(await send(wrong)).toBe('mail=false')
        // No line of the header comes from the subject or the recipient.
        expect(await send({ to, subject: 'Hi\r\nBcc: spy@example.vn' })).toBe('mail=true')
        const [letter] = await driver.takeMail(spec.id, 10)
        expect(letter!.to).toEqual([to])
        expect(letter!.raw.toString()).toContain('Subject: Hi Bcc: spy@example.vn\r\n')
        let answer = 'mail=true'
        let taken = 1
        while (answer === 'mail=true' && taken < 200) {
          answer = await send({ to, subject: String(taken) })
          if (answer === 'mail=true') taken++
        }
        expect([answer, taken]).toEqual(['mail=false', 100])
        const all = await driver.takeMail(spec.id, 200)
        expect(all).toHaveLength(100)
        await driver.mailTaken(
          spec.id,
          all.map(({ key }) => key),
        )
        expect(await send({ to })).toBe('mail=true')
      },
    )

    test('removes everything, however often it is asked', async () => {
      await Promise.all([driver.remove(spec.id), driver.remove(spec.id)])
      expect(await driver.list()).toEqual([])
      expect(await driver.state(spec.id)).toMatchObject({
        state: 'absent',
        installed: false,
        containers: [],
      })
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
      for (const result of results)
        if (result.status === 'rejected')
          expect(result.reason).toMatchObject({ name: 'DriverFailure' })
      expect(await driver.state(again.id)).toMatchObject({ state: 'absent' })
      expect(await fixture.traces(again.id)).toEqual([])
    })

    test('close ends every container and takes no more', async () => {
      const last = specOf({ language: 'en' })
      await driver.install(last, admin)
      await driver.start(last)
      expect((await ask((await driver.addresses(last.id))[0]!, `${last.url}/`)).text).toContain(
        '<html lang="en',
      )
      await fixture.close()
      await fixture.close()
      expect(
        (await fixture.traces(last.id)).filter((trace) => trace.startsWith('process')),
      ).toEqual([])
      await expect(driver.start(last)).rejects.toMatchObject({ kind: 'unavailable' })
      expect(await driver.health()).toBeDefined()
    })
  })
}
