import type { EventName } from '../../contract/realtime.ts'

export interface PortalEvent {
  id: string
  event: EventName
  payload: Record<string, unknown>
  /** False: it was read later from the stored notifications. */
  pushed: boolean
}
