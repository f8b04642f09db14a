/** Telling a customer that something happened. The row is written with the business, so what is committed is told and nothing else is. */
import type { EventName } from '../../contract/realtime.ts'
import type { Clock } from '../platform/clock.ts'
import { onCommit, type Tx } from '../platform/db.ts'

export interface Announcer {
  announce(tx: Tx, customerId: string, event: EventName, payload: object): Promise<void>
}

/** `wake` tells the relay that there is something to send; without it the relay finds it at its next round. */
export function createAnnouncer(clock: Clock, wake: () => void): Announcer {
  return {
    async announce(tx, customerId, event, payload) {
      await tx
        .insertInto('notification')
        .values({ customer_id: customerId, event, payload: JSON.stringify(payload), created_at: clock.now() })
        .execute()
      onCommit(tx, wake)
    },
  }
}
