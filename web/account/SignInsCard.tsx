import { useInfiniteQuery } from '@tanstack/react-query'
import { brand } from '../brand.ts'
import { messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts, type TextsWith } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { Card } from '../ui/Card.tsx'
import { LoadMore } from '../ui/LoadMore.tsx'
import { CardList } from './CardList.tsx'
import { useDeviceName } from './device-name.ts'
import { signInsQuery } from './queries.ts'

const tones = { succeeded: 'success', failed: 'danger', viewed: 'info' } as const

/** How long the support's view lasted; while it is open, when it ends at the latest. */
function howLong(at: string, until: string, t: TextsWith<'account'>): string {
  const end = Date.parse(until)
  if (end > Date.now()) return t.account.viewedUntil(formatTime(until))
  return t.account.viewedFor(Math.max(1, Math.round((end - Date.parse(at)) / 60_000)))
}

export default function SignInsCard() {
  const t = useTexts('account')
  const deviceName = useDeviceName()
  const list = useInfiniteQuery(signInsQuery)
  const { data, error, refetch } = list
  const signIns = data?.pages.flatMap(({ result }) => result)
  return (
    <Card title={t.account.history} sub={t.account.historySub} padded={false}>
      <CardList
        items={signIns}
        error={error}
        onRetry={refetch}
        empty={t.account.noHistory}
        rows={4}
        row={(one) => (
          <li key={one.id} className="flex items-center justify-between gap-3 px-5 py-3">
            <div className="min-w-0">
              <p className="text-sm font-medium">
                {one.outcome === 'viewed' ? t.account.viewedBy(brand) : deviceName(one.userAgent)}
              </p>
              <p className="num text-xs wrap-anywhere text-ink-3">
                {one.ip === '' ? null : `${one.ip} · `}
                <time dateTime={one.at} className="whitespace-nowrap">
                  {formatTime(one.at)}
                </time>
                {one.until === null ? null : ` · ${howLong(one.at, one.until, t)}`}
              </p>
            </div>
            <Badge tone={tones[one.outcome]}>{t.account[one.outcome]}</Badge>
          </li>
        )}
      />
      <LoadMore
        list={list}
        label={t.account.more}
        failedText={messageOf(error)}
        retryLabel={t.common.retry}
        variant="ghost"
        size="sm"
        className="border-t border-border p-3"
      />
    </Card>
  )
}
