// The tests that every WordPress driver must pass, from simple to unusual. A driver's own test
// calls `conformance` with a function that makes the driver.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LogLine, WordpressDriver } from '../driver.ts'
import { copiesAndRestores } from './copies.conformance.ts'
import { runsTools } from './tools.conformance.ts'
import { updatesSoftware } from './updates.conformance.ts'
import { followsPhpSettings } from './php.conformance.ts'
import { movesIn } from './imports.conformance.ts'
import { bearsPressure } from './pressure.conformance.ts'
import { actsOnFiles } from './files.conformance.ts'
import { handsLettersOver } from './letters.conformance.ts'
import { answersOnItsNames } from './names.conformance.ts'
import {
  ask,
  betweenVisits,
  eventually,
  signIn,
  siteOf,
  specOf,
  writesTo,
  type Fixture,
} from './site.conformance.ts'

export { ask, eventually, specOf, writesTo, type Fixture }

const listUsers = `<?php // probe: users
require __DIR__ . '/wp-load.php';
foreach ( get_users() as $u )
	echo $u->user_login, ' ', $u->user_email, ' ', implode( ',', $u->roles ), "\\n";
echo get_locale(), ' ', get_option( 'permalink_structure' ), ' ', get_option( 'blogname' );
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
      // A preview of the link does not use it up.
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
      // Without such a user, the oldest administrator is signed in.
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
      // An interrupted download continues, unless the file has changed.
      expect((await file({ range: 'bytes=8-', 'if-range': etag })).text).toBe('ij')
      expect((await file({ range: 'bytes=8-', 'if-range': '"other"' })).text).toBe('abcdefghij')
      // Oversized headers are not read to their end. While they still come, the connection may end
      // before its answer is read.
      const refused = await file({ cookie: 'x'.repeat(40_000) }).then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code,
      )
      expect([431, 'ECONNRESET', 'EPIPE']).toContain(refused)
    })

    answersOnItsNames(site)
    actsOnFiles(site)

    test('restarts when it is asked for, once, and turns no visitor away', async () => {
      const answers: number[] = []
      let restarting = true
      const visitOnce = async () => {
        const [at] = await driver.addresses(spec.id)
        return at ? (await ask(at, `${spec.url}/wp-login.php`)).status : 503
      }
      // A visit is repeated for the reason below: a container may leave between being named and
      // being asked.
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
      // A container may leave between being named and being asked; then the edge asks the one that
      // is named now, and so does this visitor.
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

    handsLettersOver(site)

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
