import { useInfiniteQuery } from '@tanstack/react-query'
import { messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { useDeviceName } from './device-name.ts'
import { signInsQuery } from './queries.ts'

export default function SignInsCard() {
  const t = useTexts('account')
  const deviceName = useDeviceName()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(signInsQuery)
  const signIns = data?.pages.flatMap(({ result }) => result)
  return (
    <Card title={t.account.history} sub={t.account.historySub} padded={false}>
      {signIns?.length === 0 ? <Empty text={t.account.noHistory} /> : null}
      {signIns && signIns.length > 0 ? (
        <ul className="divide-y divide-border border-t border-border">
          {signIns.map((one) => (
            <li key={one.id} className="flex items-center justify-between gap-3 px-5 py-3">
              <div className="min-w-0">
                <p className="text-sm font-medium">{deviceName(one.userAgent)}</p>
                <p className="num text-xs wrap-anywhere text-ink-3">
                  {one.ip} ·{' '}
                  <time dateTime={one.at} className="whitespace-nowrap">
                    {formatTime(one.at)}
                  </time>
                </p>
              </div>
              <Badge tone={one.outcome === 'failed' ? 'danger' : 'success'}>
                {t.account[one.outcome]}
              </Badge>
            </li>
          ))}
        </ul>
      ) : null}
      {!signIns && error ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {!signIns && !error ? (
        <div aria-busy="true" className="px-5 pb-5">
          <SkeletonRows />
        </div>
      ) : null}
      {hasNextPage ? (
        <div className="grid justify-items-center border-t border-border p-3">
          <Button
            variant="ghost"
            size="sm"
            busy={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            {t.account.more}
          </Button>
        </div>
      ) : null}
    </Card>
  )
}
