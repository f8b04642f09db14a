/**
 * The edge and its cache, before a server that says what its pages have read, as the runtime does.
 * With real WordPress: server/wordpress/drivers/embedded/page-cache.test.ts.
 */
import http from 'node:http'
import zlib from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestEdge, running, visitsOf, type TestEdge } from '../../../test/edge-visits.ts'
import { createPageCache, type PageCache } from '../index.ts'
import { mustBeAsked } from './rules.ts'

const host = 'shop.example.vn'
const phone = 'Mozilla/5.0 (Linux; Android 15) Mobile Safari/537.36'
const closers: (() => unknown)[] = []
let edge: TestEdge
let cache: PageCache
// As browsers do, who are answered on the fast path.
const { upstream, ask } = visitsOf(() => edge.port, closers, { connection: 'keep-alive' })

beforeEach(async () => {
  cache = createPageCache({ totalBytes: 4e6, siteBytes: 2e6, waitMs: 5_000 })
  edge = await openTestEdge({ cache, answerMs: 5_000 })
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await edge.edge.close()
})

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => unknown
interface Page {
  readonly status?: number
  readonly headers?: http.OutgoingHttpHeaders
  readonly body?: string
  readonly tags?: string
  readonly options?: string
  readonly seconds?: number
}

/** Answers as the runtime does: marked, and with tags at the end. */
function page(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { status = 200, headers = {}, body = 'page', tags = 'a', options = 'o', seconds = 0 }: Page = {},
): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    ...(request.headers['x-portal-page'] !== undefined && { 'x-portal-page': '1' }),
    'transfer-encoding': 'chunked',
    ...headers,
  })
  response.write(body)
  if (request.headers['x-portal-page'] !== undefined)
    response.addTrailers({
      'x-portal-tags': tags,
      'x-portal-options': options,
      'x-portal-seconds': String(seconds),
    })
  response.end()
}

/** A site whose requests are counted. */
async function site(handler: Handler): Promise<http.IncomingMessage[]> {
  const seen: http.IncomingMessage[] = []
  const { port } = await upstream((request, response) => {
    seen.push(request)
    return handler(request, response)
  })
  edge.sites.set(host, running({ host: '127.0.0.1', port }))
  return seen
}
const xCache = async (target = '/', options: http.RequestOptions = {}): Promise<string> =>
  String((await ask(host, target, options)).headers['x-cache'])

test('a page is made once, and again after a write of what it has read', async () => {
  let version = 1
  const seen = await site((request, response) => page(request, response, { body: `v${version}` }))
  expect(await ask(host)).toMatchObject({ text: 'v1', headers: { 'x-cache': 'MISS' } })
  const hit = await ask(host)
  expect(hit).toMatchObject({ text: 'v1', headers: { 'x-cache': 'HIT' } })
  expect(Number(hit.headers.age)).toBeLessThan(5)
  expect(hit.headers.trailer).toBeUndefined()
  expect(hit.headers['x-portal-page']).toBeUndefined()
  version = 2
  cache.drop('site', ['other'])
  cache.drop('another-site', null)
  expect((await ask(host)).text).toBe('v1')
  cache.drop('site', ['a'])
  expect((await ask(host)).text).toBe('v2')
  version = 3
  cache.drop('site', ['o'])
  expect((await ask(host)).text).toBe('v3')
  version = 4
  cache.drop('site', null)
  expect((await ask(host)).text).toBe('v4')
  expect(seen).toHaveLength(4)
  expect(cache.figures('site')).toMatchObject({ hits: 2, misses: 4, bypassed: 0, entries: 1 })
})

test('a container that ended: what is kept is shown until one answers again', async () => {
  let version = 1
  await site((request, response) =>
    page(request, response, { body: `v${version}`, tags: request.url ?? '' }),
  )
  const up = edge.sites.get(host)!
  const down = { ...up, state: 'starting', addresses: [] } as const
  for (const target of ['/', '/written']) await ask(host, target)
  version = 2
  cache.doubt('site')
  edge.sites.set(host, down)
  expect(await ask(host)).toMatchObject({ text: 'v1', headers: { 'x-cache': 'HIT' } })
  const etag = (await ask(host)).headers.etag
  expect((await ask(host, '/', { headers: { 'if-none-match': etag } })).status).toBe(304)
  // Written before it was down, by the word of another container.
  cache.drop('site', ['/written'])
  const refused = [
    ask(host, '/written'),
    ask(host, '/never-seen'),
    ask(host, '/', { method: 'POST' }),
    ask(host, '/', { headers: { cookie: 'wordpress_logged_in_x=y' } }),
  ]
  for (const answer of refused) expect((await answer).status).toBe(503)
  edge.sites.set(host, { ...down, keepsPages: false })
  expect((await ask(host)).status).toBe(503)

  edge.sites.set(host, up)
  expect(await ask(host)).toMatchObject({ text: 'v2', headers: { 'x-cache': 'MISS' } })
  edge.sites.set(host, down)
  expect((await ask(host)).text).toBe('v2')
  cache.drop('site', null)
  expect((await ask(host)).status).toBe(503)
})

test('a container that is ending: what is kept is shown in the place of its errors', async () => {
  let version = 1
  let error: number | null = null
  await site((request, response) => {
    if (error === 0) return response.destroy()
    if (error !== null) return response.writeHead(error).end('an error')
    page(request, response, { body: `v${version}`, tags: request.url ?? '' })
  })
  await ask(host)
  cache.doubt('site')
  for (error of [502, 500, 0]) {
    const answers = await Promise.all([ask(host), ask(host), ask(host)])
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, text: 'v1' })
    expect((await ask(host, '/never-seen')).status).toBe(error === 0 ? 502 : error)
  }
  error = null
  version = 2
  // Another page that comes says that the site is well again.
  expect((await ask(host, '/other')).text).toBe('v2')
  error = 502
  expect((await ask(host)).status).toBe(502)
  // Nothing ended: an error is an error.
  expect((await ask(host, '/other')).text).toBe('v2')
  cache.drop('site', ['/other'])
  expect((await ask(host, '/other')).status).toBe(502)
})

test('what was written while a container hangs is not shown in its place', async () => {
  let hangs = false
  const held: http.ServerResponse[] = []
  await site((request, response) => {
    if (hangs) return held.push(response)
    page(request, response, { body: 'old', tags: request.url ?? '' })
  })
  await ask(host)
  cache.doubt('site')
  hangs = true
  const both = [ask(host), ask(host)]
  await expect.poll(() => held.length).toBeGreaterThan(0)
  cache.drop('site', ['/'])
  const ended = new Set<http.ServerResponse>()
  const end = (): boolean => {
    for (const response of held)
      if (!ended.has(response)) {
        ended.add(response)
        response.writeHead(502).end('an error')
      }
    return ended.size >= both.length
  }
  await expect.poll(end).toBe(true)
  for (const answer of both) expect((await answer).status).toBe(502)
})

test('a file that comes says nothing of PHP', async () => {
  let fails = false
  await site((request, response) => {
    if (request.url === '/a.css') {
      response.writeHead(200, { 'content-type': 'text/css', 'x-portal-file': '1' })
      return response.end('a {}')
    }
    if (fails) return response.writeHead(502).end('an error')
    page(request, response, { body: 'old' })
  })
  for (const target of ['/', '/a.css']) await ask(host, target)
  cache.doubt('site')
  fails = true
  expect((await ask(host, '/a.css')).status).toBe(200)
  expect(await ask(host)).toMatchObject({ status: 200, text: 'old' })
})

test('what says that it must be asked for is not shown past its life', () => {
  const asked = ['max-age=5, must-revalidate', 'proxy-revalidate', 's-maxage=9', 'Must-Revalidate']
  for (const words of asked) expect(mustBeAsked(['Cache-Control', words]), words).toBe(true)
  for (const raw of [[], ['cache-control', 'max-age=5, public']])
    expect(mustBeAsked(raw)).toBe(false)
})

test('a page that is being made when a container ends is not kept', async () => {
  let end = (): void => {}
  const seen = await site((request, response) => {
    if (seen.length > 1) return page(request, response)
    response.writeHead(200, { 'content-type': 'text/html', 'x-portal-page': '1' })
    response.write('begun')
    end = () => {
      response.addTrailers({
        'x-portal-tags': 'a',
        'x-portal-options': 'o',
        'x-portal-seconds': '0',
      })
      response.end()
    }
  })
  const first = ask(host)
  await expect.poll(() => seen.length).toBe(1)
  cache.doubt('site')
  end()
  expect((await first).text).toBe('begun')
  expect(await xCache()).toBe('MISS')
})

test('a page that was being made during a write is shown and not kept', async () => {
  const held: (() => void)[] = []
  const seen = await site((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'x-portal-page': '1' })
    response.write('before')
    held.push(() => {
      response.addTrailers({
        'x-portal-tags': 'a b',
        'x-portal-options': 'o',
        'x-portal-seconds': '0',
      })
      response.end()
    })
  })
  for (const write of [['b'], null, ['never-read']]) {
    const first = ask(host)
    await expect.poll(() => held.length).toBe(1)
    cache.drop('site', write)
    held.pop()!()
    expect(await first).toMatchObject({ text: 'before', headers: { 'x-cache': 'MISS' } })
  }
  expect(await xCache()).toBe('HIT')
  expect(seen).toHaveLength(3)
})

test('one makes the page, the others wait for it; who leaves holds nobody up', async () => {
  let finish = (): void => {}
  const seen = await site((request, response) => {
    finish = () => page(request, response, { body: 'once' })
  })
  const leaving = http.get({ port: edge.port, host: '127.0.0.1', headers: { host }, agent: false })
  leaving.on('error', () => {})
  await expect.poll(() => seen.length).toBe(1)
  const waiting = Array.from({ length: 20 }, () => ask(host))
  await expect.poll(() => cache.counts().waiting).toBe(20)
  leaving.destroy()
  await expect.poll(() => edge.edge.counts().left).toBe(1)
  finish()
  const answers = await Promise.all(waiting)
  expect(answers.map(({ text }) => text)).toEqual(answers.map(() => 'once'))
  expect(seen).toHaveLength(1)
  expect(cache.figures('site')).toMatchObject({ hits: 20, misses: 1 })
})

test('when nobody waits any more, the site is told', async () => {
  let gone = false
  await site((request) => request.once('close', () => (gone = true)))
  const leaving = http.get({ port: edge.port, host: '127.0.0.1', headers: { host }, agent: false })
  leaving.on('error', () => {})
  await expect.poll(() => cache.counts().misses).toBe(1)
  leaving.destroy()
  await expect.poll(() => gone).toBe(true)
})

test('when the first one fails, the others ask by themselves', async () => {
  let finish = (): void => {}
  const seen = await site((request, response) => {
    if (seen.length > 1) page(request, response, { body: 'mine' })
    else finish = () => response.destroy()
  })
  const first = ask(host)
  await expect.poll(() => seen.length).toBe(1)
  const second = ask(host)
  await expect.poll(() => cache.counts().waiting).toBe(1)
  finish()
  expect((await first).status).toBe(502)
  expect((await second).text).toBe('mine')
})

const cookie = (text: string): http.RequestOptions => ({ headers: { cookie: text } })
test.each<[string, http.RequestOptions & { body?: string }]>([
  ['a signed-in visitor', cookie('wordpress_logged_in_0a1b=admin%7C1')],
  ['a visitor who may read a protected post', cookie('wp-postpass_0a1b=x')],
  ['somebody who has commented', cookie('comment_author_0a1b=Lan')],
  ['a visitor with a cart', cookie('woocommerce_items_in_cart=1; _ga=1')],
  ['a cookie that nobody knows', cookie('choice=red')],
  ['a cookie without a name that is known', cookie('_gax=1')],
  ['Authorization', { headers: { authorization: 'Basic x' } }],
  ['a range', { headers: { range: 'bytes=0-1' } }],
  ['another origin', { headers: { origin: 'https://evil.example' } }],
  ['a script’s request', { headers: { 'x-requested-with': 'XMLHttpRequest' } }],
  ['JSON', { headers: { accept: 'application/activity+json' } }],
  ['a form', { method: 'POST', body: 'a=1' }],
  ['a body with GET', { headers: { 'content-length': '3' }, body: 'a=1' }],
])('%s is answered by the site, and sees nothing that is kept', async (_what, options) => {
  const seen = await site((request, response) => page(request, response))
  await ask(host)
  expect(await xCache()).toBe('HIT')
  const { headers } = await ask(host, '/', options)
  expect(headers['x-cache']).toBe('BYPASS')
  expect(seen).toHaveLength(2)
  expect(seen[1]!.headers['x-portal-page']).toBeUndefined()
  expect(await xCache()).toBe('HIT')
})

test.each<[string, Page]>([
  ['Set-Cookie', { headers: { 'set-cookie': 'a=1' } }],
  ['private', { headers: { 'cache-control': 'private, max-age=60' } }],
  ['no-store', { headers: { 'cache-control': 'No-Store' } }],
  ['no-cache', { headers: { 'cache-control': 'public, no-cache="set-cookie"' } }],
  ['max-age=0', { headers: { 'cache-control': 'max-age=0' } }],
  ['s-maxage=0', { headers: { 'cache-control': 'max-age=60, s-maxage=0' } }],
  ['Expires in the past', { headers: { expires: 'Wed, 11 Jan 1984 05:00:00 GMT' } }],
  ['an Expires that is none', { headers: { expires: '0' } }],
  ['Pragma', { headers: { pragma: 'no-cache' } }],
  ['Vary: Cookie', { headers: { vary: 'Accept-Encoding, Cookie' } }],
  ['Vary: *', { headers: { vary: '*' } }],
  ['Vary: User-Agent', { headers: { vary: 'Origin, User-Agent' } }],
  ['302', { status: 302, headers: { location: '/x' } }],
  ['500', { status: 500 }],
  ['503', { status: 503 }],
  ['206', { status: 206 }],
  ['an encoding of its own', { headers: { 'content-encoding': 'gzip' } }],
  ['Refresh', { headers: { refresh: '5' } }],
  ['the visitor’s own address', { body: 'you come from 127.0.0.1' }],
])('an answer with %s is not kept', async (_what, answer) => {
  const seen = await site((request, response) => page(request, response, answer))
  for (let visit = 0; visit < 3; visit++) expect(await xCache()).toBe('MISS')
  expect(seen).toHaveLength(3)
  // From the second on the site sees the visitors as they are.
  expect(seen[2]!.headers['x-portal-page']).toBeUndefined()
})

test('an answer without tags, or that broke off, is not kept', async () => {
  const seen = await site((request, response) => {
    if (request.url === '/untold') {
      response.writeHead(200, { 'x-portal-page': '1', 'content-type': 'text/html' })
      response.write('x')
      return response.end()
    }
    if (request.url === '/unmarked') return response.end('x')
    response.writeHead(200, { 'x-portal-page': '1', 'content-length': '10' })
    response.write('short')
    return setImmediate(() => response.destroy())
  })
  for (const target of ['/untold', '/unmarked'])
    for (let visit = 0; visit < 2; visit++) expect(await xCache(target)).toBe('MISS')
  const asked = seen.length
  expect((await ask(host, '/broken')).status).toBe(502)
  expect((await ask(host, '/broken')).status).toBe(502)
  expect(seen.length).toBeGreaterThan(asked + 1)
  expect(cache.counts().entries).toBe(0)
})

test('what is not part of the key never reaches the site', async () => {
  const seen = await site((request, response) =>
    page(request, response, {
      body: JSON.stringify({ ...request.headers, 'x-forwarded-for': undefined }),
    }),
  )
  const poison = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-port': '1',
    'x-forwarded-scheme': 'nothttps',
    'x-forwarded-prefix': '/evil',
    'x-host': 'evil.example',
    'x-original-url': '/wp-admin/',
    'x-rewrite-url': '/wp-admin/',
    'x-http-method-override2': 'POST',
    x_forwarded_host: 'evil.example',
    forwarded: 'host=evil.example',
    'accept-language': 'evil',
    referer: 'https://evil.example/',
    'user-agent': 'evil',
    'x-portal-page': '2',
    'x-portal-file': '1',
    'x-portal-user-agent': 'evil',
    'save-data': 'on',
    'cache-control': 'no-cache',
    'if-none-match': '"evil"',
    accept: 'text/html, image/evil',
    'accept-encoding': 'evil',
    cookie: '_ga=evil',
    'anything-else': 'evil',
  }
  const poisoned = await ask(host, '/', { headers: poison })
  const [first] = seen
  expect(Object.keys(first!.headers).toSorted()).toEqual([
    'accept',
    'connection',
    'host',
    'user-agent',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-portal-page',
    'x-portal-user-agent',
  ])
  // The visitor's own User-Agent goes to the log alone (runtimes/wordpress-wasm/README.md).
  const shown = poisoned.text.replaceAll(/"x-portal-user-agent":"evil"/g, '')
  expect(shown).not.toContain('evil')
  expect((await ask(host)).text).toBe(poisoned.text)
})

test('host, scheme, path, query and kind of device are the key', async () => {
  const seen = await site((request, response) =>
    page(request, response, { body: `${request.headers.host}${request.url}` }),
  )
  const targets = ['/', '/?a=1', '/?a=2', '/?utm_source=x', '//', '/%2e', '/#']
  for (const target of targets) {
    expect(await xCache(target)).toBe('MISS')
    expect(await xCache(target)).toBe('HIT')
  }
  expect(await xCache('/', { headers: { host: `${host}:81` } })).toBe('MISS')
  expect(await xCache('/', { headers: { 'user-agent': phone } })).toBe('MISS')
  expect(await xCache('/', { headers: { 'sec-ch-ua-mobile': '?1' } })).toBe('HIT')
  expect(await xCache('/', { headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux)' } })).toBe('HIT')
  expect(seen).toHaveLength(targets.length + 2)
})

test('a plugin’s word on time is heard where it shortens; a nonce has its own', async () => {
  const pages: Record<string, Page> = {
    '/year': { headers: { 'cache-control': 'public, max-age=31536000' } },
    '/second': { headers: { 'cache-control': 'max-age=1' } },
    '/nonce': { seconds: 1 },
  }
  await site((request, response) => page(request, response, pages[request.url!]!))
  for (const target of Object.keys(pages)) {
    expect(await xCache(target)).toBe('MISS')
    expect(await xCache(target)).toBe('HIT')
  }
  await expect.poll(() => xCache('/second')).toBe('MISS')
  await expect.poll(() => xCache('/nonce')).toBe('MISS')
  expect(await xCache('/year')).toBe('HIT')
})

const long = 'Xin chào các bạn! '.repeat(400)
const received = (text: Buffer, encoding: string | undefined): string => {
  if (encoding === 'br') return zlib.brotliDecompressSync(text).toString()
  return (encoding === 'gzip' ? zlib.gunzipSync(text) : text).toString()
}
/** The body as it came over the wire. */
const raw = (target: string, headers: http.OutgoingHttpHeaders, method = 'GET') =>
  new Promise<{ headers: http.IncomingHttpHeaders; status: number; body: Buffer }>(
    (resolve, reject) => {
      http
        .request(
          { port: edge.port, host: '127.0.0.1', path: target, method, agent: false },
          (response) => {
            const chunks: Buffer[] = []
            response.on('data', (chunk: Buffer) => chunks.push(chunk))
            response.on('end', () =>
              resolve({
                headers: response.headers,
                status: response.statusCode ?? 0,
                body: Buffer.concat(chunks),
              }),
            )
          },
        )
        .on('error', reject)
        .setHeader('host', host)
        .setHeaders(new Headers(headers as Record<string, string>))
        .end()
    },
  )

test('a kept page is compressed for whoever takes it, and known again by its tag', async () => {
  await site((request, response) => page(request, response, { body: long }))
  const sizes: number[] = []
  for (const [accept, expected] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['identity', undefined],
    ['*', 'br'],
    ['gzip', 'gzip'],
  ] as const) {
    const { headers, body } = await raw('/', { 'accept-encoding': accept })
    expect(headers['content-encoding']).toBe(expected)
    expect(headers.vary).toBe('Accept-Encoding')
    expect(received(body, expected)).toBe(long)
    expect(Number(headers['content-length'])).toBe(body.length)
    sizes.push(body.length)
  }
  expect(sizes[0]!).toBeLessThan(long.length / 20)
  const { headers } = await raw('/', { 'accept-encoding': 'br' })
  expect(headers.etag).toMatch(/^W\/"/)
  const again = await raw('/', { 'accept-encoding': 'br', 'if-none-match': headers.etag })
  expect(again).toMatchObject({ status: 304, headers: { etag: headers.etag, 'x-cache': 'HIT' } })
  expect(again.body).toHaveLength(0)
  expect((await raw('/', { 'if-none-match': 'W/"another"' })).status).toBe(200)
  const head = await raw('/', {}, 'HEAD')
  expect(head).toMatchObject({
    status: 200,
    headers: { 'content-length': String(Buffer.byteLength(long)) },
  })
  expect(head.body).toHaveLength(0)
})

test('what is not kept is compressed as it comes, and held up by nothing', async () => {
  let more = (): void => {}
  await site((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', etag: '"strong"' })
    response.write(long)
    more = () => response.end('the end')
  })
  const parts: string[] = []
  const done = new Promise<void>((resolve) => {
    http.get(
      {
        port: edge.port,
        host: '127.0.0.1',
        agent: false,
        headers: { host, 'accept-encoding': 'gzip', cookie: 'own=1' },
      },
      (response) => {
        expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', etag: 'W/"strong"' })
        const unzip = response.pipe(zlib.createGunzip())
        unzip.on('data', (chunk: Buffer) => parts.push(chunk.toString()))
        unzip.once('end', resolve)
      },
    )
  })
  await expect.poll(() => parts.join('')).toBe(long)
  more()
  await done
  expect(parts.join('')).toBe(`${long}the end`)
})

test.each<[string, http.OutgoingHttpHeaders, string]>([
  ['a picture', { 'content-type': 'image/png' }, long],
  ['no-transform', { 'content-type': 'text/css', 'cache-control': 'no-transform' }, long],
  ['what is compressed already', { 'content-type': 'text/css', 'content-encoding': 'x' }, long],
  ['a part', { 'content-type': 'text/css', 'content-range': 'bytes 0-1/9' }, long],
  ['events', { 'content-type': 'text/event-stream' }, long],
  ['a small body', { 'content-type': 'text/css' }, 'x'],
  ['a small body of known length', { 'content-type': 'text/css', 'content-length': 1 }, 'x'],
])('%s is left as it is', async (_what, headers, body) => {
  await site((_request, response) => response.writeHead(200, headers).end(body))
  const answer = await raw('/', { 'accept-encoding': 'br, gzip' })
  expect(answer.headers['content-encoding']).toBe(headers['content-encoding'])
  expect(answer.body.toString()).toBe(body)
})

test('a file is kept, for signed-in visitors, too, until PHP writes files', async () => {
  let text = long
  const seen = await site((_request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/css', 'x-portal-file': '1', etag: 'W/"1"' })
      .end(text),
  )
  const signedIn = { headers: { cookie: 'wordpress_logged_in_1=x' } }
  expect(await xCache('/a.css?ver=1')).toBe('MISS')
  expect(await ask(host, '/a.css?ver=1', signedIn)).toMatchObject({
    text,
    headers: { 'x-cache': 'HIT' },
  })
  text = 'new'
  cache.drop('site', ['a'])
  expect(await xCache('/a.css?ver=1')).toBe('HIT')
  cache.drop('site', null)
  expect((await ask(host, '/a.css?ver=1')).text).toBe('new')
  expect(seen).toHaveLength(2)
})

test('the budget holds for a site and for all, and the least lately used goes', async () => {
  await site((request, response) =>
    page(request, response, { body: `${request.url}${'x'.repeat(100_000)}` }),
  )
  for (let number = 0; number < 40; number++) {
    await ask(host, `/${number}`)
    await ask(host, '/0')
    expect(cache.figures('site').bytes).toBeLessThanOrEqual(2e6)
  }
  expect(await xCache('/0')).toBe('HIT')
  expect(await xCache('/1')).toBe('MISS')
  expect(await xCache('/39')).toBe('HIT')
  expect(cache.counts().evicted).toBeGreaterThan(10)
  expect(cache.purge('site')).toBeGreaterThan(10)
  expect(cache.counts()).toMatchObject({ entries: 0, bytes: 0 })
})

test('what is too large, or comes too slowly, goes on as it comes and is not kept', async () => {
  const held: (() => void)[] = []
  await site((request, response) => {
    if (request.url === '/large') return page(request, response, { body: 'x'.repeat(3e5) })
    response.writeHead(200, { 'content-type': 'text/html', 'x-portal-page': '1' })
    response.write('first')
    return held.push(() => response.end('last'))
  })
  expect((await ask(host, '/large')).text).toHaveLength(3e5)
  expect(await xCache('/large')).toBe('MISS')
  const slow = http.get({ port: edge.port, host: '127.0.0.1', headers: { host }, path: '/slow' })
  let text = ''
  const response = await new Promise<http.IncomingMessage>((resolve) =>
    slow.once('response', resolve),
  )
  response.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await expect.poll(() => text).toBe('first')
  held.pop()!()
  await expect.poll(() => text).toBe('firstlast')
  expect(cache.counts().entries).toBe(0)
})

test('an owner may switch it off; the pages go on compressed', async () => {
  const seen = await site((request, response) => page(request, response, { body: long }))
  edge.sites.set(host, { ...edge.sites.get(host)!, keepsPages: false })
  for (let visit = 0; visit < 2; visit++) {
    const { headers } = await raw('/', { 'accept-encoding': 'br' })
    expect(headers['content-encoding']).toBe('br')
    expect(headers['x-cache']).toBeUndefined()
  }
  expect(seen).toHaveLength(2)
  expect(seen[0]!.headers['x-portal-page']).toBeUndefined()
})
