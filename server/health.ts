/** What machines ask: is the process up, is everything ready, how much of what. */
import { setTimeout as rest } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Refusal } from './platform/errors.ts'
import type { Metrics } from './platform/metrics.ts'
import { sameBytes } from './platform/secrets.ts'

/** So long one part is waited for: a monitor would give up, and never learn which one it was. */
const usuallyMs = 3000

type Check = () => Promise<string | undefined | void> | string | undefined

/** Names of the parts that are not ready, each with why. */
async function troublesOf(checks: Readonly<Record<string, Check>>, longestMs: number): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        const trouble = await Promise.race([check(), rest(longestMs, 'does not answer', { ref: false })])
        if (typeof trouble === 'string') found[name] = trouble
      } catch {
        found[name] = 'does not answer'
      }
    }),
  )
  return found
}

export function serveHealth(
  server: FastifyInstance,
  parts: { checks: Readonly<Record<string, Check>>; metrics: Metrics; metricsToken: string | undefined; longestMs?: number },
): void {
  server.get('/healthz', async () => ({ status: 'up' }))
  server.get('/readyz', async (_request, reply) => {
    const notReady = await troublesOf(parts.checks, parts.longestMs ?? usuallyMs)
    const ok = Object.keys(notReady).length === 0
    return reply.code(ok ? 200 : 503).send(ok ? { status: 'ready' } : { status: 'not ready', notReady })
  })
  server.get('/metrics', async (request, reply) => {
    // What a proxy on this machine hands on comes from elsewhere.
    const local = ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(request.ip) && request.headers['x-forwarded-for'] === undefined
    const token = parts.metricsToken
    const entitled = token !== undefined && sameBytes(Buffer.from(request.headers.authorization ?? ''), Buffer.from(`Bearer ${token}`))
    if (!local && !entitled) throw new Refusal('not_found')
    return reply.type('text/plain; version=0.0.4').send(await parts.metrics.text())
  })
}
