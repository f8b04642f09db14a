/**
 * A body that is too long is refused before it has come in. Whoever goes on sending then reads no
 * answer: the connection is reset. So the rest is read and forgotten first, within bounds.
 */
import type { IncomingMessage } from 'node:http'
import { seconds } from './clock.ts'

const mostBytes = 32 * 1024 * 1024
const longestMs = seconds(10)

/** Resolves when all of the body has come in, or when that is too much or takes too long. */
export function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    let bytes = 0
    const late = setTimeout(end, longestMs)
    late.unref()
    function count(chunk: Buffer): void {
      bytes += chunk.length
      if (bytes > mostBytes) end()
    }
    function end(): void {
      clearTimeout(late)
      request.off('data', count).off('end', end).off('close', end).off('error', end)
      resolve()
    }
    request.on('data', count).once('end', end).once('close', end).once('error', end)
    request.resume()
  })
}
