/**
 * An object store with the part of S3's protocol that backups need: objects, multipart uploads,
 * paged lists; buckets in the path, signed requests only. In memory.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations.html
 */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { judgeSignature, type S3Account } from './signature.ts'

export interface S3StandIn {
  readonly url: string
  /** Keys are bucket and key: `backups/a/b`. */
  readonly objects: Map<string, Buffer>
  /** Number of multipart uploads that were neither completed nor aborted. */
  uploads(): number
  /** Answers the next requests with 503. */
  failNext(count: number): void
  close(): Promise<void>
}

interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

interface Upload {
  readonly name: string
  readonly parts: Map<number, Buffer>
}

const statuses: Readonly<Record<string, number>> = {
  AuthorizationHeaderMalformed: 400,
  EntityTooSmall: 400,
  InvalidPart: 400,
  XAmzContentSHA256Mismatch: 400,
  NoSuchBucket: 404,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  MethodNotAllowed: 405,
  SlowDown: 503,
}

const tagOf = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`
const xml = (body: string, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
})
const refuse = (code: string): Reply =>
  xml(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`, statuses[code] ?? 403)

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/**
 * Listens on a free port of this machine.
 * @param options.pageSize objects in one page of a list; S3: 1000
 * @param options.leastPartBytes smallest size of all parts but the last; S3: 5 MB
 */
export async function startS3(
  account: S3Account,
  options: {
    readonly bucket: string
    readonly pageSize?: number
    readonly leastPartBytes?: number
  },
): Promise<S3StandIn> {
  const { bucket, pageSize = 1000, leastPartBytes = 5 * 1_048_576 } = options
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Upload>()
  let failures = 0

  function list(query: URLSearchParams): Reply {
    const prefix = query.get('prefix') ?? ''
    const after = query.get('continuation-token') ?? ''
    const keys = [...objects.keys()]
      .map((name) => name.slice(bucket.length + 1))
      .filter((key) => key.startsWith(prefix) && key > after)
      .toSorted()
    const page = keys.slice(0, pageSize)
    const isTruncated = keys.length > page.length
    return xml(
      `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>` +
        (isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '') +
        page.map((key) => `<Contents><Key>${encodeURIComponent(key)}</Key></Contents>`).join('') +
        '</ListBucketResult>',
    )
  }

  function endUpload(id: string, upload: Upload, body: Buffer): Reply {
    const named = [
      ...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/g),
    ]
    const parts = named.map(([, number, tag]) => ({ part: upload.parts.get(Number(number)), tag }))
    if (parts.length === 0 || parts.some(({ part, tag }) => !part || tagOf(part) !== tag))
      return refuse('InvalidPart')
    const content = parts.map(({ part }) => part ?? Buffer.alloc(0))
    if (content.slice(0, -1).some((part) => part.length < leastPartBytes))
      return refuse('EntityTooSmall')
    objects.set(upload.name, Buffer.concat(content))
    uploads.delete(id)
    return xml('<CompleteMultipartUploadResult/>')
  }

  /** The whole object, or the bytes of a Range header (RFC 9110, 14.2). */
  function partOf(found: Buffer, range = ''): Reply {
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? []
    if (start === undefined || end === undefined) return { status: 200, body: found }
    const body = found.subarray(Number(start), Number(end) + 1)
    const of = `bytes ${start}-${Number(start) + body.length - 1}/${found.length}`
    return { status: 206, body, headers: { 'content-range': of } }
  }

  /** Handles a request about a multipart upload; undefined for any other request. */
  function inParts(
    method: string,
    name: string,
    query: URLSearchParams,
    body: Buffer,
  ): Reply | undefined {
    if (method === 'POST' && query.has('uploads')) {
      const id = randomUUID()
      uploads.set(id, { name, parts: new Map() })
      return xml(
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      )
    }
    const id = query.get('uploadId')
    if (id === null) return undefined
    const upload = uploads.get(id)
    if (upload?.name !== name) return refuse('NoSuchUpload')
    if (method === 'POST') return endUpload(id, upload, body)
    if (method === 'DELETE') {
      uploads.delete(id)
      return { status: 204 }
    }
    upload.parts.set(Number(query.get('partNumber')), body)
    return { status: 200, headers: { etag: tagOf(body) } }
  }

  function answer(request: IncomingMessage, body: Buffer): Reply {
    if (failures > 0) {
      failures -= 1
      return refuse('SlowDown')
    }
    const fault = judgeSignature(request, body, account)
    if (fault !== undefined) return refuse(fault)
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost')
    const name = decodeURIComponent(pathname.slice(1))
    if (name !== bucket && !name.startsWith(`${bucket}/`)) return refuse('NoSuchBucket')
    const { method = '' } = request
    if (name === bucket) return method === 'GET' ? list(query) : refuse('MethodNotAllowed')
    const reply = inParts(method, name, query, body)
    if (reply) return reply
    if (method === 'PUT') {
      objects.set(name, body)
      return { status: 200, headers: { etag: tagOf(body) } }
    }
    if (method === 'DELETE') {
      objects.delete(name)
      return { status: 204 }
    }
    const found = objects.get(name)
    if (method !== 'GET' || !found) return refuse('NoSuchKey')
    return partOf(found, request.headers.range)
  }

  const server = createServer((request, response) => {
    void bodyOf(request).then(
      (body) => {
        const { status, headers, body: text } = answer(request, body)
        response.writeHead(status, headers).end(text)
      },
      // The client has gone, so no answer is needed.
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    objects,
    uploads: () => uploads.size,
    failNext(count) {
      failures = count
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
