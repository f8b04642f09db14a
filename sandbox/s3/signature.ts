/**
 * Checks AWS Signature Version 4 as a server does: everything that is signed is taken from the
 * received request. https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { sameText } from '../constant-time.ts'

export interface S3Account {
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const digest = (what: string | Buffer): string => createHash('sha256').update(what).digest('hex')
const sign = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text, 'utf8').digest()

const longestSkewMs = 15 * 60_000
const shape = new RegExp(
  '^AWS4-HMAC-SHA256 Credential=([^/]+)/(\\d{8})/([^/]+)/s3/aws4_request, ?' +
    'SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$',
)

const momentOf = (stamp: string): number =>
  Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

/** S3's error code; undefined for a valid signature. */
export function judgeSignature(
  request: IncomingMessage,
  body: Buffer,
  account: S3Account,
  now = new Date(),
): string | undefined {
  const { headers, method = '', url = '' } = request
  const parts = shape.exec(headers.authorization ?? '')
  if (!parts) return 'AccessDenied'
  const [, accessKey, day = '', region = '', names = '', signature] = parts
  if (accessKey !== account.accessKeyId) return 'InvalidAccessKeyId'
  if (region !== account.region) return 'AuthorizationHeaderMalformed'
  const stamp = String(headers['x-amz-date'])
  const skew = Math.abs(momentOf(stamp) - now.getTime())
  if (!stamp.startsWith(day) || !(skew <= longestSkewMs)) return 'RequestTimeTooSkewed'
  const signed = names.split(';')
  if (!signed.includes('host') || !signed.includes('x-amz-content-sha256')) return 'AccessDenied'
  const [path = '', query = ''] = url.split('?')
  const sortedQuery = query
    .split('&')
    .filter((each) => each !== '')
    .map((each) => (each.includes('=') ? each : `${each}=`))
    .toSorted()
    .join('&')
  const content = String(headers['x-amz-content-sha256'])
  const canonical =
    `${method}\n${path}\n${sortedQuery}\n` +
    `${signed.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join('')}\n` +
    `${names}\n${content}`
  const scope = `${day}/${region}/s3/aws4_request`
  let key: string | Buffer = `AWS4${account.secretAccessKey}`
  for (const step of [day, region, 's3', 'aws4_request']) key = sign(key, step)
  const expected = sign(key, `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${digest(canonical)}`)
  if (!sameText(expected.toString('hex'), signature)) return 'SignatureDoesNotMatch'
  return content === digest(body) ? undefined : 'XAmzContentSHA256Mismatch'
}
