/** The ports: UDP, and TCP (tcp.ts). */
import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { performance } from 'node:perf_hooks'
import { createTcp, type TcpLimits } from './tcp.ts'

export interface Handler {
  /** Undefined: no answer. `nowMs` is of a clock that never goes back. */
  udp(bytes: Buffer, address: string, nowMs: number): Buffer | undefined
  /** The messages of the answer, in order; none closes the connection. */
  tcp(bytes: Buffer, address: string): Iterable<Buffer>
}

export interface Ports {
  close(): Promise<void>
}

const socketBufferBytes = 4 * 1024 * 1024

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
export async function listen(of: {
  host: string
  port: number
  handler: Handler
  /** Those of TCP, where the usual ones are not meant. */
  limits?: TcpLimits
}): Promise<Ports> {
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
