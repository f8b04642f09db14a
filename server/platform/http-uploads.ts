/**
 * The bodies of uploads. With an Idempotency-Key one is in memory before its endpoint runs, for a
 * repeat is told by it: no longer than the endpoint takes, and few at once in this process.
 */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Uploading } from './http-calls.ts'
import { Refusal } from './errors.ts'
import { createGate, createKeyedGate } from './gate.ts'

/** An upload whose content its endpoint reads, and what it is compared by under a key. */
export interface Upload {
  readonly chunks: AsyncIterable<Buffer>
  /** Undefined without a key: the body is read as it comes. */
  readonly digest: string | undefined
}
export interface Uploads {
  /**
   * Runs `work` with the body of a call by `scope`. Refuses with conflict when the client breaks
   * off, and with unavailable when too many uploads with a key wait.
   */
  receive<T>(
    call: {
      readonly endpoint: Uploading
      readonly request: FastifyRequest
      readonly scope: string
    },
    work: (upload: Upload) => Promise<T>,
  ): Promise<T>
}

/** Uploads that may be in memory at once in this process, with at most 10 MB each. */
const heldAtOnce = 12
/** Others wait unread for at most so long, ms: a client of ours has given up by then. */
const waiting = { waiting: 36, longestWaitMs: 30_000 }
/** Of one caller, whose slow line must not hold up everybody else. */
const ofCaller = { atOnce: 2, waiting: 8 }

export function createUploads(): Uploads {
  const held = createGate({ atOnce: heldAtOnce, ...waiting })
  const own = createKeyedGate(ofCaller)
  return {
    async receive({ endpoint, request, scope }, work) {
      const body = (request.body as AsyncIterable<Buffer> | undefined) ?? Readable.from([])
      if (typeof request.headers['idempotency-key'] !== 'string')
        return await work({ chunks: unbroken(body), digest: undefined })
      return await own.run(scope, () =>
        held.run(async () => {
          const { content, digest } = await wholeOf(unbroken(body), endpoint.maxUploadBytes)
          return await work({ chunks: Readable.from([content]), digest })
        }),
      )
    },
  }
}

/** How Node tells of a client that broke off: while its body is read, and before. */
const brokenOff = new Set(['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'])

async function* unbroken(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks
  } catch (error) {
    // Nobody reads the refusal; it is no fault of ours, and the client may go on from what we have.
    if (brokenOff.has((error as NodeJS.ErrnoException).code ?? '')) throw new Refusal('conflict')
    throw error
  }
}

/**
 * A body, of which at most one byte more than `most` stays in memory: by that its endpoint refuses
 * it. It is read to its end all the same, so that the refusal is an answer and not a broken
 * connection.
 */
async function wholeOf(
  chunks: AsyncIterable<Buffer>,
  most: number,
): Promise<{ readonly content: Buffer; readonly digest: string }> {
  const pieces: Buffer[] = []
  const hash = createHash('sha256')
  let room = most + 1
  for await (const piece of chunks) {
    hash.update(piece)
    if (room > 0) pieces.push(piece.subarray(0, room))
    room -= piece.length
  }
  return { content: Buffer.concat(pieces), digest: hash.digest('base64url') }
}
