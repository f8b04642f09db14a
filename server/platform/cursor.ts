/**
 * Keyset pages: a page goes on where the last one ended, so that its time does not grow with the
 * list. A cursor is the last position of a page, opaque to the caller.
 */
import { sql, type SelectQueryBuilder, type StringReference } from 'kysely'
import type { Language } from '../../contract/index.ts'
import { ruleText } from '../../contract/server-sentences.ts'
import { isUuid } from './db.ts'
import { Refusal } from './errors.ts'

/** The refusal of a cursor that no page of this list ended with. */
export const notOurs = (language: Language): Refusal =>
  new Refusal('invalid_input', { fields: { cursor: ruleText('cursor', language) } })

export const encodeCursor = (position: bigint | null): string | null =>
  position === null ? null : Buffer.from(`v1:${position}`).toString('base64url')

/** Null without a cursor. Refuses one that is not ours with invalid_input. */
function decodeCursor(cursor: string | undefined, language: Language): bigint | null {
  if (cursor === undefined) return null
  const match = /^v1:(\d{1,18})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (!match?.[1]) throw notOurs(language)
  return BigInt(match[1])
}

/** The requested page: at most `limit` rows with a position below `before`. */
export interface PageRequest {
  readonly limit: number
  /** The position that the page before ended with; null for the first page. */
  readonly before: bigint | null
}
/**
 * One page; `next` is the position before which the following page begins, null on the last page.
 */
export interface KeysetPage<T> {
  readonly rows: T[]
  readonly next: bigint | null
}

/**
 * Reads the page request from a call's query. Refuses with invalid_input a cursor that is not ours.
 */
export const pageRequest = (
  query: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  language: Language,
  usualLimit = 50,
): PageRequest => ({
  limit: query.limit ?? usualLimit,
  before: decodeCursor(query.cursor, language),
})

/** The first `limit` rows; `next` is the position of the last of them if there are more. */
export function firstOf<T>(
  rows: readonly T[],
  limit: number,
  positionOf: (row: T) => bigint | null,
): KeysetPage<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { rows: shown, next: rows.length > limit && last ? positionOf(last) : null }
}

/** The column's name without its table, which is its name in the row. */
type ColumnOf<Name> = Name extends `${string}.${infer Column}` ? Column : Name

/** One page of `query`, the highest `column` first. The column must be unique and selected. */
export async function newestFirst<
  Tables,
  From extends keyof Tables,
  Name extends StringReference<Tables, From>,
  Row extends Readonly<Record<ColumnOf<Name> & string, bigint | null>>,
>(
  query: SelectQueryBuilder<Tables, From, Row>,
  column: Name,
  { limit, before }: PageRequest,
): Promise<KeysetPage<Row>> {
  const position = sql.ref<bigint>(column)
  // One row more than the page shows whether there is a next page.
  let page = query.orderBy(position, 'desc').limit(limit + 1)
  if (before !== null) page = page.where(position, '<', before)
  const name = column.slice(column.lastIndexOf('.') + 1) as ColumnOf<Name> & string
  return firstOf(await page.execute(), limit, (row) => row[name])
}

/**
 * A page of a list that is whole in memory and does not change while it is paged through: the
 * cursor says how many were shown.
 */
export function pageOfList<T>(
  all: readonly T[],
  page: PageRequest,
): { rows: T[]; next: bigint | null } {
  const from = Number(page.before ?? 0n)
  const to = from + page.limit
  return { rows: all.slice(from, to), next: to < all.length ? BigInt(to) : null }
}

/**
 * A page of a list that is whole in memory and may change while it is paged through, in the order
 * in which it comes. `keyOf`: descends along the list and names one row; the cursor is that of the
 * last row shown, so that the next page begins below it even if it is gone. Refuses with
 * invalid_input a cursor that is not ours.
 */
export function pageByKey<T>(
  all: readonly T[],
  query: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  language: Language,
  keyOf: (row: T) => string,
): { rows: T[]; next: string | null } {
  const { limit = 50, cursor } = query
  const [, after] = /^k1:([!-~]{1,300})$/.exec(
    Buffer.from(cursor ?? '', 'base64url').toString('latin1'),
  ) ?? [undefined, undefined]
  if (cursor !== undefined && after === undefined) throw notOurs(language)
  const left = after === undefined ? all : all.filter((row) => keyOf(row) < after)
  const rows = left.slice(0, limit)
  const last = rows.at(-1)
  const next =
    last !== undefined && left.length > limit
      ? Buffer.from(`k1:${keyOf(last)}`).toString('base64url')
      : null
  return { rows, next }
}

/** A position in a list that is ordered by time, and by id where times are equal. */
export interface TimePosition {
  readonly at: Date
  readonly id: string
}
export const encodeTimeCursor = (position: TimePosition | null): string | null =>
  position === null
    ? null
    : Buffer.from(`t1:${position.at.getTime()}:${position.id}`).toString('base64url')

/** Null without a cursor. Refuses one that is not ours with invalid_input. */
export function decodeTimeCursor(
  cursor: string | undefined,
  language: Language,
): TimePosition | null {
  if (cursor === undefined) return null
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const match = /^t1:(\d{1,14}):([0-9a-f-]{36})$/.exec(text)
  // The database reads the id, and takes no other text for one.
  if (!match?.[1] || !match[2] || !isUuid(match[2])) throw notOurs(language)
  return { at: new Date(Number(match[1])), id: match[2] }
}

/** A position in a list that is ordered by a rank, by time, and by number where both are equal. */
export interface RankedPosition {
  readonly rank: number
  readonly at: Date
  readonly number: bigint
}
export const encodeRankedCursor = (position: RankedPosition | null): string | null =>
  position === null
    ? null
    : Buffer.from(`r1:${position.rank}:${position.at.getTime()}:${position.number}`).toString(
        'base64url',
      )

/** Null without a cursor. Refuses one that is not ours with invalid_input. */
export function decodeRankedCursor(
  cursor: string | undefined,
  language: Language,
): RankedPosition | null {
  if (cursor === undefined) return null
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, rank, at, number] = /^r1:(\d{1,4}):(\d{1,14}):(\d{1,18})$/.exec(text) ?? []
  if (rank === undefined || at === undefined || number === undefined) throw notOurs(language)
  return { rank: Number(rank), at: new Date(Number(at)), number: BigInt(number) }
}
