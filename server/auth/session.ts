/**
 * Sessions. Each is held by an access token and by a cookie: both opaque, random, stored only as a
 * hash, revocable. A session ends after twelve idle hours unless it is remembered, and always after
 * thirty days. A token always ends after twelve idle hours. A locked session continues under a new
 * token and a new cookie once the password is given.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Session } from '../../contract/account.ts'
import type { BrowserSession } from '../../contract/session.ts'
import { days, hours, later, minutes, type Clock } from '../platform/clock.ts'
import type { Queryable, Tx } from '../platform/db.ts'
import { Refusal } from '../platform/errors.ts'
import { csrfTokenOf } from '../platform/session-cookie.ts'
import type { Caller, Credential, Origin } from '../platform/http.ts'
import { endViews, listViews } from './views.ts'

const idleMs = hours(12)
const longestMs = days(30)
/** Per customer; a new one ends the oldest. */
const maxSessions = 20
/** The last use is written at most this often. */
const lastUsedWriteMs = minutes(1)

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export type { Caller, Origin }
/**
 * Closes everything that is open under these sessions, in every process, after the commit; with
 * `accountId` also every socket of that account.
 */
export type EndLive = (tx: Tx, sessionIds: readonly string[], accountId?: string) => Promise<void>
export interface EndNeeds {
  readonly clock: Clock
  readonly endLive: EndLive
}

/** The credentials of a new or continued session. */
export interface Opened {
  readonly id: string
  readonly accessToken: string
  /** The end of the token, unless it is used. */
  readonly expiresAt: Date
  /** The end of the session, unless it is used. */
  readonly sessionExpiresAt: Date
  readonly cookie: string
  /** Null: the browser is to forget the cookie when it is closed. */
  readonly cookieSeconds: number | null
  readonly remembered: boolean
}
const newSecret = (): string => randomBytes(32).toString('base64url')
/** The end of a session or a token that is used now and never again. */
const expiryOf = (now: Date, endsAt: Date): Date =>
  new Date(Math.min(later(now, idleMs).getTime(), endsAt.getTime()))
const secondsUntil = (now: Date, end: Date): number =>
  Math.max(0, Math.floor((end.getTime() - now.getTime()) / 1000))
/** The expiry of a session and its token that are used now. */
const expiries = (now: Date, endsAt: Date, remembered: boolean) =>
  remembered
    ? { expires_at: endsAt, token_expires_at: expiryOf(now, endsAt) }
    : { expires_at: expiryOf(now, endsAt), token_expires_at: null }

/**
 * Opens a session; beyond twenty of a customer the oldest end. `remembered`: it has no idle end.
 */
export async function openSession(
  tx: Tx,
  clock: Clock,
  endLive: EndLive,
  customerId: string,
  from: Origin,
  remembered = false,
): Promise<Opened> {
  const [accessToken, cookie] = [newSecret(), newSecret()]
  const id = randomUUID()
  const now = clock.now()
  const endsAt = later(now, longestMs)
  await tx
    .insertInto('session')
    .values({
      id,
      token_hash: hashOf(accessToken),
      cookie_hash: hashOf(cookie),
      remembered,
      customer_id: customerId,
      ip: from.ip,
      user_agent: from.userAgent,
      created_at: now,
      last_used_at: now,
      ...expiries(now, endsAt, remembered),
      ends_at: endsAt,
    })
    .execute()
  const beyond = await tx
    .selectFrom('session')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('id', '<>', id)
    .orderBy('created_at', 'desc')
    .orderBy('last_used_at', 'desc')
    .offset(maxSessions - 1)
    .execute()
  for (const old of beyond) await endSessions(tx, { clock, endLive }, { customerId, only: old.id })
  return {
    id,
    accessToken,
    expiresAt: expiryOf(now, endsAt),
    sessionExpiresAt: remembered ? endsAt : expiryOf(now, endsAt),
    cookie,
    cookieSeconds: remembered ? secondsUntil(now, endsAt) : null,
    remembered,
  }
}

/** Locks a session and closes its live connections. */
export async function lockSession(
  tx: Tx,
  clock: Clock,
  endLive: EndLive,
  sessionId: string,
): Promise<void> {
  // Lock first, as an ending does: no socket is admitted meanwhile.
  const held = await tx
    .selectFrom('session')
    .select('id')
    .where('id', '=', sessionId)
    .forUpdate()
    .executeTakeFirst()
  if (!held) throw new Refusal('unauthenticated')
  await tx
    .updateTable('session')
    .set({ locked_at: clock.now() })
    .where('id', '=', sessionId)
    .execute()
  await endLive(tx, [sessionId])
}

/**
 * Continues a session under a new token and a new cookie and revokes the old ones. Refuses with
 * unauthenticated.
 */
export async function renewSession(tx: Tx, clock: Clock, sessionId: string): Promise<Opened> {
  const held = await tx
    .selectFrom('session')
    .select(['ends_at', 'remembered'])
    .where('id', '=', sessionId)
    .forUpdate()
    .executeTakeFirst()
  if (!held) throw new Refusal('unauthenticated')
  const { ends_at: endsAt, remembered } = held
  const [accessToken, cookie] = [newSecret(), newSecret()]
  const now = clock.now()
  await tx
    .updateTable('session')
    .set({
      token_hash: hashOf(accessToken),
      cookie_hash: hashOf(cookie),
      locked_at: null,
      last_used_at: now,
      ...expiries(now, endsAt, remembered),
    })
    .where('id', '=', sessionId)
    .execute()
  return {
    id: sessionId,
    accessToken,
    expiresAt: expiryOf(now, endsAt),
    sessionExpiresAt: remembered ? endsAt : expiryOf(now, endsAt),
    cookie,
    cookieSeconds: remembered ? secondsUntil(now, endsAt) : null,
    remembered,
  }
}

/**
 * Gives a session a new cookie, and revokes the old one. If the token made the call, it stays
 * valid. If the cookie made it, the token's holder is unknown, so the token is revoked.
 */
export async function renewCookie(
  tx: Tx,
  clock: Clock,
  { sessionId, heldBy }: Caller,
): Promise<Pick<Opened, 'cookie' | 'cookieSeconds'>> {
  const cookie = newSecret()
  const { ends_at: endsAt, remembered } = await tx
    .updateTable('session')
    .set({
      cookie_hash: hashOf(cookie),
      ...(heldBy === 'cookie' && { token_hash: hashOf(newSecret()) }),
    })
    .where('id', '=', sessionId)
    .returning(['ends_at', 'remembered'])
    .executeTakeFirstOrThrow()
  return { cookie, cookieSeconds: remembered ? secondsUntil(clock.now(), endsAt) : null }
}

/** The session of a token or a cookie. Undefined: unknown, revoked or expired. */
export async function identify(
  db: Queryable,
  clock: Clock,
  held: Credential,
): Promise<Caller | undefined> {
  const now = clock.now()
  const byToken = 'token' in held
  const hash = hashOf(byToken ? held.token : held.cookie)
  const session = await db
    .selectFrom('session')
    .select(['id', 'customer_id', 'last_used_at', 'locked_at', 'ends_at', 'remembered'])
    .select('token_expires_at')
    .where(byToken ? 'token_hash' : 'cookie_hash', '=', hash)
    .where('expires_at', '>', now)
    .$if(byToken, (query) =>
      query.where((eb) =>
        eb.or([eb('token_expires_at', 'is', null), eb('token_expires_at', '>', now)]),
      ),
    )
    .executeTakeFirst()
  if (!session) return undefined
  const locked = session.locked_at !== null
  const due = (at: Date): boolean => now.getTime() - at.getTime() > lastUsedWriteMs
  const { ends_at: endsAt, remembered, token_expires_at: tokenExpiresAt } = session
  // Using the cookie does not keep the token alive.
  const tokenIsDue = byToken && remembered && due(later(tokenExpiresAt ?? now, -idleMs))
  // A locked session is not in use.
  if (!locked && (due(session.last_used_at) || tokenIsDue)) {
    const { token_expires_at, ...ends } = expiries(now, endsAt, remembered)
    await db
      .updateTable('session')
      .set({ last_used_at: now, ...ends, ...(byToken && { token_expires_at }) })
      .where('id', '=', session.id)
      .execute()
  }
  return {
    customerId: session.customer_id,
    sessionId: session.id,
    locked,
    heldBy: byToken ? 'token' : 'cookie',
  }
}

/** The customer and the latest end of a session. Undefined: it has ended or is locked. */
export async function openSessionOf(
  db: Queryable,
  clock: Clock,
  id: string,
): Promise<{ readonly customerId: string; readonly endsAt: Date } | undefined> {
  const row = await db
    .selectFrom('session')
    .select(['customer_id', 'ends_at'])
    .where('id', '=', id)
    .where('expires_at', '>', clock.now())
    .where('locked_at', 'is', null)
    .executeTakeFirst()
  return row && { customerId: row.customer_id, endsAt: row.ends_at }
}

/** Using an acting session counts as using its own session, but keeps no token of that alive. */
export async function keepInUse(
  db: Queryable,
  now: Date,
  session: {
    readonly id: string
    readonly last_used_at: Date
    readonly ends_at: Date
    readonly remembered: boolean
  },
): Promise<void> {
  if (now.getTime() - session.last_used_at.getTime() <= lastUsedWriteMs) return
  const { expires_at } = expiries(now, session.ends_at, session.remembered)
  await db
    .updateTable('session')
    .set({ last_used_at: now, expires_at })
    .where('id', '=', session.id)
    .execute()
}

/** The session's state for the pages; null: it has ended meanwhile. */
export async function sessionOf(
  db: Queryable,
  caller: Caller,
  cookie: string | undefined,
): Promise<BrowserSession | null> {
  const row = await db
    .selectFrom('session')
    .select(['remembered', 'expires_at', 'locked_at', 'cookie_hash'])
    .where('id', '=', caller.sessionId)
    .executeTakeFirst()
  if (!row) return null
  const isHeld = cookie !== undefined && row.cookie_hash?.equals(hashOf(cookie)) === true
  return {
    id: caller.sessionId,
    csrfToken: isHeld ? csrfTokenOf(cookie) : null,
    remembered: row.remembered,
    expiresAt: row.expires_at.toISOString(),
    locked: row.locked_at !== null,
  }
}

/** Ends the session that a cookie holds, whichever customer's it is. */
export async function endHeld(tx: Tx, needs: EndNeeds, cookie: string): Promise<void> {
  const held = await tx
    .selectFrom('session')
    .select(['id', 'customer_id'])
    .where('cookie_hash', '=', hashOf(cookie))
    .executeTakeFirst()
  if (held) await endSessions(tx, needs, { customerId: held.customer_id, only: held.id })
}

/** Whether the cookie holds this session or no live one: then the browser may delete it. */
export async function isSpent(
  db: Queryable,
  cookie: string,
  { sessionId }: Caller,
): Promise<boolean> {
  const held = await db
    .selectFrom('session')
    .select('id')
    .where('cookie_hash', '=', hashOf(cookie))
    .executeTakeFirst()
  return held === undefined || held.id === sessionId
}

/**
 * Revokes a customer's sessions: all, `only` one, or all `except` one. Answers how many. Their live
 * connections close, and the staff's views of the account end with them.
 */
export async function endSessions(
  tx: Tx,
  { clock, endLive }: EndNeeds,
  which: { customerId: string; only?: string; except?: string },
): Promise<number> {
  const { customerId, only } = which
  const views = await endViews(tx, clock, { column: 'customer_id', is: [customerId], only })
  // Lock first: a socket that opens meanwhile is either closed by `endLive` or refused.
  const held = await tx
    .selectFrom('session')
    .select('id')
    .where('customer_id', '=', which.customerId)
    .$if(which.only !== undefined, (query) => query.where('id', '=', which.only ?? ''))
    .$if(which.except !== undefined, (query) => query.where('id', '<>', which.except ?? ''))
    .orderBy('id')
    .forUpdate()
    .execute()
  const ids = held.map(({ id }) => id)
  const isAll = only === undefined && which.except === undefined
  if (isAll || ids.length > 0) await endLive(tx, ids, isAll ? customerId : undefined)
  if (ids.length === 0) return views
  await tx.deleteFrom('session').where('id', 'in', ids).execute()
  return ids.length + views
}

/** Live sessions, last used first; before them the staff's views. */
export async function listSessions(
  db: Queryable,
  clock: Clock,
  { customerId, sessionId }: Pick<Caller, 'customerId' | 'sessionId'>,
): Promise<Session[]> {
  const rows = await db
    .selectFrom('session')
    .select(['id', 'ip', 'user_agent', 'created_at', 'last_used_at', 'remembered'])
    .where('customer_id', '=', customerId)
    .where('expires_at', '>', clock.now())
    .orderBy('last_used_at', 'desc')
    .orderBy('id')
    .execute()
  const views = await listViews(db, clock, { customerId, sessionId })
  const sessions = rows.map((row) => ({
    id: row.id,
    current: row.id === sessionId,
    ip: row.ip,
    userAgent: row.user_agent,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at.toISOString(),
    remembered: row.remembered,
    isView: false,
  }))
  return [...views, ...sessions]
}
