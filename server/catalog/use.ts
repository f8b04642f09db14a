/** Use of a file from the shell as the catalogue, validated like a publication (decision 141). */
import type { Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { CatalogFault, loadCatalog, parseCatalog } from './load.ts'
import { broughtBy, read, type Prepared } from './publish.ts'
import { sellsTheSame } from './selling.ts'
import type { Catalog } from './schema.ts'
import { activateCatalog, newestVersion, versionRow, type CatalogFileText } from './versions.ts'

export interface WantedUse extends CatalogFileText {
  /** The version that the request was based on; undefined: there was none. */
  readonly base?: number | undefined
}

function parsed(text: string): Catalog {
  try {
    return parseCatalog(text, 'the catalogue')
  } catch (error) {
    if (!(error instanceof CatalogFault)) throw error
    const said = { en: error.message, vi: error.message }
    throw new Refusal('invalid_input', { fields: { file: said } })
  }
}

/**
 * The catalogue that the running portal works by: the newest version in the database. The file
 * counts where there is none yet, or where this release cannot read it. Throws CatalogFault.
 */
export async function catalogInUse(db: Queryable, file: string): Promise<Catalog> {
  const row = await newestVersion(db)
  return (row && read(row)) ?? loadCatalog(file)
}

/**
 * Validates the file; changes nothing. `before` is undefined if this release cannot read the
 * version in use, and `present` too if there is none. Refuses with invalid_input a faulty file, and
 * with conflict if the offer has changed since `base`.
 */
export async function prepareUse(
  db: Queryable,
  clock: Clock,
  { text, base }: WantedUse,
): Promise<
  Pick<Prepared, 'after' | 'from'> & {
    readonly [K in 'present' | 'before']?: Prepared[K] | undefined
  }
> {
  const after = parsed(text)
  const present = await newestVersion(db)
  const before = present && read(present)
  if (present && present.version !== base) {
    const row = base === undefined ? undefined : await versionRow(db, base)
    const seen = row && read(row)
    if (!seen || !before || !sellsTheSame(seen, before)) {
      const by = await broughtBy(db, present)
      throw new Refusal('conflict', {
        fields: {
          base: {
            en: `${by} was first: version ${present.version} counts now. Look at it, then go on.`,
            vi:
              `${by} đã công bố trước: phiên bản ${present.version} đang có hiệu lực. Hãy xem ` +
              'lại rồi tiếp tục.',
          },
        },
      })
    }
  }
  return { present, before, after, from: clock.now() }
}

/**
 * Makes it the newest version. Refuses as `prepareUse` does. The caller must not hold the
 * catalogue's lock for pricing.
 */
export async function bringIntoUse(tx: Tx, clock: Clock, wanted: WantedUse) {
  const { text, origin } = wanted
  parsed(text)
  return await activateCatalog(tx, { text, origin, at: clock.now() }, () =>
    prepareUse(tx, clock, wanted),
  )
}
