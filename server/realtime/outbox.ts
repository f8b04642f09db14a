/**
 * The transactional outbox of events, of those for customers and of those for the operator alone:
 * the event's row is written in the business transaction, so an event is published if and only if
 * the transaction commits.
 */
import type { OutboxOfOperator } from '../../contract/operator-webhooks.ts'
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

export interface OperatorEvent {
  readonly event: OutboxOfOperator
  /** The customer that the event is about; closing the account erases what was sent. Null: none. */
  readonly customerId: string | null
  readonly payload: object
}
/** Events for the operator's own programs only (decision 131). */
export interface OperatorOutbox {
  tellOperator(tx: Tx, event: OperatorEvent): Promise<void>
}

/**
 * `wake` tells the relay that the outbox has events; without it the relay finds them at its next
 * poll.
 */
export function createEventOutbox(clock: Clock, wake: () => void): EventOutbox & OperatorOutbox {
  const outbox: EventOutbox & OperatorOutbox = {
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
    async tellOperator(tx, { event, customerId, payload: told }) {
      await tx
        .insertInto('operator_event')
        .values({
          event,
          customer_id: customerId,
          payload: JSON.stringify(told),
          created_at: clock.now(),
        })
        .execute()
      onCommit(tx, wake)
    },
  }
  return outbox
}
