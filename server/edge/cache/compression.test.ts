/** Which responses the edge compresses, cached or not, and which it leaves as they are. */
import http from 'node:http'
import zlib from 'node:zlib'
import { beforeEach, expect, test } from 'vitest'
import { cachedSiteOf, host, long, openKeepingEdge, page } from '../../../test/cached-site.ts'
import type { TestEdge } from '../../../test/edge-visits.ts'

let edge: TestEdge
const { site } = cachedSiteOf(() => edge)
beforeEach(async () => {
  ;({ edge } = await openKeepingEdge())
})

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
