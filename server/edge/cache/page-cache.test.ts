/**
 * The edge and its cache, with a server that reports the tags its pages read, as the runtime does.
 * With real WordPress: server/wordpress/drivers/embedded/page-cache.test.ts.
 */
import http from 'node:http'
import { beforeEach, expect, test } from 'vitest'
import { cachedSiteOf, host, long, openKeepingEdge, page } from '../../../test/cached-site.ts'
import type { TestEdge } from '../../../test/edge-visits.ts'
import type { PageCache } from '../index.ts'

let edge: TestEdge
let cache: PageCache
const { site, ask, xCache } = cachedSiteOf(() => edge)
beforeEach(async () => {
  ;({ edge, cache } = await openKeepingEdge())
})

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
  // A page that arrives from the site shows that the site works again.
  expect((await ask(host, '/other')).text).toBe('v2')
  error = 502
  expect((await ask(host)).status).toBe(502)
  // `/other` is still served from the cache; after it is dropped, the error is shown.
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
