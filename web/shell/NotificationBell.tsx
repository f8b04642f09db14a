import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Bell } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { readNotifications } from '../../contract/realtime.ts'
import { call } from '../api.ts'
import { loadTexts, useTexts } from '../i18n/index.ts'
import { isMember } from '../may.ts'
import { Menu } from '../ui/Menu.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { headerButton } from './HeaderMenus.tsx'
import { unreadEntries } from './notification-groups.ts'
import { notificationsQuery } from './notifications.ts'

/**
 * Loaded soon after the frame. Nobody has asked for it yet, so a failure must not reload the page.
 */
const NotificationList = lazy(() =>
  Promise.all([import('./NotificationList.tsx'), loadTexts('events')]).then(
    ([file]) => file,
    () => ({ default: LoadPageAgain }),
  ),
)
function LoadPageAgain() {
  const t = useTexts()
  return (
    <LoadError
      text={t.toast.tryAgain}
      retryLabel={t.common.retry}
      onRetry={() => location.reload()}
    />
  )
}

export function NotificationBell() {
  const t = useTexts()
  const queryClient = useQueryClient()
  const { data } = useQuery(notificationsQuery)
  // The read state belongs to the owner: a member only reads, and marks nothing as read.
  const unread = isMember() || !data ? 0 : unreadEntries(data.data, data.unread)
  const read = useMutation({
    // What comes meanwhile was not shown, and stays unread.
    mutationFn: (upTo: string | undefined) =>
      call(readNotifications, { body: upTo === undefined ? {} : { upTo } }),
    // The dots stay while the list is open; only the count on the bell disappears at once.
    onSuccess: (result) =>
      queryClient.setQueryData(notificationsQuery.queryKey, (now) =>
        now ? { ...now, unread: result.unread } : now,
      ),
  })

  return (
    <Menu
      label={unread > 0 ? t.shell.notificationsUnread(unread) : t.shell.notifications}
      className={`relative ${headerButton}`}
      onOpen={() => {
        if (unread > 0) read.mutate(data?.data[0]?.id)
      }}
      trigger={
        <>
          <Bell aria-hidden className="size-[18px]" strokeWidth={1.75} />
          {unread > 0 ? (
            <span
              aria-hidden
              className="absolute top-2 right-2.5 size-2 rounded-full bg-danger ring-2 ring-bg"
            />
          ) : null}
        </>
      }
    >
      {(close) => (
        <Suspense fallback={<SkeletonRows rows={3} className="p-4" />}>
          <NotificationList onOpen={close} />
        </Suspense>
      )}
    </Menu>
  )
}
