/** Public keys in the form of OpenSSH's .pub files: kind, Base64, comment. */
import type { RuleKey } from '../../../contract/server-sentences.ts'

export interface PublicKey {
  readonly kind: 'ed25519' | 'ECDSA' | 'RSA'
  /** The key in SSH's form (RFC 4253, section 6.6). */
  readonly bytes: Buffer
}

const kinds: Readonly<Record<string, PublicKey['kind']>> = {
  'ssh-ed25519': 'ed25519',
  'ecdsa-sha2-nistp256': 'ECDSA',
  'ecdsa-sha2-nistp384': 'ECDSA',
  'ecdsa-sha2-nistp521': 'ECDSA',
  'ssh-rsa': 'RSA',
}
/**
 * Number of strings after the name of the kind: the point; curve and point; exponent and modulus.
 */
const stringsOf: Readonly<Record<PublicKey['kind'], number>> = { ed25519: 1, ECDSA: 2, RSA: 2 }
const leastRsaBits = 2_048
const mostRsaBits = 16_384

/** The SSH strings in these bytes (RFC 4251, section 5); null where the bytes do not fit. */
function stringsIn(bytes: Buffer): Buffer[] | null {
  const strings: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    if (at + 4 > bytes.length) return null
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) return null
    strings.push(bytes.subarray(at + 4, end))
    at = end
  }
  return strings
}

const bitsOf = (number: Buffer): number => {
  const from = number.findIndex((byte) => byte !== 0)
  return from < 0 ? 0 : (number.length - from) * 8 - Math.clz32(number[from]!) + 24
}

/** Reads one line of a .pub file, or answers the rule that it breaks. */
export function readPublicKey(line: string): PublicKey | RuleKey {
  if (/PRIVATE KEY/.test(line)) return 'ssh_key_private'
  const [name = '', base64 = ''] = line.trim().split(/\s+/)
  if (/^(sk-|ssh-dss)/.test(name)) return 'ssh_key_kind'
  const kind = kinds[name]
  if (!kind || !/^[A-Za-z0-9+/]+=*$/.test(base64)) return 'ssh_key_form'
  const bytes = Buffer.from(base64, 'base64')
  const strings = stringsIn(bytes)
  if (strings?.[0]?.toString('latin1') !== name) return 'ssh_key_form'
  if (strings.length !== stringsOf[kind] + 1) return 'ssh_key_form'
  if (kind === 'ed25519' && strings[1]?.length !== 32) return 'ssh_key_form'
  if (kind === 'RSA') {
    const bits = bitsOf(strings[2]!)
    if (bits < leastRsaBits) return 'ssh_key_short'
    if (bits > mostRsaBits) return 'ssh_key_form'
  }
  return { kind, bytes }
}
