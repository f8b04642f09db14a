/**
 * How a request to S3 is signed: AWS Signature Version 4, in headers. Every header that is given is
 * signed. https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
import { createHash, createHmac } from 'node:crypto'

export interface S3Keys {
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const hmac = (key: Buffer | string, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()
export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex')

/** Percent-encodes for the signature: everything but letters, digits and - . _ ~ */
export const uriEncoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** The path of a key: its slashes stay. */
export const keyPath = (key: string): string => key.split('/').map(uriEncoded).join('/')

/** The query in the order in which it is signed and sent. */
export const queryText = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => [uriEncoded(name), uriEncoded(value)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')

/**
 * The headers to send: the given ones, `x-amz-date` and `authorization`. `path` is encoded;
 * `headers` have lower-case names and include `host` and `x-amz-content-sha256`.
 */
export function signed(
  request: {
    readonly method: string
    readonly path: string
    readonly query: Readonly<Record<string, string>>
    readonly headers: Readonly<Record<string, string>>
  },
  { region, accessKeyId, secretAccessKey }: S3Keys,
  at: Date,
): Record<string, string> {
  const stamp = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = stamp.slice(0, 8)
  const headers: Record<string, string> = { ...request.headers, 'x-amz-date': stamp }
  const names = Object.keys(headers).toSorted()
  const canonical = [
    request.method,
    request.path,
    queryText(request.query),
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256'],
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const toSign = `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${sha256(canonical)}`
  const key = ['s3', 'aws4_request'].reduce(
    (before, text) => hmac(before, text),
    hmac(hmac(`AWS4${secretAccessKey}`, day), region),
  )
  const authorization =
    `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope},SignedHeaders=${names.join(';')},` +
    `Signature=${hmac(key, toSign).toString('hex')}`
  return { ...headers, authorization }
}
