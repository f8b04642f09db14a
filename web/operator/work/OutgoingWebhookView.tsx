import { useInfiniteQuery } from '@tanstack/react-query'
import { Send } from 'lucide-react'
import { useState } from 'react'
import type { ActName } from '../../../contract/operator-acts.ts'
import type { OperatorWebhook } from '../../../contract/operator-webhooks.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { LoadError, Note, SkeletonRows } from '../../ui/State.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { BackLink } from '../BackLink.tsx'
import { timeOf, useDeskTexts } from '../language.ts'
import { Facts } from '../money/Facts.tsx'
import { PagedList } from '../PagedList.tsx'
import { outgoingDeliveriesQuery } from '../queries.ts'
import { DeliveryRow } from './DeliveryRow.tsx'
import { CalledBadge } from './OutgoingView.tsx'

/** The value of a date and time field for one day ago, in the browser's own time zone. */
const yesterday = (): string => {
  const at = new Date(Date.now() - 86_400_000)
  return timeOf(at.toISOString()).slice(0, 16).replace(' ', 'T')
}

/** One webhook of the provider: its settings, its deliveries, and the acts on it. */
export function OutgoingWebhookView({ id, session }: { id: string; session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.outgoing
  const list = useInfiniteQuery(outgoingDeliveriesQuery(id))
  const [wanted, setWanted] = useState<WantedAct>()
  const { data, error, refetch } = list
  const webhook = data?.pages[0]?.result.webhook
  if (!webhook)
    return (
      <>
        <BackLink to="/outgoing" text={words.back} />
        {error ? (
          <Card>
            <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
          </Card>
        ) : (
          <SkeletonRows />
        )}
      </>
    )
  const ask = (act: ActName, fixed: object = {}, initial: Record<string, string> = {}) =>
    setWanted({ act, about: webhook.url, fixed: { webhook: id, ...fixed }, initial })
  const acts: readonly ActName[] = [
    ...(webhook.disabled
      ? (['outgoing_webhook.resume'] as const)
      : ([
          'outgoing_webhook.test',
          'outgoing_webhook.resend_failed',
          'outgoing_webhook.pause',
        ] as const)),
    ...(mayDo(session.role, 'outgoing')
      ? (['outgoing_webhook.change', 'outgoing_webhook.renew_secret'] as const)
      : []),
  ]
  const initialOf = (act: ActName): Record<string, string> => {
    if (act === 'outgoing_webhook.change')
      return { url: webhook.url, events: webhook.events.join(',') }
    return act === 'outgoing_webhook.resend_failed' ? { since: yesterday() } : {}
  }
  const deliveries = {
    ...list,
    data: data && { pages: data.pages.map(({ result }) => ({ result: result.deliveries })) },
  }
  return (
    <>
      <BackLink to="/outgoing" text={words.back} />
      <PageHead
        title={webhook.url}
        heading={<span className="wrap-anywhere">{webhook.url}</span>}
      />
      <div className="mb-5 flex flex-wrap gap-2">
        {acts.map((act) => (
          <Button
            key={act}
            size="sm"
            variant="outline"
            onClick={() => ask(act, {}, initialOf(act))}
          >
            {t.acts[act]}
          </Button>
        ))}
      </div>
      <div className="grid gap-5">
        <SettingsCard webhook={webhook} />
        <section>
          <h2 className="text-base font-semibold">{words.deliveries}</h2>
          <p className="mb-3 text-sm text-ink-3">{words.deliveriesSub}</p>
          <PagedList list={deliveries} empty={words.noDeliveries} icon={Send}>
            {(one) => (
              <DeliveryRow
                key={one.id}
                delivery={one}
                {...(webhook.disabled === null && {
                  onAgain: () => ask('outgoing_webhook.resend', { delivery: one.id }),
                })}
              />
            )}
          </PagedList>
        </section>
      </div>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

function SettingsCard({ webhook }: { webhook: OperatorWebhook }) {
  const words = useDeskTexts().outgoing
  const { disabled, failingSince, earlierSecretUntil, events, createdAt } = webhook
  return (
    <Card title={words.facts} action={<CalledBadge webhook={webhook} />}>
      <div className="grid gap-4">
        {disabled ? (
          <Note tone={disabled.reason === 'owner' ? 'info' : 'warning'}>
            {`${words.reasons[disabled.reason]} (${timeOf(disabled.at)})`}
          </Note>
        ) : null}
        {!disabled && failingSince !== null ? (
          <Note tone="warning">{words.failingSince(timeOf(failingSince))}</Note>
        ) : null}
        {earlierSecretUntil === null ? null : (
          <Note tone="info">{words.earlierUntil(timeOf(earlierSecretUntil))}</Note>
        )}
        <Facts
          rows={[
            [words.made, timeOf(createdAt)],
            [
              words.eventList,
              <span key="events" className="font-mono text-xs wrap-anywhere">
                {events.join(', ')}
              </span>,
            ],
          ]}
        />
      </div>
    </Card>
  )
}
