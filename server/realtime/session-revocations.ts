/**
 * A live connection ends with the session that opened it. The session's row is authoritative;
 * NOTIFY reports its revocation to every process, and each process closes its own connections.
 * Revocations are rare, so the lock that NOTIFY takes at the commit does no harm here.
 */
import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import { databaseError, type Database, type Tx } from '../platform/db.ts'
import { closeCodes, protocolError, type Hub, type Member } from './hub.ts'

/** The NOTIFY channel. Its payload: names of sessions, sockets, accounts, a space between. */
export const endedChannel = 'portal_ended'
/** Limit of the names in one notice: PostgreSQL allows less than 8000 bytes. */
const longestPayload = 7000
const foreignKeyViolation = '23503'
/**
 * Grants of one session that are kept. Beyond, the oldest go, and a socket that is open under one
 * connects anew: whoever has a session could ask for any number, and all are read when it ends.
 */
const grantsOfSession = 100
/** In a notice, before a socket whose grant is gone while its session goes on. */
const again = '~'
/** In a notice, before an account of which every socket connects anew. */
const account = '@'

/**
 * Ids of sessions and accounts; `unknown`: NOTIFY was interrupted, and some may have been revoked.
 */
type Ended = ReadonlySet<string> | 'unknown'

export interface SessionRevocations {
  /**
   * Records that a session opened a channel on this socket. False: the session has ended or is
   * locked.
   */
  grant(tx: Tx, sessionId: string, socketId: string): Promise<boolean>
  /**
   * Notifies every process once `tx` is committed. The caller holds the sessions' rows locked, and
   * deletes them afterwards. `accountId`: an account of which every session ends, so that no socket
   * of it stays, whatever is known of it.
   */
  revoke(tx: Tx, sessionIds: readonly string[], accountId?: string): Promise<void>
  onNotify(payload: string): void
  /**
   * After NOTIFY was interrupted: closes each connection without a grant of a session that is open;
   * its client reconnects and is authorised anew. Also one that hears nothing yet: it may hold the
   * signature of a session that has ended meanwhile.
   */
  resync(): Promise<void>
  /** Closes, in the same way, connections that hear a channel and whose session is not open. */
  recheck(): Promise<void>
  onRevoked(listener: (ended: Ended) => void): void
}

/**
 * Tells every process, once `tx` is committed, that these sessions have ended, or with `accountId`
 * all of an account. The caller holds the sessions' rows locked, and deletes them afterwards.
 */
export async function revokeSessions(
  tx: Tx,
  sessionIds: readonly string[],
  accountId?: string,
): Promise<void> {
  if (accountId !== undefined) await tellEnded(tx, [`${account}${accountId}`])
  if (sessionIds.length === 0) return
  const grants = await tx
    .selectFrom('channel_grant')
    .select('socket_id')
    .where('session_id', 'in', sessionIds)
    .execute()
  await tellEnded(tx, [...sessionIds, ...grants.map(({ socket_id }) => socket_id)])
}

/**
 * Tells every process, after `tx` is committed, that the connections under these names have ended:
 * ids of sessions, of sockets, and of accounts, whose live logs close.
 */
export async function tellEnded(tx: Tx, names: readonly string[]): Promise<void> {
  const notices: string[] = []
  for (const name of names) {
    const last = notices.at(-1)
    if (last === undefined || last.length + 1 + name.length > longestPayload) notices.push(name)
    else notices[notices.length - 1] = `${last} ${name}`
  }
  for (const notice of notices) await sql`select pg_notify(${endedChannel}, ${notice})`.execute(tx)
}

async function closeOldest(tx: Tx, sessionId: string): Promise<void> {
  const { rows } = await sql<{ socket_id: string }>`
    delete from channel_grant where session_id = ${sessionId} and socket_id in (
      select socket_id from channel_grant where session_id = ${sessionId}
      order by granted_at desc, socket_id offset ${grantsOfSession})
    returning socket_id`.execute(tx)
  await tellEnded(
    tx,
    rows.map(({ socket_id }) => `${again}${socket_id}`),
  )
}

export function createSessionRevocations(db: Database, hub: Hub, clock: Clock): SessionRevocations {
  const listeners: ((ended: Ended) => void)[] = []

  /** Closes those of the connections that no open session has a grant for. */
  async function closeWithoutSession(open: readonly Member[]): Promise<void> {
    if (open.length === 0) return
    const { rows } = await sql<{ socket_id: string }>`
      select g.socket_id from channel_grant g join session s on s.id = g.session_id
      where g.socket_id = any(${open.map(({ socketId }) => socketId)})
        and s.locked_at is null and s.expires_at > ${clock.now()}
    `.execute(db)
    const granted = new Set(rows.map(({ socket_id }) => socket_id))
    for (const { socketId, connection } of open)
      if (!granted.has(socketId)) connection.close(closeCodes.restart, 'Ask for the channel again')
  }

  return {
    async grant(tx, sessionId, socketId) {
      // A lock that is being written is waited for: its session keeps its row.
      const open = await tx
        .selectFrom('session')
        .select('id')
        .where('id', '=', sessionId)
        .where('locked_at', 'is', null)
        .forKeyShare()
        .executeTakeFirst()
      if (!open) return false
      try {
        await tx
          .insertInto('channel_grant')
          .values({ session_id: sessionId, socket_id: socketId })
          .onConflict((conflict) => conflict.doNothing())
          .execute()
        await closeOldest(tx, sessionId)
        return true
      } catch (error) {
        if (databaseError(error)?.code === foreignKeyViolation) return false
        throw error
      }
    },
    revoke: revokeSessions,
    onNotify(payload) {
      const ended = new Set(payload.split(' '))
      const accounts = [...ended].flatMap((name) =>
        name.startsWith(account) ? [`private-${name.slice(account.length)}`] : [],
      )
      for (const { socketId, connection, channels } of hub.members()) {
        if (ended.has(`${again}${socketId}`) || accounts.some((name) => channels.has(name)))
          connection.close(closeCodes.restart, 'Ask for the channel again')
        if (!ended.has(socketId)) continue
        connection.send(protocolError(closeCodes.unauthorised, 'Connection is unauthorized'))
        connection.close(closeCodes.unauthorised, 'Connection is unauthorized')
      }
      for (const listener of listeners) listener(ended)
    },
    async resync() {
      for (const listener of listeners) listener('unknown')
      await closeWithoutSession([...hub.members()])
    },
    recheck: () => closeWithoutSession([...hub.members()].filter((one) => one.channels.size > 0)),
    onRevoked(listener) {
      listeners.push(listener)
    },
  }
}
