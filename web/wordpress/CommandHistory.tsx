import type { UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import type { PastCommand } from '../../contract/wordpress-console.ts'
import { messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'

const shownFirst = 8
const tones = {
  done: 'success',
  failed: 'danger',
  slow: 'warning',
  broken: 'warning',
  lost: 'neutral',
} as const

/** Commands that were run on this server: by whom, when, and their outcome. */
export function CommandHistory({
  history: { data, error, refetch },
  onUse,
}: {
  history: UseQueryResult<readonly PastCommand[]>
  onUse: (command: string) => void
}) {
  const t = useTexts('tools')
  const [isWhole, setIsWhole] = useState(false)
  const all = data ?? []
  const hidden = isWhole ? 0 : Math.max(0, all.length - shownFirst)
  return (
    <section aria-labelledby="command-history" className="grid min-w-0 gap-3">
      <div>
        <h3 id="command-history" className="text-sm font-semibold">
          {t.console.history}
        </h3>
        <p className="mt-1 text-sm text-ink-2">{t.console.historyHint}</p>
      </div>
      {data || error ? null : <SkeletonRows rows={3} />}
      {error && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data ? (
        <div className="rounded-lg shadow-[inset_0_0_0_1px_var(--border)]">
          {all.length === 0 ? <Empty text={t.console.noHistory} /> : null}
          <ul aria-label={t.console.history} className="divide-y divide-border">
            {all.slice(0, isWhole ? undefined : shownFirst).map((one) => (
              <li
                key={one.id}
                className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2 text-sm"
              >
                <button
                  type="button"
                  title={t.console.use(one.command)}
                  onClick={() => onUse(one.command)}
                  className={
                    'line-clamp-3 min-h-6 min-w-0 flex-1 basis-64 text-left font-mono text-xs/5 ' +
                    'break-all hover:text-primary-ink hover:underline'
                  }
                >
                  {one.command}
                </button>
                <span className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-3">
                  <Badge tone={one.outcome === null ? 'info' : tones[one.outcome]}>
                    {t.console.outcomes[one.outcome ?? 'running']}
                  </Badge>
                  <span className="num">
                    {one.ms === null ? '' : t.console.took(String(one.ms))}
                  </span>
                  <span className="num">{one.address}</span>
                  <time className="num">{formatTime(one.at)}</time>
                </span>
              </li>
            ))}
          </ul>
        </div>
      ) : null}
      {hidden > 0 ? (
        <Button variant="outline" className="justify-self-start" onClick={() => setIsWhole(true)}>
          {t.console.more(hidden)}
        </Button>
      ) : null}
    </section>
  )
}
