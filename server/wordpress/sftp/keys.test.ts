/** SSH keys as people paste them, and our own. */
import fc from 'fast-check'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { makeSshKey } from '../../../test/ssh-keys.ts'
import { fingerprintOf, hostKeyOf } from './host-key.ts'
import { readPublicKey } from './public-key.ts'

const { utils } = ssh2
const line = (type: 'ed25519' | 'ecdsa' | 'rsa', bits?: number): string =>
  (bits === undefined ? makeSshKey() : utils.generateKeyPairSync(type as 'rsa', { bits })).public

test('reads what ssh-keygen writes, with or without a comment', () => {
  const kinds = [
    ['ed25519', line('ed25519')],
    ['ECDSA', line('ecdsa', 256)],
    ['ECDSA', line('ecdsa', 521)],
    ['RSA', line('rsa', 2_048)],
  ] as const
  for (const [kind, text] of kinds)
    for (const pasted of [text, `  ${text} an@example.com\n`]) {
      const key = readPublicKey(pasted)
      expect(key).toMatchObject({ kind })
      const known = utils.parseKey(text) as ssh2.ParsedKey
      expect((key as { bytes: Buffer }).bytes).toEqual(known.getPublicSSH())
    }
})

test('says what is wrong with what is no key for us', () => {
  expect(readPublicKey(makeSshKey().private)).toBe('ssh_key_private')
  expect(readPublicKey(line('rsa', 1_024))).toBe('ssh_key_short')
  expect(readPublicKey('ssh-dss AAAAB3NzaC1kc3M=')).toBe('ssh_key_kind')
  expect(readPublicKey('sk-ssh-ed25519@openssh.com AAAA')).toBe('ssh_key_kind')
  const [name, base64 = ''] = line('ed25519').split(' ')
  for (const text of [
    '',
    'ssh-ed25519',
    `ssh-rsa ${base64}`,
    `${name} ${base64.slice(0, -8)}`,
    `${name} ${base64}AAAA`,
    'from="10.0.0.1" ssh-ed25519 AAAA',
  ])
    expect(readPublicKey(text), text).toBe('ssh_key_form')
})

test('whatever is pasted is answered', () => {
  const names = fc.constantFrom('ssh-ed25519', 'ssh-rsa', 'ecdsa-sha2-nistp256')
  fc.assert(
    fc.property(names, fc.uint8Array({ maxLength: 600 }), (name, bytes) => {
      const head = Buffer.alloc(4)
      head.writeUInt32BE(name.length)
      const blob = Buffer.concat([head, Buffer.from(name), bytes])
      const found = readPublicKey(`${name} ${blob.toString('base64')}`)
      if (typeof found !== 'string') expect(found.bytes).toEqual(blob)
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => void readPublicKey(text)))
})

test('our host key is made of the secret, and any program can read it', () => {
  const key = hostKeyOf('a secret')
  const parsed = utils.parseKey(key.privateKey) as ssh2.ParsedKey
  expect(parsed.type).toBe('ssh-ed25519')
  expect(fingerprintOf(parsed.getPublicSSH())).toBe(key.fingerprint)
  expect(hostKeyOf('a secret')).toEqual(key)
  expect(hostKeyOf('another').fingerprint).not.toBe(key.fingerprint)
  // Its public half verifies its signature.
  const signed = parsed.sign('words')
  const open = utils.parseKey(`ssh-ed25519 ${parsed.getPublicSSH().toString('base64')}`)
  expect((open as ssh2.ParsedKey).verify('words', signed)).toBe(true)
})
