/** The ports: UDP, and TCP with pipelining and limits (RFC 7766). */
import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { performance } from 'node:perf_hooks'

export interface Handler {
  /** Undefined: no answer. `nowMs` is of a clock that never goes back. */
  udp(bytes: Buffer, address: string, nowMs: number): Buffer | undefined
  /** The messages of the answer, in order; none closes the connection. */
  tcp(bytes: Buffer, address: string): Iterable<Buffer>
}

export interface Ports {
  close(): Promise<void>
}

const idleMs = 10_000
const connectionLimit = 300
const connectionsPerAddress = 30
/** A reader that leaves so much unread is cut off. */
const unreadBytes = 4 * 1024 * 1024
const socketBufferBytes = 4 * 1024 * 1024

function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(message.length + 2)
  frame.writeUInt16BE(message.length, 0)
  message.copy(frame, 2)
  return frame
}

function converse(socket: net.Socket, handler: Handler): void {
  const address = socket.remoteAddress ?? ''
  let waiting = Buffer.alloc(0)
  socket.setNoDelay(true)
  socket.setTimeout(idleMs, () => socket.destroy())
  // A client that disconnects early is no error of ours.
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    waiting = waiting.length > 0 ? Buffer.concat([waiting, chunk]) : chunk
    while (waiting.length >= 2) {
      const length = waiting.readUInt16BE(0)
      if (waiting.length < length + 2) break
      const query = waiting.subarray(2, length + 2)
      waiting = waiting.subarray(length + 2)
      let answered = false
      for (const message of handler.tcp(query, address)) {
        answered = true
        socket.write(framed(message))
      }
      if (!answered || socket.writableLength > unreadBytes) {
        socket.destroy()
        return
      }
    }
  })
}

/**
 * Answers what comes over UDP: one turn of the event loop reads what has come (libuv: up to 32
 * packets), and the end of the same turn answers all of it. Done by turns, reading and sending run
 * from warm caches, and askers are woken for several answers at once: a quarter more of them a
 * second.
 */
function serve(udp: dgram.Socket, handler: Handler): { stop(): void } {
  let questions: { bytes: Buffer; from: dgram.RemoteInfo }[] = []
  let stopped = false
  function answerAll(): void {
    const read = questions
    questions = []
    if (stopped) return
    const nowMs = performance.now()
    for (const { bytes, from } of read) {
      const answer = handler.udp(bytes, from.address, nowMs)
      // What cannot be sent (no route) is nobody's loss.
      if (answer) udp.send(answer, from.port, from.address)
    }
  }
  udp.on('message', (bytes, from) => {
    // Nothing can be sent to a forged source port 0.
    if (from.port === 0) return
    if (questions.length === 0) setImmediate(answerAll)
    questions.push({ bytes, from })
  })
  return {
    stop() {
      stopped = true
    },
  }
}

/** Resolves when both listen; fails with what the system says (EADDRINUSE, EACCES). */
export async function listen(of: { host: string; port: number; handler: Handler }): Promise<Ports> {
  const { host, port, handler } = of
  const family = net.isIPv6(host) ? 6 : 4
  const udp = dgram.createSocket({
    type: `udp${family}`,
    recvBufferSize: socketBufferBytes,
    sendBufferSize: socketBufferBytes,
    // Answers go to addresses, never to names: there is nothing to look up, and no turn of the
    // event loop to wait for.
    lookup: (address, _options, found) => found(null, address, family),
  })
  const questions = serve(udp, handler)
  const perAddress = new Map<string, number>()
  const sockets = new Set<net.Socket>()
  const tcp = net.createServer((socket) => {
    const address = socket.remoteAddress ?? ''
    const open = (perAddress.get(address) ?? 0) + 1
    if (open > connectionsPerAddress) {
      socket.destroy()
      return
    }
    perAddress.set(address, open)
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      const left = (perAddress.get(address) ?? 1) - 1
      if (left > 0) perAddress.set(address, left)
      else perAddress.delete(address)
    })
    converse(socket, handler)
  })
  tcp.maxConnections = connectionLimit
  const close = async (): Promise<void> => {
    questions.stop()
    for (const socket of sockets) socket.destroy()
    await Promise.all([
      new Promise<void>((resolve) => {
        if (tcp.listening) tcp.close(() => resolve())
        else resolve()
      }),
      new Promise<void>((resolve) => udp.close(() => resolve())),
    ])
  }
  try {
    tcp.listen(port, host)
    await once(tcp, 'listening')
    // Waited for beforehand: with the lookup above it listens at once.
    const listening = once(udp, 'listening')
    udp.bind(port, host)
    await listening
  } catch (error) {
    await close()
    throw error
  }
  return { close }
}
