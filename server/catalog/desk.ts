/** Queries of the desk and the commands about the catalogue's versions. */
import type * as z from 'zod/mini'
import type {
  catalog as atDesk,
  CatalogVersion,
  Publication,
  Selling,
} from '../../contract/operator-catalog.ts'
import type { Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { changesBetween } from './changes.ts'
import { CatalogFault, parseCatalog } from './load.ts'
import { sellingOf, textOfSelling } from './selling.ts'
import { newestVersion, versionRow, type VersionRow } from './versions.ts'

const shownVersions = 50
/** Only the newest files are shown; older ones belong to processes that no longer start. */
const shownFiles = 20

/** The parsed contents of versions, cached because a version never changes. */
const remembered = new Map<string, Selling | null>()
const rememberedMost = 200

function sellingIn({ text, sha256 }: VersionRow): Selling | null {
  const key = sha256.toString('hex')
  const known = remembered.get(key)
  if (known !== undefined) return known
  let selling: Selling | null
  try {
    selling = sellingOf(parseCatalog(text, 'the catalogue'))
  } catch (error) {
    if (!(error instanceof CatalogFault)) throw error
    selling = null
  }
  if (remembered.size >= rememberedMost) remembered.clear()
  remembered.set(key, selling)
  return selling
}

/** The version in use, its text and its offer. Refuses with unavailable if there is none. */
export async function inUse(
  db: Queryable,
): Promise<{ version: number; text: string; selling: Selling }> {
  const row = await newestVersion(db)
  const selling = row && sellingIn(row)
  if (!row || !selling) throw new Refusal('unavailable')
  return { version: row.version, text: row.text, selling }
}

/** The text of a version. Undefined: no such version. */
export const textOfVersion = async (db: Queryable, version: number): Promise<string | undefined> =>
  (await versionRow(db, version))?.text

type PublicationRow = Awaited<ReturnType<typeof publicationRows>>[number]
const publicationRows = (db: Queryable) =>
  db
    .selectFrom('catalog_publication')
    .selectAll()
    .orderBy('made_at', 'desc')
    .limit(shownVersions)
    .execute()

const shownPublication = (row: PublicationRow): Publication => ({
  id: row.id,
  base: row.base,
  restores: row.restores,
  countsAt: row.counts_at.toISOString(),
  by: row.actor,
  approvedBy: row.approved_by,
  reason: row.reason,
  madeAt: row.made_at.toISOString(),
  state: row.state as Publication['state'],
  version: row.version,
})

/** The versions that files were when they took effect at a start. */
async function formerTexts(db: Queryable, files: readonly { readonly sha256: Buffer }[]) {
  if (files.length === 0) return new Map<string, VersionRow>()
  const rows = await db
    .selectFrom('catalog_version')
    .selectAll()
    .where(
      'sha256',
      'in',
      files.map(({ sha256 }) => sha256),
    )
    .execute()
  return new Map(rows.map((row) => [row.sha256.toString('hex'), row]))
}

/**
 * The present offer, the pending publication, the newest versions with their changes, and the
 * machines' files.
 */
export async function catalogAtDesk(db: Queryable): Promise<z.input<typeof atDesk.result>> {
  const { version, selling } = await inUse(db)
  const rows = await db
    .selectFrom('catalog_version')
    .selectAll()
    .orderBy('version', 'desc')
    .limit(shownVersions + 1)
    .execute()
  const publications = (await publicationRows(db)).map(shownPublication)
  const [last] = publications
  const versions = rows.slice(0, shownVersions).map((row, at): CatalogVersion => {
    const former = rows[at + 1]
    const [is, was] = [sellingIn(row), former && sellingIn(former)]
    return {
      version: row.version,
      at: row.at.toISOString(),
      source: row.source as CatalogVersion['source'],
      origin: row.origin,
      publication: publications.find((one) => one.version === row.version) ?? null,
      changes: is && was ? changesBetween(was, is) : [],
      readable: is !== null,
    }
  })
  const files = await db
    .selectFrom('catalog_file')
    .select(['origin', 'state', 'at', 'sha256'])
    .orderBy('at', 'desc')
    .limit(shownFiles)
    .execute()
  const former = await formerTexts(db, files)
  const otherwise = ({ sha256, state }: (typeof files)[number]): boolean => {
    const text = former.get(sha256.toString('hex'))
    const sold = text && sellingIn(text)
    return state === 'in_use' && !!sold && textOfSelling(sold) !== textOfSelling(selling)
  }
  return {
    version,
    selling,
    waiting: publications.find(({ state }) => state === 'waiting') ?? null,
    failed: last?.state === 'failed' ? last : null,
    versions,
    files: files.map((file) => ({
      origin: file.origin,
      state: file.state as 'in_use' | 'former' | 'would_take_back',
      at: file.at.toISOString(),
      sellsOtherwise: otherwise(file),
    })),
  }
}
