import { useQuery } from '@tanstack/react-query'
import { ExternalLink, Megaphone } from 'lucide-react'
import { useState } from 'react'
import type { StaffSession } from '../../contract/operator.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import type { NoticeOfDesk } from '../../contract/status.ts'
import type { OperatorTexts } from '../i18n/en-operator.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { ActDialog, type WantedAct } from './ActDialog.tsx'
import { timeOf, useDeskLanguage, useDeskTexts } from './language.ts'
import { statusQuery } from './queries.ts'

const tones = { announcement: 'primary', incident: 'danger', maintenance: 'warning' } as const

const timesOf = ({ startsAt, endsAt }: NoticeOfDesk, t: OperatorTexts): string =>
  `${t.status.from(timeOf(startsAt))} ` +
  (endsAt === null ? t.status.open : t.status.until(timeOf(endsAt)))

/** The status notices that everybody sees. */
export function StatusView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const { data, error, refetch } = useQuery(statusQuery)
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'work')
  return (
    <>
      <PageHead title={t.status.title} sub={t.status.sub}>
        <Button variant="outline" onClick={() => window.open('/status', '_blank', 'noopener')}>
          <ExternalLink aria-hidden className="size-4" />
          {t.status.page}
        </Button>
        {may ? (
          <Button onClick={() => setWanted({ act: 'status.publish', fixed: {} })}>
            <Megaphone aria-hidden className="size-4" />
            {t.status.publish}
          </Button>
        ) : null}
      </PageHead>
      <Card padded={false}>
        {error && !data ? (
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        ) : null}
        {(data ?? error) ? null : <SkeletonRows className="p-5" />}
        {data?.length === 0 ? <Empty text={t.none} /> : null}
        <ul>
          {data?.map((notice) => {
            const { id, kind, title, text, when, closes, updates } = notice
            const about = title[language]
            return (
              <li
                key={id}
                className="flex flex-wrap gap-3 border-t border-border px-5 py-4 first:border-0"
              >
                <div className="min-w-0 flex-1 basis-80">
                  <p className="flex flex-wrap items-center gap-2">
                    <Badge tone={when === 'past' ? 'neutral' : tones[kind]} dot={when === 'now'}>
                      {`${t.status.kinds[kind]} · ${t.status.whens[when]}`}
                    </Badge>
                    {closes ? <Badge tone="danger">{t.status.closes}</Badge> : null}
                  </p>
                  <p className="mt-2 font-medium break-words">{about}</p>
                  <p className="mt-1 text-sm break-words whitespace-pre-line text-ink-2">
                    {text[language]}
                  </p>
                  {updates.map((update) => (
                    <p key={update.at} className="mt-2 text-sm break-words text-ink-2">
                      <span className="num text-xs text-ink-3">{timeOf(update.at)}</span>
                      {` ${update.text[language]}`}
                    </p>
                  ))}
                  <p className="num mt-2 text-xs text-ink-3">{timesOf(notice, t)}</p>
                </div>
                {may && when !== 'past' ? (
                  <div className="flex flex-wrap items-start gap-2">
                    <Button
                      variant="outline"
                      size="sm"
                      onClick={() =>
                        setWanted({ act: 'status.update', about, fixed: { notice: id } })
                      }
                    >
                      {t.acts['status.update']}
                    </Button>
                    <Button
                      variant="outline"
                      size="sm"
                      onClick={() => setWanted({ act: 'status.end', about, fixed: { notice: id } })}
                    >
                      {t.acts['status.end']}
                    </Button>
                  </div>
                ) : null}
              </li>
            )
          })}
        </ul>
      </Card>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}
