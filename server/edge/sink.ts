/** Where the answer of an upstream goes: to a visitor, compressed where that helps. */
import type http from 'node:http'
import type zlib from 'node:zlib'
import { constants } from 'node:zlib'
import {
  acceptedEncoding,
  createPassing,
  encodedHeaders,
  isCompressible,
  smallestBytes,
  type Encoding,
} from './compression.ts'
import type { VisitorRequest } from './http2.ts'

/** What an upstream says of its answer to the edge alone. */
export interface Marks {
  /** It is a file of the site's folder. */
  readonly isFile: boolean
  /** Trailers with tags may follow. */
  readonly isTagged: boolean
}

export interface Sink {
  /** Whether the visitor has seen something of an answer. */
  readonly begun: boolean
  /** May be called again while nothing has begun: another upstream was asked. */
  begin(status: number, statusText: string | undefined, raw: string[], marks: Marks): void
  /** False: `onDrain` is called when there is room again. */
  write(chunk: Buffer): boolean
  end(trailers: Readonly<Record<string, string>>): void
  /** The answer broke off: the visitor must see that, not a short page that looks whole. */
  breakOff(): void
  /** Whoever waits for the answer has left. */
  onLeave: () => void
  onDrain: () => void
}

/** So long a small beginning waits for more, ms: it may be the whole of a small body. */
const holdMs = 20
/** So long what was compressed waits for more before it is sent, ms. */
const flushMs = 10

/**
 * Compressed pages that hold a secret and repeat what somebody else has asked for tell the secret
 * by their length (BREACH). Pages for one visitor are compressed only where no other site can have
 * asked for them: browsers say so, over HTTPS.
 */
export function mayTellSecrets(request: VisitorRequest, proto: 'http' | 'https'): boolean {
  const { headers } = request
  if (proto === 'http' || (headers.cookie === undefined && headers.authorization === undefined))
    return false
  const from = headers['sec-fetch-site']
  return from !== 'same-origin' && from !== 'none'
}

export class VisitorSink implements Sink {
  onLeave: () => void = () => {}
  onDrain: () => void = () => {}
  readonly #request: VisitorRequest
  readonly #response: http.ServerResponse
  readonly #encoding: Encoding | null | undefined
  /** What is added to every answer. */
  readonly #more: readonly string[]
  /** What waits for the decision whether the body is large enough. */
  #waiting: { status: number; raw: string[]; chunks: Buffer[]; bytes: number } | null = null
  #timer: NodeJS.Timeout | undefined
  #passing: zlib.BrotliCompress | zlib.Gzip | null = null

  /**
   * @param encoding null: this visitor gets nothing compressed; undefined: nobody does
   * @param more headers that are added to the answer
   */
  constructor(
    request: VisitorRequest,
    response: http.ServerResponse,
    encoding?: Encoding | null,
    more: readonly string[] = [],
  ) {
    this.#request = request
    this.#response = response
    this.#encoding = encoding
    this.#more = more
    response.once('close', this.#onClose)
    response.on('drain', this.#onDrain)
  }

  readonly #onClose = (): void => {
    clearTimeout(this.#timer)
    this.#passing?.destroy()
    this.onLeave()
  }
  readonly #onDrain = (): void => {
    if (this.#passing) this.#passing.resume()
    else this.onDrain()
  }

  get begun(): boolean {
    return this.#response.headersSent || this.#waiting !== null
  }

  begin(status: number, statusText: string | undefined, raw: string[]): void {
    const all = this.#more.length > 0 ? [...raw, ...this.#more] : raw
    const isOffered = this.#encoding !== undefined && this.#request.method !== 'HEAD'
    if (!isOffered || !isCompressible(status, all)) {
      this.#response.writeHead(status, statusText, all)
      return
    }
    if (this.#encoding === null) {
      this.#response.writeHead(status, statusText, encodedHeaders(all, null))
      return
    }
    this.#waiting = { status, raw: all, chunks: [], bytes: 0 }
  }

  write(chunk: Buffer): boolean {
    if (this.#passing) {
      const goesOn = this.#passing.write(chunk)
      this.#flushSoon()
      return goesOn
    }
    const waiting = this.#waiting
    if (!waiting) return this.#response.write(chunk)
    waiting.chunks.push(chunk)
    waiting.bytes += chunk.length
    if (waiting.bytes >= smallestBytes) this.#compress()
    else this.#timer ??= setTimeout(() => this.#compress(), holdMs)
    return true
  }

  #compress(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const waiting = this.#waiting
    if (!waiting || !this.#encoding) return
    this.#waiting = null
    this.#response.writeHead(waiting.status, encodedHeaders(waiting.raw, this.#encoding))
    const passing = createPassing(this.#encoding)
    this.#passing = passing
    passing.on('data', (chunk: Buffer) => {
      if (!this.#response.write(chunk)) passing.pause()
    })
    passing.on('drain', () => this.onDrain())
    passing.once('end', () => this.#response.end())
    passing.once('error', () => this.#response.destroy())
    for (const chunk of waiting.chunks) passing.write(chunk)
    this.#flushSoon()
  }

  #flushSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (this.#passing?.writable)
        this.#passing.flush(
          this.#encoding === 'gzip' ? constants.Z_SYNC_FLUSH : constants.BROTLI_OPERATION_FLUSH,
        )
    }, flushMs)
  }

  end(): void {
    clearTimeout(this.#timer)
    const waiting = this.#waiting
    this.#waiting = null
    if (this.#passing) this.#passing.end()
    else if (waiting) {
      const raw = encodedHeaders(waiting.raw, null).filter(
        (_one, index, all) => all[index - (index % 2)]!.toLowerCase() !== 'content-length',
      )
      this.#response.writeHead(waiting.status, [...raw, 'Content-Length', String(waiting.bytes)])
      this.#response.end(Buffer.concat(waiting.chunks))
    } else this.#response.end()
  }

  breakOff(): void {
    clearTimeout(this.#timer)
    this.#passing?.destroy()
    this.#response.destroy()
  }
}

/** Where an answer goes to that is nobody else's: compressed if that tells nothing. */
export const sinkFor = (
  request: VisitorRequest,
  response: http.ServerResponse,
  proto: 'http' | 'https',
  more: readonly string[] = [],
): VisitorSink =>
  new VisitorSink(
    request,
    response,
    mayTellSecrets(request, proto) ? null : acceptedEncoding(encodingsOf(request)),
    more,
  )

export const encodingsOf = ({ headers }: VisitorRequest): string | undefined => {
  const given = headers['accept-encoding']
  return Array.isArray(given) ? given.join(',') : given
}
