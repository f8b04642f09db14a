/** The edge by HTTPS: which certificate it shows, in which versions, by HTTP/1.1 and HTTP/2. */
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import tls from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { testCertificate, testRoot } from '../../test/certificates.ts'
import { openTestEdge, running, visitsOf, type TestEdge } from '../../test/edge-visits.ts'
import { createCertificateStore } from './certificates.ts'
import { createHttps } from './https.ts'

const log = { warn: () => undefined }
const host = 'shop.example.org'
let world: TestEdge
let secure: ReturnType<typeof createHttps>
let tlsPort = 0
const closers: (() => unknown)[] = []
const { upstream } = visitsOf(() => world.port, closers)

beforeEach(async () => {
  secure = createHttps(0, log)
  world = await openTestEdge({ https: secure })
  tlsPort = world.edge.tlsPort() ?? 0
  secure.feed.put([testCertificate(host), testCertificate('*.sites.example.net')])
})
afterEach(async () => {
  await world.edge.close()
  for (const close of closers.splice(0)) await close()
})

const shake = (
  servername: string | undefined,
  more: tls.ConnectionOptions = {},
): Promise<tls.TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = tls.connect({
      host: '127.0.0.1',
      port: tlsPort,
      ca: testRoot,
      ...(servername !== undefined && { servername }),
      ...more,
    })
    closers.push(() => socket.destroy())
    socket.once('secureConnect', () => resolve(socket))
    socket.once('error', reject)
  })
const session = (servername = host): http2.ClientHttp2Session => {
  const opened = http2.connect(`https://${servername}:${tlsPort}`, {
    createConnection: () =>
      tls.connect({
        host: '127.0.0.1',
        port: tlsPort,
        servername,
        ca: testRoot,
        ALPNProtocols: ['h2'],
      }),
  })
  opened.on('error', () => undefined)
  closers.push(() => opened.destroy())
  return opened
}
async function stream(
  of: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body?: string | Buffer,
): Promise<{ status: number; headers: http2.IncomingHttpHeaders; text: string }> {
  const request = of.request(headers, { endStream: body === undefined })
  if (body !== undefined) request.end(body)
  const [got] = (await once(request, 'response')) as [http2.IncomingHttpHeaders]
  let text = ''
  request.setEncoding('utf8')
  for await (const chunk of request) text += chunk as string
  return { status: Number(got[':status']), headers: got, text }
}
/** Sends one request over a socket and returns the raw response. */
async function ask(socket: net.Socket, text: string): Promise<string> {
  socket.write(text)
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  return answer
}

describe('a handshake', () => {
  test.each(['TLSv1.2', 'TLSv1.3'] as const)('comes about by %s', async (version) => {
    const socket = await shake(host, { minVersion: version, maxVersion: version })
    expect([socket.getProtocol(), socket.authorized]).toEqual([version, true])
  })

  test('by older versions is refused', async () => {
    await expect(
      shake(host, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' }),
    ).rejects.toThrow(/version/)
  })

  test.each([
    ['of a host that has no certificate', 'nobody.example.org'],
    ['of one below a name that has', `www.${host}`],
    ['two labels below a wildcard', 'a.b.sites.example.net'],
    ['that names no host', undefined],
  ])('%s ends with an alert, and shows nobody else’s', async (_what, servername) => {
    await expect(shake(servername)).rejects.toThrow(/handshake failure/)
    await expect.poll(() => world.edge.tlsCounts()).toMatchObject({ done: 0, failed: 1 })
  })

  test('shows a wildcard’s certificate, and the name’s own before it', async () => {
    const own = 'mine.sites.example.net'
    const nameOf = async (servername: string): Promise<string | undefined> =>
      (await shake(servername.toUpperCase(), { servername })).getPeerX509Certificate()
        ?.subjectAltName
    expect(await nameOf(own)).toBe('DNS:*.sites.example.net')
    secure.feed.put([testCertificate(own)])
    expect(await nameOf(own)).toBe(`DNS:${own}`)
  })

  test('is resumed, with the same certificate', async () => {
    const first = await shake(host, { maxVersion: 'TLSv1.2' })
    const kept = first.getSession()
    first.destroy()
    const again = await shake(host, { maxVersion: 'TLSv1.2', session: kept })
    expect(again.isSessionReused()).toBe(true)
    await expect.poll(() => world.edge.tlsCounts()).toMatchObject({ done: 2, resumed: 1 })
  })

  test('comes about for many hosts at once, although few certificates are open', async () => {
    const few = createHttps(0, log, 1)
    const small = await openTestEdge({ https: few })
    closers.push(() => small.edge.close())
    const names = Array.from({ length: 5 }, (_, at) => `shop${at}.example.com`)
    few.feed.put(names.map((name) => testCertificate(name)))
    tlsPort = small.edge.tlsPort() ?? 0
    const shown = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const socket = await shake(names[at % names.length], {
          maxVersion: at % 2 === 0 ? 'TLSv1.2' : 'TLSv1.3',
        })
        return socket.getPeerX509Certificate()?.subjectAltName
      }),
    )
    expect(shown).toEqual(shown.map((_, at) => `DNS:${names[at % names.length]}`))
    expect(few.certificates.counts()).toEqual({ held: 5, open: 1 })
  })

  test('that a visitor breaks off, or that is none, harms nobody', async () => {
    for (const noise of ['GET / HTTP/1.1\r\nhost: x\r\n\r\n', '\x16\x03\x01\x00', '']) {
      const socket = net.connect(tlsPort, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.end(noise)
      await once(socket, 'close')
    }
    expect((await shake(host)).authorized).toBe(true)
  })
})

describe('certificates', () => {
  test('of a version that is there are not wanted again; others are, and what is gone goes', () => {
    const store = createCertificateStore(log)
    store.put([testCertificate('a.example'), testCertificate('b.example')])
    const list = [
      { name: 'a.example', version: 1 },
      { name: 'c.example', version: 1 },
    ]
    expect(store.compare(list)).toEqual(['c.example'])
    expect(store.covers('b.example')).toBe(false)
    expect(store.compare([{ name: 'a.example', version: 2 }])).toEqual(['a.example'])
    // The old certificate serves until the new one is here.
    expect(store.contextOf('a.example')).toBeDefined()
  })

  test('are open for those who are visited, and for no more than so many', () => {
    const store = createCertificateStore(log, 2)
    const names = ['a.example', 'b.example', 'c.example']
    store.put(names.map((name) => testCertificate(name)))
    expect(store.counts()).toEqual({ held: 3, open: 0 })
    const [a] = names.map((name) => store.contextOf(name))
    expect(store.counts()).toEqual({ held: 3, open: 2 })
    expect(store.contextOf('c.example')).toBe(store.contextOf('c.example'))
    expect(store.contextOf('a.example')).not.toBe(a)
  })

  test('that ended send nobody to HTTPS, and one that is damaged harms no other', () => {
    const store = createCertificateStore(log)
    store.put([
      { ...testCertificate('old.example'), until: Date.now() - 1 },
      { ...testCertificate('bad.example'), key: 'no key' },
    ])
    expect([store.covers('old.example'), store.covers('bad.example')]).toEqual([false, true])
    expect(store.contextOf('bad.example')).toBeUndefined()
  })
})

describe('by HTTP/2', () => {
  test('a request reaches the site as one of HTTP/1.1, its answer comes back whole', async () => {
    const seen: { headers: http.IncomingHttpHeaders; url: string; body: string }[] = []
    const site = await upstream(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      seen.push({ headers: request.headers, url: request.url ?? '', body })
      response.writeHead(201, 'Made Here', [
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
        ['Connection', 'close'],
        ['X-Twice', '1'],
        ['X-Twice', '2'],
      ] as never)
      response.end('x'.repeat(300_000))
    })
    world.sites.set(host, running(site))
    const answer = await stream(
      session(),
      {
        ':method': 'POST',
        ':path': '/form?x=1',
        cookie: ['one=1', 'two=2'] as never,
        'x-forwarded-proto': 'http',
        'x-forwarded-for': '192.0.2.9',
      },
      'a body',
    )
    expect(answer.text.length).toBe(300_000)
    expect(answer.status).toBe(201)
    expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect([answer.headers['x-twice'], answer.headers.connection]).toEqual(['1, 2', undefined])
    const [one] = seen
    expect(one).toMatchObject({ url: '/form?x=1', body: 'a body' })
    expect(one?.headers).toMatchObject({
      host: `${host}:${tlsPort}`,
      cookie: 'one=1; two=2',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '127.0.0.1',
    })
    expect(Object.keys(one?.headers ?? {}).filter((name) => name.startsWith(':'))).toEqual([])
  })

  test('many requests share one connection, and a slow one holds up no other', async () => {
    let release = (): void => undefined
    const waits = new Promise<void>((resolve) => (release = resolve))
    const site = await upstream(async (request, response) => {
      if (request.url === '/slow') await waits
      response.end(request.url)
    })
    world.sites.set(host, running(site))
    const one = session()
    const slow = stream(one, { ':path': '/slow' })
    const texts = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => (await stream(one, { ':path': `/${at}` })).text),
    )
    expect(texts).toEqual(texts.map((_, at) => `/${at}`))
    release()
    expect((await slow).text).toBe('/slow')
  })

  test('the edge’s own pages come, too', async () => {
    const answer = await stream(session(), { ':path': '/' })
    expect([answer.status, answer.text.includes('no site here')]).toEqual([404, true])
  })

  test('a visitor who leaves ends the site’s work, a broken answer is seen', async () => {
    const left = Promise.withResolvers<void>()
    const site = await upstream((request, response) => {
      if (request.url === '/broken') {
        response.writeHead(200, { 'content-length': '100' })
        response.write('half')
        setImmediate(() => response.destroy())
      } else response.once('close', left.resolve)
    })
    world.sites.set(host, running(site))
    const gone = session().request({ ':path': '/long' })
    gone.on('error', () => undefined)
    await new Promise((resolve) => site.server.once('request', resolve))
    gone.close(http2.constants.NGHTTP2_CANCEL)
    await left.promise
    await expect(stream(session(), { ':path': '/broken' })).rejects.toThrow()
    expect(world.notes.some((note) => note.includes('the visitor left'))).toBe(true)
  })

  test('visitors who leave at any moment, of many at once, harm nobody', async () => {
    const site = await upstream(async (request, response) => {
      for await (const chunk of request) void chunk
      response.writeHead(200)
      for (let part = 0; part < 20 && response.writable; part++) {
        response.write('x'.repeat(20_000))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    })
    world.sites.set(host, running(site))
    const leave = async (index: number): Promise<void> => {
      const one = session()
      const request = one.request({ ':path': `/${index}`, ':method': 'POST' })
      request.on('error', () => undefined)
      const closed = new Promise((resolve) => request.once('close', resolve))
      const end = (): void => {
        if (index % 2 === 0) one.destroy()
        else request.close(http2.constants.NGHTTP2_CANCEL)
      }
      if (index % 5 === 0) request.once('response', end)
      else if (index % 5 === 1) request.once('data', end)
      else if (index % 5 === 2) end()
      else setImmediate(end)
      request.write('a part of a body')
      if (index % 3 > 0) request.end()
      request.resume()
      if (index % 5 < 2 && index % 3 === 0) request.end()
      await closed
    }
    for (let round = 0; round < 10; round++)
      await Promise.all(Array.from({ length: 30 }, (_, index) => leave(round * 30 + index)))
    expect((await stream(session(), { ':path': '/' })).text.length).toBe(400_000)
  })

  test('what is no HTTP/2 ends that connection alone', async () => {
    const socket = await shake(host, { ALPNProtocols: ['h2'] })
    socket.on('error', () => undefined)
    socket.resume()
    socket.write(Buffer.alloc(4000, 0xff))
    await once(socket, 'close')
    expect((await stream(session(), { ':path': '/' })).status).toBe(404)
  })
})

describe('by HTTP/1.1', () => {
  test('over TLS the limits and the tunnels are those of plain HTTP', async () => {
    const site = await upstream((_request, response) => response.end('page'))
    site.server.on('upgrade', (_request: http.IncomingMessage, socket: net.Socket) =>
      socket.end(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
          '\r\nhello',
      ),
    )
    world.sites.set(host, running(site))
    const answer = await ask(
      await shake(host),
      `GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK[^]+page/)
    const tunnel = await ask(
      await shake(host),
      `GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
    )
    expect(tunnel).toMatch(/^HTTP\/1\.1 101[^]+hello$/)
    const noise = await ask(await shake(host), 'what is this\r\n\r\n')
    expect(noise).toMatch(/^HTTP\/1\.1 400/)
  })
})

describe('by plain HTTP', () => {
  const plain = (path: string, name = host): Promise<http.IncomingMessage & { text: string }> =>
    new Promise((resolve, reject) => {
      http
        .get({ port: world.port, path, headers: { host: name }, agent: false }, (answer) => {
          let text = ''
          answer.on('data', (chunk: Buffer) => (text += String(chunk)))
          answer.on('end', () => resolve(Object.assign(answer, { text })))
        })
        .on('error', reject)
    })

  test('a visitor is sent to HTTPS where there is a certificate, and nowhere else', async () => {
    const site = await upstream((_request, response) => response.end('page'))
    world.sites.set('plain.example.org', running(site))
    expect((await plain('/a?b=c')).headers.location).toBe(`https://${host}/a?b=c`)
    const answer = await plain('/a', 'plain.example.org')
    expect([answer.statusCode, answer.text]).toEqual([200, 'page'])
  })

  test('an authority is answered before the site is, and is never sent away', async () => {
    const site = await upstream((request, response) => response.end(`its own ${request.url}`))
    world.sites.set(host, running(site))
    const path = '/.well-known/acme-challenge/token-1'
    secure.feed.challenge({ token: 'token-1', host, answer: 'token-1.print' })
    expect((await plain(path)).text).toBe('token-1.print')
    // The challenge is not served on another host, and a site may have a challenge of its own.
    expect((await plain(path, 'other.example.org')).statusCode).toBe(404)
    expect((await plain(`${path}x`)).text).toBe(`its own ${path}x`)
    secure.feed.dropChallenge('token-1')
    expect((await plain(path)).text).toBe(`its own ${path}`)
  })
})

test('the end of the edge waits for requests by HTTP/2, and for no idle connection', async () => {
  let release = (): void => undefined
  const waits = new Promise<void>((resolve) => (release = resolve))
  const site = await upstream(async (_request, response) => {
    await waits
    response.end('done')
  })
  world.sites.set(host, running(site))
  const idle = session()
  await once(idle, 'connect')
  const silent = net.connect(tlsPort, '127.0.0.1')
  closers.push(() => silent.destroy())
  await once(silent, 'connect')
  const asked = stream(session(), { ':path': '/' })
  await new Promise((resolve) => site.server.once('request', resolve))
  const began = performance.now()
  const closed = world.edge.close()
  release()
  expect((await asked).text).toBe('done')
  await closed
  expect(performance.now() - began).toBeLessThan(5_000)
})
