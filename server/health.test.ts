import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { serveHealth } from './health.ts'
import { createMetrics } from './platform/metrics.ts'

test('a part that never answers is named in time', async () => {
  const server = Fastify()
  const checks = { database: () => new Promise<void>(() => {}), jobs: async () => undefined, dns: () => 'does not listen' }
  serveHealth(server, { checks, metrics: createMetrics(), metricsToken: undefined, longestMs: 20 })
  const answer = await server.inject('/readyz')
  expect([answer.statusCode, answer.json()]).toEqual([
    503,
    { status: 'not ready', notReady: { database: 'does not answer', dns: 'does not listen' } },
  ])
  await server.close()
})
