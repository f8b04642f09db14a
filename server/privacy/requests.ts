/** Requests about personal data: received, due by a clock, and decided (decision 125). */
import { randomUUID } from 'node:crypto'
import { sql, type Selectable } from 'kysely'
import {
  mostOpenRequests,
  type DataRequest,
  type RequestKind,
} from '../../contract/data-requests.ts'
import { byClosing, type DeskRequest } from '../../contract/operator-privacy.ts'
import { showCustomers } from '../auth/index.ts'
import { dropOld } from '../platform/batches.ts'
import type { Clock } from '../platform/clock.ts'
import type { DB } from '../platform/db-types.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { OperatorOutbox } from '../realtime/index.ts'
import { afterDays, afterWorkingDays } from './working-days.ts'

/**
 * Working days until an answer, by Vietnam's Personal Data Law 91/2025 and Decree 356/2025. The
 * letter that says by when goes out at once, where the law allows two days for it.
 */
const workingDays: Readonly<Record<RequestKind, number>> = {
  access: 10,
  correction: 10,
  objection: 15,
  erasure: 20,
}
/** Days in a row, at most: Australia's Privacy Act 1988 (APP 12.4 and 13.5). Tết counts here. */
const mostDays = 30

/** The day's end in Vietnam by which a request must be answered. */
export function dueAt(kind: RequestKind, receivedAt: Date): Date {
  const times = [afterWorkingDays(receivedAt, workingDays[kind]), afterDays(receivedAt, mostDays)]
  return new Date(Math.min(...times.map((time) => time.getTime())))
}

type Row = Selectable<DB['data_request']>
const shownAtOnce = 100

const shown = (row: Row): DataRequest => ({
  id: row.id,
  kind: row.kind as RequestKind,
  text: row.text,
  receivedAt: row.received_at.toISOString(),
  dueAt: row.due_at.toISOString(),
  state: row.state as DataRequest['state'],
  decidedAt: row.decided_at?.toISOString() ?? null,
  answer: row.answer,
})

/** Writes a request down; its clock begins with the day on which it came. */
export async function receiveRequest(
  tx: Tx,
  { clock, outbox }: { readonly clock: Clock; readonly outbox: OperatorOutbox },
  of: {
    readonly customerId: string | null
    readonly kind: RequestKind
    readonly text: string
    readonly askedBy: string | null
    readonly enteredBy: string | null
    readonly receivedAt?: Date
  },
): Promise<DataRequest> {
  const receivedAt = of.receivedAt ?? clock.now()
  const row = await tx
    .insertInto('data_request')
    .values({
      id: randomUUID(),
      customer_id: of.customerId,
      kind: of.kind,
      text: of.text,
      asked_by: of.askedBy,
      entered_by: of.enteredBy,
      received_at: receivedAt,
      due_at: dueAt(of.kind, receivedAt),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const request = shown(row)
  const { id, kind, dueAt: due } = request
  await outbox.tellOperator(tx, {
    event: 'data_request.received',
    customerId: of.customerId,
    payload: { data_request: { id, kind, due_at: due } },
  })
  return request
}

/**
 * The caller has locked the account. Refuses with conflict a customer with enough open requests.
 */
export async function refuseMore(tx: Tx, customerId: string): Promise<void> {
  const open = await tx
    .selectFrom('data_request')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('state', '=', 'open')
    .limit(mostOpenRequests)
    .execute()
  if (open.length >= mostOpenRequests)
    throw new Refusal('conflict', {
      fields: {
        kind: {
          en: `${mostOpenRequests} requests are open. Wait for an answer first.`,
          vi: `Bạn đang có ${mostOpenRequests} yêu cầu chưa được trả lời. Vui lòng chờ.`,
        },
      },
    })
}

/**
 * Ends an open request; answers its row before. Refuses with not_found; with conflict one that is
 * decided, and an erasure while the account exists.
 */
export async function decideRequest(
  tx: Tx,
  clock: Clock,
  of: {
    readonly id: string
    readonly state: 'done' | 'refused'
    readonly by: string
    readonly answer: string
  },
): Promise<{ readonly request: DataRequest; readonly customerId: string | null }> {
  const row = isUuid(of.id)
    ? await tx
        .selectFrom('data_request')
        .selectAll()
        .where('id', '=', of.id)
        .forUpdate()
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  if (row.state !== 'open')
    throw new Refusal('conflict', {
      fields: {
        request: { en: 'This is decided already.', vi: 'Yêu cầu này đã được giải quyết.' },
      },
    })
  if (row.kind === 'erasure' && row.customer_id !== null && of.state === 'done')
    throw new Refusal('conflict', {
      fields: {
        request: {
          en:
            'The account is not closed yet. Its owner closes it on the account page: that erases ' +
            'the data, and ends this request.',
          vi:
            'Tài khoản chưa được đóng. Chủ tài khoản đóng tại trang Tài khoản; khi đó dữ liệu ' +
            'được xoá và yêu cầu này kết thúc.',
        },
      },
    })
  await tx
    .updateTable('data_request')
    .set({
      state: of.state,
      decided_at: clock.now(),
      decided_by: of.by,
      answer: of.answer,
    })
    .where('id', '=', row.id)
    .execute()
  return { request: shown(row), customerId: row.customer_id }
}

/** The newest first. */
export async function requestsOf(db: Queryable, customerId: string): Promise<DataRequest[]> {
  const rows = await db
    .selectFrom('data_request')
    .selectAll()
    .where('customer_id', '=', customerId)
    .orderBy('received_at', 'desc')
    .limit(shownAtOnce)
    .execute()
  return rows.map(shown)
}

/** Open requests, due soonest first; or decided ones, newest first. */
export async function requestsOfDesk(
  db: Queryable,
  clock: Clock,
  show: 'open' | 'decided',
): Promise<DeskRequest[]> {
  const all = db.selectFrom('data_request').selectAll().limit(shownAtOnce)
  const rows =
    show === 'open'
      ? await all.where('state', '=', 'open').orderBy('due_at').orderBy('id').execute()
      : await all
          .where('decided_at', 'is not', null)
          .orderBy('decided_at', 'desc')
          .orderBy('id', 'desc')
          .execute()
  const customers = await showCustomers(
    db,
    rows.flatMap(({ customer_id: id }) => id ?? []),
  )
  const now = clock.now()
  return rows.map((row) => {
    const customer = customers.get(row.customer_id ?? '')
    return {
      ...shown(row),
      customer: customer ? { id: customer.id, name: customer.name, email: customer.email } : null,
      askedBy: row.asked_by,
      enteredBy: row.entered_by,
      decidedBy: row.decided_by,
      overdue: row.due_at < (row.decided_at ?? now),
    }
  })
}

/** How many wait for an answer. */
export async function countOpenRequests(db: Queryable): Promise<number> {
  const { n } = await db
    .selectFrom('data_request')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('state', '=', 'open')
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** How many are open after the day by which they had to be answered. */
export async function overdueRequests(db: Queryable, clock: Clock): Promise<number> {
  const { n } = await db
    .selectFrom('data_request')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('state', '=', 'open')
    .where('due_at', '<', clock.now())
    .executeTakeFirstOrThrow()
  return Number(n)
}

/**
 * For a customer who closes the account: fulfils requests for erasure, ends the other open ones,
 * and deletes all texts.
 */
export async function forgetRequests(tx: Tx, clock: Clock, customerId: string): Promise<void> {
  await tx
    .updateTable('data_request')
    .set({
      state: sql<string>`case kind when 'erasure' then 'done' else 'ended' end`,
      decided_at: clock.now(),
      decided_by: byClosing,
    })
    .where('customer_id', '=', customerId)
    .where('state', '=', 'open')
    .execute()
  await tx
    .updateTable('data_request')
    .set({ text: '', asked_by: null, answer: null })
    .where('customer_id', '=', customerId)
    .execute()
}

export const dropOldRequests = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'data_request')
