import { useQuery } from '@tanstack/react-query'
import { Plus, Send } from 'lucide-react'
import { useState } from 'react'
import type { OperatorWebhook } from '../../../contract/operator-webhooks.ts'
import type { StaffSession } from '../../../contract/operator.ts'
import { mayDo } from '../../../contract/staff-roles.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Empty, LoadError, SkeletonRows } from '../../ui/State.tsx'
import { ActDialog, type WantedAct } from '../ActDialog.tsx'
import { timeOf, useDeskTexts } from '../language.ts'
import { rowClass } from '../PagedList.tsx'
import { DeskLink } from '../path.tsx'
import { outgoingQuery } from '../queries.ts'

/** Whether a webhook is called, and whether its calls succeed. */
export function CalledBadge({ webhook }: { webhook: OperatorWebhook }) {
  const { outgoing: words } = useDeskTexts()
  const isWell = webhook.failingSince === null
  const [tone, text] = webhook.disabled
    ? (['neutral', words.off] as const)
    : ([isWell ? 'success' : 'warning', isWell ? words.on : words.failing] as const)
  return (
    <Badge tone={tone} dot>
      {text}
    </Badge>
  )
}

/** Webhooks of the provider's own programs. */
export function OutgoingView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.outgoing
  const isOwner = mayDo(session.role, 'outgoing')
  const { data, error, refetch } = useQuery(outgoingQuery)
  const [wanted, setWanted] = useState<WantedAct>()
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        {isOwner ? (
          <Button
            onClick={() =>
              setWanted({ act: 'outgoing_webhook.add', fixed: {}, initial: { events: '' } })
            }
          >
            <Plus aria-hidden className="size-4" />
            {t.acts['outgoing_webhook.add']}
          </Button>
        ) : null}
      </PageHead>
      <Card padded={false}>
        {error && !data ? (
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        ) : null}
        {(data ?? error) ? null : <SkeletonRows className="p-5" />}
        {data?.length === 0 ? <Empty text={words.empty} icon={Send} /> : null}
        <ul>
          {data?.map((webhook) => (
            <li key={webhook.id} className={rowClass}>
              <div className="min-w-0 flex-1 basis-60">
                <DeskLink
                  to={`/outgoing/${webhook.id}`}
                  className="text-sm font-medium wrap-anywhere hover:underline"
                >
                  {webhook.url}
                </DeskLink>
                <p className="num text-xs text-ink-3">
                  {`${words.events(webhook.events.length)} · ${words.made} ` +
                    timeOf(webhook.createdAt)}
                </p>
              </div>
              <CalledBadge webhook={webhook} />
              {isOwner ? (
                <Button
                  variant="danger"
                  size="sm"
                  aria-label={`${t.acts['outgoing_webhook.remove']}: ${webhook.url}`}
                  onClick={() =>
                    setWanted({
                      act: 'outgoing_webhook.remove',
                      about: webhook.url,
                      fixed: { webhook: webhook.id },
                    })
                  }
                >
                  {t.acts['outgoing_webhook.remove']}
                </Button>
              ) : null}
            </li>
          ))}
        </ul>
      </Card>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}
