/**
 * The fast path for cached pages. node:http takes several times as long over a request as finding
 * and sending a cached page takes. So a connection begins here, and a plain GET of a cached page is
 * answered here. The first other request goes to node:http with its connection, unread, and so do
 * all later ones on it.
 */
import type { Socket } from 'node:net'
import type { WholeAnswer } from './cache/index.ts'

export interface FastPath {
  /** @param toHttp gives the connection to node:http, with `begun` as its first bytes */
  enter(socket: Socket, toHttp: (socket: Socket) => void): void
  /** Flushes the sockets that still have bytes to send, and destroys all others. */
  close(): void
  destroy(): void
}

/** A connection that says nothing, as node:http's headersTimeout ends it, ms. */
const silentMs = 15_000

/**
 * @param answerTo the whole answer to a whole request; null: node:http is to read it
 * @param idleMs for how long a connection may be idle
 */
export function createFastPath(
  answerTo: (request: Buffer, socket: Socket) => WholeAnswer | null,
  idleMs: number,
): FastPath {
  const open = new Set<Socket>()
  let isClosing = false

  function enter(socket: Socket, toHttp: (socket: Socket) => void): void {
    let isNew = true
    const onData = (chunk: Buffer): void => {
      const answer = isClosing ? null : answerTo(chunk, socket)
      if (answer === null) return leave(chunk)
      if (isNew) {
        isNew = false
        socket.setTimeout(idleMs)
      }
      // A client that requests without reading waits, and is ended by the time limit above.
      socket.cork()
      socket.write(answer.head, 'latin1')
      const goesOn = socket.write(answer.body)
      socket.uncork()
      if (!goesOn) {
        socket.pause()
        socket.once('drain', onDrain)
      }
    }
    const onDrain = (): void => void socket.resume()
    const onEnd = (): void => void socket.end()
    const onBad = (): void => void socket.destroy()
    const onClose = (): void => void open.delete(socket)

    function leave(chunk: Buffer): void {
      socket.off('data', onData).off('drain', onDrain).off('end', onEnd)
      socket.off('error', onBad).off('timeout', onBad).off('close', onClose)
      open.delete(socket)
      socket.setTimeout(0)
      socket.pause()
      toHttp(socket)
      socket.unshift(chunk)
      socket.resume()
    }

    open.add(socket)
    socket.setTimeout(silentMs)
    socket.on('data', onData).on('end', onEnd)
    socket.on('error', onBad).on('timeout', onBad).on('close', onClose)
  }

  return {
    enter,
    close() {
      isClosing = true
      for (const socket of open) {
        if (socket.writableLength === 0) socket.destroy()
        else socket.end()
      }
    },
    destroy() {
      for (const socket of open) socket.destroy()
    },
  }
}
