/** DNS over TCP (RFC 7766): pipelined queries, and responses as fast as the client reads. */
import { once } from 'node:events'
import net from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { Places, type Place, type PlaceLimits } from './places.ts'

export interface TcpLimits extends PlaceLimits {
  /** The connection ends if nothing is received and nothing is taken for this long. */
  readonly idleMs: number
  /** Time limit from the first byte of a query to its last. */
  readonly questionMs: number
}

const usualLimits: TcpLimits = {
  idleMs: 10_000,
  questionMs: 10_000,
  connections: 300,
  connectionsPerNetwork: 30,
}

/** The messages of the response, in order; an empty list closes the connection. */
type Answer = (bytes: Buffer, address: string) => Iterable<Buffer>

function framed(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(message.length + 2)
  frame.writeUInt16BE(message.length, 0)
  message.copy(frame, 2)
  return frame
}

/** Resolves when the written data is taken, or the connection has ended. */
async function taken(socket: net.Socket): Promise<void> {
  const gone = new AbortController()
  const onClose = (): void => gone.abort()
  socket.once('close', onClose)
  // If it has ended, the caller sees it at the socket.
  await once(socket, 'drain', { signal: gone.signal }).catch(() => undefined)
  socket.off('close', onClose)
  // A turn of the event loop for others, even if a client reads a large zone fast.
  await turn()
}

/**
 * Answers one query after the other. While a response is not taken, nothing more is read from the
 * client.
 */
function converse(socket: net.Socket, place: Place, answer: Answer, limits: TcpLimits): void {
  const address = socket.remoteAddress ?? ''
  let waiting = Buffer.alloc(0)
  let isAnswering = false
  /** The client has half-closed: no more queries follow. */
  let hasEnded = false
  let late: NodeJS.Timeout | undefined

  function nextQuestion(): Buffer | undefined {
    if (waiting.length < 2) return undefined
    const end = waiting.readUInt16BE(0) + 2
    if (waiting.length < end) return undefined
    const question = waiting.subarray(2, end)
    waiting = waiting.subarray(end)
    return question
  }

  /** False: there is no response, or the client has gone. */
  async function send(question: Buffer): Promise<boolean> {
    let isAnswered = false
    for (const message of answer(question, address)) {
      isAnswered = true
      if (!socket.write(framed(message))) {
        socket.pause()
        await taken(socket)
      }
      if (socket.destroyed) return false
      place.busyAt = performance.now()
    }
    return isAnswered
  }

  async function answerAll(): Promise<void> {
    isAnswering = true
    for (let question = nextQuestion(); question; question = nextQuestion()) {
      clearTimeout(late)
      late = undefined
      place.busyAt = performance.now()
      if (!(await send(question))) {
        socket.destroy()
        return
      }
    }
    isAnswering = false
    if (hasEnded) socket.end()
    else socket.resume()
    if (waiting.length > 0) late ??= setTimeout(() => socket.destroy(), limits.questionMs)
  }
  const answerNext = (): void => {
    // A failing handler is a fault of the name server: the process ends.
    if (!isAnswering) void answerAll()
  }

  socket.setNoDelay(true)
  // The timeout restarts with every read, and with every part of a response that is taken.
  socket.setTimeout(limits.idleMs, () => socket.destroy())
  // A client that disconnects early is no error.
  socket.on('error', () => socket.destroy())
  socket.once('close', () => clearTimeout(late))
  socket.on('data', (chunk) => {
    waiting = waiting.length > 0 ? Buffer.concat([waiting, chunk]) : chunk
    answerNext()
  })
  socket.once('end', () => {
    hasEnded = true
    answerNext()
  })
}

/** A server, not listening yet, and the function that ends all its connections. */
export function createTcp(
  answer: Answer,
  limits: TcpLimits = usualLimits,
): { server: net.Server; endAll(): void } {
  const places = new Places(limits)
  // A client may send its query, half-close, and then wait for the response.
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    const place = places.take(socket.remoteAddress ?? '', performance.now(), () => {
      socket.destroy()
    })
    socket.once('close', () => places.leave(place))
    converse(socket, place, answer, limits)
  })
  return { server, endAll: () => places.endAll() }
}
