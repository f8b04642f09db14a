/** HTTPS with visitors: TLS 1.2 and 1.3, the certificate by the host name that they say (SNI). */
import type { AddressInfo, Socket } from 'node:net'
import tls, { type TLSSocket } from 'node:tls'
import { tlsSettings } from './certificates.ts'

export interface TlsListener {
  /** Resolves with the port. Rejects when it cannot be had. */
  listen(): Promise<number>
  counts(): TlsCounts
  /** Takes no new connection; resolves when those that are open have ended. */
  close(): Promise<void>
  /** Ends connections that have not said a word of HTTP yet. */
  destroyUnready(): void
}
/** Since the start: handshakes that came about, those of them that resumed, and others. */
export interface TlsCounts {
  readonly done: number
  readonly resumed: number
  readonly failed: number
}

const handshakeMs = 10_000

export function createTlsListener(parts: {
  readonly port: number
  readonly host: string
  readonly contextOf: (host: string) => tls.SecureContext | undefined
  readonly onHttp1: (socket: TLSSocket) => void
  readonly onHttp2: (socket: TLSSocket) => void
}): TlsListener {
  const counts = { done: 0, resumed: 0, failed: 0 }
  /** Connections without a handshake yet, by the visitor's end of each. */
  const shaking = new Map<string, Socket>()
  const endOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
  // Without a certificate: a client that names no host of ours gets the alert handshake_failure,
  // and never another customer's certificate.
  const none = tls.createSecureContext(tlsSettings)
  const server = tls.createServer({
    ...tlsSettings,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: handshakeMs,
    noDelay: true,
    SNICallback: (name, done) =>
      done(null, parts.contextOf(name.toLowerCase().replace(/\.$/, '')) ?? none),
  })
  server.on('connection', (socket: Socket) => {
    const end = endOf(socket)
    shaking.set(end, socket)
    socket.once('close', () => {
      if (shaking.get(end) === socket) shaking.delete(end)
    })
  })
  server.on('secureConnection', (socket) => {
    counts.done++
    shaking.delete(endOf(socket))
    if (socket.isSessionReused()) counts.resumed++
    // A visitor who disconnects is no error of ours.
    socket.on('error', () => socket.destroy())
    if (socket.alpnProtocol === 'h2') parts.onHttp2(socket)
    else parts.onHttp1(socket)
  })
  server.on('tlsClientError', (_error, socket) => {
    counts.failed++
    socket.destroy()
  })
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(parts.port, parts.host, () => {
          server.off('error', reject)
          resolve((server.address() as AddressInfo).port)
        })
      }),
    counts: () => ({ ...counts }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
    destroyUnready() {
      for (const socket of shaking.values()) socket.destroy()
    },
  }
}
