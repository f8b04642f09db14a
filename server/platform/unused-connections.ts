import type http from 'node:http'
import type { Socket } from 'node:net'

/**
 * Ends connections that never carried a request. Node's `closeIdleConnections` leaves them out, and
 * Node's own time limits for them stop when the server stops listening: one silent client would
 * keep a closing server waiting. Returns the function that ends them.
 */
export function watchUnused(server: http.Server): () => void {
  const { watch, end } = unusedOf(server)
  server.on('connection', watch)
  return end
}

/** The same where not every connection of the server is node:http's to read. */
export function unusedOf(server: http.Server): {
  readonly watch: (socket: Socket) => void
  readonly end: () => void
} {
  const unused = new Set<Socket>()
  server.on('request', ({ socket }: http.IncomingMessage) => unused.delete(socket))
  server.on('upgrade', (_request: http.IncomingMessage, socket: Socket) => unused.delete(socket))
  return {
    watch(socket) {
      unused.add(socket)
      socket.once('close', () => unused.delete(socket))
    },
    end() {
      for (const socket of unused) socket.destroy()
    },
  }
}
