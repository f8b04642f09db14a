/** Signed ACME calls (RFC 8555, section 6): reading and verifying. */
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'

export type Jwk = Readonly<Record<string, string>>
export interface SignedCall {
  readonly alg: string
  readonly nonce: string
  readonly url: string
  /** Exactly one of the two is given. */
  readonly jwk: Jwk | undefined
  readonly kid: string | undefined
  /** Undefined for a call without a payload (POST-as-GET). */
  readonly payload: Readonly<Record<string, unknown>> | undefined
  isSignedBy(key: Jwk): boolean
}

const members: Readonly<Record<string, readonly string[]>> = {
  EC: ['crv', 'kty', 'x', 'y'],
  RSA: ['e', 'kty', 'n'],
}

/** RFC 7638, base64url. */
export const thumbprintOf = (key: Jwk): string =>
  createHash('sha256')
    .update(
      JSON.stringify(
        Object.fromEntries((members[key['kty'] ?? ''] ?? []).map((name) => [name, key[name]])),
      ),
    )
    .digest('base64url')

const decode = (part: unknown): unknown =>
  JSON.parse(Buffer.from(String(part), 'base64url').toString('utf8'))

function isSigned(alg: string, key: Jwk, signed: Buffer, signature: Buffer): boolean {
  const hash = { ES256: 'sha256', ES384: 'sha384', RS256: 'sha256' }[alg]
  if (hash === undefined || (key['kty'] === 'EC') !== alg.startsWith('ES')) return false
  const publicKey = createPublicKey({ key, format: 'jwk' })
  return verify(hash, signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)
}

/** Undefined for a body that is no signed call. */
export function readCall(body: Buffer): SignedCall | undefined {
  try {
    const outer = JSON.parse(body.toString('utf8')) as Record<string, string>
    const head = decode(outer['protected']) as Record<string, unknown>
    const signed = Buffer.from(`${outer['protected']}.${outer['payload']}`)
    const signature = Buffer.from(outer['signature'] ?? '', 'base64url')
    const alg = String(head['alg'])
    return {
      alg,
      nonce: String(head['nonce']),
      url: String(head['url']),
      jwk: head['jwk'] as Jwk | undefined,
      kid: head['kid'] as string | undefined,
      payload:
        outer['payload'] === '' ? undefined : (decode(outer['payload']) as Record<string, unknown>),
      isSignedBy: (key) => isSigned(alg, key, signed, signature),
    }
  } catch {
    return undefined
  }
}

/** Whether an external account's key has signed the account's key (RFC 8555, 7.3.4). */
export function isBound(
  binding: unknown,
  of: { readonly keyId: string; readonly hmacKey: Buffer; readonly key: Jwk; readonly url: string },
): boolean {
  try {
    const outer = binding as Record<string, string>
    const head = decode(outer['protected']) as Record<string, unknown>
    const signature = createHmac('sha256', of.hmacKey)
      .update(`${outer['protected']}.${outer['payload']}`)
      .digest()
    const given = Buffer.from(outer['signature'] ?? '', 'base64url')
    return (
      head['alg'] === 'HS256' &&
      head['kid'] === of.keyId &&
      head['url'] === of.url &&
      given.length === signature.length &&
      timingSafeEqual(given, signature) &&
      thumbprintOf(decode(outer['payload']) as Jwk) === thumbprintOf(of.key)
    )
  } catch {
    return false
  }
}
