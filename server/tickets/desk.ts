/** Queries of the operator's desk about tickets. */
import type {
  DeskMessage,
  Priority,
  TicketAtDesk,
  TicketOfDesk,
} from '../../contract/tickets-desk.ts'
import { priorities } from '../../contract/tickets-desk.ts'
import type { Ticket } from '../../contract/tickets.ts'
import { sql } from 'kysely'
import { showCustomers } from '../auth/index.ts'
import { days, later, type Clock } from '../platform/clock.ts'
import type { RankedPosition } from '../platform/cursor.ts'
import { isUuid, type Queryable } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { memberNames } from '../staff/index.ts'
import type { TicketDeps } from './deps.ts'
import { languageOfText } from './letters.ts'
import { findTicket, messagesOf, shownTicket, type TicketRow } from './store.ts'

/** Limits the list: otherwise a filter could scan all tickets ever closed. */
const shownClosedMs = days(90)
const shownOfCustomer = 10
const shownOthers = 20

export const priorityOf = ({ priority }: Pick<TicketRow, 'priority'>): Priority =>
  priorities[priority] ?? 'normal'

async function withPeople(db: Queryable, rows: readonly TicketRow[]): Promise<TicketOfDesk[]> {
  const customers = await showCustomers(
    db,
    rows.flatMap((row) => row.customer_id ?? []),
  )
  const members = await memberNames(
    db,
    rows.flatMap((row) => row.assignee_id ?? []),
  )
  return rows.map((row) => {
    const customer = customers.get(row.customer_id ?? '')
    return {
      ...shownTicket(row),
      customer: customer ? { id: customer.id, name: customer.name, email: customer.email } : null,
      sender:
        customer || row.sender_email === null
          ? null
          : { email: row.sender_email, name: row.sender_name ?? '' },
      priority: priorityOf(row),
      assignee:
        row.assignee_id === null
          ? null
          : { id: row.assignee_id, name: members.get(row.assignee_id) ?? '' },
      labels: row.labels,
    }
  })
}

export interface QueueWish {
  readonly state?: Ticket['state'] | undefined
  readonly assignee?: string | undefined
  readonly priority?: Priority | undefined
  readonly label?: string | undefined
}

/** How many wait for the staff, by the index `ticket_queue`. */
export async function countOpenTickets(db: Queryable): Promise<number> {
  const { n } = await db
    .selectFrom('ticket')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('state', '=', 'open')
    .where('merged_into', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** How long the longest waiting ticket has waited for the staff, ms; 0: none waits. */
export async function oldestOpenTicketMs(db: Queryable, clock: Clock): Promise<number> {
  const { since } = await db
    .selectFrom('ticket')
    .select((eb) => eb.fn.min('waiting_since').as('since'))
    .where('state', '=', 'open')
    .where('merged_into', 'is', null)
    .executeTakeFirstOrThrow()
  return since === null ? 0 : Math.max(0, clock.now().getTime() - since.getTime())
}

/**
 * One page of open tickets, the most urgent and longest waiting first; of those closed within
 * ninety days, the newest first. `after`: where the page before ended.
 */
export async function queueOf(
  db: Queryable,
  clock: Clock,
  staffId: string,
  { state = 'open', assignee, priority, label }: QueueWish,
  { limit, after }: { readonly limit: number; readonly after: RankedPosition | null },
): Promise<{ readonly rows: TicketOfDesk[]; readonly next: RankedPosition | null }> {
  let query = db
    .selectFrom('ticket')
    .selectAll()
    .where('state', '=', state)
    .where('merged_into', 'is', null)
    .limit(limit + 1)
  query =
    state === 'closed'
      ? query
          .where('closed_at', '>', later(clock.now(), -shownClosedMs))
          .orderBy('closed_at', 'desc')
          .orderBy('number', 'desc')
      : query.orderBy('priority', 'desc').orderBy('waiting_since').orderBy('number')
  if (after !== null)
    query = query.where(
      state === 'closed'
        ? sql<boolean>`(closed_at, number) < (${after.at}, ${after.number})`
        : sql<boolean>`priority <= ${after.rank} and (priority < ${after.rank}
            or (waiting_since, number) > (${after.at}, ${after.number}))`,
    )
  if (assignee === 'nobody') query = query.where('assignee_id', 'is', null)
  else if (assignee !== undefined) {
    const id = assignee === 'mine' ? staffId : assignee
    if (!isUuid(id)) return { rows: [], next: null }
    query = query.where('assignee_id', '=', id)
  }
  if (priority !== undefined) query = query.where('priority', '=', priorities.indexOf(priority))
  if (label !== undefined) query = query.where(sql<boolean>`${label} = any (labels)`)
  const found = await query.execute()
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return {
    rows: await withPeople(db, shown),
    next:
      found.length > limit && last
        ? {
            rank: last.priority,
            at: state === 'closed' ? (last.closed_at ?? last.waiting_since) : last.waiting_since,
            number: last.number,
          }
        : null,
  }
}

/** The newest ten, for the customer's page. */
export async function ticketsOfCustomer(db: Queryable, customerId: string): Promise<Ticket[]> {
  const rows = await db
    .selectFrom('ticket')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('merged_into', 'is', null)
    .orderBy('number', 'desc')
    .limit(shownOfCustomer)
    .execute()
  return rows.map(shownTicket)
}

/** Finds a ticket by its number, in the form that people write. */
export async function findTickets(
  db: Queryable,
  text: string,
): Promise<{ readonly id: string; readonly customerId: string | null; readonly text: string }[]> {
  const [, digits] = /^#?(\d{4,15})$/.exec(text) ?? []
  if (digits === undefined) return []
  const rows = await db
    .selectFrom('ticket')
    .select(['id', 'customer_id', 'number', 'subject'])
    .where('number', '=', BigInt(digits))
    .execute()
  return rows.map((row) => ({
    id: row.id,
    customerId: row.customer_id,
    text: `#${row.number} ${row.subject}`,
  }))
}

/** Other tickets of the same customer, or of the same sender if it has no customer. */
async function othersOf(db: Queryable, row: TicketRow): Promise<Ticket[]> {
  let query = db
    .selectFrom('ticket')
    .selectAll()
    .where('id', '!=', row.id)
    .where('merged_into', 'is', null)
    .orderBy('number', 'desc')
    .limit(shownOthers)
  query =
    row.customer_id === null
      ? query.where('customer_id', 'is', null).where('sender_email', '=', row.sender_email)
      : query.where('customer_id', '=', row.customer_id)
  return (await query.execute()).map(shownTicket)
}

/** Refuses with not_found. */
export async function ticketAtDesk(
  db: Queryable,
  { customer }: Pick<TicketDeps, 'customer'>,
  id: string,
): Promise<TicketAtDesk> {
  const row = await findTicket(db, id)
  if (!row) throw new Refusal('not_found')
  const [shown] = await withPeople(db, [row])
  if (!shown) throw new Refusal('not_found')
  const messages = await messagesOf(db, row.id)
  const written = messages.find(({ kind }) => kind === 'customer')?.text ?? ''
  return {
    ...shown,
    language:
      row.customer_id === null
        ? languageOfText(`${row.subject} ${written}`)
        : (await customer(db, row.customer_id)).language,
    messages: messages.map((one) => ({
      id: one.id,
      at: one.at.toISOString(),
      from: one.kind as DeskMessage['from'],
      author: one.author,
      text: one.text,
      byMail: one.by_mail,
      proven: one.proven,
      files: one.files,
      leftOut: one.left_out,
    })),
    others: await othersOf(db, row),
  }
}
