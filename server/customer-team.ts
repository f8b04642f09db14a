/**
 * Members of customers' accounts: their connections to other modules, and the identification of
 * their calls.
 */
import {
  actingOf,
  actingUntil,
  beginActing,
  endActingOf,
  openSessionOf,
  sessionsOpenTo,
} from './auth/index.ts'
import { domainName, ownDomains } from './dns/index.ts'
import type { Clock } from './platform/clock.ts'
import type { Database, Queryable, Tx } from './platform/db.ts'
import type { Http } from './platform/http.ts'
import type { ActingCaller } from './platform/http-members.ts'
import type { Limits } from './platform/limits.ts'
import { tellEnded } from './realtime/index.ts'
import * as team from './team/index.ts'
import { dropLogTickets, ownServers, serverName } from './wordpress/index.ts'

/**
 * Closes the live logs of these accounts for all readers, and voids their tickets; readers who
 * still have access reconnect. So access that ended for whatever reason ends here too.
 */
export async function endLogsOf(tx: Tx, customerIds: readonly string[]): Promise<void> {
  if (customerIds.length === 0) return
  await dropLogTickets(tx, customerIds)
  await tellEnded(tx, customerIds)
}

/** Ends everything that members have open in an account: their tokens and live logs. */
export const endWork: team.EndWork = async (tx, memberIds) => {
  await endActingOf(tx, memberIds)
  await endLogsOf(tx, await team.ownersOf(tx, memberIds))
}

/** The same for all members of an account. */
export const endTeam = async (tx: Tx, customerId: string): Promise<void> =>
  endWork(tx, await team.memberIdsOf(tx, customerId))

/**
 * The end of a session's access to a customer's data, as the customer or as a member; undefined: no
 * access.
 */
export const createOpensUntil =
  (db: Database, clock: Clock) =>
  async (of: {
    readonly customerId: string
    readonly sessionId: string
  }): Promise<Date | undefined> => {
    const { customerId: ownerId, sessionId } = of
    const session = await openSessionOf(db, clock, sessionId)
    if (!session || session.customerId === ownerId) return session?.endsAt
    const memberId = await team.memberIdOf(db, { ownerId, personId: session.customerId })
    return memberId === undefined
      ? undefined
      : await actingUntil(db, clock, { memberId, sessionId })
  }

/**
 * Closes live connections to an account for all readers, because what they show may now belong to
 * another customer. Readers who still have access reconnect.
 */
export const createEndLiveOf =
  (endLive: (tx: Tx, sessionIds: readonly string[]) => Promise<void>) =>
  async (tx: Tx, customerId: string): Promise<void> => {
    const memberIds = await team.memberIdsOf(tx, customerId)
    await endLive(tx, await sessionsOpenTo(tx, { customerId, memberIds }))
  }

/** The account that a token is for, and its rights there. Undefined: it has ended. */
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
    | 'ownServers'
    | 'ownDomains'
    | 'names'
    | 'beginActing'
    | 'endWork'
    | 'invited'
    | 'invitedAddress'
    | 'looks'
  > & { readonly limits: Limits },
): void {
  const { limits, clock } = deps
  team.routes(http, {
    ...deps,
    ownServers,
    ownDomains,
    names: {
      server: (db: Queryable, customerId, id) => serverName(db, customerId, id),
      domain: (db: Queryable, customerId, id) => domainName(db, customerId, id),
    },
    endWork,
    async beginActing(tx, of) {
      const { ended, ...begun } = await beginActing(tx, clock, of)
      await endLogsOf(tx, await team.ownersOf(tx, ended))
      return begun
    },
    invited: limits.limit('team-invited'),
    invitedAddress: limits.limit('team-invited-address'),
    looks: limits.limit('team-look'),
  })
}
