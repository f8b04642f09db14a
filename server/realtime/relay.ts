/**
 * The relay numbers the stored events in the order of commits, and notifies the push servers by
 * NOTIFY. It is separate from the business transactions: NOTIFY takes a global lock at the commit
 * and would slow postings three to six times. It also relays the events for the operator only.
 */
import { sql } from 'kysely'
import { transaction, type Database, type Tx } from '../platform/db.ts'
import { lockKeys } from '../platform/lock-keys.ts'
import type { Log } from '../platform/log.ts'

/** The NOTIFY channel. */
export const channel = 'portal_events'
const batch = 500
/**
 * A commit in this process wakes the relay; this interval finds events of a process that crashed.
 */
const roundMs = 15_000

export interface Relay {
  wake(): void
  start(): void
  stop(): Promise<void>
}

/** An event that has its number now, or one for the operator alone. */
export interface SentEvent {
  /** Null: the event is about no customer. */
  readonly customerId: string | null
  readonly event: string
  readonly payload: object
  readonly forCustomer: boolean
}
/**
 * Called once for each event, in the transaction that takes it, whichever process wrote the event.
 */
export type OnSent = (tx: Tx, events: readonly SentEvent[]) => Promise<void>

export function createRelay(db: Database, log: Log, onSent?: OnSent): Relay {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let again = false
  let stopped = true

  const isAnyWaiting = async (): Promise<boolean> => {
    const { rows } = await sql<{ waits: boolean }>`
      select exists (select from notification where seq is null)
        or exists (select from operator_event) as waits`.execute(db)
    return rows[0]?.waits === true
  }

  async function sendBatch(): Promise<number> {
    return await transaction(db, async (tx) => {
      // The relays of several processes run one at a time, so that numbers are committed in order.
      await sql`select pg_advisory_xact_lock(${lockKeys.relayEvents})`.execute(tx)
      const { rows } = await sql<Omit<SentEvent, 'forCustomer'> & { seq: bigint }>`
        with waiting as (select id from notification where seq is null order by id limit ${batch}
        for update),
        placed as (select id, nextval('notification_seq') as seq from waiting order by id)
        update notification n set seq = placed.seq from placed where n.id = placed.id
        returning n.seq, n.customer_id as "customerId", n.event, n.payload
      `.execute(tx)
      const { rows: ofOperator } = await sql<Omit<SentEvent, 'forCustomer'> & { id: bigint }>`
        delete from operator_event where id in (
          select id from operator_event order by id limit ${batch} for update)
        returning id, customer_id as "customerId", event, payload`.execute(tx)
      const events: SentEvent[] = [
        ...rows
          .toSorted((a, b) => Number(a.seq - b.seq))
          .map((one) => ({ ...one, forCustomer: true })),
        ...ofOperator
          .toSorted((a, b) => Number(a.id - b.id))
          .map((one) => ({ ...one, forCustomer: false })),
      ]
      if (events.length > 0) await onSent?.(tx, events)
      if (rows.length > 0) await sql`select pg_notify(${channel}, '')`.execute(tx)
      return Math.max(rows.length, ofOperator.length)
    })
  }

  async function round(): Promise<void> {
    try {
      do {
        again = false
        if (await isAnyWaiting()) while ((await sendBatch()) === batch);
      } while (again)
    } catch (error) {
      log.warn({ err: error }, 'relay')
    }
  }

  function wake(): void {
    if (stopped) return
    if (running) {
      again = true
      return
    }
    running = round().finally(() => {
      running = undefined
    })
  }

  return {
    wake,
    start() {
      stopped = false
      timer = setInterval(wake, roundMs)
      wake()
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}
