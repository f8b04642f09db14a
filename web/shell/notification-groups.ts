/**
 * An order causes seven notifications, a renewal three: the bell shows them as one entry. A failure
 * is an entry of its own, so that nothing hides it.
 */
import type { EventName, Notification } from '../../contract/realtime.ts'

/** Notifications that are further apart than this belong to another order or renewal, ms. */
const togetherMs = 10 * 60_000

const steps: readonly EventName[] = [
  'invoice.create',
  'subscribe.create',
  'subscription.created',
  'subscription.updated',
  'invoice.paid',
  'wordpress.status',
]
const goodStatuses: readonly unknown[] = [undefined, 'pending_payment', 'provisioning', 'running']

/** The id of the server whose order or renewal this notification is a step of. */
function serverOf({ event, payload }: Notification): string | undefined {
  const wp = payload['wp'] as { id: string; status?: string } | null | undefined
  return steps.includes(event) && goodStatuses.includes(wp?.status) ? wp?.id : undefined
}

/**
 * The bell's entries from a list, newest first: each entry holds the notifications that belong
 * together.
 */
export function grouped(newestFirst: readonly Notification[]): Notification[][] {
  const groups: Notification[][] = []
  for (const one of newestFirst) {
    const server = serverOf(one)
    const group = groups.find((known) => {
      const last = known.at(-1)
      return (
        server !== undefined &&
        last !== undefined &&
        serverOf(last) === server &&
        Date.parse(last.createdAt) - Date.parse(one.createdAt) <= togetherMs
      )
    })
    if (group) group.push(one)
    else groups.push([one])
  }
  return groups
}

/** Number of entries with something unread. Notifications that are not loaded count one each. */
export function unreadEntries(data: readonly Notification[], unread: number): number {
  const fresh = (one: Notification) => !one.read
  const loaded = data.filter(fresh).length
  const entries = grouped(data).filter((group) => group.some(fresh)).length
  // 0 while nothing is unread, although the open list still shows dots.
  return unread === 0 ? 0 : Math.max(1, unread - loaded + entries)
}
