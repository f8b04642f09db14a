/**
 * Encrypts secrets that must wait in the database, and derives keys from the portal's one secret.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Queryable } from './db.ts'

export interface Secrets {
  /**
   * AES-256-GCM; `purpose` is bound to the sealed text, so that it opens only for what it was
   * sealed for.
   */
  seal(purpose: string, text: string): Buffer
  /** Throws when the text was sealed with another key or for another purpose. */
  open(purpose: string, sealed: Uint8Array): string
  /**
   * HMAC-SHA256 of a short secret such as a one-time code, so that a stolen table tells nothing
   * without the key.
   */
  fingerprint(purpose: string, text: string): Buffer
  /** A stable secret of its own for a named use, 64 hex characters. */
  derive(name: string): string
}

const nonceBytes = 12
const tagBytes = 16

export function createSecrets(root: string): Secrets {
  const key = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', root, 'cloud-portal', purpose, 32))
  return {
    seal(purpose, text) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key('seal'), nonce).setAAD(Buffer.from(purpose))
      return Buffer.concat([
        nonce,
        cipher.update(text, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ])
    },
    open(purpose, sealed) {
      const bytes = Buffer.from(sealed)
      const decipher = createDecipheriv(
        'aes-256-gcm',
        key('seal'),
        bytes.subarray(0, nonceBytes),
      ).setAAD(Buffer.from(purpose))
      decipher.setAuthTag(bytes.subarray(-tagBytes))
      return (
        decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') +
        decipher.final('utf8')
      )
    },
    fingerprint: (purpose, text) =>
      createHmac('sha256', key(`fingerprint:${purpose}`))
        .update(text)
        .digest(),
    derive: (name) => key(`derive:${name}`).toString('hex'),
  }
}

/** The database was made with another secret than the one that is given. */
export class WrongSecret extends Error {}

const wrappingPurpose = 'root-secret'
/** A fingerprint of eight hex digits: it tells two secrets apart without revealing them. */
const fingerprintOf = (root: string): string =>
  createSecrets(root).fingerprint(wrappingPurpose, '').toString('hex').slice(0, 8)

/**
 * The secrets of a database. The root secret is stored in it, encrypted with the operator's secret
 * (`given`), so that the operator's secret can be changed: with the earlier one as `previous` the
 * root secret is encrypted again, and everything derived from it stays the same. Throws WrongSecret
 * with a sentence for the operator when neither secret decrypts it.
 */
export async function openSecrets(
  db: Queryable,
  given: string,
  previous: string | undefined,
): Promise<Secrets> {
  const row = await db.selectFrom('root_secret').selectAll().executeTakeFirst()
  if (!row) {
    const sealed = createSecrets(given).seal(wrappingPurpose, given)
    // Another process may be inserting the first row at this moment.
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('root_secret')
      .values({ one: true, sealed, fingerprint: fingerprintOf(given) })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    return numInsertedOrUpdatedRows === 1n
      ? createSecrets(given)
      : await openSecrets(db, given, previous)
  }
  if (row.fingerprint === fingerprintOf(given))
    return createSecrets(createSecrets(given).open(wrappingPurpose, row.sealed))
  if (previous === undefined || row.fingerprint !== fingerprintOf(previous))
    throw new WrongSecret(
      `PORTAL_SECRET is not the one of this database (fingerprint ${fingerprintOf(given)}, ` +
        `the database has ${row.fingerprint}). ` +
        'Give the one of before, or set it as PORTAL_SECRET_PREVIOUS to change it.',
    )
  const root = createSecrets(previous).open(wrappingPurpose, row.sealed)
  await db
    .updateTable('root_secret')
    .set({
      sealed: createSecrets(given).seal(wrappingPurpose, root),
      fingerprint: fingerprintOf(given),
    })
    .where('fingerprint', '=', row.fingerprint)
    .execute()
  return createSecrets(root)
}

/**
 * The portal's secret: the given one, or one made at the first start and kept in DATA_DIR (mode
 * 0600).
 */
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

/** The same without making one: undefined where there is none. */
export function readRootSecret(dataFolder: string, given: string | undefined): string | undefined {
  const file = path.join(dataFolder, 'secret')
  return given ?? (fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : undefined)
}
