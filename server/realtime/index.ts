/**
 * Realtime: stored events, the relay that orders them, and the embedded Pusher-protocol server. The
 * table is the truth, the push a hint.
 */
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db.ts'
import type { Http } from '../platform/http.ts'
import type { Log } from '../platform/log.ts'
import { createAnnouncer, type Announcer, type Told } from './announce.ts'
import { createEndings, type Endings } from './endings.ts'
import { createHub } from './hub.ts'
import { createListener } from './listener.ts'
import { createRelay } from './relay.ts'
import { dropOldNotifications } from './notifications.ts'
import { routes } from './routes.ts'
import type { AppKey } from './signature.ts'
import { createSockets, type Sockets } from './socket.ts'

export { createAnnouncer, dropOldNotifications }
export type { Announcer, AppKey, Told }

export interface Realtime extends Announcer {
  /**
   * Closes what is open under these sessions, in every process, once the transaction is committed.
   * The caller holds their rows and deletes them after.
   */
  endSessions: Endings['tell']
  onEnded: Endings['onEnded']
  readonly sockets: Sockets
  routes(http: Http): void
  start(): Promise<void>
  stop(): Promise<void>
  health(): string | undefined
  connections(): number
}

export function createRealtime(deps: {
  db: Database
  url: string
  clock: Clock
  app: AppKey
  log: Log
  /** A stored payload as it is told: what may not lie in the table, such as links, is added. */
  complete: (payload: object) => object
}): Realtime {
  const hub = createHub()
  const relay = createRelay(deps.db, deps.log)
  const endings = createEndings(deps.db, hub)
  const listener = createListener(deps.url, deps.db, hub, endings, deps.log, deps.complete)
  const sockets = createSockets(deps.app, hub, deps.clock)
  return {
    ...createAnnouncer(deps.clock, () => relay.wake()),
    sockets,
    endSessions: endings.tell,
    onEnded: endings.onEnded,
    routes: (http) => routes(http, { ...deps, hub, endings }),
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
