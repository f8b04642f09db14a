/** Signed calls of ACME (RFC 8555, section 6; RFC 7515): ES256, and HS256 for a binding. */
import { createHash, createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto'

/** A JWS in the form of a call's body. */
export interface Jws {
  readonly protected: string
  readonly payload: string
  readonly signature: string
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The public half of an account's key, its members in the order of RFC 7638. */
export function publicJwk(keyPem: string): { crv: string; kty: string; x: string; y: string } {
  const { x, y } = createPublicKey(keyPem).export({ format: 'jwk' })
  if (x === undefined || y === undefined) throw new Error('an account has a key of P-256')
  return { crv: 'P-256', kty: 'EC', x, y }
}

/** SHA-256 of the public key (RFC 7638), base64url. */
export const thumbprint = (keyPem: string): string =>
  createHash('sha256')
    .update(JSON.stringify(publicJwk(keyPem)))
    .digest('base64url')

/** `payload`: null is the empty payload, with which a resource is read (POST-as-GET). */
export function signedCall(
  keyPem: string,
  head: { readonly url: string; readonly nonce: string; readonly account: string | null },
  payload: object | null,
): Jws {
  const { account, ...rest } = head
  const whose = account === null ? { jwk: publicJwk(keyPem) } : { kid: account }
  const unsigned = {
    protected: encode({ alg: 'ES256', ...whose, ...rest }),
    payload: payload === null ? '' : encode(payload),
  }
  const signature = sign('sha256', Buffer.from(`${unsigned.protected}.${unsigned.payload}`), {
    key: createPrivateKey(keyPem),
    dsaEncoding: 'ieee-p1363',
  }).toString('base64url')
  return { ...unsigned, signature }
}

/**
 * The credentials that bind an ACME account to our other contract with the authority (RFC 8555,
 * 7.3.4).
 */
export interface ExternalAccount {
  readonly keyId: string
  /** Base64url, as authorities hand it out. */
  readonly hmacKey: string
}

export function externalBinding(keyPem: string, { keyId, hmacKey }: ExternalAccount, url: string) {
  const unsigned = {
    protected: encode({ alg: 'HS256', kid: keyId, url }),
    payload: encode(publicJwk(keyPem)),
  }
  const signature = createHmac('sha256', Buffer.from(hmacKey, 'base64url'))
    .update(`${unsigned.protected}.${unsigned.payload}`)
    .digest('base64url')
  return { ...unsigned, signature }
}
