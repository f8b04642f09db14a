import { useQueryClient } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { useCallback, useSyncExternalStore } from 'react'
import { Note } from '../ui/State.tsx'
import { useStatusTexts } from './status.ts'

const subscribe = (listener: () => void) => {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}
/** Whether the browser has a network; the portal may be out of reach all the same. */
export const useOnline = (): boolean => useSyncExternalStore(subscribe, () => navigator.onLine)

/** A line below the header: what is shown may be old. */
export function OfflineNote() {
  const t = useStatusTexts()
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <p role="status" className="bg-warning-soft px-4 py-2 text-center text-sm text-warning">
      {t.offline}
    </p>
  )
}

/**
 * Above grey blocks that nothing fills without a connection: what to do. Reads that wait continue
 * by themselves. Only for who is offline.
 */
export function NotLoadedNote({ className }: { className: string }) {
  const t = useStatusTexts()
  // A whole page waits for its code or its data.
  const isPending = useRouterState({ select: ({ status }) => status === 'pending' })
  const cache = useQueryClient().getQueryCache()
  const partWaits = useSyncExternalStore(
    useCallback((listener: () => void) => cache.subscribe(listener), [cache]),
    () =>
      cache
        .getAll()
        .some(
          (query) =>
            query.state.fetchStatus === 'paused' &&
            query.state.data === undefined &&
            query.getObserversCount() > 0,
        ),
  )
  return isPending || partWaits ? (
    <Note tone="info" className={className}>
      {t.notLoaded}
    </Note>
  ) : null
}
