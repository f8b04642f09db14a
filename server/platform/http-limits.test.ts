/** Responses to cross-site calls, forms, and calls with a thousand faults. */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uploadTicketFile } from '../../contract/tickets.ts'
import { openTestPortal, type TestCustomer, type TestPortal } from '../../test/portal.ts'
import { createUploads } from './http-uploads.ts'

let portal: TestPortal
let an: TestCustomer
beforeAll(async () => {
  portal = await openTestPortal({ env: { TRUST_PROXY: 'on' } })
  an = await portal.customer()
})
afterAll(() => portal.close())

describe('forms', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  test.each([
    ['POST', '/api/v1/auth/login'],
    ['POST', '/api/v1/auth/register'],
    ['POST', '/api/v1/auth/recover'],
    ['PUT', '/api/v1/account'],
    ['POST', '/api/wp'],
  ])('%s %s takes none', async (method, path) => {
    const answer = await portal.call(method, path, {
      body: `email=${an.email}&password=wrong-password`,
      token: an.token,
      headers: form,
    })
    expect([answer.status, answer.body.error?.code]).toEqual([415, 'unsupported_media_type'])
    expect(answer.body.error?.requestId).toBeTruthy()
  })
  test('Pusher’s authorisation takes one, and JSON', async () => {
    const channel = `private-${an.id}`
    const asForm = await portal.call('POST', '/api/v1/auth/pusher', {
      body: `socket_id=1.2&channel_name=${channel}`,
      token: an.token,
      headers: form,
    })
    const asJson = await portal.call('POST', '/api/v1/auth/pusher', {
      body: { socket_id: '1.2', channel_name: channel },
      token: an.token,
    })
    expect([asForm.status, asJson.status]).toEqual([200, 200])
    expect(asForm.text).toBe(asJson.text)
  })
})

describe('calls of other sites', () => {
  const download = `/api/wp/${randomUUID()}/backups/${randomUUID()}/download?ticket=1.x`
  /** As a browser that follows a link on another site; `fetch` would set its own mode. */
  const navigate = (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      http
        .get(`${portal.url}${path}`, { headers: from('cross-site', 'navigate') }, (answer) => {
          answer.resume()
          resolve(answer.statusCode)
        })
        .on('error', reject)
    })
  const from = (site: string, mode = 'cors') => ({ 'sec-fetch-site': site, 'sec-fetch-mode': mode })
  test.each([
    ['GET', '/api/v1/auth/me'],
    ['GET', '/api/config'],
    ['POST', '/api/v1/auth/login'],
    ['POST', '/api/v1/auth/pusher'],
    ['PUT', '/api/v1/account'],
    ['POST', '/api/payments/checkout'],
    ['DELETE', `/api/wp/${randomUUID()}`],
  ])('%s %s is forbidden', async (method, path) => {
    const answer = await portal.call(method, path, {
      token: an.token,
      ...(method !== 'GET' && method !== 'DELETE' && { body: {} }),
      headers: from('cross-site'),
    })
    expect([answer.status, answer.body.error?.code]).toEqual([403, 'forbidden'])
  })
  test.each(['same-origin', 'same-site', 'none'])('one of %s is not', async (site) => {
    const me = await portal.call('GET', '/api/v1/auth/me', { token: an.token, headers: from(site) })
    expect(me.status).toBe(200)
  })
  test('webhooks, pages that gateways or mails lead to, and links to files are open', async () => {
    const navigation = from('cross-site', 'navigate')
    const webhook = await portal.call('POST', '/api/webhooks/vnpay', {
      body: {},
      headers: navigation,
    })
    expect(webhook.status).not.toBe(403)
    for (const path of ['/api/payments/success?transId=x', '/', '/login']) {
      const page = await portal.call('GET', path, { headers: navigation })
      expect([path, page.status]).toEqual([path, 200])
    }
    for (const path of ['/api/invoices/unknown/pdf', download])
      expect([path, await navigate(path)]).toEqual([path, 404])
    const read = await portal.call('GET', download, { headers: from('cross-site') })
    expect(read.status).toBe(403)
  })
})

test('no answer of the API is kept by a browser or proxy; pages cannot be framed', async () => {
  for (const path of ['/api/v1/auth/me', '/api/config', '/api/wp', '/api/nowhere']) {
    const answer = await portal.call('GET', path, { token: an.token })
    expect([path, answer.headers.get('cache-control')]).toEqual([path, 'no-store'])
  }
  const refused = await portal.call('GET', '/api/v1/auth/me')
  expect(refused.headers.get('cache-control')).toBe('no-store')
  const page = await portal.call('GET', '/')
  expect(page.headers.get('x-frame-options')).toBe('DENY')
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(page.headers.get('permissions-policy')).toContain('camera=()')
})

test('of a body with thousands of faults fifty are told', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 9000 }, (_, n) => [`key-${n}`, 1]))
  const answer = await portal.call('POST', '/api/v1/auth/login', { body: unknown })
  expect(answer.status).toBe(422)
  expect(Object.keys(answer.body.error?.fields ?? {})).toHaveLength(50)
  const nested = await portal.call('POST', '/api/dns/x/records/delete', {
    token: an.token,
    body: { ids: Array.from({ length: 5000 }, () => 1) },
  })
  expect(Object.keys(nested.body.error?.fields ?? {}).length).toBeLessThanOrEqual(50)
})

test('the name of a field is told in part where it is long', async () => {
  const answer = await portal.call('POST', '/api/v1/auth/login', {
    body: { email: 'an@example.vn', password: 'x', ['k'.repeat(5000)]: 1 },
  })
  expect(Object.keys(answer.body.error?.fields ?? {})).toEqual([`${'k'.repeat(100)}…`])
})

test('refusals under the keys of one customer are bounded, and cost no other answer', async () => {
  const customer = await portal.customer()
  const ask = (key: string, name: string) =>
    portal.call('POST', '/api/dns', {
      token: customer.token,
      headers: { 'idempotency-key': key },
      body: { name },
    })
  expect((await ask('first', 'giu-lai.com')).status).toBe(201)
  expect((await ask('refused', 'not a name')).status).toBe(422)
  await sql`
    insert into idempotency (scope, key, fingerprint, status_code, body, created_at)
    select scope, 'old-' || n, fingerprint, status_code, body, created_at - interval '1 hour'
    from idempotency, generate_series(1, 1010) n where key = 'refused'`.execute(portal.app.db)
  expect((await ask('refused-again', 'not a name')).status).toBe(422)
  const { rows } = await sql`
    select count(*) filter (where status_code >= 400)::int as refusals,
      count(*) filter (where key in ('first', 'refused', 'refused-again'))::int as ours
    from idempotency where key like 'old-%' or key in ('first', 'refused', 'refused-again')
  `.execute(portal.app.db)
  expect(rows).toEqual([{ refusals: 1000, ours: 3 }])
})

test('answers under the keys of who is not signed in are bounded for each network', async () => {
  const ask = (n: number, ip: string) =>
    portal.call('POST', '/api/v1/auth/active', {
      body: { email: 'nobody@example.vn', code: '123456' },
      headers: { 'idempotency-key': `key-${n}`, 'x-forwarded-for': ip },
    })
  // The addresses are of one /64 and count as one network. Each code is answered as ended.
  for (let at = 0; at < 210; at += 10)
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => ask(at + n, `2001:db8:7:7::${(at + n).toString(16)}`)),
    )
  // Parallel calls do not see each other's rows; the next call deletes the surplus.
  await ask(500, '2001:db8:7:7::1')
  await ask(0, '2001:db8:7:8::1')
  const { rows } = await sql<{ scope: string; n: number }>`
    select scope, count(*)::int as n from idempotency where scope like 'anonymous:%'
    group by scope order by scope`.execute(portal.app.db)
  expect(rows).toEqual([
    { scope: 'anonymous:2001:db8:7:7::/64', n: 200 },
    { scope: 'anonymous:2001:db8:7:8::/64', n: 1 },
  ])
  const again = await ask(209, '2001:db8:7:7::1')
  expect(again.headers.get('idempotency-replayed')).toBe('true')
})

describe('uploads', () => {
  test.each([{}, { 'idempotency-key': 'broken off' }])(
    'a client that breaks off is refused, and is no fault of the portal (%o)',
    async (key) => {
      const uploads = createUploads()
      const ended = Promise.withResolvers<unknown>()
      const server = http.createServer((body) => {
        const request = { headers: body.headers, body } as never
        uploads
          .receive({ endpoint: uploadTicketFile, request, scope: 'a' }, async ({ chunks }) => {
            for await (const _ of chunks);
          })
          .then(ended.resolve, ended.resolve)
      })
      await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
      const cut = http.request({
        host: '127.0.0.1',
        port: (server.address() as AddressInfo).port,
        method: 'POST',
        headers: { 'content-length': 1000, ...key },
      })
      cut.on('error', () => {}).write('a'.repeat(10), () => cut.destroy())
      expect(await ended.promise).toMatchObject({ code: 'conflict' })
      server.close()
    },
  )

  test('with a key few are in memory at once, and none is longer than it may be', async () => {
    const uploads = createUploads()
    const read = new Set<string>()
    const [all, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const lengths: number[] = []
    const send = (scope: string) =>
      uploads.receive(
        {
          endpoint: { ...uploadTicketFile, maxUploadBytes: 100 },
          request: {
            headers: { 'idempotency-key': scope },
            body: (async function* () {
              read.add(scope)
              for (let n = 0; n < 50; n += 1) yield Buffer.alloc(7)
            })(),
          } as never,
          scope: scope.slice(0, 8),
        },
        async ({ chunks }) => {
          let bytes = 0
          for await (const chunk of chunks) bytes += chunk.length
          if (lengths.push(bytes) === 12) held.resolve()
          await all.promise
        },
      )
    const mine = Array.from({ length: 8 }, (_, n) => send(`customer ${n}`))
    const others = Array.from({ length: 46 }, (_, n) => send(`${n} others`.padStart(12)))
    await held.promise
    expect(read.size).toBe(12)
    // One caller has two of them: the others of that one wait for these alone.
    expect([...read].filter((scope) => scope.startsWith('customer'))).toHaveLength(2)
    await expect(send('yet another')).rejects.toMatchObject({ code: 'unavailable' })
    all.resolve()
    await Promise.all([...mine, ...others])
    expect([lengths.length, new Set(lengths)]).toEqual([54, new Set([101])])
  })
})
