import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  listDataRequests,
  makeDataRequest,
  requestKinds,
  type DataRequest,
  type RequestKind,
} from '../../contract/data-requests.ts'
import { call, messageOf } from '../api.ts'
import { useForm } from '../form.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, inputClass, Select } from '../ui/Field.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { vietnamDay } from '../vietnam-day.ts'
import { FormFailure } from './FormFailure.tsx'

const queryKey = ['account', 'data-requests']
const tones = { open: 'info', done: 'success', refused: 'warning', ended: 'neutral' } as const

/** What the customer asked about their data, and by when it is answered. */
export function RequestsCard() {
  const t = useTexts('account')
  const words = t.account.requests
  const [isOpen, setIsOpen] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => call(listDataRequests, {}, { signal }),
  })
  return (
    <Card
      title={words.title}
      sub={words.sub}
      padded={false}
      action={
        <Button variant="outline" size="sm" onClick={() => setIsOpen(true)}>
          {words.begin}
        </Button>
      }
    >
      {!data && error ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {!data && !error ? <SkeletonRows rows={1} className="p-5" /> : null}
      {data && data.length > 0 ? (
        <ul>
          {data.map((one) => (
            <Row key={one.id} of={one} />
          ))}
        </ul>
      ) : null}
      {isOpen ? <RequestDialog onClose={() => setIsOpen(false)} /> : null}
    </Card>
  )
}

function Row({ of: { kind, text, state, receivedAt, dueAt, answer } }: { of: DataRequest }) {
  const words = useTexts('account').account.requests
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 border-t border-border px-5 py-3">
      <div className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">
        <p className="text-sm font-medium">{words.kinds[kind]}</p>
        <p className="text-sm whitespace-pre-line text-ink-2">{text}</p>
        {answer === null ? null : (
          <p className="mt-1 text-sm whitespace-pre-line">{`${words.answer}: ${answer}`}</p>
        )}
        <p className="num mt-1 text-xs text-ink-3">
          {state === 'open'
            ? words.openUntil(vietnamDay(receivedAt), vietnamDay(dueAt))
            : words.made(vietnamDay(receivedAt))}
        </p>
      </div>
      <Badge tone={tones[state]}>{words.states[state]}</Badge>
    </li>
  )
}

function RequestDialog({ onClose }: { onClose: () => void }) {
  const t = useTexts('account')
  const words = t.account.requests
  const queryClient = useQueryClient()
  const { form, errors, failure, busy, bind, onSubmit } = useForm({
    initial: { kind: 'correction' as RequestKind, text: '' },
    schema: makeDataRequest.body,
    keep: ['kind', 'text'],
    submit: async (body) => {
      await call(makeDataRequest, { body })
      await queryClient.invalidateQueries({ queryKey })
      toast.success(t.toast.success, words.sent)
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      busy={busy}
      title={words.title}
      description={words.text}
      closeLabel={t.common.close}
      footer={
        <>
          <Button variant="ghost" disabled={busy} onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button type="submit" form="data-request" busy={busy}>
            {words.send}
          </Button>
        </>
      }
    >
      <form
        ref={form}
        id="data-request"
        noValidate
        onSubmit={(event) => void onSubmit(event)}
        className="grid gap-4"
      >
        <FormFailure failure={failure} />
        <Field label={words.kind} error={errors['kind']}>
          {(control) => (
            <Select {...control} {...bind('kind')}>
              {requestKinds.map((kind) => (
                <option key={kind} value={kind}>
                  {words.kinds[kind]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={words.what} error={errors['text']} hint={words.whatHint}>
          {(control) => (
            <textarea
              {...control}
              {...bind('text')}
              rows={4}
              className={`${inputClass} h-auto py-2`}
            />
          )}
        </Field>
      </form>
    </Dialog>
  )
}
