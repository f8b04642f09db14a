/**
 * Gateways' webhooks as the operator's desk shows them: as received, shortened, and without secrets
 * and card data.
 */
import { sql } from 'kysely'
import type { GatewayNotice, NoticeDetail, NoticeOutcome } from '../../contract/operator-notices.ts'
import { firstOf, type KeysetPage, type PageRequest } from '../platform/cursor.ts'
import type { Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { PaymentDriver } from './driver.ts'
import { eventOfJson, type KeptEvent } from './notice-event.ts'

type Gateways = ReadonlyMap<string, PaymentDriver>

/** Webhooks that one page of trouble scans. A page may be short; the next page continues. */
const lookedAt = 5_000
/** Characters of a body that are shown. */
const longestShown = 16_000

const outcomes: Readonly<Record<string, NoticeOutcome>> = {
  recorded: 'posted',
  already: 'duplicate',
  unknown_order: 'suspense',
  wrong_amount: 'suspense',
  forged: 'forged',
  error: 'failed',
}
const shown = (outcome: string | null): NoticeOutcome =>
  outcome === null ? 'unfinished' : (outcomes[outcome] ?? 'failed')

interface Row {
  readonly id: bigint
  readonly driver: string
  readonly received_at: Date
  readonly outcome: string | null
  readonly code: string | null
  readonly replayed_at: Date | null
  readonly replay_outcome: string | null
}
const present = (row: Row, gateways: Gateways): GatewayNotice => ({
  id: Number(row.id),
  gateway: gateways.get(row.driver)?.displayName ?? row.driver,
  at: row.received_at.toISOString(),
  outcome: shown(row.outcome),
  payment: row.code,
  replayedAt: row.replayed_at?.toISOString() ?? null,
  replayOutcome: row.replayed_at === null ? null : shown(row.replay_outcome),
})

/** Newest first. `trouble`: only webhooks whose last handling did not end well. */
export async function listNotices(
  db: Queryable,
  gateways: Gateways,
  { limit, before }: PageRequest,
  isTrouble: boolean,
): Promise<KeysetPage<GatewayNotice>> {
  const below = before === null ? sql`` : sql`where id < ${before}`
  const size = isTrouble ? lookedAt : limit + 1
  const { rows } = await sql<Row>`
    with looked_at as (
      select id, driver, received_at, outcome, payment_id, replayed_at, replay_outcome,
        ${isTrouble}::boolean is false
          or coalesce(replay_outcome, outcome, '') not in ('recorded', 'already') as is_shown
      from payment_notice ${below} order by id desc limit ${size})
    select n.*, p.code
    from (select * from looked_at where is_shown order by id desc limit ${limit + 1}) n
    left join payment p on p.id = n.payment_id
    order by n.id desc`.execute(db)
  const page = firstOf(rows, limit, ({ id }) => id)
  const next = page.next ?? (isTrouble ? await endOf(db, before) : null)
  return { rows: page.rows.map((row) => present(row, gateways)), next }
}

/**
 * The number of the newest webhook that reported each of these movements, by driver and movement.
 * The webhook contains more than the movement, such as a transfer's text.
 */
export async function noticesOfMovements(
  db: Queryable,
  movements: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (movements.length === 0) return new Map()
  const { rows } = await sql<{ id: bigint; driver: string; movement: string }>`
    select id, driver, event ->> 'providerTransactionId' as movement
    from (select * from payment_notice order by id desc limit ${lookedAt}) n
    where event ->> 'providerTransactionId' = any(${[...movements]})
    order by id desc`.execute(db)
  return new Map(rows.map(({ id, driver, movement }) => [`${driver} ${movement}`, Number(id)]))
}

/**
 * Where the scan for a page of trouble ended if the page is not full. Null: the scan reached the
 * first webhook.
 */
async function endOf(db: Queryable, before: bigint | null): Promise<bigint | null> {
  const below = before === null ? sql`` : sql`where id < ${before}`
  const { rows } = await sql<{ id: bigint }>`
    select id from payment_notice ${below} order by id desc
    offset ${lookedAt - 1} limit 1`.execute(db)
  return rows[0]?.id ?? null
}

/** Fields hidden from everybody, by the gateways' own names: keys, signatures and card data. */
const secretName = new RegExp(
  [
    'secret|signature|hash|checksum|token|password|authorization|api.?key',
    'cvc|cvv|card.?(?:no|num)|pan$|exp.?(?:month|year|date)|fingerprint',
  ].join('|'),
  'i',
)
/** Numbers as long as a card's, whose check digit is right. */
function isCardNumber(digits: string): boolean {
  let sum = 0
  for (const [index, digit] of [...digits].toReversed().entries()) {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2)
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}
const withoutCards = (text: string): string =>
  text.replace(/\d(?:[ -]?\d){12,18}/g, (found) =>
    isCardNumber(found.replaceAll(/\D/g, '')) ? '…' : found,
  )

function hidden(value: unknown, name = ''): unknown {
  if (secretName.test(name) && (typeof value === 'string' || typeof value === 'number')) return '…'
  if (typeof value === 'string') return withoutCards(value)
  if (typeof value === 'number') return isLongNumber(value) ? withoutCards(String(value)) : value
  if (Array.isArray(value)) return value.map((each) => hidden(each, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hidden(each, key)]))
}
const isLongNumber = (value: number): boolean => Math.abs(value) >= 1e12

const pairsOf = (text: string): { name: string; value: string }[] =>
  [...new URLSearchParams(text)].map(([name, value]) => ({
    name,
    value: String(hidden(value, name)),
  }))

/**
 * A body with hidden fields removed: JSON or a form. Text in any other format is shown without
 * numbers.
 */
export function shownBody(text: string): string {
  if (text.trim() === '') return ''
  try {
    return JSON.stringify(hidden(JSON.parse(text)), null, 2)
  } catch {
    // The text is not JSON, or its end was cut off when it was stored.
  }
  if (/^[\w.%+-]+=[^{}\n]*$/.test(text))
    return pairsOf(text)
      .map(({ name, value }) => `${name}=${value}`)
      .join('\n')
  return withoutCards(text).replaceAll(
    /("?([\w.-]+)"?\s*[:=]\s*)("[^"]*"?|[^\s,&}]+)/g,
    (pair, before: string, name: string) => (secretName.test(name) ? `${before}…` : pair),
  )
}

function saidBy(event: KeptEvent | undefined): NoticeDetail['says'] {
  if (event === undefined) return null
  if ('ask' in event)
    return {
      event: event.eventId,
      status: 'ask',
      reference: event.reference,
      amount: null,
      currency: null,
    }
  if ('dispute' in event)
    return {
      event: event.eventId,
      status: 'dispute',
      reference: event.dispute,
      amount: null,
      currency: null,
    }
  const { eventId, status, reference, amount, currency } = event
  return { event: eventId, status, reference, amount: Number(amount), currency }
}

/** Refuses with not_found. */
export async function noticeOf(
  db: Queryable,
  gateways: Gateways,
  id: string,
): Promise<NoticeDetail> {
  const row = /^\d{1,15}$/.test(id)
    ? await db
        .selectFrom('payment_notice as n')
        .leftJoin('payment as p', 'p.id', 'n.payment_id')
        .selectAll('n')
        .select('p.code')
        .where('n.id', '=', BigInt(id))
        .executeTakeFirst()
    : undefined
  if (!row) throw new Refusal('not_found')
  const raw = row.raw as { method?: string; query?: string; body?: string }
  const body = shownBody(raw.body ?? '')
  const event = eventOfJson(row.event)
  return {
    ...present(row, gateways),
    method: raw.method ?? '',
    query: pairsOf(raw.query ?? ''),
    body: body.slice(0, longestShown),
    isCut: body.length > longestShown,
    says: saidBy(event),
    replayable: event !== undefined && gateways.has(row.driver),
  }
}
