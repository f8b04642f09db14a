/**
 * The Ed25519 key that statements are signed with: derived from the portal's one secret, so it is
 * as old and as lasting as that.
 */
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { Secrets } from '../platform/secrets.ts'

export interface StatementKey {
  /** SPKI DER in base64. */
  readonly publicKey: string
  readonly pem: string
  /** SHA-256 of the DER, hex. */
  readonly fingerprint: string
  /** Base64. */
  sign(text: string): string
}

/** The PKCS #8 prefix of an Ed25519 key's 32 secret bytes (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

export function createStatementKey(secrets: Secrets): StatementKey {
  const seed = Buffer.from(secrets.derive('statement-key'), 'hex')
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey(privateKey)
  const der = publicKey.export({ format: 'der', type: 'spki' })
  return {
    publicKey: der.toString('base64'),
    pem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    fingerprint: createHash('sha256').update(der).digest('hex'),
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64'),
  }
}
