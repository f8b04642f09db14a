import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download, ThumbsDown, ThumbsUp } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import {
  changeTicket,
  rateTicket,
  writeInTicket,
  type TicketFile,
  type TicketMessage,
  type TicketWithMessages,
} from '../../contract/tickets.ts'
import { FormFailure } from '../account/FormFailure.tsx'
import { ApiError, Attempt, call, messageOf } from '../api.ts'
import { useForm } from '../form.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Missing } from '../pages/Missing.tsx'
import { Badge } from '../ui/Badge.tsx'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { cx } from '../ui/cx.ts'
import { Field, inputClass } from '../ui/Field.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { Attachments } from './Attachments.tsx'
import { downloadFile, ticketQuery, useSupportTexts } from './support.ts'
import { TicketBadge } from './TicketBadge.tsx'

/** One ticket: its messages, and the actions on it. */
export function TicketView({ id, back }: { id: string; back: ReactNode }) {
  const t = useTexts()
  const words = useSupportTexts()
  const { data, error, refetch } = useQuery(ticketQuery(id))
  if (data) return <Conversation ticket={data} back={back} />
  const isGone = error instanceof ApiError && error.status === 404
  return (
    <>
      {back}
      <Card>
        {isGone ? (
          <Missing text={words.missing}>
            <Link to="/support" className={buttonClass()}>
              {words.list}
            </Link>
          </Missing>
        ) : null}
        {error && !isGone ? (
          <LoadError
            text={messageOf(error)}
            retryLabel={t.common.retry}
            onRetry={() => void refetch()}
          />
        ) : null}
        {error ? null : <SkeletonRows />}
      </Card>
    </>
  )
}

function Conversation({ ticket, back }: { ticket: TicketWithMessages; back: ReactNode }) {
  const t = useSupportTexts()
  const { object } = ticket
  return (
    <>
      {back}
      <PageHead
        title={`#${ticket.number} ${ticket.subject}`}
        heading={<span className="break-words">{`#${ticket.number} ${ticket.subject}`}</span>}
        sub={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <TicketBadge state={ticket.state} />
            {object ? (
              <span className="wrap-anywhere">{`${t.objects[object.kind]} ${object.name}`}</span>
            ) : null}
            <span className="num">{t.opened(formatTime(ticket.openedAt).slice(0, 16))}</span>
          </span>
        }
      >
        {may('tickets:write') ? <StateButton ticket={ticket} /> : null}
      </PageHead>
      <ol className="grid gap-4">
        {ticket.messages.map((message) => (
          <Message key={message.id} ticketId={ticket.id} message={message} />
        ))}
      </ol>
      {may('tickets:write') ? (
        <>
          {ticket.rateable && ticket.state !== 'open' ? <Rating ticket={ticket} /> : null}
          <Composer ticket={ticket} />
        </>
      ) : null}
    </>
  )
}

function Message({ ticketId, message }: { ticketId: string; message: TicketMessage }) {
  const t = useSupportTexts()
  const { toast: words } = useTexts()
  const { from, author, at, text, byMail, proven, files, leftOut } = message
  const get = (file: TicketFile) => {
    downloadFile(ticketId, file).catch((error: unknown) =>
      toast.error(words.error, messageOf(error)),
    )
  }
  return (
    <li
      className={cx(
        'card min-w-0 p-4 sm:p-5',
        from === 'staff' ? 'sm:mr-12' : 'bg-primary-soft sm:ml-12',
      )}
    >
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <span className="font-semibold wrap-anywhere">{author}</span>
        <span className="num text-xs text-ink-2">
          {formatTime(at).slice(0, 16)}
          {byMail ? ` · ${t.byMail}` : ''}
        </span>
        {proven ? null : <Badge tone="warning">{t.unproven}</Badge>}
      </p>
      <p dir="auto" className="mt-2 text-sm break-words whitespace-pre-line">
        {text}
      </p>
      {files.length > 0 ? (
        <ul className="mt-3 flex flex-wrap gap-2">
          {files.map((file) => (
            <li key={file.id} className="max-w-full">
              {file.kept ? (
                <Button
                  variant="outline"
                  size="sm"
                  aria-label={t.download(file.name)}
                  className="h-auto! min-h-8 max-w-full py-1 text-left whitespace-normal!"
                  onClick={() => get(file)}
                >
                  <Download aria-hidden className="size-4 shrink-0" />
                  <span className="min-w-0 wrap-anywhere">{file.name}</span>
                </Button>
              ) : (
                <span className="text-xs wrap-anywhere text-ink-3">
                  {`${file.name} (${t.gone})`}
                </span>
              )}
            </li>
          ))}
        </ul>
      ) : null}
      {leftOut.length > 0 ? (
        <p className="mt-2 text-xs wrap-anywhere text-ink-2">{t.leftOut(leftOut.join(', '))}</p>
      ) : null}
    </li>
  )
}

/** Stores a call's answer as the shown ticket at once. */
function useTicketCall(ticket: TicketWithMessages) {
  const queryClient = useQueryClient()
  return (answer: TicketWithMessages) => {
    queryClient.setQueryData(ticketQuery(ticket.id).queryKey, answer)
    void queryClient.invalidateQueries({ queryKey: ['tickets', 'list'] })
  }
}

function StateButton({ ticket }: { ticket: TicketWithMessages }) {
  const t = useSupportTexts()
  const { toast: words } = useTexts()
  const take = useTicketCall(ticket)
  const [busy, setBusy] = useState(false)
  const isClosed = ticket.state === 'closed'
  const change = async () => {
    setBusy(true)
    try {
      const state = isClosed ? 'open' : 'closed'
      take(await call(changeTicket, { params: { id: ticket.id }, body: { state } }))
      if (!isClosed) toast.success(words.success, t.closed)
    } catch (error) {
      toast.error(words.error, messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button variant="outline" busy={busy} onClick={() => void change()}>
      {isClosed ? t.reopen : t.close}
    </Button>
  )
}

function Rating({ ticket }: { ticket: TicketWithMessages }) {
  const t = useSupportTexts()
  const { toast: words } = useTexts()
  const take = useTicketCall(ticket)
  const rate = async (rating: 'good' | 'bad') => {
    try {
      take(await call(rateTicket, { params: { id: ticket.id }, body: { rating } }))
    } catch (error) {
      toast.error(words.error, messageOf(error))
    }
  }
  return (
    <fieldset className="mt-5 flex flex-wrap items-center gap-2 text-sm">
      <legend className="float-left mr-3">{t.rate}</legend>
      {(['good', 'bad'] as const).map((rating) => {
        const Icon = rating === 'good' ? ThumbsUp : ThumbsDown
        return (
          <Button
            key={rating}
            variant={ticket.rating === rating ? 'soft' : 'outline'}
            size="sm"
            aria-pressed={ticket.rating === rating}
            onClick={() => void rate(rating)}
          >
            <Icon aria-hidden className="size-4" />
            {t.ratings[rating]}
          </Button>
        )
      })}
      <output className="text-ink-2">{ticket.rating === null ? '' : t.rated}</output>
    </fieldset>
  )
}

function Composer({ ticket }: { ticket: TicketWithMessages }) {
  const t = useSupportTexts()
  const take = useTicketCall(ticket)
  const [attempt, setAttempt] = useState(() => new Attempt())
  const [files, setFiles] = useState<readonly TicketFile[]>([])
  const { form, errors, failure, busy, bind, set, onSubmit } = useForm({
    initial: { text: '' },
    schema: writeInTicket.body,
    body: (values) => ({ ...values, files: files.map(({ id }) => id) }),
    keep: ['text'],
    submit: async (body) => {
      take(await attempt.run(writeInTicket, { params: { id: ticket.id }, body }))
      setAttempt(new Attempt())
      setFiles([])
      set('text', '')
    },
  })
  return (
    <Card className="mt-5">
      <form ref={form} noValidate onSubmit={(event) => void onSubmit(event)} className="grid gap-4">
        {ticket.state === 'closed' ? <Note tone="info">{t.reopens}</Note> : null}
        <FormFailure failure={failure} />
        <Field label={t.write} error={errors['text']}>
          {(control) => (
            <textarea
              {...control}
              {...bind('text')}
              rows={5}
              className={`${inputClass} h-auto py-2`}
            />
          )}
        </Field>
        <Attachments files={files} onChange={setFiles} error={errors['files']} />
        <div>
          <Button type="submit" busy={busy}>
            {t.send}
          </Button>
        </div>
      </form>
    </Card>
  )
}
