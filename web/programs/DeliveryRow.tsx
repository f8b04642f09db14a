import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import {
  replayDelivery,
  type Delivery,
  type Webhook,
  type WebhookAttempt,
} from '../../contract/webhooks.ts'
import { call, messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { toast } from '../ui/toast.ts'
import { deliveriesQuery } from './queries.ts'

const tones = { waiting: 'info', delivered: 'success', failed: 'danger' } as const

function useOutcome(): (attempt: WebhookAttempt) => string {
  const t = useTexts('programs')
  return ({ status, error }) => {
    if (status !== null) return t.programs.status(status)
    return error === null ? '' : t.programs.errors[error]
  }
}

/** One delivery on a line; a press shows its details. */
export function DeliveryRow({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const t = useTexts('programs')
  const queryClient = useQueryClient()
  const outcome = useOutcome()
  const details = useId()
  const [open, setOpen] = useState(false)
  const replay = useMutation({
    mutationFn: () => call(replayDelivery, { params: { id: webhook.id, delivery: delivery.id } }),
    onSuccess: () => toast.success(t.toast.success, t.programs.replayed),
    onError: (error) => toast.error(t.toast.error, messageOf(error)),
    onSettled: () =>
      queryClient.invalidateQueries({ queryKey: deliveriesQuery(webhook.id).queryKey }),
  })
  const { event, state, attempts } = delivery
  const last = attempts.at(-1)
  const names: Record<string, string> = t.programs.event
  return (
    <li className="px-5 py-3">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-2 text-sm font-medium">
            <span>{names[event] ?? event}</span>
            <Badge tone={tones[state]} dot live={state === 'waiting'}>
              {t.programs.states[state]}
            </Badge>
          </p>
          <p className="num mt-0.5 text-xs text-ink-3">
            <time dateTime={delivery.createdAt} className="whitespace-nowrap">
              {formatTime(delivery.createdAt)}
            </time>
            {last ? ` · ${outcome(last)} · ${t.programs.tries(attempts.length)}` : ''}
            {state === 'waiting' && delivery.nextAt !== null && last
              ? ` · ${t.programs.nextTry(formatTime(delivery.nextAt))}`
              : ''}
          </p>
        </div>
        <div className="flex gap-2">
          <Button
            variant="ghost"
            size="sm"
            aria-expanded={open}
            aria-controls={details}
            aria-label={t.programs.detailsOf(names[event] ?? event)}
            onClick={() => setOpen(!open)}
          >
            {t.programs.details}
          </Button>
          {webhook.disabled ? null : (
            <Button
              variant="outline"
              size="sm"
              aria-label={t.programs.replayOf(names[event] ?? event)}
              busy={replay.isPending}
              onClick={() => replay.mutate()}
            >
              {t.programs.replay}
            </Button>
          )}
        </div>
      </div>
      <div id={details} hidden={!open} className="mt-3 grid gap-3">
        {open ? (
          <>
            <p className="font-mono text-xs wrap-anywhere text-ink-3">webhook-id: {delivery.id}</p>
            {attempts.length > 0 ? (
              <div>
                <h3 className="mb-1 text-xs font-medium">{t.programs.calls}</h3>
                <ul className="num grid gap-1 text-xs text-ink-2">
                  {attempts.map((attempt) => (
                    <li key={attempt.at}>
                      {formatTime(attempt.at)} · {outcome(attempt)} · {attempt.ms} ms
                    </li>
                  ))}
                </ul>
              </div>
            ) : null}
            <Block title={t.programs.sent} text={delivery.body} />
            <Block title={t.programs.answer} text={delivery.answer ?? t.programs.noAnswer} />
          </>
        ) : null}
      </div>
    </li>
  )
}

const Block = ({ title, text }: { title: string; text: string }) => (
  <div>
    <h3 className="mb-1 text-xs font-medium">{title}</h3>
    <pre className={'rounded-lg bg-subtle p-3 font-mono text-xs wrap-anywhere whitespace-pre-wrap'}>
      {text}
    </pre>
  </div>
)
