import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { serveHealth } from './health.ts'
import { createMetrics } from './platform/metrics.ts'

test('a part that never answers is named in time', async () => {
  const server = Fastify()
  const checks = {
    database: () => new Promise<void>(() => {}),
    jobs: async () => undefined,
    dns: () => 'does not listen',
  }
  serveHealth(server, {
    checks,
    metrics: createMetrics(),
    metricsToken: undefined,
    behindProxy: false,
    longestMs: 20,
  })
  const answer = await server.inject('/readyz')
  expect([answer.statusCode, answer.json()]).toEqual([
    503,
    { status: 'not ready', notReady: { database: 'does not answer', dns: 'does not listen' } },
  ])
  await server.close()
})

test('strangers are told which part is not ready and not why, and see no metrics', async () => {
  const open = (behindProxy: boolean) => {
    const server = Fastify()
    serveHealth(server, {
      checks: { dns: () => 'port 53 of 10.0.0.7 is taken' },
      metrics: createMetrics(),
      metricsToken: 'token',
      behindProxy,
    })
    return server
  }
  const why = { status: 'not ready', notReady: { dns: 'port 53 of 10.0.0.7 is taken' } }
  const bare = { status: 'not ready', notReady: { dns: 'not ready' } }
  const token = { authorization: 'Bearer token' }
  for (const [behindProxy, of, entitled] of [
    [false, {}, true],
    [false, { remoteAddress: '192.0.2.1' }, false],
    [false, { remoteAddress: '192.0.2.1', headers: token }, true],
    [false, { headers: { 'x-forwarded-for': '127.0.0.1' } }, false],
    [false, { headers: { 'x-real-ip': '127.0.0.1' } }, false],
    [false, { headers: { forwarded: 'for=127.0.0.1' } }, false],
    [true, {}, false],
    [true, { headers: token }, true],
  ] as const) {
    const server = open(behindProxy)
    const ready = await server.inject({ url: '/readyz', ...of })
    expect([behindProxy, of, ready.json()]).toEqual([behindProxy, of, entitled ? why : bare])
    const metrics = await server.inject({ url: '/metrics', ...of })
    expect([behindProxy, of, metrics.statusCode === 200]).toEqual([behindProxy, of, entitled])
    await server.close()
  }
})
