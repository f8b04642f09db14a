import { useQuery } from '@tanstack/react-query'
import { CircleCheck, TriangleAlert, Wrench } from 'lucide-react'
import type { Notice } from '../../contract/status.ts'
import { brand } from '../brand.ts'
import { formatTime } from '../format.ts'
import { Badge } from '../ui/Badge.tsx'
import { Card } from '../ui/Card.tsx'
import { cx } from '../ui/cx.ts'
import { Logo } from '../ui/Logo.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { statusQuery, timesOf, tones, useStatusTexts } from './status.ts'

const looks = {
  working: { icon: CircleCheck, className: 'bg-success-soft text-success' },
  incident: { icon: TriangleAlert, className: 'bg-danger-soft text-danger' },
  maintenance: { icon: Wrench, className: 'bg-warning-soft text-warning' },
} as const

/** Present, future and past notices, for everybody, signed in or not. */
export default function PortalStatusPage() {
  const t = useStatusTexts()
  const { data, error, refetch } = useQuery(statusQuery)
  const look = data && looks[data.state]
  return (
    <div className="mx-auto max-w-3xl px-4 py-8 sm:px-6 sm:py-12">
      <title>{`${t.title} · ${brand}`}</title>
      <header className="flex items-center gap-3">
        <Logo />
        <span className="font-semibold">{brand}</span>
        <a href="/" className="ml-auto text-sm text-primary-ink hover:underline">
          {t.portal}
        </a>
      </header>
      <main className="mt-8 grid gap-6">
        <div>
          <h1 tabIndex={-1} className="text-2xl font-semibold tracking-[-.02em]">
            {t.title}
          </h1>
          <p className="mt-1 text-sm text-ink-2">{t.sub(brand)}</p>
        </div>
        {error && !data ? (
          <Card>
            <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
          </Card>
        ) : null}
        {(data ?? error) ? null : <SkeletonRows />}
        {data && look ? (
          <output
            className={cx(
              'flex items-center gap-3 rounded-lg px-5 py-4 font-medium',
              look.className,
            )}
          >
            <look.icon aria-hidden className="size-5 shrink-0" />
            {t.states[data.state]}
          </output>
        ) : null}
        {data?.now.map((notice) => (
          <NoticeCard key={notice.id} notice={notice} />
        ))}
        {data && data.coming.length > 0 ? (
          <section className="grid gap-3">
            <h2 className="text-base font-semibold">{t.coming}</h2>
            {data.coming.map((notice) => (
              <NoticeCard key={notice.id} notice={notice} />
            ))}
          </section>
        ) : null}
        {data ? (
          <section className="grid gap-3">
            <h2 className="text-base font-semibold">{t.past}</h2>
            {data.past.length === 0 ? <p className="text-sm text-ink-2">{t.noPast}</p> : null}
            {data.past.map((notice) => (
              <NoticeCard key={notice.id} notice={notice} />
            ))}
          </section>
        ) : null}
      </main>
    </div>
  )
}

function NoticeCard({ notice }: { notice: Notice }) {
  const t = useStatusTexts()
  const { kind, title, text, closes, updates } = notice
  return (
    <Card>
      <article className="break-words">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Badge tone={tones[kind]}>{t.kinds[kind]}</Badge>
          <span className="num text-xs text-ink-3">{timesOf(notice, t)}</span>
        </div>
        <h3 className="mt-2 font-medium">{title}</h3>
        <p className="mt-1 text-sm whitespace-pre-line text-ink-2">{text}</p>
        {closes ? <p className="mt-1 text-sm text-ink-2">{t.closes}</p> : null}
        {updates.length === 0 ? null : (
          <ol className="mt-3 grid gap-2 border-l-2 border-border pl-4">
            {updates.map((update) => (
              <li key={update.at} className="text-sm whitespace-pre-line text-ink-2">
                <span className="num block text-xs text-ink-3">
                  {formatTime(update.at).slice(0, 16)}
                </span>
                {update.text}
              </li>
            ))}
          </ol>
        )}
      </article>
    </Card>
  )
}
