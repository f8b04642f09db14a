import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { revokeOthers, revokeSession, type Session } from '../../contract/account.ts'
import { call, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { toast } from '../ui/toast.ts'
import { CardList } from './CardList.tsx'
import { useDeviceName } from './device-name.ts'
import { sessionsQuery } from './queries.ts'

export default function SessionsCard() {
  const t = useTexts('account')
  const queryClient = useQueryClient()
  const { data, error, refetch } = useQuery(sessionsQuery)
  const others = useMutation({
    mutationFn: () => call(revokeOthers, {}),
    onSuccess: () => toast.success(t.toast.success, t.account.othersEnded),
    onError: (failure) => toast.error(t.toast.error, messageOf(failure)),
    onSettled: () => queryClient.invalidateQueries(sessionsQuery),
  })
  return (
    <Card
      title={t.account.sessions}
      sub={t.account.sessionsSub}
      padded={false}
      action={
        data && data.length > 1 ? (
          <Button
            variant="outline"
            size="sm"
            // With text at twice its size the label is wider than a phone.
            className={
              'max-sm:h-auto max-sm:min-h-8 max-sm:shrink max-sm:py-1 ' + 'max-sm:whitespace-normal'
            }
            busy={others.isPending}
            onClick={() => others.mutate()}
          >
            {t.account.endOthers}
          </Button>
        ) : null
      }
    >
      <CardList
        items={data}
        error={error}
        onRetry={refetch}
        row={(session) => <SessionRow key={session.id} session={session} />}
      />
    </Card>
  )
}

function SessionRow({ session }: { session: Session }) {
  const t = useTexts('account')
  const queryClient = useQueryClient()
  const deviceName = useDeviceName()
  const { isView } = session
  const device = isView ? t.account.viewing(brand) : deviceName(session.userAgent)
  const end = useMutation({
    mutationFn: () => call(revokeSession, { params: { id: session.id } }),
    onSuccess: () => toast.success(t.toast.success, t.account.ended),
    onError: (failure) => toast.error(t.toast.error, messageOf(failure)),
    onSettled: () => queryClient.invalidateQueries(sessionsQuery),
  })
  return (
    <li className="flex items-center justify-between gap-3 px-5 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm font-medium">
          {device}
          {session.remembered ? <Badge tone="neutral">{t.account.remembered}</Badge> : null}
        </p>
        <p className="num text-xs wrap-anywhere text-ink-3">
          {session.ip === null ? '' : `${session.ip} · `}
          {isView ? t.account.viewingSince : t.account.lastUsed}{' '}
          <time dateTime={session.lastUsedAt} className="whitespace-nowrap">
            {formatTime(session.lastUsedAt)}
          </time>
        </p>
      </div>
      {session.current ? (
        <Badge tone="success">{t.account.thisSession}</Badge>
      ) : (
        <Button
          variant="ghost"
          size="sm"
          aria-label={isView ? t.account.endView : t.account.endOf(device)}
          busy={end.isPending}
          onClick={() => end.mutate()}
        >
          {isView ? t.account.endView : t.account.end}
        </Button>
      )}
    </li>
  )
}
