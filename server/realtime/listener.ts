/**
 * Fan-out: receives the relay's notices and delivers the new rows to this process's sockets. After
 * an interruption the sockets are told to resync and read the table.
 */
import { minutes } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Database } from '../platform/db.ts'
import type { Notices } from '../platform/notices.ts'
import { endedChannel, type SessionRevocations } from './session-revocations.ts'
import type { Hub } from './hub.ts'
import { channel } from './relay.ts'

const deliverAgainMs = 1000
const batch = 1000
/** Every so often sockets are compared with the sessions: one that expired gives no notice. */
const recheckMs = minutes(3)

export interface Listener {
  start(): Promise<void>
  stop(): Promise<void>
  health(): string | undefined
}

export function createListener(
  notices: Notices,
  db: Database,
  hub: Hub,
  revocations: SessionRevocations,
  log: Log,
  complete = (payload: object): object => payload,
  everyMs = recheckMs,
): Listener {
  let stopped = true
  let seen: bigint | undefined
  let delivering = Promise.resolve()
  let again: NodeJS.Timeout | undefined
  let rechecks: NodeJS.Timeout | undefined

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
      // Retry by timer: without another notice, the event would wait for the next event of any
      // customer.
      clearTimeout(again)
      if (!stopped) again = setTimeout(deliverInOrder, deliverAgainMs).unref()
    })
  }

  const unasked = (error: unknown): void => log.warn({ err: error }, 'looking for ended sessions')

  notices.on(endedChannel, { onNotice: revocations.onNotify })
  notices.on(channel, {
    onNotice: deliverInOrder,
    async onConnect() {
      if (seen === undefined) {
        const newest = await db
          .selectFrom('notification')
          .select((eb) => eb.fn.max('seq').as('seq'))
          .executeTakeFirst()
        seen = newest?.seq ?? 0n
        return
      }
      deliverInOrder()
      hub.publishToAll('portal.resync', {})
      revocations.resync().catch(unasked)
    },
  })

  return {
    async start() {
      stopped = false
      rechecks = setInterval(() => void revocations.recheck().catch(unasked), everyMs).unref()
      await notices.start()
    },
    async stop() {
      stopped = true
      clearTimeout(again)
      clearInterval(rechecks)
      await delivering
      await notices.stop()
    },
    health: () => (notices.isConnected() ? undefined : 'realtime does not hear the database'),
  }
}
