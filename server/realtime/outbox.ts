/**
 * The transactional outbox of events for customers: the event's row is written in the business
 * transaction, so an event is published if and only if the transaction commits.
 */
import type { EventName } from '../../contract/realtime.ts'
import type { Clock } from '../platform/clock.ts'
import { onCommit, type Tx } from '../platform/db.ts'

export interface OutboxEvent {
  readonly customerId: string
  readonly event: EventName
  readonly payload: object
}

export interface EventOutbox {
  publishEvent(tx: Tx, customerId: string, event: EventName, payload: object): Promise<void>
  /** Many events, in this order, in one statement. */
  publishEvents(tx: Tx, events: readonly OutboxEvent[]): Promise<void>
}

/**
 * `wake` tells the relay that the outbox has events; without it the relay finds them at its next
 * poll.
 */
export function createEventOutbox(clock: Clock, wake: () => void): EventOutbox {
  const outbox: EventOutbox = {
    publishEvent: (tx, customerId, event, payload) =>
      outbox.publishEvents(tx, [{ customerId, event, payload }]),
    async publishEvents(tx, events) {
      if (events.length === 0) return
      const now = clock.now()
      await tx
        .insertInto('notification')
        .values(
          events.map(({ customerId, event, payload }) => ({
            customer_id: customerId,
            event,
            payload: JSON.stringify(payload),
            created_at: now,
          })),
        )
        .execute()
      onCommit(tx, wake)
    },
  }
  return outbox
}
