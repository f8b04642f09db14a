/**
 * The few calls of S3's API that backups need, at whoever speaks it (AWS, MinIO, Ceph, Garage …):
 * buckets in the path, AWS Signature Version 4.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { keyPath, queryText, sha256, signed, type S3Keys } from './s3-signature.ts'

export interface S3Settings extends S3Keys {
  /** An http or https address without a path. */
  readonly endpoint: string
}

/** The server's refusal. */
export class S3Failure extends Error {
  readonly status: number
  constructor(status: number, what: string, code: string) {
    super(`S3 answered ${status}${code === '' ? '' : ` ${code}`} to ${what}`)
    this.status = status
  }
}

interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Bytes of the answer, both ends included. */
  readonly part?: { readonly start: number; readonly end: number } | undefined
}

const tries = 5
const firstPauseMs = 200
/** Time limit until the response begins, ms. A part of 16 MB then needs 128 kB/s. */
const answerMs = 120_000

const decoded = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, code: string) => String.fromCodePoint(parseInt(code, 16)))
    .replaceAll('&amp;', '&')
/** The texts of every element of that name. */
const textsOf = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) =>
    decoded(text),
  )
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export class S3Bucket {
  readonly #settings: S3Settings
  readonly #bucket: string

  constructor(settings: S3Settings, bucket: string) {
    this.#settings = settings
    this.#bucket = bucket
  }

  async #once({ method, key, query = {}, body, part }: Call): Promise<Response> {
    const { endpoint } = this.#settings
    const path = `/${keyPath(this.#bucket)}${key === undefined ? '' : `/${keyPath(key)}`}`
    const { host, origin } = new URL(endpoint)
    const headers = { host, 'x-amz-content-sha256': sha256(body ?? '') }
    const { host: _, ...sent } = signed(
      { method, path, query, headers },
      this.#settings,
      new Date(),
    )
    const asked = queryText(query)
    const begun = new AbortController()
    const timer = setTimeout(() => begun.abort(new Error('S3 did not answer in time')), answerMs)
    try {
      const address = `${origin}${path}${asked === '' ? '' : `?${asked}`}`
      return await fetch(address, {
        method,
        headers: { ...sent, ...(part && { range: `bytes=${part.start}-${part.end}` }) },
        signal: begun.signal,
        redirect: 'error',
        ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
      })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Trouble that passes is tried again. Throws S3Failure for every other answer but 2xx. */
  async #call(call: Call): Promise<Response> {
    const what = `${call.method} ${call.key ?? this.#bucket}`
    for (let attempt = 1; ; attempt++) {
      let answer: Response | undefined
      let why: unknown
      try {
        answer = await this.#once(call)
      } catch (error) {
        why = error
      }
      if (answer?.ok) return answer
      if (answer) {
        const text = await answer.text().catch(() => '')
        why = new S3Failure(answer.status, what, textsOf(text, 'Code')[0] ?? '')
        if (answer.status < 500 && answer.status !== 429) throw why
      }
      if (attempt === tries)
        throw why instanceof S3Failure
          ? why
          : new Error(`S3 at ${this.#settings.endpoint} cannot be reached`, { cause: why })
      await pause(firstPauseMs * 2 ** (attempt - 1))
    }
  }

  /** All keys that begin with `prefix`. */
  async list(prefix: string): Promise<string[]> {
    const keys: string[] = []
    let from: Record<string, string> = {}
    for (;;) {
      const query = { 'list-type': '2', 'encoding-type': 'url', prefix, ...from }
      const xml = await (await this.#call({ method: 'GET', query })).text()
      for (const key of textsOf(xml, 'Key')) keys.push(decodeURIComponent(key.replaceAll('+', ' ')))
      const [next] = textsOf(xml, 'NextContinuationToken')
      if (textsOf(xml, 'IsTruncated')[0] !== 'true' || next === undefined) return keys
      from = { 'continuation-token': next }
    }
  }

  async get(
    key: string,
    part?: { readonly start: number; readonly end: number },
  ): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#call({ method: 'GET', key, part })
    return body ?? new ReadableStream({ start: (controller) => controller.close() })
  }

  async put(key: string, body: Uint8Array): Promise<void> {
    await (await this.#call({ method: 'PUT', key, body })).arrayBuffer()
  }

  /** Does nothing where there is none. */
  async remove(key: string): Promise<void> {
    await (await this.#call({ method: 'DELETE', key })).arrayBuffer()
  }

  /** Answers the upload's id. */
  async beginParts(key: string): Promise<string> {
    const answer = await this.#call({ method: 'POST', key, query: { uploads: '' } })
    const [id] = textsOf(await answer.text(), 'UploadId')
    if (id === undefined) throw new Error(`S3 began no upload of ${key}`)
    return id
  }

  /** `number` from 1 to 10 000. Answers the part's ETag. */
  async putPart(key: string, uploadId: string, number: number, body: Uint8Array): Promise<string> {
    const query = { partNumber: String(number), uploadId }
    const answer = await this.#call({ method: 'PUT', key, query, body })
    await answer.arrayBuffer()
    const tag = answer.headers.get('etag')
    if (tag === null) throw new Error(`S3 gave no ETag for a part of ${key}`)
    return tag
  }

  async endParts(key: string, uploadId: string, tags: readonly string[]): Promise<void> {
    const parts = tags.map(
      (tag, index) =>
        `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
    )
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
    const answer = await this.#call({ method: 'POST', key, query: { uploadId }, body })
    // S3 begins its answer before it knows: a failure may come under 200.
    const text = await answer.text()
    if (text.includes('<Error>'))
      throw new S3Failure(answer.status, `POST ${key}`, textsOf(text, 'Code')[0] ?? '')
  }

  async dropParts(key: string, uploadId: string): Promise<void> {
    const answer = await this.#call({ method: 'DELETE', key, query: { uploadId } })
    await answer.arrayBuffer()
  }
}
