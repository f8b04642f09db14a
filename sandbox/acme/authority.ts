/** An authority's keys and certificates, created at its first start, and signing with them. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  verify,
  X509Certificate,
  type KeyObject,
} from 'node:crypto'
import type { Database } from '../database.ts'
import * as der from './der.ts'

export const authorityTable = `
  create table if not exists sandbox.acme_authority (
    name text primary key,
    root text not null,
    intermediate_key text not null,
    intermediate text not null
  )`

export interface Authority {
  /** PEM: the root that a browser must trust. */
  readonly root: string
  /**
   * A PEM chain, leaf first, for proven names. `lifeSeconds` counts from now; the validity begins
   * an hour earlier, for clocks that are slow.
   */
  issue(spki: Buffer, names: readonly string[], lifeSeconds: number): string
}

const ids = {
  commonName: der.oid('2.5.4.3'),
  organisation: der.oid('2.5.4.10'),
  ecdsaWithSha256: der.oid('1.2.840.10045.4.3.2'),
  subjectKey: der.oid('2.5.29.14'),
  keyUsage: der.oid('2.5.29.15'),
  subjectAltName: der.oid('2.5.29.17'),
  basicConstraints: der.oid('2.5.29.19'),
  authorityKey: der.oid('2.5.29.35'),
  extendedKeyUsage: der.oid('2.5.29.37'),
  serverAuth: der.oid('1.3.6.1.5.5.7.3.1'),
  extensionRequest: der.oid('1.2.840.113549.1.9.14'),
}
const hourMs = 3_600_000
const yearMs = 365 * 24 * hourMs
const algorithm = der.sequence(ids.ecdsaWithSha256)

const nameOf = (organisation: string, commonName: string): Buffer =>
  der.sequence(
    der.set(der.sequence(ids.organisation, der.text(organisation))),
    der.set(der.sequence(ids.commonName, der.text(commonName))),
  )
const keyId = (spki: Buffer): Buffer => {
  const key = der.read(der.read(spki)[0]?.content ?? Buffer.alloc(0))[1]
  return createHash('sha1')
    .update(key?.content.subarray(1) ?? spki)
    .digest()
}
const extension = (id: Buffer, value: Buffer, critical = false): Buffer =>
  der.sequence(id, ...(critical ? [der.yes] : []), der.octets(value))

function certificate(of: {
  readonly subject: Buffer
  readonly issuer: Buffer
  readonly spki: Buffer
  readonly issuerKey: KeyObject
  readonly from: Date
  readonly until: Date
  readonly extensions: readonly Buffer[]
}): string {
  const serial = randomBytes(16)
  serial[0] = (serial[0] ?? 0) & 0x7f || 1
  const tbs = der.sequence(
    der.write(0xa0, der.integer(Buffer.of(2))),
    der.integer(serial),
    algorithm,
    of.issuer,
    der.sequence(der.time(of.from), der.time(of.until)),
    of.subject,
    of.spki,
    der.write(0xa3, der.sequence(...of.extensions)),
  )
  const whole = der.sequence(tbs, algorithm, der.bits(sign('sha256', tbs, of.issuerKey)))
  return new X509Certificate(whole).toString()
}

const forAuthority = (pathLength: number | null): Buffer[] => [
  extension(
    ids.basicConstraints,
    der.sequence(der.yes, ...(pathLength === null ? [] : [der.integer(Buffer.of(pathLength))])),
    true,
  ),
  // keyCertSign and cRLSign
  extension(ids.keyUsage, der.bits(Buffer.of(0x06), 1), true),
]

/** The stored form of an authority. */
export interface Kept {
  readonly root: string
  readonly intermediate_key: string
  readonly intermediate: string
}

/** Keys and certificates for a new authority. */
export function foundAuthority(name: string): Kept {
  const [root, middle] = [0, 1].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  if (!root || !middle) throw new Error('no keys')
  const spkiOf = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' })
  const from = new Date(Date.now() - hourMs)
  const rootName = nameOf(name, `${name} root`)
  const rootKey = keyId(spkiOf(root.publicKey))
  const middleKey = keyId(spkiOf(middle.publicKey))
  return {
    root: certificate({
      subject: rootName,
      issuer: rootName,
      spki: spkiOf(root.publicKey),
      issuerKey: root.privateKey,
      from,
      until: new Date(Date.now() + 10 * yearMs),
      extensions: [...forAuthority(null), extension(ids.subjectKey, der.octets(rootKey))],
    }),
    intermediate: certificate({
      subject: nameOf(name, `${name} 1`),
      issuer: rootName,
      spki: spkiOf(middle.publicKey),
      issuerKey: root.privateKey,
      from,
      until: new Date(Date.now() + 5 * yearMs),
      extensions: [
        ...forAuthority(0),
        extension(ids.subjectKey, der.octets(middleKey)),
        extension(ids.authorityKey, der.sequence(der.write(0x80, rootKey))),
      ],
    }),
    intermediate_key: middle.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** Opens the authority of this name with its stored keys, or creates it. */
export async function openAuthority(db: Database, name: string): Promise<Authority> {
  const fresh = foundAuthority(name)
  await db.query(
    `insert into sandbox.acme_authority (name, root, intermediate_key, intermediate)
     values ($1, $2, $3, $4) on conflict do nothing`,
    [name, fresh.root, fresh.intermediate_key, fresh.intermediate],
  )
  const { rows } = await db.query<Kept>('select * from sandbox.acme_authority where name = $1', [
    name,
  ])
  const [kept] = rows
  if (!kept) throw new Error('the authority is gone')
  return authorityOf(name, kept)
}

export function authorityOf(name: string, kept: Kept): Authority {
  const issuerKey = createPrivateKey(kept.intermediate_key)
  const issuerSpki = createPublicKey(kept.intermediate_key).export({ type: 'spki', format: 'der' })
  return {
    root: kept.root,
    issue(spki, names, lifeSeconds) {
      const leaf = certificate({
        subject: der.sequence(),
        issuer: nameOf(name, `${name} 1`),
        spki,
        issuerKey,
        from: new Date(Date.now() - hourMs),
        until: new Date(Date.now() + lifeSeconds * 1000),
        extensions: [
          extension(ids.basicConstraints, der.sequence(), true),
          // digitalSignature
          extension(ids.keyUsage, der.bits(Buffer.of(0x80), 7), true),
          extension(ids.extendedKeyUsage, der.sequence(ids.serverAuth)),
          extension(
            ids.subjectAltName,
            der.sequence(...names.map((one) => der.write(0x82, Buffer.from(one)))),
            // The extension is critical, because the certificate has no subject (RFC 5280,
            // 4.2.1.6).
            true,
          ),
          extension(ids.subjectKey, der.octets(keyId(spki))),
          extension(ids.authorityKey, der.sequence(der.write(0x80, keyId(issuerSpki)))),
        ],
      })
      return `${leaf}${kept.intermediate}`
    },
  }
}

const hashes: readonly (readonly [Buffer, string])[] = [
  [ids.ecdsaWithSha256, 'sha256'],
  [der.oid('1.2.840.10045.4.3.3'), 'sha384'],
  [der.oid('1.2.840.113549.1.1.11'), 'sha256'],
  [der.oid('1.2.840.113549.1.1.12'), 'sha384'],
]

/**
 * Reads a certificate request (RFC 2986): its key and names (lower case). Undefined unless it is
 * complete and signed with that key.
 */
export function readRequest(
  request: Buffer,
): { readonly spki: Buffer; readonly names: readonly string[] } | undefined {
  try {
    const [outer] = der.read(request)
    const [info, how, signature] = der.read(outer?.content ?? Buffer.alloc(0))
    if (!info || !how || !signature) return undefined
    const [, subject, spki, attributes] = der.read(info.content)
    if (!subject || !spki) return undefined
    const hash = hashes.find(([id]) => how.content.subarray(0, id.length).equals(id))?.[1]
    const key = createPublicKey({ key: spki.whole, format: 'der', type: 'spki' })
    if (hash === undefined || !verify(hash, info.whole, key, signature.content.subarray(1)))
      return undefined
    const names = new Set<string>()
    for (const relative of der.read(subject.content))
      for (const { content } of der.read(relative.content)) {
        const [id, value] = der.read(content)
        if (id?.whole.equals(ids.commonName) === true && value) names.add(value.content.toString())
      }
    for (const { content } of der.read(attributes?.content ?? Buffer.alloc(0))) {
      const [id, values] = der.read(content)
      if (id?.whole.equals(ids.extensionRequest) !== true || !values) continue
      for (const list of der.read(values.content))
        for (const one of der.read(list.content)) {
          const [kind, ...rest] = der.read(one.content)
          if (kind?.whole.equals(ids.subjectAltName) !== true) continue
          for (const alt of der.read(rest.at(-1)?.content ?? Buffer.alloc(0)))
            for (const { tag, content: name } of der.read(alt.content))
              if (tag === 0x82) names.add(name.toString())
        }
    }
    return { spki: spki.whole, names: [...names].map((name) => name.toLowerCase()) }
  } catch {
    return undefined
  }
}

/**
 * The id by which ACME clients ask about a certificate's renewal (RFC 9773, 4.1). `chain`: PEM,
 * leaf first.
 */
export function renewalIdOf(chain: string): string {
  const [certificate] = der.read(new X509Certificate(chain).raw)
  const [tbs] = der.read(certificate?.content ?? Buffer.alloc(0))
  const parts = der.read(tbs?.content ?? Buffer.alloc(0))
  const [list] = der.read(parts.find(({ tag }) => tag === 0xa3)?.content ?? Buffer.alloc(0))
  for (const { content } of der.read(list?.content ?? Buffer.alloc(0))) {
    const [id, value] = der.read(content)
    if (id?.whole.equals(ids.authorityKey) !== true || !value) continue
    const [identifier] = der.read(der.read(value.content)[0]?.content ?? Buffer.alloc(0))
    const [key, serial] = [identifier?.content, parts[1]?.content]
    if (key && serial) return `${key.toString('base64url')}.${serial.toString('base64url')}`
  }
  return ''
}
