/**
 * Publishing of plans and prices by the staff: now, or from a later moment, when a job makes it the
 * newest version. Only one publication can be pending, and none takes effect that would undo
 * another change made meanwhile (decision 126).
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { Selling, type publicationShape } from '../../contract/operator-catalog.ts'
import type * as z from 'zod/mini'
import { days, later, minutes, type Clock } from '../platform/clock.ts'
import { isUuid, transaction, type Database, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs.ts'
import { lockKeys } from '../platform/lock-keys.ts'
import type { Log } from '../platform/log.ts'
import { CatalogFault, parseCatalog } from './load.ts'
import type { Catalog } from './schema.ts'
import {
  judgeSelling,
  keepingAll,
  sellingOf,
  sellsTheSame,
  textOfSelling,
  writeSelling,
} from './selling.ts'
import { addVersion, newestVersion, versionRow, type VersionRow } from './versions.ts'

/** A publication's content, as the contract parses it. */
export type WantedSelling = z.output<z.ZodMiniObject<typeof publicationShape>>

/** How far in the future a publication may take effect. */
const aheadMs = days(366)
/** A staff member's clock may be a little off. */
const lateMs = minutes(5)

const conflict = (field: string, said: Sentence): Refusal =>
  new Refusal('conflict', { fields: { [field]: said } })
const fault = (field: string, said: Sentence): Refusal =>
  new Refusal('invalid_input', { fields: { [field]: said } })

const waitingRow = (db: Queryable) =>
  db.selectFrom('catalog_publication').selectAll().where('state', '=', 'waiting').executeTakeFirst()

/** A version as this release parses it; undefined: it cannot. */
export function read(row: VersionRow): Catalog | undefined {
  try {
    return parseCatalog(row.text, `catalogue version ${row.version}`)
  } catch (error) {
    if (error instanceof CatalogFault) return undefined
    throw error
  }
}
const unreadable: Sentence = {
  en: 'This release cannot read that version of the catalogue.',
  vi: 'Bản phát hành này không đọc được phiên bản danh mục đó.',
}
function readOr(row: VersionRow, field: string): Catalog {
  const catalog = read(row)
  if (!catalog) throw conflict(field, unreadable)
  return catalog
}

/** The author of a version, for the message to a member who was later. */
export async function broughtBy(tx: Queryable, row: VersionRow): Promise<string> {
  const publication = row.publication_id
    ? await tx
        .selectFrom('catalog_publication')
        .select('actor')
        .where('id', '=', row.publication_id)
        .executeTakeFirst()
    : undefined
  return publication?.actor ?? row.origin
}

const lists = ['plans', 'dataCentres'] as const
type Ids = Record<(typeof lists)[number], ReadonlySet<number>>
const idsOf = (all: readonly Selling[]): Ids => {
  const found = (list: (typeof lists)[number]) =>
    new Set(all.flatMap((one) => one[list].flatMap(({ id }) => id ?? [])))
  return { plans: found('plans'), dataCentres: found('dataCentres') }
}

/**
 * Gives new items their numbers. Servers refer to their plan by number, so a number that any
 * version had is never reused. Refuses with invalid_input a number that is not sold now but was
 * once, and a duplicate.
 */
async function withIds(db: Queryable, present: Selling, asked: Selling): Promise<Selling> {
  const known = idsOf([present])
  const isKnown = (list: (typeof lists)[number]): boolean =>
    asked[list].every(({ id }) => id !== null && known[list].has(id)) &&
    new Set(asked[list].map(({ id }) => id)).size === asked[list].length
  if (lists.every(isKnown)) return asked
  const rows = await db.selectFrom('catalog_version').selectAll().execute()
  const ever = idsOf(
    rows.flatMap((row) => {
      const catalog = read(row)
      return catalog ? [sellingOf(catalog)] : []
    }),
  )
  const fields: Record<string, Sentence> = {}
  const numbered = <T extends { readonly id: number | null }>(
    list: (typeof lists)[number],
    items: readonly T[],
  ): T[] => {
    const seen = new Set<number>()
    let last = Math.max(0, ...ever[list], ...items.map(({ id }) => id ?? 0))
    return items.map((one, at) => {
      if (one.id === null) return { ...one, id: (last += 1) }
      if (seen.has(one.id) || (ever[list].has(one.id) && !known[list].has(one.id)))
        fields[`${list}.${at}.name`] = {
          en: 'Its number is, or was, that of another one.',
          vi: 'Mã số của mục này đang hoặc từng thuộc về mục khác.',
        }
      seen.add(one.id)
      return one
    })
  }
  const given = {
    ...asked,
    plans: numbered('plans', asked.plans),
    dataCentres: numbered('dataCentres', asked.dataCentres),
  }
  if (Object.keys(fields).length > 0) throw new Refusal('invalid_input', { fields })
  return given
}

export interface Prepared {
  readonly present: VersionRow
  readonly before: Catalog
  readonly after: Catalog
  readonly from: Date
}

/**
 * Validates a publication against the present offer; changes nothing. Refuses with invalid_input,
 * each fault by its field, and with conflict if somebody else changed the offer first.
 */
export async function preparePublication(
  db: Queryable,
  clock: Clock,
  wanted: WantedSelling,
): Promise<Prepared> {
  const now = clock.now()
  const present = await newestVersion(db)
  if (!present) throw new Refusal('unavailable')
  const waiting = await waitingRow(db)
  if (waiting)
    throw conflict('base', {
      en: `A publication of ${waiting.actor} waits already. Take it back first.`,
      vi: `Đã có một bản công bố của ${waiting.actor} đang chờ. Hãy rút lại bản đó trước.`,
    })
  const before = readOr(present, 'base')
  if (present.version !== wanted.base) {
    const base = await versionRow(db, wanted.base)
    const seen = base && read(base)
    if (!seen || !sellsTheSame(seen, before)) {
      const by = await broughtBy(db, present)
      throw conflict('base', {
        en: `${by} was first: version ${present.version} counts now. Look at it, then go on.`,
        vi:
          `${by} đã công bố trước: phiên bản ${present.version} đang có hiệu lực. Hãy xem lại ` +
          'rồi tiếp tục.',
      })
    }
  }
  if ((wanted.selling === undefined) === (wanted.restores === undefined))
    throw fault('selling', {
      en: 'Say either what is to be sold, or which version is to be sold by again.',
      vi: 'Hãy nêu gói và giá cần bán, hoặc phiên bản cần khôi phục.',
    })
  const isSold = sellingOf(before)
  const asked = wanted.selling
    ? await withIds(db, isSold, wanted.selling)
    : await restored(db, wanted.restores ?? 0)
  const selling = keepingAll(isSold, asked)
  const judged = judgeSelling(present.text, selling)
  if ('faults' in judged) throw new Refusal('invalid_input', { fields: judged.faults })
  const from = wanted.from === undefined ? now : new Date(wanted.from)
  if (from > later(now, aheadMs))
    throw fault('from', { en: 'At most a year ahead.', vi: 'Tối đa một năm kể từ hôm nay.' })
  return { present, before, after: judged.catalog, from: from > now ? from : now }
}

async function restored(db: Queryable, version: number): Promise<Selling> {
  const row = await versionRow(db, version)
  if (!row)
    throw fault('restores', { en: 'There is no such version.', vi: 'Không có phiên bản này.' })
  return sellingOf(readOr(row, 'restores'))
}

export interface Publisher {
  readonly staffId: string | null
  readonly name: string
  readonly approvedBy: string | null
}
export interface Published {
  readonly id: string
  readonly before: Catalog
  readonly after: Catalog
  /** The newest version before. */
  readonly base: number
  /** The new version; null while it is pending. */
  readonly version: number | null
  readonly countsAt: Date
}

const holdCatalog = (tx: Tx) => sql`select pg_advisory_xact_lock(${lockKeys.catalog})`.execute(tx)

/** Publishes now, or stores a pending publication. Refuses as `preparePublication` does. */
export async function publishCatalog(
  tx: Tx,
  clock: Clock,
  publisher: Publisher,
  { wanted, reason }: { readonly wanted: WantedSelling; readonly reason: string | null },
): Promise<Published> {
  await holdCatalog(tx)
  const now = clock.now()
  const prepared = await preparePublication(tx, clock, wanted)
  if (sellsTheSame(prepared.before, prepared.after))
    throw conflict('selling', { en: 'Nothing is changed.', vi: 'Không có thay đổi nào.' })
  // The second member may approve after the moment; then it takes effect at once.
  if (
    publisher.approvedBy === null &&
    wanted.from !== undefined &&
    new Date(wanted.from) < later(now, -lateMs)
  )
    throw fault('from', {
      en: 'This moment is over. Leave it empty to publish now.',
      vi: 'Thời điểm này đã qua. Để trống nếu muốn công bố ngay.',
    })
  const { present, before, after, from } = prepared
  const id = randomUUID()
  const isNow = from <= now
  await tx
    .insertInto('catalog_publication')
    .values({
      id,
      base: present.version,
      restores: wanted.restores ?? null,
      selling: textOfSelling(sellingOf(after)),
      counts_at: from,
      actor: publisher.name,
      approved_by: publisher.approvedBy,
      staff_id: publisher.staffId,
      reason,
      made_at: now,
      state: 'waiting',
    })
    .execute()
  const version = isNow
    ? await count(tx, { id, text: writeSelling(present.text, sellingOf(after)), now })
    : null
  return { id, before, after, base: present.version, version, countsAt: from }
}

/** Makes it the newest version. The caller holds the catalogue's lock. */
async function count(
  tx: Tx,
  { id, text, now }: { readonly id: string; readonly text: string; readonly now: Date },
): Promise<number> {
  const { version } = await addVersion(tx, {
    text,
    origin: 'desk',
    source: 'desk',
    publicationId: id,
    at: now,
  })
  await tx
    .updateTable('catalog_publication')
    .set({ state: 'counted', decided_at: now, version })
    .where('id', '=', id)
    .execute()
  return version
}

/**
 * Withdraws a pending publication. Refuses with not_found, and with conflict if it is no longer
 * pending.
 */
export async function withdrawPublication(tx: Tx, clock: Clock, id: string) {
  await holdCatalog(tx)
  const row = isUuid(id)
    ? await tx.selectFrom('catalog_publication').selectAll().where('id', '=', id).executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  if (row.state !== 'waiting')
    throw conflict('publication', {
      en: 'It does not wait any more.',
      vi: 'Bản công bố này không còn chờ nữa.',
    })
  await tx
    .updateTable('catalog_publication')
    .set({ state: 'withdrawn', decided_at: clock.now() })
    .where('id', '=', id)
    .execute()
  return { countsAt: row.counts_at, base: row.base }
}

/** The text that takes effect; undefined: the offer has changed since the publication was made. */
function textToCount(
  base: VersionRow | undefined,
  present: VersionRow,
  selling: unknown,
): string | undefined {
  const [seen, isNow] = [base && read(base), read(present)]
  if (!seen || !isNow || !sellsTheSame(seen, isNow)) return undefined
  try {
    return writeSelling(present.text, Selling.parse(selling))
  } catch (error) {
    if (error instanceof CatalogFault) return undefined
    throw error
  }
}

export interface Publications {
  /** Makes a due publication take effect, if there is one. */
  countDue(): Promise<void>
}

/** Defines the job. `tell`: tells the publisher that the publication could not take effect. */
export function definePublications(parts: {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs: Pick<Jobs, 'define'>
  readonly tell: (tx: Tx, staffId: string, inUse: number) => Promise<void>
  readonly onCount: () => void
}): Publications {
  const { db, clock, log } = parts
  const publications: Publications = {
    async countDue() {
      // Check without the lock first: the lock stops every order for a moment, and most minutes
      // nothing is due.
      const waiting = await waitingRow(db)
      if (!waiting || waiting.counts_at > clock.now()) return
      const counted = await transaction(db, async (tx) => {
        await holdCatalog(tx)
        const now = clock.now()
        const row = await waitingRow(tx)
        const present = await newestVersion(tx)
        if (!row || !present || row.counts_at > now) return false
        const text = textToCount(await versionRow(tx, row.base), present, row.selling)
        if (text !== undefined) {
          await count(tx, { id: row.id, text, now })
          return true
        }
        log.error(
          { publication: row.id, base: row.base, inUse: present.version },
          'a publication of the catalogue did not count: what is sold was changed meanwhile',
        )
        await tx
          .updateTable('catalog_publication')
          .set({ state: 'failed', decided_at: now })
          .where('id', '=', row.id)
          .execute()
        if (row.staff_id !== null) await parts.tell(tx, row.staff_id, present.version)
        return false
      })
      if (counted) parts.onCount()
    },
  }
  parts.jobs.define({
    name: 'publish-catalog',
    // Not a job for the exact moment: it would take the queue's one waiting run until then.
    cron: '* * * * *',
    retries: 3,
    run: () => publications.countDue(),
  })
  return publications
}
