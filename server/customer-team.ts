/** People who work in customers' accounts: what they reach of the other modules, and who calls. */
import { actingOf, beginActing, endActingOf, sessionsOpenTo } from './auth/index.ts'
import { domainName, ownDomains } from './dns/index.ts'
import type { Clock } from './platform/clock.ts'
import type { Database, Queryable, Tx } from './platform/db.ts'
import type { Http } from './platform/http.ts'
import type { ActingCaller } from './platform/http-members.ts'
import type { Limits } from './platform/limits.ts'
import * as team from './team/index.ts'
import { dropLogTickets, ownServers, serverName } from './wordpress/index.ts'

/**
 * Ends what members have open in an account: their tokens, and the live logs of their sessions.
 * @param endLive closes what is open under these sessions, once the transaction is committed
 */
export const createEndWork =
  (endLive: (tx: Tx, sessionIds: readonly string[]) => Promise<void>): team.EndWork =>
  async (tx, memberIds) => {
    const sessionIds = await endActingOf(tx, memberIds)
    if (sessionIds.length === 0) return
    await dropLogTickets(tx, sessionIds)
    // Their own live connections close as well, and come back: the sessions go on.
    await endLive(tx, sessionIds)
  }

/**
 * Closes what is open live in an account, whoever has it open: what it shows may be another's from
 * now on. Who may still see it comes back.
 */
export const createEndLiveOf =
  (endLive: (tx: Tx, sessionIds: readonly string[]) => Promise<void>) =>
  async (tx: Tx, customerId: string): Promise<void> => {
    const memberIds = await team.memberIdsOf(tx, customerId)
    await endLive(tx, await sessionsOpenTo(tx, { customerId, memberIds }))
  }

/** Whose account a token is for, and what it opens there; undefined: it has ended. */
export async function identifyActing(
  db: Database,
  clock: Clock,
  token: string,
): Promise<ActingCaller | undefined> {
  const acting = await actingOf(db, clock, token)
  const membership = acting && (await team.membershipOf(db, clock, acting))
  if (!acting || !membership) return undefined
  const { id: actingId, ...session } = acting
  return { actingId, ...session, ...membership }
}

type RouteDeps = Parameters<typeof team.routes>[1]

/** Serves the calls about members and invitations. */
export function customerTeam(
  http: Http,
  deps: Omit<
    RouteDeps,
    'ownServers' | 'ownDomains' | 'names' | 'beginActing' | 'invited' | 'invitedAddress' | 'looks'
  > & { readonly limits: Limits },
): void {
  const { limits, clock } = deps
  const day = 24 * 3600
  team.routes(http, {
    ...deps,
    ownServers,
    ownDomains,
    names: {
      server: (db: Queryable, customerId, id) => serverName(db, customerId, id),
      domain: (db: Queryable, customerId, id) => domainName(db, customerId, id),
    },
    beginActing: (tx, of) => beginActing(tx, clock, of),
    invited: limits.limit('team-invited', 20, day),
    invitedAddress: limits.limit('team-invited-address', 3, day),
    looks: limits.limit('team-look', 60, 3600),
  })
}
