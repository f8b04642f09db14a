/**
 * An authenticator that creates and uses passkeys as a browser requests (Web Authentication, 6),
 * for tests through the API. It can lie about the site and be copied, which Chromium's own cannot.
 */
import {
  createHash,
  createSign,
  generateKeyPairSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto'

/** Encodes CBOR (RFC 8949), as far as an attestation needs it. */
function cbor(value: unknown): Buffer {
  const head = (major: number, length: number): Buffer => {
    if (length < 24) return Buffer.from([(major << 5) | length])
    return length < 256
      ? Buffer.from([(major << 5) | 24, length])
      : Buffer.from([(major << 5) | 25, length >> 8, length & 255])
  }
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, value.length), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  const entries = [...(value as Map<unknown, unknown>)]
  return Buffer.concat([
    head(5, entries.length),
    ...entries.flatMap(([key, inner]) => [cbor(key), cbor(inner)]),
  ])
}
const sha256 = (data: Uint8Array | string): Buffer => createHash('sha256').update(data).digest()

interface Options {
  readonly challenge: string
  readonly rpId?: string
  readonly rp?: { readonly id: string }
}
export interface Authenticator {
  counter: number
  create(options: Options, origin: string): Record<string, unknown>
  get(options: Options, origin: string): Record<string, unknown>
  /**
   * A copied authenticator with the same key, which continues the counter from the moment of the
   * copy.
   */
  copy(): Authenticator
}

export function createAuthenticator(
  made: { id: Buffer; key: KeyObject; publicKey: KeyObject; counter: number } = {
    id: randomBytes(32),
    ...(({ privateKey, publicKey }) => ({ key: privateKey, publicKey }))(
      generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    ),
    counter: 0,
  },
): Authenticator {
  const id = made.id.toString('base64url')
  const dataOf = (rpId: string, counter: number, flags: number): Buffer => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count])
  }
  const clientData = (type: string, challenge: string, origin: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const authenticator: Authenticator = {
    counter: made.counter,
    create({ challenge, rp }, origin) {
      const { x = '', y = '' } = made.publicKey.export({ format: 'jwk' })
      const cose = new Map<unknown, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ])
      // Flags: user present and verified, credential attached.
      const authData = Buffer.concat([
        dataOf(rp?.id ?? '', authenticator.counter, 0x45),
        Buffer.alloc(16),
        Buffer.from([0, made.id.length]),
        made.id,
        cbor(cose),
      ])
      const attestation = new Map<unknown, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ])
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData('webauthn.create', challenge, origin).toString('base64url'),
          attestationObject: cbor(attestation).toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    get({ challenge, rpId = '' }, origin) {
      authenticator.counter += 1
      const authData = dataOf(rpId, authenticator.counter, 0x05)
      const client = clientData('webauthn.get', challenge, origin)
      const signature = createSign('sha256')
        .update(Buffer.concat([authData, sha256(client)]))
        .sign(made.key)
      return {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: signature.toString('base64url'),
        },
      }
    },
    copy: () => createAuthenticator({ ...made, counter: authenticator.counter }),
  }
  return authenticator
}
