/** The operator's public notices, and their times (decision 105). */
import { randomUUID } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import type { Language } from '../../contract/errors.ts'
import {
  historyDays,
  type Notice,
  type NoticeKind,
  type NoticeOfDesk,
  type Status,
} from '../../contract/status.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import type { DB } from '../platform/db-types.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal, type Sentence } from '../platform/errors.ts'

type Row = Selectable<DB['status_notice']>
type Update = Pick<Selectable<DB['status_update']>, 'notice_id' | 'at' | 'text_en' | 'text_vi'>

/** The NOTIFY channel on which every process hears that a notice changed. */
export const statusChannel = 'portal_status'
const changed = (tx: Tx): Promise<unknown> =>
  sql`select pg_notify(${statusChannel}, '')`.execute(tx)

const shownAtDesk = 100
const mostInHistory = 100

const texts = {
  over: {
    en: 'The end must be in the future and after the beginning.',
    vi: 'Thời điểm kết thúc phải ở tương lai và sau lúc bắt đầu.',
  },
  closes: {
    en: 'Only maintenance closes the portal.',
    vi: 'Chỉ bảo trì mới đóng được trang khách hàng.',
  },
  past: {
    en: 'This is over already.',
    vi: 'Thông báo này đã kết thúc.',
  },
} satisfies Record<string, Sentence>
const no = (field: string, sentence: Sentence): Refusal =>
  new Refusal('invalid_input', { fields: { [field]: sentence } })

export interface NewNotice {
  readonly kind: NoticeKind
  readonly title: Sentence
  readonly text: Sentence
  /** Undefined: now. */
  readonly startsAt: Date | undefined
  /** Undefined: until somebody ends it. */
  readonly endsAt: Date | undefined
  readonly closes: boolean
}

/** Returns the notice's id. Refuses with invalid_input when the notice ends before it begins. */
export async function publish(tx: Tx, clock: Clock, notice: NewNotice): Promise<string> {
  const now = clock.now()
  const startsAt = notice.startsAt ?? now
  if (notice.endsAt && (notice.endsAt <= startsAt || notice.endsAt <= now))
    throw no('endsAt', texts.over)
  if (notice.closes && notice.kind !== 'maintenance') throw no('closes', texts.closes)
  const id = randomUUID()
  await tx
    .insertInto('status_notice')
    .values({
      id,
      kind: notice.kind,
      title_en: notice.title.en,
      title_vi: notice.title.vi,
      text_en: notice.text.en,
      text_vi: notice.text.vi,
      starts_at: startsAt,
      ends_at: notice.endsAt ?? null,
      closes: notice.closes,
      created_at: now,
    })
    .execute()
  await changed(tx)
  return id
}

/** Locks the notice. Refuses with not_found, and with conflict when it is over. */
async function lockNotice(tx: Tx, clock: Clock, id: string): Promise<Row> {
  const row = isUuid(id)
    ? await tx
        .selectFrom('status_notice')
        .selectAll()
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  if (row.ends_at !== null && row.ends_at <= clock.now())
    throw new Refusal('conflict', { fields: { notice: texts.past } })
  return row
}

/** Adds an update to a notice. Answers its title. */
export async function addUpdate(
  tx: Tx,
  clock: Clock,
  { id, text }: { readonly id: string; readonly text: Sentence },
): Promise<string> {
  const { title_en: title } = await lockNotice(tx, clock, id)
  await tx
    .insertInto('status_update')
    .values({ notice_id: id, at: clock.now(), text_en: text.en, text_vi: text.vi })
    .execute()
  await changed(tx)
  return title
}

/** Ends a notice now; one that has not begun is deleted. Answers its title. */
export async function end(tx: Tx, clock: Clock, id: string): Promise<string> {
  const now = clock.now()
  const { starts_at: startsAt, title_en: title } = await lockNotice(tx, clock, id)
  if (startsAt >= now) await tx.deleteFrom('status_notice').where('id', '=', id).execute()
  else await tx.updateTable('status_notice').set({ ends_at: now }).where('id', '=', id).execute()
  await changed(tx)
  return title
}

type When = NoticeOfDesk['when']
function whenOf({ starts_at: starts, ends_at: ends }: Row, now: Date): When {
  if (ends !== null && ends <= now) return 'past'
  return starts <= now ? 'now' : 'coming'
}

async function updatesOf(
  db: Queryable,
  rows: readonly Row[],
): Promise<(id: string) => readonly Update[]> {
  if (rows.length === 0) return () => []
  const all = await db
    .selectFrom('status_update')
    .select(['notice_id', 'at', 'text_en', 'text_vi'])
    .where(
      'notice_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('id')
    .execute()
  const byNotice = Map.groupBy(all, (one) => one.notice_id)
  return (id) => byNotice.get(id) ?? []
}

/** The public status, in one language. */
export async function statusFor(db: Queryable, now: Date, language: Language): Promise<Status> {
  const rows = await db
    .selectFrom('status_notice')
    .selectAll()
    .where((eb) =>
      eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', later(now, -days(historyDays)))]),
    )
    .orderBy('starts_at', 'desc')
    .orderBy('id')
    .limit(mostInHistory)
    .execute()
  const updates = await updatesOf(db, rows)
  const told = (when: When): Notice[] =>
    rows
      .filter((row) => whenOf(row, now) === when)
      .map((row) => ({
        id: row.id,
        kind: row.kind as NoticeKind,
        title: row[`title_${language}`],
        text: row[`text_${language}`],
        startsAt: row.starts_at.toISOString(),
        endsAt: row.ends_at?.toISOString() ?? null,
        closes: row.closes,
        updates: updates(row.id).map((one) => ({
          at: one.at.toISOString(),
          text: one[`text_${language}`],
        })),
      }))
  const current = told('now')
  const goesOn = (kind: NoticeKind): boolean => current.some((one) => one.kind === kind)
  const calm = goesOn('incident') ? 'incident' : 'working'
  return {
    state: goesOn('maintenance') ? 'maintenance' : calm,
    now: current,
    coming: told('coming').toReversed(),
    past: told('past'),
  }
}

/** The newest, for the staff. */
export async function noticesFor(db: Queryable, now: Date): Promise<NoticeOfDesk[]> {
  const rows = await db
    .selectFrom('status_notice')
    .selectAll()
    .orderBy('starts_at', 'desc')
    .orderBy('id')
    .limit(shownAtDesk)
    .execute()
  const updates = await updatesOf(db, rows)
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind as NoticeKind,
    title: { en: row.title_en, vi: row.title_vi },
    text: { en: row.text_en, vi: row.text_vi },
    startsAt: row.starts_at.toISOString(),
    endsAt: row.ends_at?.toISOString() ?? null,
    closes: row.closes,
    when: whenOf(row, now),
    updates: updates(row.id).map((one) => ({
      at: one.at.toISOString(),
      text: { en: one.text_en, vi: one.text_vi },
    })),
  }))
}

/** A time during which the portal is closed. */
export interface Closing {
  readonly from: Date
  /** Null: until somebody ends it. */
  readonly until: Date | null
}
/** Closings that are not over. */
export async function closings(db: Queryable, now: Date): Promise<Closing[]> {
  const rows = await db
    .selectFrom('status_notice')
    .select(['starts_at', 'ends_at'])
    .where('closes', '=', true)
    .where((eb) => eb.or([eb('ends_at', 'is', null), eb('ends_at', '>', now)]))
    .execute()
  return rows.map((row) => ({ from: row.starts_at, until: row.ends_at }))
}
