/** Whatever nonsense can be sent: odd requests, anything at every endpoint, and silence. */
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'

let portal: TestPortal
let an: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal()
  an = await portal.customer()
})
afterAll(() => portal.close())

/**
 * Bytes as they are, for what no HTTP client would send. Answers what came back until the server
 * closed.
 */
const raw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let heard = ''
    const socket = net.connect(portal.config.PORT, '127.0.0.1', () => socket.end(text))
    socket.on('data', (chunk) => (heard += chunk.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => resolve(heard))
  })

describe('odd requests', () => {
  test.each(['HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND', 'QUERY', 'M-SEARCH', 'BREW'])(
    '%s is never an error of ours',
    async (method) => {
      for (const path of [
        '/api/config',
        '/api/v1/auth/me',
        '/api/payments/checkout',
        '/',
        '/healthz',
        '/api/wp/x',
      ]) {
        const heard = await raw(
          `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        )
        expect(heard, path).toMatch(/^HTTP\/1\.1 ([2-4]\d\d|503) /)
      }
    },
  )

  test.each(['h2c', 'websocket'])(
    'an offer of %s is passed over, and the call keeps its body',
    async (upgrade) => {
      const body = JSON.stringify({ email: 'nobody@example.com', password: 'nobody-at-all' })
      const request = http.request({
        port: portal.config.PORT,
        host: '127.0.0.1',
        method: 'POST',
        path: '/api/v1/auth/login',
        headers: {
          'content-type': 'application/json',
          'content-length': body.length,
          connection: 'Upgrade',
          upgrade,
        },
      })
      request.end(body)
      const [response] = (await once(request, 'response')) as [http.IncomingMessage]
      expect(
        JSON.parse(Buffer.concat((await response.toArray()) as Buffer[]).toString()),
      ).toMatchObject({
        error: { code: 'bad_credentials' },
      })
    },
  )

  test('addresses that are no addresses', async () => {
    for (const target of [
      '//',
      '///',
      '*',
      '/\\',
      '//api',
      'http://',
      'http://[',
      '/%',
      '/%00',
      '/?%00',
      '//[',
      '/api//wp',
      '/.%2e/.%2e/etc/passwd',
      '/api/docs/static/../../x',
      '//:99999/',
    ]) {
      const heard = await raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      // 503 is the page of a portal whose front end is not built.
      expect(heard, target).toMatch(/^HTTP\/1\.1 ([2-4]\d\d|503) /)
      const upgrade = await raw(
        `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      )
      expect(upgrade, target).toMatch(/^HTTP\/1\.1 4\d\d /)
    }
    expect((await portal.call('GET', '/healthz')).status).toBe(200)
  })
})

describe('anything at every endpoint', () => {
  interface Operation {
    method: string
    path: string
    query: string[]
    body: string[]
  }
  async function operations(): Promise<Operation[]> {
    const document = JSON.parse((await portal.call('GET', '/api/openapi.json')).text) as {
      paths: Record<
        string,
        Record<
          string,
          {
            parameters: { in?: string; name: string }[]
            requestBody?: { content: Record<string, { schema: { properties?: object } }> }
          }
        >
      >
    }
    return Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        query: operation.parameters
          .filter((parameter) => parameter.in === 'query')
          .map((parameter) => parameter.name),
        body: Object.keys(
          operation.requestBody?.content['application/json']?.schema.properties ?? {},
        ),
      })),
    )
  }
  const texts = [
    '',
    ' ',
    'a\0b',
    '\0',
    '\ud83d',
    "'; drop table customer; --",
    '%',
    '__proto__',
    'constructor',
    '../../etc/passwd',
    '9'.repeat(99),
    '-1',
    '99999999999999999999',
    '\u202e',
    '💥'.repeat(30),
    '${7*7}',
    '<script>',
    'null',
  ]
  const values: unknown[] = [
    ...texts,
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 53,
    1e308,
    [],
    {},
    [null],
    { a: { b: [] } },
    ['\0'],
  ]
  const bodies = [
    '',
    'null',
    '[]',
    '{}',
    '0',
    '"\\u0000"',
    '{"__proto__":{"x":1}}',
    '{"constructor":{"prototype":{"x":1}}}',
    '{"__proto__":null}',
    '{"\\u0000":1}',
    '{"":1}',
    '[[[[]]]]',
    '{"a":1,"a":2}',
    '\u0000',
    '{"toString":1,"valueOf":2}',
  ]
  // Text that would reveal internals: stacks, SQL, our files, the runtime.
  const inside = new RegExp(
    [
      /node_modules|\bat .+:\d+:\d+|\.ts\b|\/work\/|\/home\//,
      /select .+ from|syntax error|relation "|invalid byte|duplicate key|22021/,
      /TypeError|ZodError|postgres|kysely|pg_/,
    ]
      .map(({ source }) => source)
      .join('|'),
    'i',
  )

  test('never 5xx, never a look inside', { timeout: 300_000 }, async () => {
    const all = await operations()
    expect(all.length).toBeGreaterThan(20)
    const wrong: string[] = []
    const attempts: (() => Promise<void>)[] = []
    const attempt = (
      method: string,
      path: string,
      body?: string,
      headers: Record<string, string> = {},
    ): void => {
      attempts.push(async () => {
        const answer = await portal.call(method, path, {
          token: an.token,
          headers,
          ...(body !== undefined && { body }),
        })
        // Remove the request id: it is random, and one in a few thousand contains "22021".
        const said = answer.text.replaceAll(answer.body?.error?.requestId ?? '\0', '')
        if (
          answer.status >= 500 ||
          (answer.status >= 400 && (inside.test(said) || answer.body?.error === undefined))
        )
          wrong.push(
            `${method} ${path} ${body ?? ''}: ${answer.status} ${answer.text.slice(0, 200)}`,
          )
      })
    }
    for (const { method, path, query, body } of all) {
      // This token must live on.
      if (path.endsWith('/logout')) continue
      const plain = path.replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')
      if (path.includes('{'))
        for (const text of texts)
          attempt(
            method,
            path.replace(/\{\w+\}/g, encodeURIComponent(text.toWellFormed()) || '%20'),
            method === 'GET' ? undefined : '{}',
          )
      for (const name of query)
        for (const text of texts)
          attempt(
            method,
            `${plain}?${name}=${encodeURIComponent(text.toWellFormed())}&${name}` +
              '[]=1&__proto__=1&constructor=2',
          )
      for (const name of query)
        for (const text of texts)
          attempt(method, `${plain}?${name}=${encodeURIComponent(text.toWellFormed())}`)
      if (method === 'GET') continue
      for (const text of bodies) attempt(method, plain, text)
      for (const name of body)
        for (const value of values)
          attempt(
            method,
            plain,
            JSON.stringify({
              ...Object.fromEntries(body.map((other) => [other, 'x'])),
              [name]: value,
            }),
          )
      attempt(method, plain, '{}', {
        'idempotency-key': '\x80\xff'.repeat(100),
        'accept-language': '\xff;q=\xff',
        'x-request-id': '\xff',
      })
    }
    expect(attempts.length).toBeGreaterThan(400)
    for (let at = 0; at < attempts.length; at += 8)
      await Promise.all(attempts.slice(at, at + 8).map((run) => run()))
    expect(wrong).toEqual([])
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  test('forms that hold well but say nonsense', async () => {
    const form = {
      name: 'A',
      email: `${'a'.repeat(240)}@example.vn`,
      phone: '+84912000111',
      password: 'Correct-horse-9',
      region_code: 'VN',
    }
    expect(
      (await portal.call('POST', '/api/v1/auth/send', { body: { email: form.email } })).status,
    ).toBe(200)
    expect(
      (
        await portal.call('POST', '/api/v1/auth/login', {
          body: { email: form.email, password: 'nobody-at-all' },
        })
      ).status,
    ).toBe(401)
    expect((await portal.call('POST', '/api/v1/auth/register', { body: form })).status).toBe(201)
  })
})

test('a client that connected and says nothing keeps no stop waiting', async () => {
  const quiet = await openTestPortal()
  const socket = net.connect(quiet.config.PORT, '127.0.0.1')
  await once(socket, 'connect')
  // The server accepts connections in turn: once a later one is answered, this one is accepted.
  expect((await quiet.call('GET', '/healthz')).status).toBe(200)
  const gone = once(socket, 'close')
  const began = performance.now()
  await quiet.close()
  await gone
  expect(performance.now() - began).toBeLessThan(7_000)
})
