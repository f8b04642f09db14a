import { useQuery } from '@tanstack/react-query'
import { messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { LoadError, Skeleton } from '../ui/State.tsx'
import { domainQuery } from './site-queries.ts'

/** Which records would prove a name, and what the DNS says of them now; each value can be copied. */
export function DomainRecords({ siteId, name }: { siteId: string; name: string }) {
  const t = useTexts('site', 'parts')
  const { data, isPending, isError, error, refetch } = useQuery(domainQuery(siteId, name))
  if (isPending) return <Skeleton className="mt-3 h-32 rounded-lg" />
  if (isError && !data) return <LoadError text={messageOf(error)} retryLabel={t.common.retry} onRetry={() => void refetch()} />
  return (
    <div className="mt-3">
      <p className="text-sm text-ink-2">{t.domains.records}</p>
      <ul className="mt-3 grid gap-3">
        {data.records
          .filter(({ counts }) => counts)
          .map((record) => (
            <li key={record.type} className="rounded-lg bg-subtle p-3 text-sm">
              <Badge tone="primary">{record.type}</Badge>
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
                {record.found.length > 0 ? t.domains.found(record.found.slice(0, 5).join(', ')) : t.domains.foundNothing}
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
