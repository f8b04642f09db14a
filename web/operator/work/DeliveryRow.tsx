import { useId, useState } from 'react'
import type { Delivery, WebhookAttempt } from '../../../contract/webhooks.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { timeOf, useDeskTexts } from '../language.ts'
import { rowClass } from '../PagedList.tsx'

const tones = { waiting: 'info', delivered: 'success', failed: 'danger' } as const

/** One delivery on a line; a press shows its details. */
export function DeliveryRow({
  delivery,
  onAgain,
}: {
  delivery: Delivery
  /** Absent while the webhook is switched off. */
  onAgain?: () => void
}) {
  const words = useDeskTexts().outgoing
  const details = useId()
  const [open, setOpen] = useState(false)
  const { event, state, attempts, createdAt, nextAt } = delivery
  const last = attempts.at(-1)
  const outcomeOf = ({ status, error }: WebhookAttempt): string => {
    if (status !== null) return words.status(status)
    return error === null ? '' : words.errors[error]
  }
  return (
    <li className={rowClass}>
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-mono text-sm font-medium wrap-anywhere">{event}</p>
        <p className="num text-xs text-ink-3">
          {timeOf(createdAt) +
            (last
              ? ` · ${outcomeOf(last)} · ${last.ms} ms · ${words.calls(attempts.length)}`
              : '') +
            (state === 'waiting' && nextAt !== null && last
              ? ` · ${words.nextTry(timeOf(nextAt))}`
              : '')}
        </p>
      </div>
      <Badge tone={tones[state]} dot live={state === 'waiting'}>
        {words.states[state]}
      </Badge>
      <div className="flex gap-2">
        <Button
          variant="ghost"
          size="sm"
          aria-expanded={open}
          aria-controls={details}
          aria-label={words.detailsOf(event)}
          onClick={() => setOpen(!open)}
        >
          {words.details}
        </Button>
        {onAgain ? (
          <Button
            variant="outline"
            size="sm"
            aria-label={words.againOf(event)}
            onClick={() => onAgain()}
          >
            {words.again}
          </Button>
        ) : null}
      </div>
      <div id={details} hidden={!open} className="grid min-w-0 basis-full gap-3">
        {open ? (
          <>
            <p className="font-mono text-xs wrap-anywhere text-ink-3">webhook-id: {delivery.id}</p>
            <ul className="num grid gap-1 text-xs text-ink-2">
              {attempts.map((attempt) => (
                <li key={attempt.at}>
                  {timeOf(attempt.at)} · {outcomeOf(attempt)} · {attempt.ms} ms
                </li>
              ))}
            </ul>
            <Block title={words.sent} text={delivery.body} />
            <Block title={words.answer} text={delivery.answer ?? words.noAnswer} />
          </>
        ) : null}
      </div>
    </li>
  )
}

const Block = ({ title, text }: { title: string; text: string }) => (
  <div className="min-w-0">
    <h3 className="mb-1 text-xs font-medium">{title}</h3>
    <pre className="rounded-lg bg-subtle p-3 font-mono text-xs wrap-anywhere whitespace-pre-wrap">
      {text}
    </pre>
  </div>
)
