/** Which answers the edge keeps, for how long, for whom, and under which key. */
import type http from 'node:http'
import { beforeEach, expect, test } from 'vitest'
import { cachedSiteOf, host, openKeepingEdge, page, type Page } from '../../../test/cached-site.ts'
import type { TestEdge } from '../../../test/edge-visits.ts'
import type { PageCache } from '../index.ts'
import { mustBeAsked } from './rules.ts'

const phone = 'Mozilla/5.0 (Linux; Android 15) Mobile Safari/537.36'
let edge: TestEdge
let cache: PageCache
const { site, ask, xCache } = cachedSiteOf(() => edge)
beforeEach(async () => {
  ;({ edge, cache } = await openKeepingEdge())
})

test('what says that it must be asked for is not shown past its life', () => {
  const asked = ['max-age=5, must-revalidate', 'proxy-revalidate', 's-maxage=9', 'Must-Revalidate']
  for (const words of asked) expect(mustBeAsked(['Cache-Control', words]), words).toBe(true)
  for (const raw of [[], ['cache-control', 'max-age=5, public']])
    expect(mustBeAsked(raw)).toBe(false)
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
  // From the second request on, the site gets the visitors' own headers.
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
