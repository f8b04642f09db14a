import { useQueryClient } from '@tanstack/react-query'
import { WifiOff } from 'lucide-react'
import { useCallback, useSyncExternalStore } from 'react'
import { useTexts } from '../i18n/index.ts'
import { Note } from '../ui/State.tsx'

const subscribeOnline = (listener: () => void) => {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}
const useOnline = (): boolean => useSyncExternalStore(subscribeOnline, () => navigator.onLine)

/** A line below the header: what is shown may be old. */
export function OfflineNote() {
  const t = useTexts()
  if (useOnline()) return null
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <p role="status" className="bg-warning-soft px-4 py-2 text-center text-sm text-warning">
      {t.common.offline}
    </p>
  )
}

/** Above grey blocks that nothing fills without a connection. Reads continue by themselves. */
export function NotLoadedNote() {
  return useOnline() ? null : <NotLoaded />
}

function NotLoaded() {
  const t = useTexts()
  return (
    <Note tone="info" className="mb-5 flex items-start gap-3">
      <WifiOff aria-hidden className="mt-0.5 size-4 shrink-0" />
      <output>{t.common.notLoaded}</output>
    </Note>
  )
}

/** The same above a screen of which a part waits for its first read. */
export function PartNotLoadedNote() {
  return useOnline() ? null : <PartNotLoaded />
}

function PartNotLoaded() {
  const cache = useQueryClient().getQueryCache()
  const waits = useSyncExternalStore(
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
  return waits ? <NotLoaded /> : null
}
