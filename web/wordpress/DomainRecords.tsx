import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { LoadError, Skeleton } from '../ui/State.tsx'
import { domainQuery } from './site-queries.ts'

const askEveryMs = 30_000

/** What a record is for; a record without a purpose is not shown. */
function roleOf({ points, counts }: { points: boolean; counts: boolean }) {
  if (points && counts) return 'both'
  return points ? 'points' : 'proves'
}

/** The time, updated once a second while it is shown. */
function useNow(shown: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!shown) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [shown])
  return now
}

/**
 * The records that prove a name and lead visitors to the server, with the present DNS answers; each
 * value can be copied. With `onVerified` the DNS is checked every half minute until the records
 * exist.
 */
export function DomainRecords({
  siteId,
  name,
  onVerified,
}: {
  siteId: string
  name: string
  onVerified?: () => void
}) {
  const t = useTexts('site', 'parts')
  const query = useQuery({
    ...domainQuery(siteId, name),
    refetchInterval: onVerified ? askEveryMs : false,
    // The customer is on the registrar's page meanwhile.
    refetchIntervalInBackground: true,
  })
  const { data, isPending, isError, error, refetch, dataUpdatedAt } = query
  const now = useNow(onVerified !== undefined)
  const verified = data?.verified === true
  const tell = useEffectEvent(() => onVerified?.())
  useEffect(() => {
    if (verified) tell()
  }, [verified, dataUpdatedAt])
  if (isPending) return <Skeleton className="mt-3 h-32 rounded-lg" />
  if (isError && !data)
    return (
      <LoadError
        text={messageOf(error)}
        retryLabel={t.common.retry}
        onRetry={() => void refetch()}
      />
    )
  return (
    <div className="mt-3">
      <p className="text-sm text-ink-2">{t.domains.records}</p>
      {onVerified ? (
        <p className="num mt-1 text-xs text-ink-3">
          {t.domains.checked(Math.max(0, Math.round((now - dataUpdatedAt) / 1000)))}
        </p>
      ) : null}
      <ul className="mt-3 grid gap-3">
        {data.records
          .filter(({ counts, points }) => counts || points)
          .map((record) => (
            <li key={record.type} className="rounded-lg bg-subtle p-3 text-sm">
              <span className="flex flex-wrap items-center gap-2">
                <Badge tone="primary">{record.type}</Badge>
                <span className="text-xs text-ink-2">{t.domains.roles[roleOf(record)]}</span>
              </span>
              <dl className="mt-2 grid gap-x-4 gap-y-1 sm:grid-cols-[auto_minmax(0,1fr)]">
                <dt className="pt-1.5 text-xs text-ink-3">{t.domains.recordName}</dt>
                <dd>
                  <Value text={record.name} />
                </dd>
                <dt className="pt-1.5 text-xs text-ink-3">{t.domains.recordValue}</dt>
                <dd className="grid gap-1">
                  {record.expected.map((value) => (
                    <Value key={value} text={value} />
                  ))}
                </dd>
              </dl>
              <p className="mt-2 text-xs break-all text-ink-2">
                {record.found.length > 0
                  ? t.domains.found(record.found.slice(0, 5).join(', '))
                  : t.domains.foundNothing}
              </p>
            </li>
          ))}
      </ul>
    </div>
  )
}

function Value({ text }: { text: string }) {
  const t = useTexts()
  return (
    <span className="flex items-start gap-1">
      <code className="min-w-0 pt-1 font-mono text-xs break-all">{text}</code>
      <CopyButton text={text} label={t.common.copyOf(text)} doneLabel={t.common.copied} />
    </span>
  )
}
