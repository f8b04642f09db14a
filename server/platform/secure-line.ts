/**
 * A line of JSON-RPC between two machines: TLS with a pre-shared key (TLS-PSK, RFC 4279; with
 * ECDHE, RFC 8442, so that a key that leaks later decrypts nothing recorded before). Neither end
 * needs a certificate, and a peer without the key gets no connection. The same port also serves
 * streams of bytes, told apart by the PSK identity.
 */
import { createHash } from 'node:crypto'
import net from 'node:net'
import tls from 'node:tls'
import {
  createMessageConnection,
  SocketMessageReader,
  SocketMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node'
import { readHostAndPort, type HostAndPort } from '../../contract/host-and-port.ts'
import { seconds } from './clock.ts'
import type { Log } from './log.ts'

/** Node's TLS 1.3 has no keys of this kind. */
const protocol = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
} as const
const identity = 'portal'
/** Release 2 and older ones refuse it. */
const streamIdentity = 'portal-stream'
const ping = 'line/ping'
const pingMs = seconds(10)
/** A machine that vanished does not say so. */
const answerMs = seconds(10)
const handshakeMs = seconds(10)
const stillMs = seconds(60)
const firstPauseMs = 250
const longestPauseMs = seconds(5)

/** OpenSSL takes keys of a limited length; an operator's may be longer. */
const keyBytes = (key: string): Buffer => createHash('sha256').update(key).digest()

/** @throws Error of an address that is no host and port */
function hostAndPort(address: string, leastPort?: 0): HostAndPort {
  const read = readHostAndPort(address, leastPort)
  if (!read) throw new Error(`${address} is no host and port`)
  return read
}

function lineOver(socket: tls.TLSSocket): MessageConnection {
  const line = createMessageConnection(
    new SocketMessageReader(socket),
    new SocketMessageWriter(socket),
  )
  socket.setKeepAlive(true, pingMs)
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.once('close', () => line.dispose())
  // A faulty message ends the line: the other end opens another one.
  line.onError(() => socket.destroy())
  return line
}

/** A stream without traffic is ended, whichever end has vanished. */
function tended(socket: tls.TLSSocket): tls.TLSSocket {
  socket.setTimeout(stillMs, () => socket.destroy(new Error('nothing came for too long')))
  socket.on('error', () => socket.destroy())
  return socket
}

/**
 * Opens a stream to a peer that serves lines there.
 * @throws Error if nobody answers, or the peer's release has no streams
 */
export function openSecureStream(parts: {
  /** host:port */
  readonly address: string
  readonly key: string
}): Promise<tls.TLSSocket> {
  const psk = keyBytes(parts.key)
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      ...protocol,
      ...hostAndPort(parts.address),
      pskCallback: () => ({ psk, identity: streamIdentity }),
      // The key proves the peer's identity: there is no certificate.
      checkServerIdentity: () => undefined,
    })
    socket.setTimeout(handshakeMs, () => socket.destroy(new Error('no connection in time')))
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed')))
    socket.once('secureConnect', () => {
      socket.removeAllListeners('timeout')
      resolve(tended(socket))
    })
  })
}

export interface SecureLines {
  readonly port: number
  close(): Promise<void>
}

/** Rejects with the system's error for the port (EADDRINUSE). */
export async function serveSecureLines(parts: {
  /** host:port */
  readonly listen: string
  readonly key: string
  readonly log: Pick<Log, 'warn' | 'info'>
  /** Receives each new line, and sets it to listening. */
  readonly onLine: (line: MessageConnection) => void
  /** Receives each stream; without it, streams are refused. */
  readonly onStream?: ((socket: tls.TLSSocket) => void) | undefined
}): Promise<SecureLines> {
  const psk = keyBytes(parts.key)
  const sockets = new Set<net.Socket>()
  const streams = new WeakSet<tls.TLSSocket>()
  const { onStream } = parts
  const server = tls.createServer({
    ...protocol,
    handshakeTimeout: handshakeMs,
    pskCallback(socket, given) {
      if (given === streamIdentity && onStream) streams.add(socket)
      else if (given !== identity) return null
      return psk
    },
  })
  // Includes sockets whose handshake is not finished.
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('secureConnection', (socket) => {
    if (streams.has(socket)) return onStream?.(tended(socket))
    const line = lineOver(socket)
    line.onRequest(ping, () => null)
    return parts.onLine(line)
  })
  server.on('tlsClientError', (error, socket) => {
    parts.log.warn(
      { err: error, from: socket.remoteAddress },
      'a line was refused: the other end has no TLS, or another key',
    )
  })
  const { host, port } = hostAndPort(parts.listen, 0)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    port: (server.address() as net.AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

export interface SecureLine {
  /** Undefined while there is none. */
  line(): MessageConnection | undefined
  /** Ends the present one, over which nothing comes any more; another one is opened. */
  reopen(): void
  close(): void
}

/** Opens a line, and another one whenever it ends. */
export function openSecureLine(parts: {
  /** host:port */
  readonly address: string
  readonly key: string
  readonly log: Pick<Log, 'warn' | 'info'>
  /** Prepares a new line, which listens; when it has resolved, the line is the present one. */
  readonly onLine?: (line: MessageConnection) => Promise<void>
  /** A line is there, for the first time or again. */
  readonly onOpen?: () => void
}): SecureLine {
  const psk = keyBytes(parts.key)
  const { address, log } = parts
  let present: MessageConnection | undefined
  let socket: tls.TLSSocket | undefined
  let timer: NodeJS.Timeout | undefined
  let pauseMs = firstPauseMs
  let closed = false
  let wasRefused = false

  function watch(opened: tls.TLSSocket, line: MessageConnection): void {
    let late: NodeJS.Timeout | undefined
    const asking = setInterval(() => {
      late ??= setTimeout(() => opened.destroy(), answerMs)
      line.sendRequest(ping).then(
        () => {
          clearTimeout(late)
          late = undefined
        },
        () => opened.destroy(),
      )
    }, pingMs)
    asking.unref()
    opened.once('close', () => {
      clearInterval(asking)
      clearTimeout(late)
    })
  }

  function open(): void {
    const opened = tls.connect({
      ...protocol,
      ...hostAndPort(address),
      pskCallback: () => ({ psk, identity }),
      // The key proves the peer's identity: there is no certificate.
      checkServerIdentity: () => undefined,
    })
    socket = opened
    opened.setTimeout(handshakeMs, () => opened.destroy(new Error('no connection in time')))
    opened.once('secureConnect', () => {
      opened.setTimeout(0)
      const line = lineOver(opened)
      line.listen()
      watch(opened, line)
      Promise.resolve(parts.onLine?.(line)).then(
        () => {
          if (opened.destroyed) return
          present = line
          pauseMs = firstPauseMs
          wasRefused = false
          log.info({ address }, 'the line is open')
          parts.onOpen?.()
        },
        (error: unknown) => opened.destroy(error as Error),
      )
    })
    opened.on('error', (error) => {
      // Log once, not at every try.
      if (!closed && !wasRefused) log.warn({ err: error, address }, 'the line is not there')
      wasRefused = true
    })
    opened.once('close', () => {
      present = undefined
      if (closed) return
      timer = setTimeout(open, pauseMs)
      pauseMs = Math.min(longestPauseMs, pauseMs * 2)
    })
  }
  open()

  return {
    line: () => present,
    reopen: () => void socket?.destroy(),
    close() {
      closed = true
      clearTimeout(timer)
      socket?.destroy()
    },
  }
}
