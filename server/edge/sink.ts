/** The destination of an upstream's response: a visitor, with compression where that helps. */
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

/** An upstream's marks in its response, for the edge only. */
export interface Marks {
  /** The response is a file of the site's folder. */
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
  /** The receiver of the response has left. */
  onLeave: () => void
  onDrain: () => void
}

/** How long a small first part waits for more, ms: it may be the whole of a small body. */
const holdMs = 20
/** How long compressed data waits for more before it is flushed, ms. */
const flushMs = 10

/**
 * Whether compression could reveal secrets (BREACH): the length of a compressed page reveals a
 * secret in it if the page also repeats input of an attacker. So pages for one visitor are
 * compressed only if no other site can have requested them: over HTTPS browsers report that.
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
  /** Headers added to every response. */
  readonly #more: readonly string[]
  /** The beginning of a response, held until its size shows whether to compress. */
  #waiting: { status: number; raw: string[]; chunks: Buffer[]; bytes: number } | null = null
  #timer: NodeJS.Timeout | undefined
  #passing: zlib.BrotliCompress | zlib.Gzip | null = null

  /**
   * @param encoding null: this visitor gets no compression; undefined: no visitor does
   * @param more headers that are added to the response
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

/** The sink of a visitor's own response, compressed if that reveals nothing. */
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
