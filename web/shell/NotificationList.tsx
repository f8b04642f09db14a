import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Notification } from '../../contract/realtime.ts'
import { messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useLanguage, useTexts } from '../i18n/index.ts'
import { isMember } from '../may.ts'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { grouped } from './notification-groups.ts'
import { headOf, notificationTarget, notificationText } from './notification-text.ts'
import { notificationsQuery } from './notifications.ts'

/** The list that the bell opens. */
export default function NotificationList({ onOpen }: { onOpen: () => void }) {
  const t = useTexts('events')
  const { data, isPending, isError, error, refetch } = useQuery(notificationsQuery)
  return (
    <>
      <p className="border-b border-border px-4 py-3 text-sm font-semibold">
        {t.shell.notifications}
      </p>
      {isPending ? <SkeletonRows rows={3} className="p-4" /> : null}
      {isError && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data?.data.length === 0 ? (
        <p className="px-4 py-10 text-center text-sm text-ink-3">{t.shell.noNotifications}</p>
      ) : null}
      {data && data.data.length > 0 ? (
        // A scrolling area must be reachable by keyboard.
        <ul
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          aria-label={t.shell.notifications}
          className="max-h-[min(26rem,70dvh)] overflow-y-auto p-1"
        >
          {grouped(data.data).map((group) => (
            // The key is the oldest notification, so that a group stays open when a new one joins
            // it.
            <li key={group.at(-1)?.id}>
              <Group group={group} onOpen={onOpen} />
            </li>
          ))}
        </ul>
      ) : null}
    </>
  )
}

/** One notification, or the group of one order: its outcome, and its steps on request. */
function Group({ group, onOpen }: { group: readonly Notification[]; onOpen: () => void }) {
  const t = useTexts('events')
  const head = headOf(group)
  if (!head) return null
  const read = isMember() || group.every((entry) => entry.read)
  return (
    <>
      <Row entry={head} read={read} onOpen={onOpen} />
      {group.length > 1 ? (
        <details className="-mt-1 pb-1.5 pl-8 text-xs">
          <summary className="w-fit rounded-sm py-1 pr-3 text-ink-2 hover:text-ink">
            {t.events.steps(group.length)}
          </summary>
          <ul className="-ml-5">
            {group.map((entry) => (
              <li key={entry.id}>
                <Row entry={entry} read onOpen={onOpen} />
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </>
  )
}

interface RowProps {
  entry: Notification
  /** For a notification within a group, the group shows it. */
  read: boolean
  onOpen: () => void
}

function Row({ entry, read, onOpen }: RowProps) {
  const t = useTexts('events')
  const language = useLanguage()
  const target = notificationTarget(entry)
  const content = (
    <>
      <span
        aria-hidden
        className={
          read ? 'mt-1.5 size-2 shrink-0' : 'mt-1.5 size-2 shrink-0 rounded-full bg-danger'
        }
      />
      <span className="min-w-0">
        {read ? null : <span className="sr-only">{t.shell.unread}: </span>}
        {notificationText(entry, t, language)}
        <time dateTime={entry.createdAt} className="num mt-0.5 block text-xs text-ink-3">
          {formatTime(entry.createdAt)}
        </time>
      </span>
    </>
  )
  const look = 'flex gap-3 rounded-md px-3 py-2.5 text-left text-sm'
  if (!target) return <div className={look}>{content}</div>
  return (
    <Link {...target} onClick={onOpen} className={`${look} hover:bg-subtle dark:hover:bg-white/6`}>
      {content}
    </Link>
  )
}
