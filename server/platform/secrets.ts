/** Sealing of what must wait in the database but may not lie there in the clear, and the keys derived from the portal's one secret. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

export interface Secrets {
  /** AES-256-GCM; `purpose` is bound to the sealed text, so that it opens only for what it was sealed for. */
  seal(purpose: string, text: string): Buffer
  /** Throws when the text was sealed with another key or for another purpose. */
  open(purpose: string, sealed: Uint8Array): string
  /** HMAC-SHA256 of a short secret such as a one-time code, so that a stolen table tells nothing without the key. */
  fingerprint(purpose: string, text: string): Buffer
  /** A stable secret of its own for a named use, 64 hex characters. */
  derive(name: string): string
}

const nonceBytes = 12
const tagBytes = 16

export function createSecrets(root: string): Secrets {
  const key = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', root, 'cloud-portal', purpose, 32))
  return {
    seal(purpose, text) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key('seal'), nonce).setAAD(Buffer.from(purpose))
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open(purpose, sealed) {
      const bytes = Buffer.from(sealed)
      const decipher = createDecipheriv('aes-256-gcm', key('seal'), bytes.subarray(0, nonceBytes)).setAAD(Buffer.from(purpose))
      decipher.setAuthTag(bytes.subarray(-tagBytes))
      return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
    },
    fingerprint: (purpose, text) =>
      createHmac('sha256', key(`fingerprint:${purpose}`))
        .update(text)
        .digest(),
    derive: (name) => key(`derive:${name}`).toString('hex'),
  }
}

/** Compares in constant time; texts of different length are simply not equal. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

/** The portal's secret: the given one, or one made at the first start and kept in DATA_DIR (mode 0600). */
export function loadRootSecret(dataFolder: string, given: string | undefined): string {
  if (given !== undefined) return given
  const file = path.join(dataFolder, 'secret')
  fs.mkdirSync(dataFolder, { recursive: true })
  try {
    fs.writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return fs.readFileSync(file, 'utf8').trim()
}
