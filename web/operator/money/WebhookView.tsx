import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { LoadError, Note, SkeletonRows } from '../../ui/State.tsx'
import { BackLink } from '../BackLink.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { timeOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { Facts } from './Facts.tsx'
import { noticeQuery } from './queries.ts'
import { Judged } from './WebhooksView.tsx'

/** One webhook: its outcome, its content, and the raw text. */
export function WebhookView({ id, session }: { id: string; session: StaffSession }) {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const words = t.notices
  const { data: one, error, refetch } = useQuery(noticeQuery(id))
  const [wanted, setWanted] = useState<WantedAct>()
  if (!one)
    return error ? (
      <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
    ) : (
      <SkeletonRows />
    )
  const { says } = one
  const title = `${one.gateway} · ${one.id}`
  return (
    <>
      <BackLink to="/webhooks" text={words.back} />
      <PageHead title={title}>
        {one.replayable && mayDo(session.role, 'money') ? (
          <Button
            onClick={() =>
              setWanted({ act: 'webhook.replay', about: title, fixed: { notice: one.id } })
            }
          >
            {t.acts['webhook.replay']}
          </Button>
        ) : null}
      </PageHead>
      {one.replayable ? null : (
        <Note tone="info" className="mb-5">
          {words.notReplayable}
        </Note>
      )}
      <div className="grid gap-5">
        <Card title={words.facts} action={<Judged outcome={one.outcome} />}>
          <Facts
            rows={[
              [words.received, timeOf(one.at)],
              [words.payment, one.payment ?? '–'],
              ...(one.replayedAt !== null && one.replayOutcome !== null
                ? [
                    [
                      words.again,
                      `${timeOf(one.replayedAt)} · ${words.outcomes[one.replayOutcome]}`,
                    ] as const,
                  ]
                : []),
              ...(says === null
                ? []
                : ([
                    [words.event, says.event],
                    [words.status, words.statuses[says.status] ?? says.status],
                    [words.reference, says.reference ?? '–'],
                    [
                      words.amount,
                      says.amount === null || says.currency === null
                        ? '–'
                        : formatMoney(says.amount, says.currency, language),
                    ],
                  ] as const)),
            ]}
          />
        </Card>
        {one.query.length === 0 ? null : (
          <Card title={words.query}>
            <Facts rows={one.query.map(({ name, value }) => [name, value] as const)} />
          </Card>
        )}
        {one.body === '' ? null : (
          <Card title={words.body}>
            <pre className="text-xs [overflow-wrap:anywhere] whitespace-pre-wrap">{one.body}</pre>
            {one.isCut ? <p className="mt-3 text-xs text-ink-3">{words.cut}</p> : null}
          </Card>
        )}
      </div>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}
