/** Answers a visitor with a kept page: compressed, or with 304, as the visitor wants it. */
import http from 'node:http'
import {
  acceptedEncoding,
  compressed,
  decompressed,
  encodedHeaders,
  weak,
  type Encoding,
} from '../compression.ts'
import type { VisitorRequest } from '../http2.ts'
import { headerOf } from '../raw-headers.ts'
import { encodingsOf } from '../sink.ts'
import type { RequestHead } from './rules.ts'
import type { Entry } from './store.ts'

/** The body in an encoding, immediately if it exists; it is made once for all requests. */
function bodyOf(
  entry: Entry,
  encoding: Encoding | null,
  onMade: (entry: Entry) => void,
): Buffer | Promise<Buffer> {
  if (encoding === null) {
    if (entry.plain) return entry.plain
    const [[known, body]] = [...entry.made] as [[Encoding, Buffer | Promise<Buffer>]]
    return Promise.resolve(body).then((bytes) => decompressed(bytes, known))
  }
  const found = entry.made.get(encoding)
  if (found) return found
  const making = Promise.resolve(bodyOf(entry, null, onMade))
    .then((plain) => compressed(plain, encoding))
    .then((made) => {
      entry.made.set(encoding, made)
      // Other encodings are made from this one: it takes a sixth of the memory.
      entry.plain = null
      onMade(entry)
      return made
    })
  entry.made.set(encoding, making)
  making.catch(() => entry.made.delete(encoding))
  return making
}

function isKnown(request: VisitorRequest, entry: Entry): boolean {
  const match = request.headers['if-none-match']
  if (match !== undefined)
    return match
      .split(',')
      .some((one) => one.trim() === '*' || weak(one.trim()) === weak(entry.etag))
  const since = Date.parse(request.headers['if-modified-since'] ?? '')
  return entry.lastModified !== undefined && since >= Date.parse(entry.lastModified)
}

/** Headers of an entry in an encoding, but for its age. */
const prepared = new WeakMap<Entry, Map<Encoding | null, readonly string[]>>()
function headersOf(entry: Entry, encoding: Encoding | null, length: number): readonly string[] {
  let all = prepared.get(entry)
  if (!all) prepared.set(entry, (all = new Map()))
  let found = all.get(encoding)
  if (!found) {
    const raw = entry.isCompressible ? encodedHeaders(entry.raw, encoding) : entry.raw
    const bodiless = entry.status === 304 || entry.status === 204
    found = bodiless ? raw : [...raw, 'Content-Length', String(length)]
    all.set(encoding, found)
  }
  return found
}

const heads = new WeakMap<readonly string[], string>()
/** The head of a kept answer up to its age, as node:http would write it. */
function headText(status: number, headers: readonly string[], idleSeconds: number): string {
  let found = heads.get(headers)
  if (found === undefined) {
    let lines = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}\r\n`
    for (let index = 0; index < headers.length; index += 2)
      lines += `${headers[index]}: ${headers[index + 1]}\r\n`
    found =
      `${lines}Connection: keep-alive\r\nKeep-Alive: timeout=${idleSeconds}\r\n` +
      'X-Cache: HIT\r\nAge: '
    heads.set(headers, found)
  }
  return found
}

/** An HTTP/1.1 response. Its body is the cached buffer, so a slow reader holds no copy. */
export interface WholeAnswer {
  /** Latin-1. */
  readonly head: string
  readonly body: Buffer
}

/**
 * The same answer to a GET as a whole; null where it is not at hand at once, or the visitor may
 * have it already.
 */
export function wholeAnswer(
  { headers }: RequestHead,
  entry: Entry,
  idleSeconds: number,
): WholeAnswer | null {
  if (headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined)
    return null
  const accepted = headers['accept-encoding']
  const encoding =
    entry.isCompressible && typeof accepted === 'string' ? acceptedEncoding(accepted) : null
  const body = encoding === null ? entry.plain : entry.made.get(encoding)
  if (!Buffer.isBuffer(body)) return null
  const raw = headersOf(entry, encoding, body.length)
  const age = Math.floor((performance.now() - entry.storedAt) / 1000)
  const date = headerOf(raw, 'date') === undefined ? `Date: ${new Date().toUTCString()}\r\n` : ''
  return { head: `${headText(entry.status, raw, idleSeconds)}${age}\r\n${date}\r\n`, body }
}

/** The cache's result for a visitor. */
export type CacheWord = 'HIT' | 'MISS' | 'BYPASS'

/**
 * @param onMade called when the entry takes another number of bytes
 */
export function serve(
  request: VisitorRequest,
  response: http.ServerResponse,
  entry: Entry,
  word: CacheWord,
  onMade: (entry: Entry) => void,
): void {
  const ofCache = ['X-Cache', word]
  if (word === 'HIT')
    ofCache.push('Age', String(Math.floor((performance.now() - entry.storedAt) / 1000)))
  if (entry.status === 200 && isKnown(request, entry)) {
    const kept = new Set(['cache-control', 'content-location', 'date', 'etag', 'expires', 'vary'])
    const raw = encodedHeaders(entry.raw, null).filter((_one, index, all) =>
      kept.has(all[index - (index % 2)]!.toLowerCase()),
    )
    response.writeHead(304, [...raw, ...ofCache])
    response.end()
    return
  }
  const encoding = entry.isCompressible ? acceptedEncoding(encodingsOf(request)) : null
  if (request.method === 'HEAD') {
    response.writeHead(entry.status, [...headersOf(entry, null, entry.plainBytes), ...ofCache])
    response.end()
    return
  }
  let hasLeft = false
  const send = (body: Buffer): void => {
    if (hasLeft) return
    response.writeHead(entry.status, [...headersOf(entry, encoding, body.length), ...ofCache])
    response.end(body)
  }
  const body = bodyOf(entry, encoding, onMade)
  if (Buffer.isBuffer(body)) return send(body)
  response.once('close', () => (hasLeft = true))
  body.then(send, () => response.destroy())
}
