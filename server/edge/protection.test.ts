import type http from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestEdge, running, visitsOf, type TestEdge } from '../../test/edge-visits.ts'
import { scryptHash, scryptMatches } from '../platform/scrypt.ts'
import { createPageCache } from './index.ts'
import type { Protection } from './protection.ts'

const host = 'shop.example.vn'
const closers: (() => unknown)[] = []
let edge: TestEdge
let seen: http.IncomingMessage[]
const { upstream, ask } = visitsOf(() => edge.port, closers)

beforeEach(async () => {
  edge = await openTestEdge({
    cache: createPageCache({ totalBytes: 4e6, siteBytes: 2e6, waitMs: 5_000 }),
    trustProxy: true,
    answerMs: 5_000,
  })
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await edge.edge.close()
})

/** A site whose pages may be kept, behind a protection. */
async function protect(protection: Protection): Promise<void> {
  seen = []
  const { port } = await upstream((request, response) => {
    seen.push(request)
    response.writeHead(200, { 'content-type': 'text/html', 'x-portal-page': '1' })
    response.write('page')
    response.addTrailers({
      'x-portal-tags': 'a',
      'x-portal-options': 'o',
      'x-portal-seconds': '0',
    })
    response.end()
  })
  edge.sites.set(host, { ...running({ host: '127.0.0.1', port }), protection })
}
const basic = (text: string): http.RequestOptions => ({
  headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
})
const from = (client: string, options: http.RequestOptions = {}): http.RequestOptions => ({
  headers: { ...(options.headers as object), 'x-forwarded-for': client },
})

test('a hash knows its password and no other', async () => {
  const hash = await scryptHash('Mật khẩu 9!')
  expect(hash).toMatch(/^scrypt:16384:8:1:/)
  expect(await scryptMatches(hash, 'Mật khẩu 9!')).toBe(true)
  expect(await scryptMatches(hash, 'mật khẩu 9!')).toBe(false)
  for (const other of ['', 'x', 'scrypt:1:1:1:a', hash.replace('scrypt', 'plain')])
    expect(await scryptMatches(other, 'Mật khẩu 9!')).toBe(false)
})

test('without the password nobody sees a page; with it from the cache, too', async () => {
  await protect({ password: { user: 'khách', hash: await scryptHash('mở: cửa ra') } })
  for (const options of [{}, basic('khách:sai'), basic('ai:mở: cửa ra'), basic('khách')]) {
    const { status, headers, text } = await ask(host, '/', options)
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toBe('Basic realm="site", charset="UTF-8"')
    expect(headers['cache-control']).toBe('no-store')
    expect(text).not.toContain('page</')
  }
  expect((await ask(host, '/', { headers: { authorization: 'Bearer x' } })).status).toBe(401)
  expect(seen).toEqual([])
  const right = basic('khách:mở: cửa ra')
  expect(await ask(host, '/', right)).toMatchObject({ status: 200, text: 'page' })
  expect((await ask(host, '/', right)).headers['x-cache']).toBe('HIT')
  expect(seen).toHaveLength(1)
  expect(seen[0]!.headers).not.toHaveProperty('authorization')
  // Cached pages are protected, too.
  expect((await ask(host)).status).toBe(401)
})

test('a changed password lets nobody in who knows the one before', async () => {
  await protect({ password: { user: 'a', hash: await scryptHash('mot mot mot') } })
  expect((await ask(host, '/', basic('a:mot mot mot'))).status).toBe(200)
  await protect({ password: { user: 'a', hash: await scryptHash('hai hai hai') } })
  expect((await ask(host, '/', basic('a:mot mot mot'))).status).toBe(401)
})

test('ten wrong ones, then a network waits; others do not', async () => {
  await protect({ password: { user: 'a', hash: await scryptHash('mot mot mot') } })
  const tries = await Promise.all(
    Array.from({ length: 30 }, () => ask(host, '/', from('192.0.2.1', basic('a:sai')))),
  )
  const statuses = tries.map(({ status }) => status)
  expect(statuses.filter((status) => status === 401)).toHaveLength(10)
  expect(statuses.filter((status) => status === 429)).toHaveLength(20)
  const waits = await ask(host, '/', from('192.0.2.1', basic('a:mot mot mot')))
  expect(waits).toMatchObject({ status: 429, headers: { 'retry-after': '600' } })
  expect((await ask(host, '/', from('192.0.2.2', basic('a:mot mot mot')))).status).toBe(200)
  // A visitor who entered the right password before stays admitted.
  expect((await ask(host, '/', from('192.0.2.1', basic('a:mot mot mot')))).status).toBe(200)
})

test('a password that cannot be checked is our fault, and no try of the visitor', async () => {
  // No hash of ours: scrypt itself refuses this N.
  await protect({ password: { user: 'a', hash: 'scrypt:100:8:1:AAAA:AAAA' } })
  for (let visit = 0; visit < 12; visit++)
    expect((await ask(host, '/', basic('a:mot mot mot'))).status).toBe(502)
  expect(seen).toEqual([])
  expect(edge.warnings).toContain('the password of a site cannot be checked')
  await protect({ password: { user: 'a', hash: await scryptHash('mot mot mot') } })
  expect((await ask(host, '/', basic('a:mot mot mot'))).status).toBe(200)
})

test('of a crowd with passwords some wait for a check, and the rest come later', async () => {
  await protect({ password: { user: 'a', hash: await scryptHash('mot mot mot') } })
  const answers = await Promise.all(
    Array.from({ length: 150 }, (_, index) =>
      ask(host, '/', from(`192.0.2.${index}`, basic('a:sai'))),
    ),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]))
})

test('denied networks get no answer of the site, and no WebSocket', async () => {
  await protect({ denied: ['192.0.2.7', '198.51.100.0/24', '2001:db8:7::/48'] })
  for (const [client, status] of [
    ['192.0.2.7', 403],
    ['192.0.2.8', 200],
    ['198.51.100.255', 403],
    ['198.51.101.0', 200],
    ['::ffff:198.51.100.1', 403],
    ['2001:db8:7:ffff::1', 403],
    ['2001:db8:8::1', 200],
  ] as const)
    expect([client, (await ask(host, '/', from(client))).status]).toEqual([client, status])
  const before = seen.length
  const refused = await ask(host, '/', {
    headers: {
      'x-forwarded-for': '192.0.2.7',
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
    },
  })
  expect(refused.status).toBe(403)
  expect(seen).toHaveLength(before)
  expect(edge.notes.at(-1)).toMatch(/^site: 192\.0\.2\.7 "GET \/" 403 .*\(denied\)$/)
})

test('the authorization of a site without a password is the site’s own', async () => {
  await protect({ denied: ['192.0.2.7'] })
  await ask(host, '/', basic('app:password'))
  expect(seen[0]!.headers.authorization).toMatch(/^Basic /)
})
