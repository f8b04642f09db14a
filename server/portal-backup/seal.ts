/**
 * The protection by a passphrase: it seals the portal's root secret, and authenticates the manifest
 * by a code that only its holder can compute. Both keys are derived by scrypt (RFC 7914) with a
 * salt per backup.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import * as z from 'zod/mini'
import { BackupFault } from './fault.ts'

/** 128 MB and some 0.4 s for each guess. */
const cost = { N: 131_072, r: 8, p: 1 } as const
const keyBytes = 32
const nonceBytes = 12

export interface Keys {
  readonly salt: Buffer
  readonly seal: Buffer
  readonly sign: Buffer
}

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)

/** @throws BackupFault without a passphrase */
export async function keysOf(
  passphrase: string | undefined,
  salt = randomBytes(16),
): Promise<Keys> {
  if (passphrase === undefined || passphrase === '')
    throw new BackupFault(
      'A backup needs a passphrase, which seals the portal’s secret: set BACKUP_PASSPHRASE, or ' +
        'name a file with --passphrase-file.',
    )
  const { N, r, p } = cost
  const both = await derive(passphrase, salt, 2 * keyBytes, { N, r, p, maxmem: 256 * N * r })
  return { salt, seal: both.subarray(0, keyBytes), sign: both.subarray(keyBytes) }
}

const Sealed = z.strictObject({
  format: z.literal(1),
  kdf: z.literal('scrypt'),
  N: z.literal(cost.N),
  r: z.literal(cost.r),
  p: z.literal(cost.p),
  salt: z.string(),
  cipher: z.literal('aes-256-gcm'),
  nonce: z.string(),
  sealed: z.string(),
  tag: z.string(),
})

/** The text of `secret.json`. */
export function sealSecret(secret: string, { salt, seal }: Keys): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', seal, nonce)
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  const file: z.infer<typeof Sealed> = {
    format: 1,
    kdf: 'scrypt',
    ...cost,
    salt: salt.toString('base64'),
    cipher: 'aes-256-gcm',
    nonce: nonce.toString('base64'),
    sealed: sealed.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
  }
  return `${JSON.stringify(file, null, 1)}\n`
}

/**
 * The secret, and the keys that the passphrase makes.
 * @throws BackupFault where the file is not ours or the passphrase is another one
 */
export async function openSecret(
  text: string,
  passphrase: string | undefined,
): Promise<{ readonly secret: string; readonly keys: Keys }> {
  let file: z.infer<typeof Sealed>
  try {
    file = Sealed.parse(JSON.parse(text))
  } catch {
    throw new BackupFault('secret.json is not what was written.')
  }
  const bytes = (name: 'salt' | 'nonce' | 'sealed' | 'tag') => Buffer.from(file[name], 'base64')
  const keys = await keysOf(passphrase, bytes('salt'))
  try {
    const decipher = createDecipheriv('aes-256-gcm', keys.seal, bytes('nonce'), {
      authTagLength: 16,
    }).setAuthTag(bytes('tag'))
    const secret = decipher.update(bytes('sealed'), undefined, 'utf8') + decipher.final('utf8')
    return { secret, keys }
  } catch {
    throw new BackupFault(
      'The passphrase is not the one of this backup, or secret.json was changed.',
    )
  }
}

/** HMAC-SHA256, hexadecimal. */
export const codeOf = (text: string, { sign }: Pick<Keys, 'sign'>): string =>
  createHmac('sha256', sign).update(text).digest('hex')
