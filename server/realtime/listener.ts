/**
 * Fan-out: a dedicated connection LISTENs for the relay's notifications and delivers the new rows
 * to the sockets of this process. TCP does not report a peer that has vanished, so the connection
 * is probed by a query; after an interruption the sockets are told to resync and read the table.
 */
import type pg from 'pg'
import { newClient } from '../platform/database-client.ts'
import type { Log } from '../platform/log.ts'
import type { Database } from '../platform/db.ts'
import { endedChannel, type SessionRevocations } from './session-revocations.ts'
import type { Hub } from './hub.ts'
import { channel } from './relay.ts'

const heartbeatMs = 15_000
const reconnectMs = 500
const deliverAgainMs = 1000
const batch = 1000

export interface Listener {
  start(): Promise<void>
  stop(): Promise<void>
  health(): string | undefined
}

export function createListener(
  url: string,
  db: Database,
  hub: Hub,
  revocations: SessionRevocations,
  log: Log,
  complete = (payload: object): object => payload,
): Listener {
  let client: pg.Client | undefined
  let stopped = true
  let seen: bigint | undefined
  let delivering = Promise.resolve()
  let heartbeat: NodeJS.Timeout | undefined
  let again: NodeJS.Timeout | undefined

  async function deliver(): Promise<void> {
    for (;;) {
      const rows = await db
        .selectFrom('notification')
        .select(['seq', 'customer_id', 'event', 'payload'])
        .where('seq', '>', seen ?? 0n)
        .orderBy('seq')
        .limit(batch)
        .execute()
      for (const row of rows) {
        if (row.seq === null) continue
        seen = row.seq
        hub.publish(`private-${row.customer_id}`, row.event, {
          ...complete(row.payload as object),
          notificationId: String(row.seq),
        })
      }
      if (rows.length < batch) return
    }
  }
  const deliverInOrder = (): void => {
    delivering = delivering.then(deliver).catch((error: unknown) => {
      log.warn({ err: error }, 'delivering events')
      // No further notification may come: an event that is not delivered now would wait for the
      // next event of any customer.
      clearTimeout(again)
      if (!stopped) again = setTimeout(deliverInOrder, deliverAgainMs).unref()
    })
  }

  const reconnectSoon = (): void => {
    if (!stopped) setTimeout(() => void reconnect(), reconnectMs).unref()
  }
  const lost = (): void => {
    client = undefined
    reconnectSoon()
  }

  async function connect(): Promise<void> {
    const next = newClient(url, { application_name: 'portal-listen', query_timeout: 10_000 })
    next.on('error', (error) => log.warn({ err: error }, 'listen connection'))
    next.on('end', () => {
      if (client === next) lost()
    })
    next.on('notification', ({ channel: on, payload }) => {
      if (on === endedChannel) revocations.onNotify(payload ?? '')
      else deliverInOrder()
    })
    try {
      await next.connect()
      await next.query(`listen ${channel}; listen ${endedChannel}`)
    } catch (error) {
      // The caller of a failed attempt tries again: two retries for one failure would become four
      // at the next.
      void next.end().catch(() => undefined)
      throw error
    }
    client = next
    if (seen === undefined) {
      const newest = await db
        .selectFrom('notification')
        .select((eb) => eb.fn.max('seq').as('seq'))
        .executeTakeFirst()
      seen = newest?.seq ?? 0n
    } else {
      deliverInOrder()
      hub.publishToAll('portal.resync', {})
      revocations
        .resync()
        .catch((error: unknown) => log.warn({ err: error }, 'looking for ended sessions'))
    }
  }
  async function reconnect(): Promise<void> {
    if (stopped || client) return
    try {
      await connect()
    } catch (error) {
      log.warn({ err: error }, 'listen connection')
      reconnectSoon()
    }
  }

  return {
    async start() {
      stopped = false
      await connect()
      heartbeat = setInterval(() => {
        const probed = client
        probed?.query('select 1').catch(() => {
          if (client !== probed) return
          // Does not wait for the end of the connection: when the peer has vanished, that takes as
          // long as TCP's timeout.
          lost()
          void probed.end().catch(() => undefined)
        })
      }, heartbeatMs)
      heartbeat.unref()
    },
    async stop() {
      stopped = true
      clearInterval(heartbeat)
      clearTimeout(again)
      await delivering
      await client?.end()
    },
    health: () => (client ? undefined : 'realtime does not hear the database'),
  }
}
