/** The edge's listeners: HTTP, and HTTPS with HTTP/2, on a port each. */
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { unusedOf } from '../platform/unused-connections.ts'
import { opensWebSocket } from '../platform/upgrade.ts'
import { createFastPath } from './fast-path.ts'
import { createHttp2Door, type VisitorRequest } from './http2.ts'
import type { EdgeHttps } from './https.ts'
import { createTlsListener, type TlsCounts } from './tls-listener.ts'

/** An idle connection is closed after this long. */
export const idleMs = 65_000
const closeMs = 10_000

export interface Doors {
  /** Resolves with the port of HTTP. Rejects when it, or that of HTTPS, cannot be had. */
  listen(): Promise<number>
  /** The port of HTTPS, once it listens. */
  tlsPort(): number | undefined
  /** All zero without HTTPS. */
  tlsCounts(): TlsCounts
  /** Lets requests in hand finish, at most 10 s. */
  close(): Promise<void>
}

export function createDoors(parts: {
  /** 0: the system chooses. */
  readonly port: number
  readonly host: string
  /** Absent: HTTP only. */
  readonly https?: EdgeHttps
  readonly forward: (request: VisitorRequest, response: http.ServerResponse) => void
  readonly upgrade: (request: http.IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Kept pages that are sent past node:http. */
  readonly keptAnswer: Parameters<typeof createFastPath>[0]
}): Doors {
  const { https, forward } = parts
  const server = http.createServer(
    {
      keepAliveTimeout: idleMs,
      headersTimeout: 15_000,
      requestTimeout: 600_000,
      noDelay: true,
      shouldUpgradeCallback: opensWebSocket,
    },
    forward,
  )
  const unused = unusedOf(server)
  const [httpConnection] = server.listeners('connection') as ((socket: Socket) => void)[]
  const toHttp = (socket: Socket): void => {
    unused.watch(socket)
    httpConnection!.call(server, socket)
  }
  const fastPath = createFastPath(parts.keptAnswer, idleMs)
  server.off('connection', httpConnection!)
  server.on('connection', (socket: Socket) => fastPath.enter(socket, toHttp))
  server.on('upgrade', parts.upgrade)
  server.on('clientError', (_error, socket) => {
    if (socket.writable)
      socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
    else socket.destroy()
  })
  const http2Door = createHttp2Door(forward)
  const tlsListener =
    https &&
    createTlsListener({
      port: https.port,
      host: parts.host,
      contextOf: https.certificates.contextOf,
      // One server for both: the same limits and the same shutdown.
      onHttp1: (socket) => server.emit('connection', socket),
      onHttp2: http2Door.enter,
    })
  let tlsPort: number | undefined

  return {
    async listen() {
      const port = await new Promise<number>((resolve, reject) => {
        server.once('error', reject)
        server.listen(parts.port, parts.host, () => {
          server.off('error', reject)
          resolve((server.address() as AddressInfo).port)
        })
      })
      tlsPort = await tlsListener?.listen()
      return port
    },
    tlsPort: () => tlsPort,
    tlsCounts: () => tlsListener?.counts() ?? { done: 0, resumed: 0, failed: 0 },
    close: async () => {
      const timer = setTimeout(() => {
        server.closeAllConnections()
        fastPath.destroy()
        http2Door.destroy()
      }, closeMs)
      const tlsClosed = tlsListener?.close()
      tlsListener?.destroyUnready()
      const plainClosed = new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
        unused.end()
        fastPath.close()
      })
      await Promise.all([plainClosed, http2Door.close(), tlsClosed])
      clearTimeout(timer)
    },
  }
}
