/**
 * The choice of an upstream: the least busy, another one after a failure, and none where a page
 * must do; and the table of sites.
 */
import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestEdge, running, visitsOf, type TestEdge } from '../../test/edge-visits.ts'
import { createHostTable, type Edge } from './index.ts'

describe('the edge', () => {
  const closers: (() => unknown)[] = []
  let sites: TestEdge['sites']
  let edge: Edge
  let port: number
  let warnings: string[]
  let notes: string[]
  const { upstream, ask } = visitsOf(() => port, closers)
  /** A port without a listener. */
  const deadPort = async (): Promise<number> => {
    const server = net.createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port: found } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    return found
  }

  beforeEach(async () => {
    ;({ edge, port, sites, warnings, notes } = await openTestEdge())
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) close()
    await edge.close()
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
      running(
        { host: '127.0.0.1', port: await deadPort() },
        { host: '127.0.0.1', port: (breaking.address() as AddressInfo).port },
        good,
      ),
    )
    for (let index = 0; index < 12; index++) expect((await ask('a.test')).text).toBe('good')
    expect(resets).toBeLessThanOrEqual(1)
  })

  test('goes to no upstream that is not an address and a port', async () => {
    let reached = 0
    const other = await upstream((_request, response) => {
      reached++
      response.end('another machine')
    })
    const forged = [
      { host: '127.0.0.1', port: `x@127.0.0.1:${other.port}` as unknown as number },
      { host: `x@127.0.0.1:${other.port}/`, port: 80 },
      { host: '127.0.0.1', port: `${other.port}` as unknown as number },
      { host: '127.0.0.1', port: other.port + 0.5 },
      { host: '127.0.0.1', port: 65_536 + other.port },
    ]
    for (const address of forged) {
      sites.set('a.test', running(address))
      expect((await ask('a.test', '/latest/meta-data/')).status).toBe(502)
    }
    expect(reached).toBe(0)
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
    sites.set('a.test', running(address, { ...address, host: '::1' }))
    expect((await ask('a.test', '/', { method: 'POST', body: 'order=1' })).status).toBe(502)
    expect(asked).toBe(1)
    expect(notes).toEqual([
      expect.stringMatching(/^site: 127\.0\.0\.1 "POST \/" 502 \d+ \d+ms "" \(failed\)$/),
    ])
  })

  test('a kept connection closed at a request: a GET is retried, a POST has its own', async () => {
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
    sites.set(
      'a.test',
      running({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }),
    )
    for (let index = 0; index < 10; index++) {
      expect(await ask('a.test')).toMatchObject({ status: 200, text: 'good' })
      expect(await ask('a.test', '/', { method: 'POST' })).toMatchObject({
        status: 200,
        text: 'good',
      })
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
    expect(notes).toEqual([
      expect.stringMatching(
        /^site: 127\.0\.0\.1 "GET \/" 200 - \d+ms "" \(the answer broke off\)$/,
      ),
    ])
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
    await expect
      .poll(() => notes)
      .toEqual([expect.stringMatching(/ 499 - \d+ms "" \(the visitor left\)$/)])
  })

  test.each([
    ['unknown', 'en', 404, 'There is no site here'],
    ['starting', 'vi', 503, 'Trang web đang khởi động'],
    ['suspended', 'vi-VN,en;q=0.5', 503, 'Trang web đang tạm ngưng'],
    ['failed', 'en-AU', 502, 'This site did not answer'],
  ] as const)('a page for a site that is %s', async (state, language, status, title) => {
    sites.set('a.test', { id: 'site', state, addresses: [] })
    const answer = await ask('a.test', '/', { headers: { 'accept-language': language } })
    expect(answer).toMatchObject({
      status,
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    })
    expect(answer.text).toContain(`<title>${title}</title>`)
    expect(answer.headers['retry-after']).toBe(state === 'starting' ? '2' : undefined)
    expect(answer.text.includes('http-equiv="refresh"')).toBe(state === 'starting')
    const agent = { 'user-agent': 'Curious "one"' }
    expect((await ask('a.test', '/x?y=1', { method: 'HEAD', headers: agent })).text).toBe('')
    expect(notes.at(-1)).toMatch(
      /^site: 127\.0\.0\.1 "HEAD \/x\?y=1" \d+ \d+ \d+ms "Curious "one"" \(\w+\)$/,
    )
    expect(notes.at(-1)?.endsWith(`(${state})`)).toBe(true)
  })

  test('what a site answered is the site’s to log, what is nobody’s is nobody’s', async () => {
    sites.set(
      'a.test',
      running(await upstream((_request, response) => response.writeHead(500).end('own'))),
    )
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
  test('told nothing, it asks every visitor to wait; then it knows what it was told last', () => {
    const answering = new Map([['1', [{ host: '127.0.0.1', port: 1 }]]])
    const table = createHostTable((site) => answering.get(site) ?? [])
    expect(table.resolve('a.test')).toEqual({ id: null, state: 'starting', addresses: [] })
    const whole = [
      { host: 'a.test', site: '1', state: 'live' },
      { host: 'b.test', site: '2', state: 'live' },
      { host: 'c.test', site: '1', state: 'suspended' },
      { host: 'd.test', site: '3', state: 'live', via: { host: '10.0.0.2', port: 80 } },
    ] as const
    expect(table.apply({ base: null, version: 'one', sites: null, entries: whole })).toBe('one')
    expect(table.resolve('a.test')).toEqual({
      id: '1',
      state: 'running',
      addresses: [{ host: '127.0.0.1', port: 1 }],
    })
    expect(table.resolve('b.test')).toEqual({ id: '2', state: 'starting', addresses: [] })
    expect(table.resolve('c.test')).toEqual({ id: '1', state: 'suspended', addresses: [] })
    expect(table.resolve('d.test').addresses).toEqual([{ host: '10.0.0.2', port: 80 }])
    const entries = [{ host: 'b.test', site: '2', state: 'failed' }] as const
    expect(table.apply({ base: 'one', version: 'two', sites: ['1', '2'], entries })).toBe('two')
    expect(table.resolve('a.test')).toEqual({ id: null, state: 'unknown', addresses: [] })
    expect(table.resolve('b.test')).toEqual({ id: '2', state: 'failed', addresses: [] })
    expect(table.resolve('d.test').state).toBe('running')
  })

  test('a change that follows another version than the present one changes nothing', () => {
    const table = createHostTable(() => [])
    const entries = [{ host: 'a.test', site: '1', state: 'suspended' }] as const
    table.apply({ base: null, version: 'two', sites: null, entries })
    const late = { version: 'one', sites: null, entries: [] }
    expect(table.apply({ ...late, base: null })).toBe('two')
    expect(table.apply({ ...late, base: 'zero' })).toBe('two')
    expect([table.version(), table.resolve('a.test').state]).toEqual(['two', 'suspended'])
  })

  test('a name that went from one site to another is the other’s, whichever is told first', () => {
    const table = createHostTable(() => [])
    const first = [{ host: 'a.test', site: '1', state: 'suspended' }] as const
    const second = [{ host: 'a.test', site: '2', state: 'failed' }] as const
    table.apply({ base: null, version: 'one', sites: null, entries: first })
    table.apply({ base: 'one', version: 'two', sites: ['2'], entries: second })
    table.apply({ base: 'two', version: 'three', sites: ['1'], entries: [] })
    expect(table.resolve('a.test')).toEqual({ id: '2', state: 'failed', addresses: [] })
  })
})
