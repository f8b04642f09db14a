/** SSH key pairs, as `ssh-keygen -t ed25519` makes them. */
import ssh2 from 'ssh2'

const bytesOf = ({ public: line }: ssh2.utils.KeyPairReturn): number =>
  Buffer.from(line.split(' ')[1]!, 'base64').length
/** Lengths and the key type's name, then 32 bytes (RFC 8709, section 4). */
const ed25519Bytes = 4 + 'ssh-ed25519'.length + 4 + 32

/**
 * ssh2 1.17 drops leading zeros of the public half, which is only valid for RSA numbers: one in 256
 * of its ed25519 keys is too short for any program. Such a pair is discarded.
 */
export function makeSshKey(): ssh2.utils.KeyPairReturn {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519')
    if (bytesOf(pair) === ed25519Bytes) return pair
  }
}
