/** Certificates for tests and benchmarks, from an authority of their own. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { authorityOf, foundAuthority } from '../sandbox/acme/authority.ts'
import type { EdgeCertificate } from '../server/edge/index.ts'

const name = 'Test CA'
const authority = authorityOf(name, foundAuthority(name))
/** The root that a client must trust. */
export const testRoot = authority.root

/** A certificate for the name, with a new P-256 key; valid for 90 days. */
export function testCertificate(host: string, version = 1): EdgeCertificate {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const lifeSeconds = 90 * 86_400
  return {
    name: host,
    version,
    chain: authority.issue(spki, [host], lifeSeconds),
    key,
    until: Date.now() + lifeSeconds * 1000,
  }
}
