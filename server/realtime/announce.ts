/**
 * Telling a customer that something happened. The row is written with the business, so what is
 * committed is told and nothing else is.
 */
import type { EventName } from '../../contract/realtime.ts'
import type { Clock } from '../platform/clock.ts'
import { onCommit, type Tx } from '../platform/db.ts'

export interface Told {
  readonly customerId: string
  readonly event: EventName
  readonly payload: object
}

export interface Announcer {
  announce(tx: Tx, customerId: string, event: EventName, payload: object): Promise<void>
  /** Many, in this order, in one statement. */
  announceAll(tx: Tx, told: readonly Told[]): Promise<void>
}

/**
 * `wake` tells the relay that there is something to send; without it the relay finds it at its next
 * round.
 */
export function createAnnouncer(clock: Clock, wake: () => void): Announcer {
  const announcer: Announcer = {
    announce: (tx, customerId, event, payload) =>
      announcer.announceAll(tx, [{ customerId, event, payload }]),
    async announceAll(tx, told) {
      if (told.length === 0) return
      const now = clock.now()
      await tx
        .insertInto('notification')
        .values(
          told.map(({ customerId, event, payload }) => ({
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
  return announcer
}
