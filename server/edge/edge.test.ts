import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEdge, createHostTable, type Edge, type EdgeSite } from './index.ts'

interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

describe('the edge', () => {
  const closers: (() => unknown)[] = []
  let sites: Map<string, EdgeSite>
  let edge: Edge
  let port: number
  let warnings: string[]
  let notes: string[]

  const upstream = async (
    handler: (request: http.IncomingMessage, response: http.ServerResponse) => unknown,
  ): Promise<{ host: string; port: number; server: http.Server }> => {
    const server = http.createServer((request, response) => void handler(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return { host: '127.0.0.1', port: (server.address() as AddressInfo).port, server }
  }
  const ask = (host: string, target = '/', options: http.RequestOptions & { body?: string | Buffer } = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const request = http.request(
        { port, host: '127.0.0.1', path: target, agent: false, ...options, headers: { host, ...(options.headers as object) } },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
          )
        },
      )
      request.on('error', reject)
      request.end(options.body)
    })
  const running = (...addresses: EdgeSite['addresses']): EdgeSite => ({ id: 'site', state: 'running', addresses })
  /** A port on which nobody listens. */
  const deadPort = async (): Promise<number> => {
    const server = net.createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port: found } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    return found
  }

  beforeEach(async () => {
    sites = new Map()
    warnings = []
    notes = []
    edge = createEdge({
      resolve: (host) => sites.get(host) ?? { id: null, state: 'unknown', addresses: [] },
      port: 0,
      host: '127.0.0.1',
      answerMs: 1_000,
      log: { warn: (_detail, message) => void warnings.push(message) },
      note: (site, line) => void notes.push(`${site}: ${line}`),
    })
    port = await edge.listen()
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
    const seen = await upstream((request, response) => response.end(JSON.stringify({ url: request.url, headers: request.headers })))
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

  test('behind a proxy that it trusts, the visitor is who the proxy says, and not who the visitor says', async () => {
    await edge.close()
    edge = createEdge({
      resolve: (host) => sites.get(host) ?? { id: null, state: 'unknown', addresses: [] },
      port: 0,
      host: '127.0.0.1',
      trustProxy: true,
      log: { warn: () => undefined },
      note: (site, line) => void notes.push(`${site}: ${line}`),
    })
    port = await edge.listen()
    sites.set('a.test', running(await upstream((request, response) => response.end(request.headers['x-forwarded-for']))))
    const seen = async (told: string) => (await ask('a.test', '/', { headers: { 'x-forwarded-for': told } })).text
    expect(await seen('6.6.6.6, 203.0.113.7')).toBe('203.0.113.7')
    expect(await seen('2001:db8::7')).toBe('2001:db8::7')
    for (const nonsense of ['', 'unknown', '203.0.113.7, <script>']) expect(await seen(nonsense)).toBe('127.0.0.1')
  })

  test('gives answers on as they are: status, repeated headers, no body where there is none', async () => {
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
    expect(await ask('a.test', '/', { method: 'HEAD' })).toMatchObject({ status: 201, text: '', headers: { 'content-length': '4' } })
    expect(await ask('a.test', '/304')).toMatchObject({ status: 304, text: '' })
  })

  test('streams bodies both ways, with and without a length', async () => {
    sites.set('a.test', running(await upstream((request, response) => request.pipe(response))))
    const body = Buffer.alloc(3_000_000, 'thử')
    const digest = createHash('sha256').update(body).digest('hex')
    for (const headers of [{ 'content-length': String(body.length) }, { 'transfer-encoding': 'chunked' }]) {
      for (const method of ['POST', 'DELETE']) {
        const answer = await ask('a.test', '/', { method, headers, body })
        expect(createHash('sha256').update(answer.text).digest('hex')).toBe(digest)
      }
    }
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

  test('spreads requests over upstreams, the least busy first', async () => {
    const counts = [0, 0]
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const one = await upstream(async (request, response) => {
      counts[0]!++
      if (request.url === '/slow') await held
      response.end('one')
    })
    const two = await upstream((_request, response) => {
      counts[1]!++
      response.end('two')
    })
    sites.set('a.test', running(one))
    const slow = ask('a.test', '/slow')
    await expect.poll(() => counts[0]).toBe(1)
    sites.set('a.test', running(one, two))
    for (let index = 0; index < 5; index++) expect((await ask('a.test')).text).toBe('two')
    release()
    await slow
    for (let index = 0; index < 10; index++) await ask('a.test')
    expect(counts[0]).toBeGreaterThan(3)
  })

  test('asks another upstream when one refuses, and rests the one that did', async () => {
    let resets = 0
    const breaking = net.createServer((socket) => {
      resets++
      socket.once('data', () => socket.resetAndDestroy())
    })
    breaking.listen(0, '127.0.0.1')
    await once(breaking, 'listening')
    closers.push(() => breaking.close())
    const good = await upstream((_request, response) => response.end('good'))
    sites.set(
      'a.test',
      running({ host: '127.0.0.1', port: await deadPort() }, { host: '127.0.0.1', port: (breaking.address() as AddressInfo).port }, good),
    )
    for (let index = 0; index < 12; index++) expect((await ask('a.test')).text).toBe('good')
    expect(resets).toBeLessThanOrEqual(1)
  })

  test('asks nothing twice that may act twice', async () => {
    let asked = 0
    const breaking = net.createServer((socket) => {
      asked++
      socket.once('data', () => socket.resetAndDestroy())
    })
    breaking.listen(0, '127.0.0.1')
    await once(breaking, 'listening')
    closers.push(() => breaking.close())
    const address = { host: '127.0.0.1', port: (breaking.address() as AddressInfo).port }
    sites.set('a.test', running(address, { ...address, host: 'localhost' }))
    expect((await ask('a.test', '/', { method: 'POST', body: 'order=1' })).status).toBe(502)
    expect(asked).toBe(1)
    expect(notes).toEqual([expect.stringMatching(/^site: 127\.0\.0\.1 "POST \/" 502 \d+ \d+ms "" \(failed\)$/)])
  })

  test('a kept connection that is closed as the next request comes is no failure: a GET is asked again, a POST has its own', async () => {
    const server = net.createServer((socket) => {
      let heard = 0
      socket.on('error', () => {})
      socket.on('data', () => {
        if (++heard > 1) return socket.resetAndDestroy()
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood')
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => server.close())
    sites.set('a.test', running({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }))
    for (let index = 0; index < 10; index++) {
      expect(await ask('a.test')).toMatchObject({ status: 200, text: 'good' })
      expect(await ask('a.test', '/', { method: 'POST' })).toMatchObject({ status: 200, text: 'good' })
    }
    expect(warnings).toEqual([])
  })

  test('an upstream that breaks off in the middle does not look whole', async () => {
    sites.set(
      'a.test',
      running(
        await upstream((_request, response) => {
          response.writeHead(200)
          response.write('half', () => response.destroy())
        }),
      ),
    )
    await expect(ask('a.test')).rejects.toThrow()
    expect(notes).toEqual([expect.stringMatching(/^site: 127\.0\.0\.1 "GET \/" 200 - \d+ms "" \(the answer broke off\)$/)])
  })

  test('a visitor who leaves ends the request at the site', async () => {
    let left = false
    sites.set(
      'a.test',
      running(
        await upstream((_request, response) => {
          response.on('close', () => (left = true))
          response.write('…')
        }),
      ),
    )
    const request = http.get({ port, host: '127.0.0.1', headers: { host: 'a.test' }, agent: false })
    request.on('error', () => {})
    await once(request, 'response')
    request.destroy()
    await expect.poll(() => left).toBe(true)
    await expect.poll(() => notes).toEqual([expect.stringMatching(/ 499 - \d+ms "" \(the visitor left\)$/)])
  })

  test.each([
    ['unknown', 'en', 404, 'There is no site here'],
    ['starting', 'vi', 503, 'Trang web đang khởi động'],
    ['suspended', 'vi-VN,en;q=0.5', 503, 'Trang web đang tạm ngưng'],
    ['failed', 'en-AU', 502, 'This site did not answer'],
  ] as const)('a page for a site that is %s', async (state, language, status, title) => {
    sites.set('a.test', { id: 'site', state, addresses: [] })
    const answer = await ask('a.test', '/', { headers: { 'accept-language': language } })
    expect(answer).toMatchObject({ status, headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' } })
    expect(answer.text).toContain(`<title>${title}</title>`)
    expect(answer.headers['retry-after']).toBe(state === 'starting' ? '2' : undefined)
    expect(answer.text.includes('http-equiv="refresh"')).toBe(state === 'starting')
    const agent = { 'user-agent': 'Curious "one"' }
    expect((await ask('a.test', '/x?y=1', { method: 'HEAD', headers: agent })).text).toBe('')
    expect(notes.at(-1)).toMatch(/^site: 127\.0\.0\.1 "HEAD \/x\?y=1" \d+ \d+ \d+ms "Curious "one"" \(\w+\)$/)
    expect(notes.at(-1)?.endsWith(`(${state})`)).toBe(true)
  })

  test('what a site answered is the site’s own to log, and what is nobody’s is nobody’s', async () => {
    sites.set('a.test', running(await upstream((_request, response) => response.writeHead(500).end('own'))))
    expect((await ask('a.test')).status).toBe(500)
    expect((await ask('nobody.test')).status).toBe(404)
    expect(notes).toEqual([])
  })

  test('running without an upstream is starting; one that never answers is a timeout', async () => {
    sites.set('a.test', running())
    expect((await ask('a.test')).status).toBe(503)
    sites.set('b.test', running(await upstream(() => {})))
    expect((await ask('b.test')).status).toBe(504)
  })

  test('passes WebSockets through, and a refusal of them', async () => {
    const chat = await upstream((_request, response) => response.writeHead(426).end('no'))
    chat.server.on('upgrade', (request, socket, head) => {
      if (request.url !== '/chat') return socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\n\r\nnope')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Host: ${request.headers.host}\r\n\r\n`,
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
    const [accepted, socket] = (await once(open('/chat'), 'upgrade')) as [http.IncomingMessage, net.Socket]
    expect(accepted.headers).toMatchObject({ upgrade: 'websocket', 'x-host': 'a.test' })
    socket.write('xin chào')
    const [echo] = (await once(socket, 'data')) as [Buffer]
    expect(echo.toString()).toBe('xin chào')
    socket.destroy()
    const [refused] = (await once(open('/other'), 'response')) as [http.IncomingMessage]
    expect(refused.statusCode).toBe(403)
    refused.resume()
    const [unknown] = (await once(open('/chat', 'nobody.test'), 'response')) as [http.IncomingMessage]
    expect(unknown.statusCode).toBe(404)
    unknown.resume()
  })

  test('only a WebSocket is tunnelled: any other offer of another protocol is let pass unheard, and its request keeps its body', async () => {
    let tunnelled = 0
    const site = await upstream(async (request, response) => {
      const body: Buffer[] = []
      for await (const chunk of request) body.push(chunk as Buffer)
      response.end(
        JSON.stringify([request.method, request.headers.upgrade, request.headers['http2-settings'], Buffer.concat(body).toString()]),
      )
    })
    site.server.on('upgrade', (_request, socket) => {
      tunnelled++
      socket.destroy()
    })
    sites.set('a.test', running(site))
    const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' }
    const webSocket = { connection: 'Upgrade', upgrade: 'websocket' }
    const seen = async (method: string, headers: object, body?: string) =>
      JSON.parse(
        (await ask('a.test', '/', { method, headers: { ...headers, 'content-length': body?.length ?? 0 }, body: body ?? '' })).text,
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
        (await ask('a.test', '/', { method: 'POST', agent, headers: { ...h2c, 'transfer-encoding': 'chunked' }, body })).text,
      ).toContain(body)
    expect(tunnelled).toBe(0)
  })

  test('nonsense is a 400, and smuggled lengths are not passed on', async () => {
    let seen = 0
    sites.set('a.test', running(await upstream((_request, response) => response.end(String(++seen)))))
    for (const text of [
      'GARBAGE\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
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

  test('close lets the request in hand finish', async () => {
    let arrived = () => {}
    const inHand = new Promise<void>((resolve) => (arrived = resolve))
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    sites.set(
      'a.test',
      running(
        await upstream(async (_request, response) => {
          arrived()
          await held
          response.end('whole')
        }),
      ),
    )
    const answer = ask('a.test')
    await inHand
    const closing = edge.close()
    release()
    expect((await answer).text).toBe('whole')
    await closing
    await edge.listen()
  })
})

describe('the host table', () => {
  test('before it is told anything every visitor is asked to wait; then it knows what it was told last', () => {
    const answering = new Map([['1', [{ host: '127.0.0.1', port: 1 }]]])
    const table = createHostTable((site) => answering.get(site) ?? [])
    expect(table.resolve('a.test')).toEqual({ id: null, state: 'starting', addresses: [] })
    table.replace([
      { host: 'a.test', site: '1', state: 'live' },
      { host: 'b.test', site: '2', state: 'live' },
      { host: 'c.test', site: '1', state: 'suspended' },
    ])
    expect(table.resolve('a.test')).toEqual({ id: '1', state: 'running', addresses: [{ host: '127.0.0.1', port: 1 }] })
    expect(table.resolve('b.test')).toEqual({ id: '2', state: 'starting', addresses: [] })
    expect(table.resolve('c.test')).toEqual({ id: '1', state: 'suspended', addresses: [] })
    table.replace([{ host: 'b.test', site: '2', state: 'failed' }])
    expect(table.resolve('a.test')).toEqual({ id: null, state: 'unknown', addresses: [] })
    expect(table.resolve('b.test')).toEqual({ id: '2', state: 'failed', addresses: [] })
  })
})
