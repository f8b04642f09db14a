/**
 * The key by which programs recognise our SFTP server. It is derived from the portal's secret, so
 * that every process, and a portal rebuilt from a backup, has the same one.
 */
import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'

/** An SSH string: its length and its bytes (RFC 4251, section 5). */
const sshString = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
const text = (value: string): Buffer => sshString(Buffer.from(value))

/** The bytes before the 32 bytes of an ed25519 key in PKCS #8 (RFC 8410, section 7). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface HostKey {
  /** OpenSSH's own format, `openssh-key-v1` (its PROTOCOL.key). */
  readonly privateKey: string
  /** The fingerprint, SHA256:… */
  readonly fingerprint: string
}

/** SHA256:… of a public key as SSH sends it. */
export const fingerprintOf = (publicKey: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(publicKey).digest('base64').replace(/=+$/, '')}`

/** @param seed any secret text; the same seed gives the same key */
export function hostKeyOf(seed: string): HostKey {
  const secret = createHash('sha256').update(seed).digest()
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Head, secret]),
    format: 'der',
    type: 'pkcs8',
  })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const open = spki.subarray(-32)
  const publicKey = Buffer.concat([text('ssh-ed25519'), sshString(open)])
  const check = Buffer.alloc(4)
  const content = Buffer.concat([
    check,
    check,
    publicKey,
    sshString(Buffer.concat([secret, open])),
    text('portal'),
  ])
  const padding = Buffer.from(
    Array.from({ length: (8 - (content.length % 8)) % 8 }, (_, index) => index + 1),
  )
  const count = Buffer.from([0, 0, 0, 1])
  const bytes = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    text('none'),
    text('none'),
    text(''),
    count,
    sshString(publicKey),
    sshString(Buffer.concat([content, padding])),
  ])
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? []
  const privateKey = [
    '-----BEGIN OPENSSH PRIVATE KEY-----',
    ...lines,
    '-----END OPENSSH PRIVATE KEY-----',
    '',
  ].join('\n')
  return { privateKey, fingerprint: fingerprintOf(publicKey) }
}
