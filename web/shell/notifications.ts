/** The bell's list, and the channel that brings new events. */
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { listNotifications } from '../../contract/realtime.ts'
import { call } from '../api.ts'
import { useConfig, useMe } from '../queries.ts'
import { startRealtime } from '../realtime/channel.ts'

export const notificationsQuery = queryOptions({
  queryKey: ['notifications'],
  queryFn: ({ signal }) => call(listNotifications, { query: { limit: 20 } }, { signal }),
})

/** Listens while the signed-in part of the portal is on the screen. */
export function usePortalEvents(): void {
  const queryClient = useQueryClient()
  const { id } = useMe()
  const { realtime } = useConfig()
  useEffect(() => {
    // The page comes first: the socket is opened when it has loaded.
    let stop: (() => void) | undefined
    const start = () => {
      stop = startRealtime(id, realtime, async () => {
        const { applyEvent } = await import('./on-event.ts')
        return (event) => applyEvent(queryClient, event)
      })
    }
    if (document.readyState === 'complete') start()
    else window.addEventListener('load', start, { once: true })
    return () => {
      window.removeEventListener('load', start)
      stop?.()
    }
  }, [queryClient, id, realtime])
}
