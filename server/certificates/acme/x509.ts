/**
 * X.509: the certificate request for host names (PKCS #10, RFC 2986), and the chain that the
 * authority returns.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  X509Certificate,
} from 'node:crypto'
import { element, elementsOf, oid, sequence, tags } from './der.ts'

const oids = {
  ecdsaWithSha256: oid('1.2.840.10045.4.3.2'),
  extensionRequest: oid('1.2.840.113549.1.9.14'),
  subjectAltName: oid('2.5.29.17'),
  authorityKeyIdentifier: oid('2.5.29.35'),
} as const
const dnsName = 0x82
const keyIdentifier = 0x80
const firstOfContext = 0xa0
const extensionsOfCertificate = 0xa3

/**
 * A new private key, PKCS #8 in PEM: P-256, which every browser of the last ten years supports and
 * whose handshake costs a tenth of RSA's.
 */
export const newKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()

/**
 * A certificate request for the names, in DER, signed with the key. Names are A-labels; one may
 * begin `*.`.
 */
export function certificateRequest(keyPem: string, names: readonly string[]): Buffer {
  const key = createPrivateKey(keyPem)
  // `createPublicKey` also accepts a private key.
  const spki = createPublicKey(keyPem).export({ type: 'spki', format: 'der' })
  const altNames = sequence(...names.map((name) => element(dnsName, Buffer.from(name, 'latin1'))))
  const extensions = sequence(sequence(oids.subjectAltName, element(tags.octetString, altNames)))
  const info = sequence(
    Buffer.of(0x02, 0x01, 0x00),
    // The subject is empty: authorities take names from the extension only (RFC 8555, 7.4).
    sequence(),
    spki,
    element(firstOfContext, sequence(oids.extensionRequest, element(tags.set, extensions))),
  )
  return sequence(
    info,
    sequence(oids.ecdsaWithSha256),
    element(tags.bitString, Buffer.of(0), sign('sha256', info, key)),
  )
}

export interface Issued {
  /** PEM, the leaf first. */
  readonly chain: string
  readonly notBefore: Date
  readonly notAfter: Date
  /** The issuer's organisation, or else its other name. */
  readonly issuer: string
}

/**
 * Parses the chain that an authority returned. Throws unless its first certificate fits the key and
 * has every name, and each following one issued the one before.
 */
export function readChain(chain: string, keyPem: string, names: readonly string[]): Issued {
  const certificates = (chain.match(pemBlock) ?? []).map((pem) => new X509Certificate(pem))
  const [leaf] = certificates
  if (!leaf) throw new Error('the authority answered no certificate')
  if (!leaf.checkPrivateKey(createPrivateKey(keyPem)))
    throw new Error('the certificate is for another key')
  const held = namesIn(leaf)
  const missing = names.find((name) => !held.has(name))
  if (missing !== undefined) throw new Error(`the certificate does not name ${missing}`)
  for (const [index, issuer] of certificates.slice(1).entries())
    if (certificates[index]?.checkIssued(issuer) !== true)
      throw new Error('the chain is not in order')
  return {
    chain: certificates.map((one) => one.toString().trim()).join('\n') + '\n',
    notBefore: new Date(leaf.validFrom),
    notAfter: new Date(leaf.validTo),
    issuer: issuerOf(leaf),
  }
}
const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

const namesIn = (leaf: X509Certificate): ReadonlySet<string> =>
  new Set(
    (leaf.subjectAltName ?? '')
      .split(', ')
      .flatMap((entry) => (entry.startsWith('DNS:') ? [entry.slice(4).toLowerCase()] : [])),
  )

function issuerOf({ issuer }: X509Certificate): string {
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}=(.+)$`, 'm').exec(issuer)?.[1]?.trim()
  return (field('O') ?? field('CN') ?? 'unknown').slice(0, 200)
}

/**
 * The certificate's name in the authority's renewal information (RFC 9773, 4.1). Undefined: it has
 * no authority key identifier.
 */
export function renewalId(chain: string): string | undefined {
  const [pem] = chain.match(pemBlock) ?? []
  if (pem === undefined) return undefined
  const { raw } = new X509Certificate(pem)
  const [certificate] = elementsOf(raw)
  const [tbs] = elementsOf(certificate?.content ?? Buffer.alloc(0))
  const parts = elementsOf(tbs?.content ?? Buffer.alloc(0))
  // The optional version precedes the serial number.
  const serial = parts[0]?.tag === firstOfContext ? parts[1] : parts[0]
  const wrapped = parts.find(({ tag }) => tag === extensionsOfCertificate)
  const [list] = elementsOf(wrapped?.content ?? Buffer.alloc(0))
  for (const { content } of elementsOf(list?.content ?? Buffer.alloc(0))) {
    const [name, ...values] = elementsOf(content)
    if (!name?.whole.equals(oids.authorityKeyIdentifier)) continue
    const [value] = elementsOf(values.at(-1)?.content ?? Buffer.alloc(0))
    const identifier = elementsOf(value?.content ?? Buffer.alloc(0)).find(
      ({ tag }) => tag === keyIdentifier,
    )
    if (identifier && serial)
      return `${identifier.content.toString('base64url')}.${serial.content.toString('base64url')}`
  }
  return undefined
}
