/**
 * What visitors see while parts of sites in containers fail (decision 106). One reads a kept page,
 * one reads pages that are made for each visit, and one reads those of a neighbour, all through the
 * edge. Prints a line for each fault. Needs the same as the driver's test: root, an engine, btrfs.
 */
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createEdge, createPageCache, pageCacheLimits } from '../server/edge/index.ts'
import type { SiteRuntime } from '../server/wordpress/driver.ts'
import { specOf } from '../server/wordpress/drivers/site.conformance.ts'
import { withoutEngine } from '../test/docker-engine.ts'
import { dockerFixture, ensureImages } from '../test/docker-wordpress.ts'
import { freePort } from './portal.ts'

const admin = { user: 'boss', password: 'Another#1pass', email: 'boss@example.com' }
const everyMs = 100
/** A fault is over when pages have arrived for this long, ms. */
const wellMs = 2_000
const longestMs = 120_000
const cacheMb = 64

const probes: Readonly<Record<string, string>> = {
  'probe-memory.php': `<?php
ini_set( 'memory_limit', '-1' );
for ( $all = array();; ) $all[] = str_repeat( chr( random_int( 65, 90 ) ), 8388608 );`,
  'probe-disk.php': `<?php
$to = __DIR__ . '/wp-content/full.bin';
if ( isset( $_GET['remove'] ) ) { unlink( $to ); exit( 'removed' ); }
$file = fopen( $to, 'w' );
$megabyte = random_bytes( 1048576 );
for ( $n = 0; $n < 4000 && 1048576 === @fwrite( $file, $megabyte ); $n++ );
echo $n;`,
  'probe-note.php': `<?php
require __DIR__ . '/wp-load.php';
global $wpdb;
if ( ! isset( $_GET['n'] ) ) { echo json_encode( $wpdb->get_col(
	"SELECT option_name FROM $wpdb->options WHERE option_name LIKE 'note\\\\_%'" ) ); exit; }
$done = $wpdb->insert( $wpdb->options, array( 'option_name' => 'note_' . (int) $_GET['n'],
	'option_value' => '1', 'autoload' => 'no' ) );
if ( ! $done ) { http_response_code( 500 ); exit; }
echo 'kept';`,
}

interface Visited {
  readonly status: number
  readonly text: string
  /** True: the page came from the page cache. */
  readonly isHit?: boolean
}

function visit(port: number, host: string, target: string): Promise<Visited> {
  return new Promise((resolve) => {
    const gone = (): void => resolve({ status: 0, text: '' })
    http
      .get({ host: '127.0.0.1', port, path: target, headers: { host }, agent: false }, (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => (text += chunk))
        const isHit = answer.headers['x-cache'] === 'HIT'
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text, isHit }))
        answer.once('error', gone)
      })
      .once('error', gone)
  })
}

/** What one visitor saw over many visits. */
class Visitor {
  readonly #statuses = new Map<number, number>()
  #badSince: number | null = null
  #longestMs = 0
  goodSince: number | null = null

  note(status: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    const now = performance.now()
    if (status === 200) {
      if (this.#badSince !== null) this.#longestMs = Math.max(this.#longestMs, now - this.#badSince)
      this.#badSince = null
      this.goodSince ??= now
    } else {
      this.#badSince ??= now
      this.goodSince = null
    }
  }

  get said(): string {
    const good = this.#statuses.get(200) ?? 0
    const others = [...this.#statuses].filter(([status]) => status !== 200)
    if (others.length === 0) return `${good} of ${good}`
    const all = others.reduce((sum, [, count]) => sum + count, good)
    const which = others.map(([status, count]) => `${count} × ${status || 'no answer'}`).join(', ')
    return `${good} of ${all} (${which}; ${(this.#longestMs / 1000).toFixed(1)} s)`
  }
}

const why = withoutEngine() ?? (await ensureImages())
if (why !== undefined) console.log(`Not measured: ${why}.`)
else {
  const parts = await dockerFixture()
  let driver: SiteRuntime = parts.driver
  const port = await freePort()
  const cache = createPageCache(pageCacheLimits(cacheMb))
  const site = specOf({ url: `http://one.localhost:${port}`, ramMb: 1_000, cpu: 1, diskMb: 1_000 })
  const other = specOf({ url: `http://two.localhost:${port}`, ramMb: 1_000, cpu: 1 })
  const hosts = new Map([site, other].map((one) => [new URL(one.url).hostname, one.id]))
  const edge = createEdge({
    resolve(name) {
      const id = hosts.get(name)
      if (id === undefined) return { id: null, state: 'unknown', addresses: [] }
      const addresses = driver.upstreams(id)
      return { id, state: addresses.length > 0 ? 'running' : 'starting', addresses }
    },
    cache,
    port,
    host: '127.0.0.1',
    log: { warn: () => undefined },
    note: () => undefined,
  })
  const listen = (): void => {
    driver.onWrite(cache.drop)
    driver.onCrash(cache.doubt)
  }
  listen()
  const hostOf = ({ url }: { readonly url: string }): string => new URL(url).host
  const ask = (target: string): Promise<Visited> => visit(port, hostOf(site), target)
  let visits = 0

  /** Reads throughout; resolves when the site works again, or time is up. */
  async function during(name: string, act: () => Promise<string | void>): Promise<void> {
    while (!(await ask('/')).isHit) await pause(everyMs)
    const [kept, made, neighbour] = [new Visitor(), new Visitor(), new Visitor()]
    let goesOn = true
    const read = async (visitor: Visitor, host: string, isKept: boolean): Promise<void> => {
      while (goesOn) {
        const target = isKept ? '/' : `/?visit=${visits++}`
        visitor.note((await visit(port, host, target)).status)
        await pause(everyMs)
      }
    }
    const reading = [
      read(kept, hostOf(site), true),
      read(made, hostOf(site), false),
      read(neighbour, hostOf(other), false),
    ]
    const said = await act()
    const until = performance.now() + longestMs
    const isWell = (): boolean =>
      [made, neighbour].every(
        ({ goodSince }) => goodSince !== null && performance.now() - goodSince > wellMs,
      )
    while (!isWell() && performance.now() < until) await pause(everyMs)
    goesOn = false
    await Promise.all(reading)
    console.log(`${name}${said ? `: ${said}` : ''}`)
    console.log(`      kept page ${kept.said}`)
    console.log(`      page that is made ${made.said}`)
    console.log(`      neighbour ${neighbour.said}${isWell() ? '' : '; NOT WELL AGAIN'}`)
  }
  const { engine, images } = parts
  const without = async (image: string, act: () => Promise<void>): Promise<void> => {
    await engine.docker('tag', image, 'kept')
    await engine.docker('rmi', image)
    await act()
    await engine.docker('tag', 'kept', image)
  }
  const containerOf = async (role: string): Promise<string> =>
    (
      await engine.docker(
        'ps',
        '-q',
        `--filter=label=portal.site=${site.id}`,
        `--filter=label=portal.role=${role}`,
      )
    ).trim()

  try {
    await edge.listen()
    for (const spec of [site, other]) {
      await driver.install(spec, admin)
      await driver.start(spec)
    }
    for (const [file, text] of Object.entries(probes)) await parts.put(site.id, file, text)

    await during('PHP is killed', () => parts.kill(site.id, 'web-1'))
    await during('the database is killed while it is written to', async () => {
      const acknowledged: string[] = []
      let goesOn = true
      const writing = (async () => {
        for (let n = 0; goesOn; n++)
          if ((await ask(`/probe-note.php?n=${n}`)).text === 'kept') acknowledged.push(`note_${n}`)
      })()
      await pause(1_000)
      await parts.kill(site.id, 'database')
      await pause(5_000)
      goesOn = false
      await writing
      let notes: Visited
      do notes = await ask('/probe-note.php')
      while (notes.status !== 200)
      const there = new Set(JSON.parse(notes.text) as string[])
      const lost = acknowledged.filter((one) => !there.has(one)).length
      return `${acknowledged.length} writes acknowledged, ${lost} lost`
    })
    await during('a plugin takes all memory', async () => {
      await ask('/probe-memory.php')
    })
    await during('processes without end', async () => {
      const bomb = 'b() { b | b & }; b'
      const one = await containerOf('web-1')
      await engine.docker('exec', '-d', one, 'sh', '-c', bomb).catch(() => '')
      await pause(5_000)
    })
    await during('a plugin fills the disk', async () => {
      const { text } = await ask('/probe-disk.php')
      await pause(2_000)
      await ask('/probe-disk.php?remove')
      return `${text} MB of ${site.diskMb}`
    })
    await during('the image of PHP is gone, and PHP ends', () =>
      without(images.wordpress, async () => {
        await parts.kill(site.id, 'web-1')
        await pause(5_000)
      }),
    )
    await during('a container that ends at once', async () => {
      await engine.docker('tag', images.wordpress, 'whole')
      await engine.docker('tag', images.mariadb, images.wordpress)
      await parts.kill(site.id, 'web-1')
      await pause(5_000)
      await engine.docker('tag', 'whole', images.wordpress)
    })
    await during('the engine does not answer for 15 s', async () => {
      await engine.signal('SIGSTOP')
      await pause(15_000)
      await engine.signal('SIGCONT')
    })
    await during('the engine is restarted', async () => {
      await engine.signal('SIGTERM')
      await engine.startAgain()
    })
    await during('the engine is killed, and away for 5 s', async () => {
      await engine.signal('SIGKILL')
      await pause(5_000)
      await engine.startAgain()
    })
    await during('the process that runs the sites is restarted', async () => {
      driver = await parts.reopen(async () => {})
      listen()
      await Promise.all([driver.start(site), driver.start(other)])
    })
  } finally {
    await edge.close()
    await parts.dispose()
  }
}
