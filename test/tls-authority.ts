/**
 * Certificates for tests of TLS: an authority, and server certificates that it signs. Source: RFC
 * 5280 (X.509), X.690 (DER), RFC 5480 and 5758 (keys and signatures on P-256).
 */
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'

export interface Authority {
  /** PEM. */
  readonly certificate: string
  /** For a host name, or an IPv4 address. */
  certify(host: string): { readonly certificate: string; readonly key: string }
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const size = content.length
  // The length in one byte, or the number of its bytes followed by them.
  const long = size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([tag, ...(size < 0x80 ? [size] : long)]), content])
}
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts)
const octets = (content: Buffer): Buffer => der(0x04, content)
const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content)
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))
const integer = (value: number): Buffer => der(0x02, Buffer.from([value]))
const time = (at: Date): Buffer =>
  der(0x17, Buffer.from(`${at.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))
const yes = der(0x01, Buffer.from([0xff]))

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const commonName = oid('550403')
const basicConstraints = oid('551d13')
const subjectAltName = oid('551d11')

const nameOf = (name: string): Buffer =>
  sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(name)))))
const isAddress = (host: string): boolean => /^[\d.]+$/.test(host)
const altName = (host: string): Buffer =>
  isAddress(host)
    ? der(0x87, Buffer.from(host.split('.').map(Number)))
    : der(0x82, Buffer.from(host))
const pem = (content: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${content.toString('base64').replace(/(.{64})/g, '$1\n')}\n` +
  '-----END CERTIFICATE-----\n'

let serial = 0
function certificate(of: {
  issuer: string
  subject: string
  publicKey: KeyObject
  signedWith: KeyObject
  extension: Buffer
}): string {
  serial = (serial + 1) % 0x7f
  const day = 86_400_000
  const body = sequence(
    der(0xa0, integer(2)),
    integer(serial),
    ecdsaWithSha256,
    nameOf(of.issuer),
    sequence(time(new Date(Date.now() - day)), time(new Date(Date.now() + day))),
    nameOf(of.subject),
    of.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(of.extension)),
  )
  return pem(sequence(body, ecdsaWithSha256, bits(sign('sha256', body, of.signedWith))))
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

export function createAuthority(name: string): Authority {
  const { publicKey, privateKey } = newKeys()
  return {
    certificate: certificate({
      issuer: name,
      subject: name,
      publicKey,
      signedWith: privateKey,
      extension: sequence(basicConstraints, yes, octets(sequence(yes))),
    }),
    certify(host) {
      const keys = newKeys()
      return {
        certificate: certificate({
          issuer: name,
          subject: host,
          publicKey: keys.publicKey,
          signedWith: privateKey,
          extension: sequence(subjectAltName, octets(sequence(altName(host)))),
        }),
        key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      }
    },
  }
}
