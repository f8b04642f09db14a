// The tests of a site's names, and of addresses stored in its content, for every WordPress driver.
import { expect, test } from 'vitest'
import { ask, eventually, type Site } from './site.conformance.ts'

const postOf = `<?php // probe: post
require __DIR__ . '/wp-load.php';
global $wpdb;
if ( isset( $_GET['content'] ) )
	$wpdb->update( $wpdb->posts, array( 'post_content' => wp_unslash( $_GET['content'] ) ),
		array( 'ID' => 1 ) );
echo $wpdb->get_var( "SELECT post_content FROM $wpdb->posts WHERE ID = 1" );
`

export function answersOnItsNames(site: Site): void {
  const { spec, admin, first, page } = site
  const driver = () => site.made().driver

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
    await driver().start({ ...spec, hosts: ['shop.example.org'] })
    await eventually(async () => expect((await asked('shop.example.org')).status).toBe(200))
    const front = await asked('Shop.Example.org:1234')
    expect(front.text).toContain(`http://shop.example.org:${port}/`)
    expect(front.text).not.toContain(host)
    expect(front.text).not.toContain('1234')
    expect((await asked('shop.example.org', '/', { 'x-forwarded-proto': 'https' })).text).toContain(
      `https://shop.example.org:${port}/`,
    )
    const own = await page('/')
    expect(own.text).toContain(spec.url)
    expect(own.text).not.toContain('shop.example.org')
    // A visitor's own parameters change nothing.
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
    const cookie = (signedIn.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
    expect((await asked(`shop.example.org:${port}`, '/wp-admin/', { cookie })).status).toBe(200)
    await driver().start(spec)
    await eventually(async () => expect((await asked('shop.example.org')).status).toBe(302))
  })

  test('writes stored addresses as another, and finds nothing the second time', async () => {
    await site.made().put(spec.id, 'probe-post.php', postOf)
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
    const counted = await driver().replaceAddresses(spec.id, { ...change, dryRun: true }, null)
    expect(counted).toMatchObject({ after: null, tables: { wp_posts: 1 } })
    expect(await content()).toContain('http://old.example.org/a')
    const done = await driver().replaceAddresses(spec.id, { ...change, dryRun: false }, null)
    expect(done).toMatchObject({ after: null, tables: { wp_posts: 1 } })
    expect(await content()).toBe(
      'https://www.shop.example.org/a https://www.shop.example.org/b //www.shop.example.org ' +
        'mail@old.example.org http://old.example.org.vn http://very-old.example.org/',
    )
    const again = await driver().replaceAddresses(spec.id, { ...change, dryRun: false }, null)
    expect(again).toMatchObject({ after: null, tables: {} })
    // Visitors cannot have a ticket for it.
    const { status } = await page(`/portal-act/${'A'.repeat(43)}`)
    expect(status).toBe(404)
    // The owner's log shows visitors' requests, but no ticket.
    await eventually(async () => {
      const logged = (await driver().log(spec.id).tail(200)).map(({ text }) => text)
      const acts = logged.filter((text) => text.includes('/portal-act/'))
      expect(acts).toEqual([expect.stringMatching(/\/portal-act\/…" 404 /)])
    })
    await content(before)
  })
}
