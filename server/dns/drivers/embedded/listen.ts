/** The listeners: UDP, and TCP (tcp.ts). */
import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { performance } from 'node:perf_hooks'
import { createTcp, type TcpLimits } from './tcp.ts'

export interface Handler {
  /** Undefined: no response. `nowMs` is from a monotonic clock. */
  udp(bytes: Buffer, address: string, nowMs: number): Buffer | undefined
  /** The messages of the response, in order; an empty list closes the connection. */
  tcp(bytes: Buffer, address: string): Iterable<Buffer>
}

export interface Ports {
  close(): Promise<void>
}

const socketBufferBytes = 4 * 1024 * 1024

/**
 * Serves UDP. One turn of the event loop reads the packets that have arrived (libuv: up to 32), and
 * the end of the same turn answers all of them. Reading and sending in batches uses warm caches and
 * wakes clients for several responses at once: a quarter more responses a second.
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
      // A response that cannot be sent (no route) is dropped.
      if (answer) udp.send(answer, from.port, from.address)
    }
  }
  udp.on('message', (bytes, from) => {
    // A forged source port 0 cannot be answered.
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

/** Resolves when both listen; rejects with the system's error (EADDRINUSE, EACCES). */
export async function listen(of: {
  host: string
  port: number
  handler: Handler
  /** Limits of TCP, if not the default ones. */
  limits?: TcpLimits
}): Promise<Ports> {
  const { host, port, handler } = of
  const family = net.isIPv6(host) ? 6 : 4
  const udp = dgram.createSocket({
    type: `udp${family}`,
    recvBufferSize: socketBufferBytes,
    sendBufferSize: socketBufferBytes,
    // Responses go to addresses, never to names: skipping the lookup saves a turn of the event
    // loop.
    lookup: (address, _options, found) => found(null, address, family),
  })
  const questions = serve(udp, handler)
  const { server: tcp, endAll } = createTcp((bytes, from) => handler.tcp(bytes, from), of.limits)
  const close = async (): Promise<void> => {
    questions.stop()
    endAll()
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
    // Registered before `bind`: with the lookup above it listens at once.
    const listening = once(udp, 'listening')
    udp.bind(port, host)
    await listening
  } catch (error) {
    await close()
    throw error
  }
  return { close }
}
