/**
 * An order is told in seven notifications, a renewal in three: in the bell they are one entry. What
 * went wrong stands by itself, so that nothing hides it.
 */
import type { EventName, Notification } from '../../contract/realtime.ts'

/** What is further apart belongs to another order or renewal. */
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

/** The server that this is a step of the way of. */
function serverOf({ event, payload }: Notification): string | undefined {
  const wp = payload['wp'] as { id: string; status?: string } | null | undefined
  return steps.includes(event) && goodStatuses.includes(wp?.status) ? wp?.id : undefined
}

/** Of a list, newest first, the bell's entries: each the notifications that belong together. */
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

/** How many entries hold something unread. Those that are not loaded count one by one. */
export function unreadEntries(data: readonly Notification[], unread: number): number {
  const fresh = (one: Notification) => !one.read
  const loaded = data.filter(fresh).length
  const entries = grouped(data).filter((group) => group.some(fresh)).length
  // None is unread any more although the dots in the open list still say so.
  return unread === 0 ? 0 : Math.max(1, unread - loaded + entries)
}
