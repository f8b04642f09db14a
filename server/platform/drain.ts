/**
 * Drains a web server that another one replaces on the same port. It takes no new connection, and
 * ends existing ones only where no request can be lost. A keep-alive connection that looks idle may
 * have a request on its way: so each gets `Connection: close` with its next response (RFC 9112,
 * 9.6), and one without another request ends by its own time-out.
 */
import net from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** How long a connection may be idle, ms: longer than a proxy's minute, so the proxy ends it. */
export const keepAliveMs = 72_000
/** A connection that is open longer than this has a request that never ends. */
const longestMs = keepAliveMs + 5_000
const lookMs = 100

export interface Drain {
  /** Resolves when no connection is left, or when none may be waited for any longer. */
  begin(): Promise<void>
}

/** Must be called before the server listens. */
export function prepareDrain(server: FastifyInstance): Drain {
  let draining = false
  server.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close')
  })
  const connections = (): Promise<number> =>
    new Promise((resolve) =>
      server.server.getConnections((error, count) => resolve(error ? 0 : count)),
    )
  return {
    async begin() {
      draining = true
      // Node's http.Server.close() would end the idle connections at once; this one only stops
      // listening.
      net.Server.prototype.close.call(server.server)
      const until = Date.now() + longestMs
      while (Date.now() < until && (await connections()) > 0) await pause(lookMs)
    },
  }
}
