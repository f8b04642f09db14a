/**
 * Headers and bodies that the edge passes between visitors and sites: unchanged, and nothing
 * forged.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestEdge, running, visitsOf, type TestEdge } from '../../test/edge-visits.ts'
import type { Edge } from './index.ts'

describe('the edge', () => {
  const closers: (() => unknown)[] = []
  let sites: TestEdge['sites']
  let edge: Edge
  let port: number
  const { upstream, ask } = visitsOf(() => port, closers)

  beforeEach(async () => {
    ;({ edge, port, sites } = await openTestEdge())
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) close()
    await edge.close()
  })

  test('routes by host, whatever its case and port', async () => {
    sites.set('a.test', running(await upstream((_request, response) => response.end('site a'))))
    sites.set('b.test', running(await upstream((_request, response) => response.end('site b'))))
    expect((await ask('a.test')).text).toBe('site a')
    expect((await ask('B.Test:8082')).text).toBe('site b')
    expect((await ask('b.test.')).text).toBe('site b')
  })

  test('says who visits, in its own words only', async () => {
    const seen = await upstream((request, response) =>
      response.end(JSON.stringify({ url: request.url, headers: request.headers })),
    )
    sites.set('a.test', running(seen))
    const answer = JSON.parse(
      (
        await ask('a.test:8082', '/x%20y/?q=1&r=%2F', {
          headers: {
            'x-forwarded-for': '6.6.6.6',
            'x-forwarded-proto': 'https',
            'x-forwarded-host': 'evil.test',
            forwarded: 'for=6.6.6.6',
            'x-real-ip': '6.6.6.6',
            x_forwarded_for: '6.6.6.6',
            proxy: 'http://evil.test',
            'x-secret-hop': 'yes',
            connection: 'x-secret-hop',
            'x-kept': 'kept',
            cookie: 'a=1; b=2',
          },
        })
      ).text,
    ) as { url: string; headers: Record<string, string> }
    expect(answer.url).toBe('/x%20y/?q=1&r=%2F')
    expect(answer.headers).toMatchObject({
      host: 'a.test:8082',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'a.test:8082',
      'x-kept': 'kept',
      cookie: 'a=1; b=2',
    })
    for (const name of ['forwarded', 'x-real-ip', 'x-secret-hop', 'x_forwarded_for', 'proxy'])
      expect(answer.headers).not.toHaveProperty(name)
  })

  test('a site says nothing to a browser that would hold for its neighbours', async () => {
    await edge.close()
    ;({ edge, port, sites } = await openTestEdge({ sharedDomain: 'sites.example.vn' }))
    const cookies = [
      'a=1; Path=/; Domain=sites.example.vn; HttpOnly',
      'b=2;domain = .SITES.example.VN.;Secure',
      'c=3; Domain=example.vn',
      'd=4; Domain=shop.sites.example.vn; Path=/',
      'e=5; Domain=other.example.org',
      'f=6; Path=/; Domain=vn; Domain=shop.sites.example.vn',
      'g=Domain=sites.example.vn',
    ]
    const site = await upstream((_request, response) => {
      response.setHeader('set-cookie', cookies)
      response.setHeader('clear-site-data', '"cookies"')
      response.setHeader('strict-transport-security', 'max-age=600; includeSubDomains; preload')
      response.end('page')
    })
    sites.set('shop.sites.example.vn', running(site))
    sites.set('www.shop.vn', running(site))
    const own = [
      'a=1; Path=/; HttpOnly',
      'b=2;Secure',
      'c=3',
      'd=4; Domain=shop.sites.example.vn; Path=/',
      'e=5; Domain=other.example.org',
      'f=6; Path=/; Domain=shop.sites.example.vn',
      'g=Domain=sites.example.vn',
    ]
    const below = (await ask('shop.sites.example.vn:8082')).headers
    expect(below['set-cookie']).toEqual(own)
    expect(below).not.toHaveProperty('clear-site-data')
    expect(below['strict-transport-security']).toBe('max-age=600')
    // A domain of the customer's own is the customer's.
    const away = (await ask('www.shop.vn')).headers
    expect(away['set-cookie']).toEqual(own)
    expect(away['clear-site-data']).toBe('"cookies"')
    expect(away['strict-transport-security']).toContain('includeSubDomains')
  })

  test('behind a trusted proxy the visitor is who the proxy says, not who he says', async () => {
    await edge.close()
    ;({ edge, port, sites } = await openTestEdge({ trustProxy: true }))
    sites.set(
      'a.test',
      running(
        await upstream((request, response) => response.end(request.headers['x-forwarded-for'])),
      ),
    )
    const seen = async (told: string) =>
      (await ask('a.test', '/', { headers: { 'x-forwarded-for': told } })).text
    expect(await seen('6.6.6.6, 203.0.113.7')).toBe('203.0.113.7')
    expect(await seen('2001:db8::7')).toBe('2001:db8::7')
    for (const nonsense of ['', 'unknown', '203.0.113.7, <script>'])
      expect(await seen(nonsense)).toBe('127.0.0.1')
  })

  test('gives answers on as they are: status, repeated headers, no body of its own', async () => {
    sites.set(
      'a.test',
      running(
        await upstream((request, response) => {
          if (request.url === '/304') return response.writeHead(304, { etag: '"x"' }).end()
          response.writeHead(201, 'Made', [
            ['Set-Cookie', 'a=1'],
            ['Set-Cookie', 'b=2'],
            ['Keep-Alive', 'timeout=5'],
            ['Content-Length', '4'],
          ])
          response.end('body')
        }),
      ),
    )
    const made = await ask('a.test')
    expect(made).toMatchObject({ status: 201, text: 'body' })
    expect(made.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(await ask('a.test', '/', { method: 'HEAD' })).toMatchObject({
      status: 201,
      text: '',
      headers: { 'content-length': '4' },
    })
    expect(await ask('a.test', '/304')).toMatchObject({ status: 304, text: '' })
  })

  test('streams bodies both ways, with and without a length', async () => {
    sites.set('a.test', running(await upstream((request, response) => request.pipe(response))))
    const body = Buffer.alloc(3_000_000, 'thử')
    const digest = createHash('sha256').update(body).digest('hex')
    for (const headers of [
      { 'content-length': String(body.length) },
      { 'transfer-encoding': 'chunked' },
    ]) {
      for (const method of ['POST', 'DELETE']) {
        const answer = await ask('a.test', '/', { method, headers, body })
        expect(createHash('sha256').update(answer.text).digest('hex')).toBe(digest)
      }
    }
  })

  test('an upload that is refused early is read on: its visitor sees the answer', async () => {
    const early = await upstream((request, response) => {
      request.resume()
      response.writeHead(413).end('too large')
    })
    sites.set('a.test', running(early))
    const socket = net.connect(port, '127.0.0.1')
    closers.push(() => socket.destroy())
    let heard = ''
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString()))
    const [pieces, bytes] = [32, 1024 * 1024]
    const send = (what: string | Buffer): Promise<void> =>
      new Promise((resolve, reject) =>
        socket.write(what, (error) => (error ? reject(error) : resolve())),
      )
    await send(`POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${pieces * bytes}\r\n\r\n`)
    for (let sent = 0; sent < pieces; sent++) await send(Buffer.alloc(bytes))
    await expect.poll(() => heard).toMatch(/^HTTP\/1\.1 413 /)
    // The connection goes on.
    heard = ''
    await send('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await expect.poll(() => heard).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('the first bytes arrive before the last are written', async () => {
    let finish = () => {}
    sites.set(
      'a.test',
      running(
        await upstream((_request, response) => {
          response.write('first')
          finish = () => response.end('last')
        }),
      ),
    )
    const request = http.get({ port, host: '127.0.0.1', headers: { host: 'a.test' }, agent: false })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    const [first] = (await once(response, 'data')) as [Buffer]
    expect(first.toString()).toBe('first')
    finish()
    const [last] = (await once(response, 'data')) as [Buffer]
    expect(last.toString()).toBe('last')
  })

  test('passes WebSockets through, and a refusal of them', async () => {
    const chat = await upstream((_request, response) => response.writeHead(426).end('no'))
    chat.server.on('upgrade', (request, socket, head) => {
      if (request.url !== '/chat')
        return socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\n\r\nnope')
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          `X-Host: ${request.headers.host}\r\n\r\n`,
      )
      socket.write(head)
      socket.pipe(socket)
    })
    sites.set('a.test', running(chat))
    const open = (target: string, host = 'a.test') => {
      const request = http.request({
        port,
        host: '127.0.0.1',
        path: target,
        headers: { host, connection: 'Upgrade', upgrade: 'websocket' },
      })
      request.on('error', () => {})
      request.end()
      return request
    }
    const [accepted, socket] = (await once(open('/chat'), 'upgrade')) as [
      http.IncomingMessage,
      net.Socket,
    ]
    expect(accepted.headers).toMatchObject({ upgrade: 'websocket', 'x-host': 'a.test' })
    socket.write('xin chào')
    const [echo] = (await once(socket, 'data')) as [Buffer]
    expect(echo.toString()).toBe('xin chào')
    socket.destroy()
    const [refused] = (await once(open('/other'), 'response')) as [http.IncomingMessage]
    expect(refused.statusCode).toBe(403)
    refused.resume()
    const [unknown] = (await once(open('/chat', 'nobody.test'), 'response')) as [
      http.IncomingMessage,
    ]
    expect(unknown.statusCode).toBe(404)
    unknown.resume()
  })

  test('only a WebSocket is tunnelled: of other offers the request keeps its body', async () => {
    let tunnelled = 0
    const site = await upstream(async (request, response) => {
      const body: Buffer[] = []
      for await (const chunk of request) body.push(chunk as Buffer)
      response.end(
        JSON.stringify([
          request.method,
          request.headers.upgrade,
          request.headers['http2-settings'],
          Buffer.concat(body).toString(),
        ]),
      )
    })
    site.server.on('upgrade', (_request, socket) => {
      tunnelled++
      socket.destroy()
    })
    sites.set('a.test', running(site))
    const h2c = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAAQAAP__',
    }
    const webSocket = { connection: 'Upgrade', upgrade: 'websocket' }
    const seen = async (method: string, headers: object, body?: string) =>
      JSON.parse(
        (
          await ask('a.test', '/', {
            method,
            headers: { ...headers, 'content-length': body?.length ?? 0 },
            body: body ?? '',
          })
        ).text,
      ) as unknown
    expect(await seen('POST', h2c, 'order=1')).toEqual(['POST', null, null, 'order=1'])
    expect(await seen('GET', h2c)).toEqual(['GET', null, null, ''])
    expect(await seen('POST', webSocket, 'order=2')).toEqual(['POST', null, null, 'order=2'])
    expect(await seen('GET', webSocket, 'order=3')).toEqual(['GET', null, null, 'order=3'])
    // The connection goes on as it began.
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    closers.push(() => agent.destroy())
    for (const body of ['one', 'two'])
      expect(
        (
          await ask('a.test', '/', {
            method: 'POST',
            agent,
            headers: { ...h2c, 'transfer-encoding': 'chunked' },
            body,
          })
        ).text,
      ).toContain(body)
    expect(tunnelled).toBe(0)
  })

  test('nonsense is a 400, and smuggled lengths are not passed on', async () => {
    let seen = 0
    sites.set(
      'a.test',
      running(await upstream((_request, response) => response.end(String(++seen)))),
    )
    for (const text of [
      'GARBAGE\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\nTransfer-Encoding: ' +
        'chunked\r\n\r\n0\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
    ]) {
      const socket = net.connect(port, '127.0.0.1')
      socket.write(text)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /)
      socket.destroy()
    }
    expect(seen).toBe(0)
  })
})
