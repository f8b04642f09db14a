import type { EventName } from '../../contract/realtime.ts'

export interface PortalEvent {
  id: string
  event: EventName
  payload: Record<string, unknown>
  /** False when it was read from the stored notifications after the fact. */
  pushed: boolean
}
