/** Tells a server's owner how it stands. */
import type { StatusEvent } from '../../contract/wordpress-event.ts'
import type { Tx } from '../platform/db.ts'
import type { EventOutbox } from '../realtime/index.ts'

/** `reason`: why it failed, for its owner. */
export async function tellStatus(
  tx: Tx,
  outbox: Pick<EventOutbox, 'publishEvent'>,
  site: { readonly id: string; readonly customer_id: string; readonly name: string },
  status: StatusEvent['wp']['status'],
  reason: string | null = null,
): Promise<void> {
  const payload: StatusEvent = { wp: { id: site.id, name: site.name, status, reason } }
  await outbox.publishEvent(tx, site.customer_id, 'wordpress.status', payload)
}
