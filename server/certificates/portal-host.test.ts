/**
 * The portal's own host by HTTPS: the edge ends TLS for it, and passes the visitor's address on.
 */
import http from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openHttpsWorld, type HttpsWorld } from '../../test/https-world.ts'
import { eventually } from '../../test/portal.ts'

const host = 'portal.example.org'
const lines: string[] = []
let world: HttpsWorld
beforeAll(async () => {
  world = await openHttpsWorld({
    env: { PORTAL_URL: `https://${host}`, SANDBOX: 'on', METRICS_TOKEN: 'a token for metrics' },
    logLines: (line) => lines.push(line),
  })
  world.dns.records.set(`A ${host}`, ['127.0.0.1'])
  await world.portal.app.tls.align()
  await eventually('HTTPS', () => world.visit(host, '/api/config').catch(() => undefined))
})
afterAll(async () => await world.close())

/** The network in the last log line about a path. */
const networkOf = (route: string): Promise<string> =>
  eventually('the line of the log', async () => {
    const line = lines.findLast((one) => one.includes(`"route":"${route}"`))
    return line === undefined ? undefined : (JSON.parse(line) as { network: string }).network
  })

test('pages and the API come through the edge, by HTTP/2 as well', async () => {
  const page = await world.visit2(host, '/api/config')
  expect([page.status, page.text.includes('"statusCode":200')]).toEqual([200, true])
  const home = await world.visit(host, '/')
  expect(home.headers['strict-transport-security']).toContain('max-age=')
  expect((await world.plain(host, '/login')).headers.location).toBe(`https://${host}/login`)
})

test('a visitor cannot name another address: the edge’s word counts', async () => {
  lines.length = 0
  const headers = { 'x-forwarded-for': '192.0.2.77' }
  await world.visit(host, '/api/config', { localAddress: '127.0.0.5', headers })
  expect(await networkOf('/api/config')).toBe('127.0.0.5')
})

test('metrics are for the token alone: every visitor comes from this machine now', async () => {
  expect((await world.visit(host, '/metrics')).status).toBe(404)
  const headers = { authorization: 'Bearer a token for metrics' }
  expect((await world.visit(host, '/metrics', { headers })).status).toBe(200)
  // A call from this machine without the token is refused, too.
  const direct = await new Promise<number>((resolve) =>
    http.get({ port: world.portal.config.PORT, path: '/metrics' }, ({ statusCode }) =>
      resolve(statusCode ?? 0),
    ),
  )
  expect(direct).toBe(404)
})
