/** Which answers are compressed, and for whom (decision 69). */
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { headerOf, withoutHeaders, wordsOf } from './raw-headers.ts'

export type Encoding = 'br' | 'gzip'

/** A smaller body gains nothing: it fits into one packet. */
export const smallestBytes = 1_024
/** A cached body is compressed once, another one at every visit. */
const keptQuality = 6
const passingQuality = 4
const gzipLevel = 6

const compressible = new RegExp(
  String.raw`^(?:text/(?!event-stream)[\w.+-]+|` +
    String.raw`application/(?:[\w.+-]*\+)?(?:json|xml|javascript)|` +
    String.raw`application/(?:x-javascript|manifest\+json)|image/svg\+xml)\s*(?:;|$)`,
  'i',
)

/** By the raw header: browsers send few different ones. */
const known = new Map<string, Encoding | null>()
const mostKnown = 200

function readAccepted(header: string): Encoding | null {
  const quality = new Map<string, number>()
  for (const word of wordsOf(header)) {
    const [name = '', ...parameters] = word.split(';').map((part) => part.trim())
    const given = parameters.find((one) => one.startsWith('q='))
    quality.set(name, given === undefined ? 1 : Number(given.slice(2)) || 0)
  }
  const of = (name: string): number => quality.get(name) ?? quality.get('*') ?? 0
  if (of('br') > 0 && of('br') >= of('gzip')) return 'br'
  return of('gzip') > 0 ? 'gzip' : null
}

/** The best encoding for a visitor, by Accept-Encoding; null: none of ours. */
export function acceptedEncoding(header: string | undefined): Encoding | null {
  if (header === undefined || header === '') return null
  let found = known.get(header)
  if (found === undefined) {
    found = readAccepted(header)
    if (known.size >= mostKnown) known.clear()
    known.set(header, found)
  }
  return found
}

/** Whether an answer of this status and these headers is smaller when it is compressed. */
export function isCompressible(status: number, raw: readonly string[]): boolean {
  if (status < 200 || status === 204 || status === 206 || status === 304) return false
  if (!compressible.test(headerOf(raw, 'content-type') ?? '')) return false
  if (headerOf(raw, 'content-encoding') !== undefined) return false
  if (headerOf(raw, 'content-range') !== undefined) return false
  if (wordsOf(headerOf(raw, 'cache-control')).includes('no-transform')) return false
  const length = headerOf(raw, 'content-length')
  return length === undefined || Number(length) >= smallestBytes
}

/** The same page in another encoding is the same only in meaning (RFC 9110, 8.8.3.3). */
export const weak = (etag: string): string => (etag.startsWith('W/') ? etag : `W/${etag}`)

const bodyHeaders = new Set(['content-length', 'etag', 'accept-ranges', 'vary', 'content-md5'])

/**
 * Headers of a response that is compressed for some visitors.
 * @param encoding null: not for this visitor
 */
export function encodedHeaders(raw: readonly string[], encoding: Encoding | null): string[] {
  const vary = headerOf(raw, 'vary')
  const variesAlready = wordsOf(vary).some((word) => word === '*' || word === 'accept-encoding')
  const etag = headerOf(raw, 'etag')
  const length = headerOf(raw, 'content-length')
  let body: string[] = []
  if (encoding !== null) body = ['Content-Encoding', encoding]
  else if (length !== undefined) body = ['Content-Length', length]
  let varies = 'Accept-Encoding'
  if (vary !== undefined) varies = variesAlready ? vary : `${vary}, Accept-Encoding`
  return [
    ...withoutHeaders(raw, bodyHeaders),
    ...(etag === undefined ? [] : ['ETag', weak(etag)]),
    'Vary',
    varies,
    ...body,
  ]
}

/** A streaming compressor; the caller must flush after each write that no other follows soon. */
export const createPassing = (encoding: Encoding): zlib.BrotliCompress | zlib.Gzip =>
  encoding === 'br'
    ? zlib.createBrotliCompress({
        params: {
          [zlib.constants.BROTLI_PARAM_QUALITY]: passingQuality,
          [zlib.constants.BROTLI_PARAM_MODE]: zlib.constants.BROTLI_MODE_TEXT,
        },
      })
    : zlib.createGzip({ level: gzipLevel })

const brotli = promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)
const gzip = promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gzip)
const unbrotli = promisify<zlib.InputType, Buffer>(zlib.brotliDecompress)
const gunzip = promisify<zlib.InputType, Buffer>(zlib.gunzip)

/** Off the event loop. */
export const compressed = (body: Buffer, encoding: Encoding): Promise<Buffer> =>
  encoding === 'br'
    ? brotli(body, {
        params: {
          [zlib.constants.BROTLI_PARAM_QUALITY]: keptQuality,
          [zlib.constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        },
      })
    : gzip(body, { level: gzipLevel })

/** Off the event loop. */
export const decompressed = (body: Buffer, encoding: Encoding): Promise<Buffer> =>
  encoding === 'br' ? unbrotli(body) : gunzip(body)
