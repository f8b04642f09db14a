/** Makes a backup of the whole portal while it runs. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ledgerFigures } from '../wallet/index.ts'
import { newestArchives, sitesToSave, type Archives } from '../wordpress/index.ts'
import { dumpSequences, dumpTables, inOneTransaction, queriesOn, schemaOf } from './dump.ts'
import { newId, putManifest, secretName, type Manifest } from './manifest.ts'
import { keysOf, sealSecret } from './seal.ts'
import { NoSuchFile, type ObjectStore } from '../platform/object-store/index.ts'
import { createTally } from './tally.ts'

export interface MakeParts {
  readonly store: ObjectStore
  readonly databaseUrl: string
  /** The sites' own backups. */
  readonly archives: Archives
  readonly secret: string
  readonly passphrase: string | undefined
  readonly now: Date
  readonly signal?: AbortSignal | undefined
}

const { version } = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'),
) as { version: string }

type Site = Manifest['sites'][number]

/**
 * Writes the database, the newest proven archive of every server, the sealed secret, and the
 * manifest as the last file: without it the files do not count as a backup.
 * @throws BackupFault without a passphrase
 */
export async function makeBackup(parts: MakeParts): Promise<Manifest> {
  const { store, signal } = parts
  const keys = await keysOf(parts.passphrase)
  const id = newId(parts.now)
  const base = `${id}/`
  const files: Manifest['files'] = []
  const save = async (name: string, write: (into: Writable) => Promise<void>): Promise<void> => {
    signal?.throwIfAborted()
    const tally = createTally()
    await store.put(base + name, async (into) => {
      await Promise.all([write(tally.through), pipeline(tally.through, into, { signal })])
    })
    files.push({ name, ...tally.figures() })
  }

  const snapshot = await inOneTransaction(
    parts.databaseUrl,
    'isolation level repeatable read, read only',
    async (client) => {
      const db = queriesOn(client)
      const schema = await schemaOf(client)
      const tables = await dumpTables(client, save)
      return {
        ...schema,
        tables,
        sequences: await dumpSequences(client),
        ledger: await ledgerFigures(db),
        archives: await newestArchives(db),
        toSave: await sitesToSave(db),
      }
    },
  )
  const { archives, toSave, ...database } = snapshot

  const sites: Site[] = []
  const lost = new Set<string>()
  for (const { siteId, backupId, name, madeAt, figures, database: of } of archives) {
    const file = `sites/${siteId}/${backupId}.tar.gz`
    try {
      await save(file, async (into) =>
        pipeline(await parts.archives.read({ siteId, backupId }), into),
      )
      sites.push({
        siteId,
        backupId,
        name,
        madeAt: madeAt.toISOString(),
        ...(of !== null && { database: of }),
        figures,
        file,
      })
    } catch (error) {
      if (!(error instanceof NoSuchFile)) throw error
      lost.add(siteId)
    }
  }
  const saved = new Set(sites.map(({ siteId }) => siteId))
  const whyNotSaved = (siteId: string): string => {
    if (lost.has(siteId)) return 'its archive is not among the backups of sites'
    return saved.has(siteId)
      ? 'its newest archive is from before it moved to another database'
      : 'it has no backup that is proven'
  }
  const notSaved = toSave
    .filter(({ siteId, proven }) => !saved.has(siteId) || !proven)
    .map(({ siteId, name }) => ({ siteId, name, why: whyNotSaved(siteId) }))

  const sealed = sealSecret(parts.secret, keys)
  await save(secretName, (into) => pipeline([sealed], into))
  const manifest: Manifest = {
    format: 1,
    id,
    release: version,
    madeAt: parts.now.toISOString(),
    ...database,
    sites,
    notSaved,
    files,
  }
  signal?.throwIfAborted()
  await putManifest(store, base, manifest, keys)
  return manifest
}
