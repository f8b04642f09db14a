/** Kept pages on connections that node:http does not see, and what goes to it nevertheless. */
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestEdge, running, visitsOf, type TestEdge } from '../../test/edge-visits.ts'
import { createPageCache, createTraffic, type PageCache, type Traffic } from './index.ts'
import { readPlainGet } from './plain-get.ts'

const host = 'shop.example.vn'
const closers: (() => unknown)[] = []
let edge: TestEdge
let cache: PageCache
let traffic: Traffic
let seen: http.IncomingMessage[]
/** The site came up elsewhere. */
let isWithheld: boolean
const { upstream, ask } = visitsOf(() => edge.port, closers)

beforeEach(async () => {
  cache = createPageCache({ totalBytes: 4e6, siteBytes: 2e6, waitMs: 5_000 })
  traffic = createTraffic()
  isWithheld = false
  const fence = { withholds: () => isWithheld, isUp: () => false }
  edge = await openTestEdge({ cache, traffic, answerMs: 5_000, fence })
  seen = []
  const { port } = await upstream((request, response) => {
    seen.push(request)
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'x-portal-page': '1',
      'x-own': 'yes',
      'transfer-encoding': 'chunked',
    })
    response.write(`<p>${request.url}</p>`.repeat(200))
    response.addTrailers({ 'x-portal-tags': 'a', 'x-portal-options': '', 'x-portal-seconds': '0' })
    response.end()
  })
  edge.sites.set(host, running({ host: '127.0.0.1', port }))
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await edge.edge.close()
})

/** A raw connection, on which a test may send any bytes. */
async function connect(): Promise<{ socket: net.Socket; said: () => string }> {
  const socket = net.connect(edge.port, '127.0.0.1')
  closers.push(() => socket.destroy())
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  await once(socket, 'connect')
  return { socket, said: () => text }
}
const get = (target: string, ...lines: string[]): string =>
  [`GET ${target} HTTP/1.1`, `Host: ${host}`, 'Accept-Encoding: gzip', ...lines, '', ''].join(
    '\r\n',
  )
const heads = (text: string): string[] => text.match(/HTTP\/1\.1 [^\r]*/g) ?? []

/** Requests the page until it is cached with gzip. */
async function keep(target: string): Promise<void> {
  const headers = { 'accept-encoding': 'gzip' }
  await ask(host, target, { headers })
  await expect
    .poll(async () => (await ask(host, target, { headers })).headers['x-cache'])
    .toBe('HIT')
}

test('it is the answer that node:http gives', async () => {
  await keep('/page')
  const answerTo = async (...lines: string[]) => {
    const { socket, said } = await connect()
    socket.write(get('/page', ...lines))
    await expect.poll(() => said().endsWith('\r\n') || said().length > 200).toBe(true)
    const [head = '', body = ''] = said().split('\r\n\r\n')
    const [first, ...headers] = head.split('\r\n')
    const isTold = (line: string): boolean => !/^(?:age|date):/i.test(line)
    return {
      first,
      body,
      headers: headers.filter(isTold).toSorted(),
      isAged: /^Age: \d+$/m.test(head),
    }
  }
  const before = cache.figures('site').hits
  const fast = await answerTo()
  // A request with this header is not on the fast path: node:http parses it.
  const slow = await answerTo('TE: trailers')
  expect(fast).toEqual(slow)
  expect(fast.headers).toContain('X-Cache: HIT')
  const { hits } = cache.figures('site')
  expect(hits).toBe(before + 2)
  let cached = 0
  await expect.poll(() => (cached += traffic.take().get('site')?.cached ?? 0)).toBe(hits)
})

test('many on one connection, and what is not kept goes on with it', async () => {
  await keep('/page')
  const { socket, said } = await connect()
  for (let count = 1; count <= 5; count++) {
    socket.write(get('/page'))
    await expect.poll(() => heads(said())).toHaveLength(count)
  }
  socket.write(get('/new'))
  await expect.poll(() => said()).toContain('X-Cache: MISS')
  socket.write(get('/page'))
  await expect.poll(() => heads(said())).toHaveLength(7)
  socket.write(`POST /form HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 3\r\n\r\na=b`)
  await expect.poll(() => heads(said())).toHaveLength(8)
  expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /page',
    'GET /new',
    'POST /form',
  ])
  expect(new Set(heads(said()))).toEqual(new Set(['HTTP/1.1 200 OK']))
})

test('in pieces, or two at once, it is answered all the same', async () => {
  await keep('/page')
  const pieces = await connect()
  const whole = get('/page')
  pieces.socket.write(whole.slice(0, 20))
  // A separate packet: the first part has been read once another connection is answered.
  await ask(host, '/page')
  pieces.socket.write(whole.slice(20))
  await expect.poll(() => heads(pieces.said())).toEqual(['HTTP/1.1 200 OK'])
  const twice = await connect()
  twice.socket.write(get('/page') + get('/page'))
  await expect.poll(() => heads(twice.said())).toHaveLength(2)
})

test.each([
  ['a body’s length', 'Content-Length: 5'],
  ['a second host', 'Host: other.example'],
  ['another protocol', 'Connection: Upgrade\r\nUpgrade: h2c'],
])('%s is node:http’s to judge, whatever follows', async (_what, line) => {
  await keep('/page')
  const hits = cache.figures('site').hits
  const { socket, said } = await connect()
  socket.write(get('/page', line))
  await ask(host, '/page')
  // A smuggled request would be answered as one of its own.
  socket.write('GET /x')
  await ask(host, '/page')
  expect(heads(said()).length).toBeLessThanOrEqual(1)
  expect(seen.map(({ url }) => url)).not.toContain('/x')
  expect(cache.figures('site').hits).toBeGreaterThanOrEqual(hits + 2)
})

test.each([
  ['a password', { protection: { password: { user: 'a', hash: 'b' } } }, 401],
  ['another address', { primary: 'www.example.vn' }, 301],
  ['a wish to keep nothing', { keepsPages: false }, 200],
  ['a hold', { state: 'suspended' as const }, 503],
])('a site with %s shows no kept page', async (_what, change, status) => {
  await keep('/page')
  edge.sites.set(host, { ...edge.sites.get(host)!, ...change })
  const { socket, said } = await connect()
  socket.write(get('/page'))
  await expect.poll(() => heads(said())[0]?.split(' ')[1]).toBe(String(status))
  expect(said()).not.toContain('X-Cache: HIT')
})

test('a site that came up elsewhere is not answered for', async () => {
  await keep('/a')
  isWithheld = true
  const { socket, said } = await connect()
  socket.write(get('/a'))
  await expect.poll(() => heads(said())).toHaveLength(1)
  expect(heads(said())[0]).toContain('503')
})

test('an edge that ends keeps nobody waiting', async () => {
  await keep('/page')
  const [idle, used] = [await connect(), await connect()]
  used.socket.write(get('/page'))
  await expect.poll(() => heads(used.said())).toHaveLength(1)
  const ended = [idle, used].map(({ socket }) => once(socket, 'close'))
  await edge.edge.close()
  await Promise.all(ended)
})

describe('what is taken for a plain GET', () => {
  const sample = (text: string) => readPlainGet(Buffer.from(text, 'latin1'))

  test('is one GET with a host', () => {
    expect(sample('GET /a?b HTTP/1.1\r\nHost: x\r\nX-Y:  z \r\n\r\n')).toMatchObject({
      path: '/a?b',
      headers: { host: 'x', 'x-y': 'z' },
    })
    for (const not of [
      'GET /a HTTP/1.0\r\nHost: x\r\n\r\n',
      'GET /a HTTP/1.1\r\n\r\n',
      'GET /a HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n',
      'GET /a HTTP/1.1\r\nHost : x\r\n\r\n',
      'GET /a HTTP/1.1\nHost: x\r\n\r\n',
      'GET /a HTTP/1.1\r\nHost: x\nA: b\r\n\r\n',
      'GET http://x/a HTTP/1.1\r\nHost: x\r\n\r\n',
      'HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n',
      `GET /${'a'.repeat(9_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    ])
      expect(sample(not), not.slice(0, 60)).toBe(null)
  })

  test('node:http reads in the same way, and as one request', async () => {
    const read: { url: string; headers: object }[] = []
    let ended = (): void => {}
    const server = http.createServer((request, response) => {
      read.push({ url: request.url ?? '', headers: request.headers })
      response.end()
    })
    server.on('clientError', (_error, socket) => socket.destroy())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as net.AddressInfo
    const words =
      'GET| |/|/a?b=c| HTTP/1.1| HTTP/1.0|\r\n|\r\n|\n|\r|Host: x|Host:y|X: |A-b: c|a_b: c|:|' +
      '\t|é|\0|Connection: keep-alive|Content-Length: 0|Transfer-Encoding: chunked|' +
      'Accept: */*|__proto__: z|0'
    const piece = fc.constantFrom(...words.split('|'))
    const usual = fc
      .array(piece, { maxLength: 12 })
      .map((pieces) => `GET /p HTTP/1.1\r\nHost: x\r\n${pieces.join('')}\r\n\r\n`)
    const any = fc.array(piece, { maxLength: 25 }).map((pieces) => `${pieces.join('')}\r\n\r\n`)
    let taken = 0
    try {
      await fc.assert(
        fc.asyncProperty(fc.oneof(usual, any), async (text) => {
          const found = sample(text)
          if (!found) return
          taken++
          read.length = 0
          const socket = net.connect(port, '127.0.0.1')
          const closed = new Promise<void>((resolve) => (ended = resolve))
          socket
            .on('close', () => ended())
            .on('error', () => {})
            .resume()
          socket.end(text, 'latin1')
          await closed
          expect(read).toEqual([{ url: found.path, headers: { ...found.headers } }])
        }),
        { numRuns: 3_000 },
      )
    } finally {
      server.closeAllConnections()
      server.close()
    }
    expect(taken).toBeGreaterThan(50)
  })
})

test('who asks for a large page and does not read holds no copy of it', async () => {
  const large = Buffer.alloc(200_000, 'x')
  const { port } = await upstream((request, response) => {
    response.writeHead(200, { 'content-type': 'image/png', 'x-portal-file': '1', etag: '"1"' })
    response.end(request.method === 'HEAD' ? undefined : large)
  })
  edge.sites.set(host, running({ host: '127.0.0.1', port }))
  await keep('/large.png')
  const before = cache.figures('site').hits
  const held = process.memoryUsage().arrayBuffers
  const count = 100
  for (let one = 0; one < count; one++) {
    const socket = net.connect(edge.port, '127.0.0.1')
    closers.push(() => socket.destroy())
    socket.pause()
    socket.write(get('/large.png'))
  }
  await expect.poll(() => cache.figures('site').hits).toBe(before + count)
  expect(process.memoryUsage().arrayBuffers - held).toBeLessThan((count * large.length) / 4)
})
