/** Endpoints for machines: liveness, readiness and metrics. */
import { setTimeout as rest } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from './platform/errors.ts'
import type { Metrics } from './platform/metrics.ts'
import { sameText } from './platform/constant-time.ts'
import { isLoopback } from './platform/loopback.ts'

/** Paths that every process of the portal serves, whatever its roles. */
export const machinePaths: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

/** Time limit per check: otherwise a monitor would time out and not learn which check was slow. */
const usuallyMs = 3000

type Check = () => Promise<string | undefined | void> | string | undefined

/** The readiness checks that failed, each with the reason. */
async function failedChecks(
  checks: Readonly<Record<string, Check>>,
  longestMs: number,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        const failure = await Promise.race([
          check(),
          rest(longestMs, 'does not answer', { ref: false }),
        ])
        if (typeof failure === 'string') found[name] = failure
      } catch {
        found[name] = 'does not answer'
      }
    }),
  )
  return found
}

/** Unauthorised callers see which check failed, not why. */
const withoutReasons = (failed: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.keys(failed).map((name) => [name, 'not ready']))

const proxyHeaders = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']

export function serveHealth(
  server: FastifyInstance,
  parts: {
    checks: Readonly<Record<string, Check>>
    metrics: Metrics
    metricsToken: string | undefined
    /** Behind a proxy every caller may appear local, so only the token counts. */
    behindProxy: boolean
    longestMs?: number
  },
): void {
  /** Whether the caller may see details: this machine itself, or a caller with the token. */
  const entitled = (request: FastifyRequest): boolean => {
    const token = parts.metricsToken
    if (token !== undefined && sameText(request.headers.authorization ?? '', `Bearer ${token}`))
      return true
    return (
      !parts.behindProxy &&
      isLoopback(request.socket.remoteAddress ?? '') &&
      // A request forwarded by a proxy on this machine comes from elsewhere.
      proxyHeaders.every((name) => request.headers[name] === undefined)
    )
  }
  server.get('/healthz', async () => ({ status: 'up' }))
  server.get('/readyz', async (request, reply) => {
    const notReady = await failedChecks(parts.checks, parts.longestMs ?? usuallyMs)
    const ok = Object.keys(notReady).length === 0
    return reply.code(ok ? 200 : 503).send(
      ok
        ? { status: 'ready' }
        : {
            status: 'not ready',
            notReady: entitled(request) ? notReady : withoutReasons(notReady),
          },
    )
  })
  server.get('/metrics', async (request, reply) => {
    if (!entitled(request)) throw new Refusal('not_found')
    return reply.type('text/plain; version=0.0.4').send(await parts.metrics.text())
  })
}
