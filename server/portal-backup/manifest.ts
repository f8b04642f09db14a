/** A backup's description, which is its last file: without a manifest there is no backup. */
import { randomBytes } from 'node:crypto'
import { text as textOf } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod/mini'
import { sameText } from '../platform/constant-time.ts'
import { codeOf, openSecret, type Keys } from './seal.ts'
import { NoSuchFile, type ObjectStore } from '../platform/object-store/index.ts'
import { BackupFault } from './fault.ts'

export const manifestName = 'manifest.json'
export const secretName = 'secret.json'

const name = z.string().check(z.regex(/^[a-z0-9_.-]+(\/[a-z0-9_.-]+)*$/i))
const identifier = z.string().check(z.minLength(1), z.maxLength(63))
const count = z.int().check(z.nonnegative())
/** An integer of any size. */
const whole = z.string().check(z.regex(/^-?\d+$/))

const Manifest = z.strictObject({
  format: z.literal(1),
  id: z.string(),
  /** The release of the portal that made it. */
  release: z.string(),
  madeAt: z.iso.datetime(),
  /** Names, in the order in which they were applied. */
  migrations: z.array(z.string()),
  /** The version of the job queue's schema; null: there was none yet. */
  queueVersion: z.nullable(z.int()),
  tables: z.array(
    z.strictObject({
      schema: z.enum(['public', 'pgboss']),
      name: identifier,
      columns: z.array(identifier),
      rows: count,
      file: name,
    }),
  ),
  /** `last`: the number given last; null where none was. */
  sequences: z.array(
    z.strictObject({ schema: identifier, name: identifier, last: z.nullable(whole) }),
  ),
  /** `sum` of all balances, which is zero; `wallets`: the customers' balances. Minor units. */
  ledger: z.array(
    z.strictObject({
      currency: z.string(),
      accounts: count,
      entries: count,
      sum: whole,
      wallets: whole,
      /** SHA-256 over every account's code, number of entries and last hash. */
      heads: z.string(),
    }),
  ),
  sites: z.array(
    z.strictObject({
      siteId: z.uuid(),
      backupId: z.uuid(),
      name: z.string(),
      madeAt: z.iso.datetime(),
      /** The archive's kind of database (sqlite, mariadb); missing if it was not recorded. */
      database: z.optional(z.string()),
      /** CopyFigures of server/wordpress/driver.ts. */
      figures: z.unknown(),
      file: name,
    }),
  ),
  /** Servers that should run, or will again, and do not come up from this backup. */
  notSaved: z.array(z.strictObject({ siteId: z.uuid(), name: z.string(), why: z.string() })),
  files: z.array(
    z.strictObject({
      name,
      bytes: count,
      sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
    }),
  ),
})
export type Manifest = z.infer<typeof Manifest>
const Signed = z.strictObject({ manifest: Manifest, code: z.string() })

/** Sorted by name they are sorted by time. */
const idShape = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/
export const newId = (at: Date): string =>
  `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z-${randomBytes(3).toString('hex')}`

const written = (manifest: Manifest, code: string): string =>
  `${JSON.stringify({ manifest, code }, null, 1)}\n`
const signedText = (manifest: Manifest): string => JSON.stringify(manifest)

/** Makes what lies there a backup. */
export async function putManifest(
  store: ObjectStore,
  base: string,
  given: Manifest,
  keys: Keys,
): Promise<void> {
  // Parse first, so that the fields have the same order as when they are read again.
  const manifest = Manifest.parse(given)
  const code = codeOf(signedText(manifest), keys)
  await store.put(base + manifestName, (into) => pipeline([written(manifest, code)], into))
}

export interface Opened {
  readonly manifest: Manifest
  /** The prefix of its files' names. */
  readonly base: string
  readonly secret: string
}

/** The backups in the store: ids of complete ones, oldest first, and of interrupted ones. */
export async function backupsIn(
  store: ObjectStore,
): Promise<{ readonly whole: string[]; readonly cutShort: string[]; readonly names: string[] }> {
  const names = await store.list()
  const ids = [...new Set(names.map((each) => each.split('/')[0] ?? ''))]
    .filter((id) => idShape.test(id))
    .toSorted()
  const isWhole = (id: string): boolean => names.includes(`${id}/${manifestName}`)
  return { whole: ids.filter(isWhole), cutShort: ids.filter((id) => !isWhole(id)), names }
}

async function textIn(store: ObjectStore, file: string): Promise<string> {
  try {
    return await textOf(await store.get(file))
  } catch (error) {
    throw error instanceof NoSuchFile ? new BackupFault(error.message) : error
  }
}

/**
 * Opens the backup that lies at the place itself, or the newest whole one below it.
 * @throws BackupFault where there is none, its manifest was changed, or the passphrase is wrong
 */
export async function openBackup(
  store: ObjectStore,
  passphrase: string | undefined,
): Promise<Opened> {
  const { whole, cutShort, names } = await backupsIn(store)
  const newest = whole.at(-1)
  let base: string
  if (names.includes(manifestName)) base = ''
  else if (newest !== undefined) base = `${newest}/`
  else
    throw new BackupFault(
      cutShort.length > 0 || names.includes(secretName)
        ? `There is no whole backup in ${store.place}: the one that lies there was cut short.`
        : `There is no backup in ${store.place}.`,
    )
  const { secret, keys } = await openSecret(await textIn(store, base + secretName), passphrase)
  const text = await textIn(store, base + manifestName)
  let signed: z.infer<typeof Signed>
  try {
    signed = Signed.parse(JSON.parse(text))
  } catch {
    throw new BackupFault(`${manifestName} is not what was written, or of another release.`)
  }
  const { manifest, code } = signed
  if (!sameText(code, codeOf(signedText(manifest), keys)) || text !== written(manifest, code))
    throw new BackupFault(`${manifestName} is not what was written: it was changed.`)
  return { manifest, base, secret }
}

/** The manifest's entry for a file. */
export function figuresOfFile(manifest: Manifest, file: string): Manifest['files'][number] {
  const found = manifest.files.find((each) => each.name === file)
  if (!found) throw new BackupFault(`${file} does not stand in the manifest.`)
  return found
}
