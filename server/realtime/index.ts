/**
 * Realtime: stored events, the relay that orders them, and the embedded Pusher-protocol server. The
 * table is authoritative; a push may be lost.
 */
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Http } from '../platform/http.ts'
import type { Log } from '../platform/log.ts'
import type { Notices } from '../platform/notices.ts'
import {
  createEventOutbox,
  type EventOutbox,
  type OperatorOutbox,
  type OutboxEvent,
} from './outbox.ts'
import {
  createSessionRevocations,
  revokeSessions,
  tellEnded,
  type SessionRevocations,
} from './session-revocations.ts'
import { createHub } from './hub.ts'
import { createListener } from './listener.ts'
import { createRelay, type OnSent } from './relay.ts'
import { dropOldNotifications, type Titles } from './notifications.ts'
import { routes } from './routes.ts'
import type { AppKey } from './signature.ts'
import { createSockets, type Sockets } from './socket.ts'

export { forgetNotifications } from './forget.ts'
export { createEventOutbox, dropOldNotifications, revokeSessions, tellEnded }
export type { EventOutbox, OperatorOutbox, AppKey, OnSent, OutboxEvent, Titles }

export interface Realtime extends EventOutbox, OperatorOutbox {
  /**
   * Closes what is open under these sessions, in every process, once the transaction is committed.
   * The caller holds their rows and deletes them after.
   */
  endSessions: SessionRevocations['revoke']
  onEnded: SessionRevocations['onRevoked']
  readonly sockets: Sockets
  routes(http: Http): void
  start(): Promise<void>
  stop(): Promise<void>
  health(): string | undefined
  connections(): number
}

export function createRealtime(deps: {
  db: Database
  /** Started and stopped here. */
  notices: Notices
  clock: Clock
  app: AppKey
  log: Log
  /** A stored payload as it is sent: adds what must not be stored, such as links. */
  complete: (payload: object) => object
  /** The titles of all modules' events. */
  titles: Titles
  /** Called once for each event, when it is sent. */
  onSent: OnSent
}): Realtime {
  const hub = createHub()
  const relay = createRelay(deps.db, deps.log, deps.onSent)
  const revocations = createSessionRevocations(deps.db, hub, deps.clock)
  const listener = createListener(deps.notices, deps.db, hub, revocations, deps.log, deps.complete)
  const sockets = createSockets(deps.app, hub, deps.clock)
  return {
    ...createEventOutbox(deps.clock, () => relay.wake()),
    sockets,
    endSessions: revocations.revoke,
    onEnded: revocations.onRevoked,
    routes: (http) => routes(http, { ...deps, revocations }),
    async start() {
      await listener.start()
      relay.start()
    },
    async stop() {
      sockets.close()
      await relay.stop()
      await listener.stop()
    },
    health: () => listener.health(),
    connections: () => hub.size,
  }
}
