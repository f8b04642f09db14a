/**
 * What a site can reach of the internet: with WORDPRESS_INTERNET=off only its own address, whatever
 * function PHP uses.
 */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fixture, runtimeDir } from '../../../../test/embedded-wordpress.ts'
import type { SiteAddress } from '../../driver.ts'
import { ask, eventually, specOf } from '../conformance.ts'

// Public addresses that nobody uses, and that no list of private networks has: the sink for stray
// reverse lookups (RFC 7535), and IPv6 for documentation (RFC 9637).
const v6 = '3fff::1'
const v4 = '192.31.196.1'
const name = 'nobody.example.com'

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closers) await close()
}, 60_000)

/**
 * What the platform refused while PHP tried each target; the last is always refused, which shows
 * that the log is complete.
 */
async function refused(
  internet: 'on' | 'off',
  targets: (own: URL) => readonly string[],
): Promise<readonly string[]> {
  const parts = await fixture({
    settings: {
      internet: internet === 'on',
      maxContainers: 50,
      pageSeconds: 60,
      maxCpu: null,
      maxRamMb: null,
    },
  })
  closers.push(() => parts.dispose())
  const spec = specOf()
  await parts.driver.install(spec, {
    user: 'boss',
    password: 'Another#1pass',
    email: 'boss@example.com',
  })
  await parts.driver.start(spec)
  const list = [...targets(new URL(spec.url)), '127.0.0.1:9']
  await parts.put(
    spec.id,
    'knock.php',
    `<?php
foreach ( json_decode( '${JSON.stringify(list)}' ) as $target ) {
	$socket = @stream_socket_client( "tcp://$target", $number, $message, 1 );
	// php-wasm says yes at once; a read tells.
	if ( ! $socket ) continue;
	stream_set_timeout( $socket, 1 );
	@fwrite( $socket, "GET / HTTP/1.0\\r\\n\\r\\n" );
	@fgets( $socket );
}
echo 'knocked';`,
  )
  const [to] = (await parts.driver.addresses(spec.id)) as [SiteAddress]
  expect((await ask(to, `${spec.url}/knock.php`)).text).toBe('knocked')
  const lines = async () =>
    (await parts.driver.log(spec.id).tail(200)).flatMap(
      ({ text }) => /^connection refused by the platform: (.*)$/.exec(text)?.[1] ?? [],
    )
  await eventually(async () => expect(await lines()).toContain('127.0.0.1:9'))
  return await lines()
}

test(
  'off: no public address, no port, no name; the site is up all the same and may ask for itself',
  { timeout: 180_000 },
  async () => {
    let own = new URL('http://none')
    const found = await refused('off', (url) => {
      own = url
      return [`${v4}:80`, `${v4}:25`, `${name}:80`, url.host]
    })
    expect(found).toEqual(expect.arrayContaining([`${v4}:80`, `${v4}:25`, name]))
    // Its own name was looked up; this machine decides where that leads.
    expect(found.join(' ')).not.toContain(own.hostname)
  },
)

test('on: whatever is public', { timeout: 180_000 }, async () => {
  expect(await refused('on', () => [`${v4}:25`])).toEqual(['127.0.0.1:9'])
})

test("off: the site's own address is where its own name leads, on its own port", () => {
  const guard = JSON.stringify(path.join(runtimeDir, 'src/network-guard.js'))
  const script = `
    import { createNetworkPolicy } from ${guard}
    const policy = createNetworkPolicy({ internet: false, url: 'https://shop.sites.example' })
    const door = (address, port = 443) => policy.mayConnect(address, port)
    const before = door('${v4}')
    policy.found('other.example', ['${v6}'])
    policy.found('Shop.Sites.Example', ['${v4}', '10.0.0.1'])
    const names = ['shop.sites.example', 'sites.example', 'other.example']
    console.log(JSON.stringify([before, door('${v4}'), door('${v4}', 25), door('${v6}'),
      door('10.0.0.1'), door('10.0.0.1', 80), door('10.0.0.2'),
      ...names.map((name) => policy.mayLookUp(name))]))`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  expect(JSON.parse(said)).toEqual([
    false,
    true,
    false,
    false,
    // The operator decides where this name leads.
    true,
    false,
    false,
    true,
    false,
    false,
  ])
})
