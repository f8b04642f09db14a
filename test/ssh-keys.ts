/** Key pairs of SSH, as `ssh-keygen -t ed25519` makes them. */
import ssh2 from 'ssh2'

const bytesOf = ({ public: line }: ssh2.utils.KeyPairReturn): number =>
  Buffer.from(line.split(' ')[1]!, 'base64').length
/** Lengths and the name of the kind, then 32 bytes (RFC 8709, section 4). */
const ed25519Bytes = 4 + 'ssh-ed25519'.length + 4 + 32

/**
 * ssh2 1.17 leaves out zeros at the beginning of the public half, as it may of a number of RSA:
 * one in 256 of its ed25519 keys is too short for any program to read. Such a pair is not given.
 */
export function makeSshKey(): ssh2.utils.KeyPairReturn {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519')
    if (bytesOf(pair) === ed25519Bytes) return pair
  }
}
