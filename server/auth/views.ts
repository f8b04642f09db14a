/**
 * Views: a member of the operator's staff sees the portal as a customer does, and changes nothing
 * (decision 104). A view has a token of its own and no cookie. It ends with the member's session,
 * after half an hour, and whenever the customer's sessions end.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Session } from '../../contract/account.ts'
import { viewMinutes } from '../../contract/operator-desk.ts'
import { viewPrefix } from '../../contract/view.ts'
import { dropOld } from '../platform/batches.ts'
import { later, minutes, type Clock } from '../platform/clock.ts'
import { isUuid, type Queryable, type Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'

const ticketMs = minutes(1)
/** Per session of a member; a new one ends the oldest. */
const maxViews = 3

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
const newSecret = (): string => randomBytes(32).toString('base64url')

/** The views to end: those of a customer (or `only` one of them), of staff sessions, or by id. */
interface Which {
  readonly column: 'id' | 'customer_id' | 'staff_session_id'
  readonly is: readonly string[]
  readonly only?: string | undefined
}

/**
 * Makes a ticket that opens a view once, within a minute, for the session of the requesting member.
 * Refuses with not_found, and with conflict if the customer is blocked.
 */
export async function prepareView(
  tx: Tx,
  clock: Clock,
  customerId: string,
  staffSessionId: string,
): Promise<{ readonly id: string; readonly ticket: string }> {
  const customer = isUuid(customerId)
    ? await tx
        .selectFrom('customer')
        .select(['id', 'blocked_at'])
        .where('id', '=', customerId)
        .forUpdate()
        .executeTakeFirst()
    : undefined
  if (!customer) throw new Refusal('not_found')
  if (customer.blocked_at !== null)
    throw new Refusal('conflict', {
      fields: { customer: { en: 'This customer is blocked.', vi: 'Khách hàng này đang bị khoá.' } },
    })
  const [id, ticket] = [randomUUID(), newSecret()]
  await tx
    .insertInto('account_view')
    .values({
      id,
      customer_id: customer.id,
      staff_session_id: staffSessionId,
      ticket_hash: hashOf(ticket),
      expires_at: later(clock.now(), ticketMs),
    })
    .execute()
  return { id, ticket }
}

/**
 * Opens a view by its ticket, and adds it to the customer's history. Refuses with link_expired a
 * ticket that was used, has expired, or is another session's.
 */
export async function openView(
  tx: Tx,
  clock: Clock,
  ticket: string,
  by: { readonly sessionId: string; readonly expiresAt: Date },
): Promise<{
  readonly id: string
  readonly token: string
  readonly expiresAt: Date
  readonly customer: { readonly id: string; readonly name: string }
}> {
  const now = clock.now()
  const found = await tx
    .selectFrom('account_view as v')
    .innerJoin('customer as c', 'c.id', 'v.customer_id')
    .select(['c.id', 'c.name'])
    .where('v.ticket_hash', '=', hashOf(ticket))
    .where('c.blocked_at', 'is', null)
    // Lock the customer first, as a block does.
    .forUpdate('c')
    .executeTakeFirst()
  const view = await tx
    .selectFrom('account_view')
    .select(['id', 'customer_id'])
    .where('ticket_hash', '=', hashOf(ticket))
    .where('staff_session_id', '=', by.sessionId)
    .where('expires_at', '>', now)
    .forUpdate()
    .executeTakeFirst()
  if (!found || !view) throw new Refusal('link_expired')
  const token = `${viewPrefix}${newSecret()}`
  const expiresAt = new Date(
    Math.min(later(now, minutes(viewMinutes)).getTime(), by.expiresAt.getTime()),
  )
  const { id: told } = await tx
    .insertInto('sign_in')
    .values({
      customer_id: view.customer_id,
      at: now,
      // The member and the member's address are recorded in the trail only.
      ip: '',
      user_agent: '',
      outcome: 'viewed',
      until: expiresAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await tx
    .updateTable('account_view')
    .set({
      ticket_hash: null,
      token_hash: hashOf(token),
      opened_at: now,
      expires_at: expiresAt,
      sign_in_id: told,
    })
    .where('id', '=', view.id)
    .execute()
  const beyond = await tx
    .selectFrom('account_view')
    .select('id')
    .where('staff_session_id', '=', by.sessionId)
    .where('id', '<>', view.id)
    .where('opened_at', 'is not', null)
    .orderBy('opened_at', 'desc')
    .offset(maxViews - 1)
    .execute()
  await endViews(tx, clock, { column: 'id', is: beyond.map(({ id }) => id) })
  return { id: view.id, token, expiresAt, customer: found }
}

/**
 * The customer that a token's view shows, and its staff session. Undefined: the token opens
 * nothing.
 */
export async function viewOf(
  db: Queryable,
  clock: Clock,
  token: string,
): Promise<
  { readonly id: string; readonly customerId: string; readonly staffSessionId: string } | undefined
> {
  const view = await db
    .selectFrom('account_view as v')
    .innerJoin('customer as c', 'c.id', 'v.customer_id')
    .select(['v.id', 'v.customer_id', 'v.staff_session_id'])
    .where('v.token_hash', '=', hashOf(token))
    .where('v.expires_at', '>', clock.now())
    .where('c.blocked_at', 'is', null)
    .executeTakeFirst()
  return (
    view && { id: view.id, customerId: view.customer_id, staffSessionId: view.staff_session_id }
  )
}

/** Ends views and unused tickets; answers how many views were open. */
export async function endViews(tx: Tx, clock: Clock, { column, is, only }: Which): Promise<number> {
  if (is.length === 0) return 0
  const now = clock.now()
  const ended = await tx
    .deleteFrom('account_view')
    .where(column, 'in', is)
    .$if(only !== undefined, (query) => query.where('id', '=', only ?? ''))
    .returning(['sign_in_id', 'expires_at'])
    .execute()
  const told = ended.flatMap(({ sign_in_id: id, expires_at: end }) =>
    id !== null && end > now ? [id] : [],
  )
  if (told.length > 0)
    await tx.updateTable('sign_in').set({ until: now }).where('id', 'in', told).execute()
  return told.length
}

/** Open views, for the customer's list of sessions; they never name the member. */
export async function listViews(
  db: Queryable,
  clock: Clock,
  { customerId, sessionId }: { customerId: string; sessionId: string },
): Promise<Session[]> {
  const rows = await db
    .selectFrom('account_view')
    .select(['id', 'opened_at'])
    .where('customer_id', '=', customerId)
    .where('opened_at', 'is not', null)
    .where('expires_at', '>', clock.now())
    .orderBy('opened_at', 'desc')
    .execute()
  return rows.map(({ id, opened_at }) => {
    const at = (opened_at ?? clock.now()).toISOString()
    return {
      id,
      current: id === sessionId,
      ip: null,
      userAgent: null,
      createdAt: at,
      lastUsedAt: at,
      remembered: false,
      isView: true,
    }
  })
}

export const dropOldViews = (db: Queryable, clock: Clock): Promise<void> =>
  dropOld(db, clock, 'account_view')
