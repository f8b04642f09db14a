import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Download, X } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { ActName } from '../../contract/operator-acts.ts'
import type { StaffSession } from '../../contract/operator.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import type { DeskMessage, TicketAtDesk } from '../../contract/tickets-desk.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { cx } from '../ui/cx.ts'
import { Select } from '../ui/Field.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { BackLink } from './BackLink.tsx'
import { ActDialog, type WantedAct } from './ActDialog.tsx'
import { endpointOfAct } from './act-fields.ts'
import { call, DeskError } from './api.ts'
import { timeOf, useDeskTexts } from './language.ts'
import { DeskLink } from './path.tsx'
import { staffQuery, ticketQuery } from './queries.ts'
import { addressOf } from './ticket-files.ts'
import { TicketComposer } from './TicketComposer.tsx'
import { priorityTones } from './TicketsView.tsx'

/** One ticket at the desk. */
export function TicketView({ id, session }: { id: string; session: StaffSession }) {
  const t = useDeskTexts()
  const { data, error, refetch } = useQuery(ticketQuery(id))
  return (
    <>
      <BackLink to="/tickets" text={t.tickets.back} />
      {error && !data ? (
        <Card>
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        </Card>
      ) : null}
      {data ? <Conversation of={data} session={session} /> : null}
      {(data ?? error) ? null : <SkeletonRows />}
    </>
  )
}

type Ask = (act: ActName, fixed?: Readonly<Record<string, unknown>>) => void

function Conversation({ of, session }: { of: TicketAtDesk; session: StaffSession }) {
  const t = useDeskTexts()
  const [wanted, setWanted] = useState<WantedAct>()
  // A draft answer stays when the other side writes.
  const [sent, setSent] = useState(0)
  const may = mayDo(session.role, 'tickets')
  const title = `#${of.number} ${of.subject}`
  const ask: Ask = (act, fixed = {}) =>
    setWanted({
      act,
      about: title,
      fixed: { ticket: of.id, ...fixed },
      ...(act === 'ticket.priority' && { initial: { priority: of.priority } }),
    })
  const isUnproven = of.messages.some(({ proven }) => !proven)
  const offered: ActName[] = [
    'ticket.priority',
    'ticket.label',
    ...(of.customer ? [] : (['ticket.give'] as const)),
    of.state === 'closed' ? 'ticket.reopen' : 'ticket.close',
  ]
  return (
    <>
      <PageHead title={title} heading={<span className="break-words">{title}</span>}>
        <Badge tone={of.state === 'open' ? 'warning' : 'neutral'} dot>
          {t.tickets.states[of.state]}
        </Badge>
        {of.priority === 'normal' ? null : (
          <Badge tone={priorityTones[of.priority]}>{t.tickets.priorities[of.priority]}</Badge>
        )}
        {of.labels.map((label) => (
          <Badge key={label} tone="info">
            {label}
            {may ? (
              <button
                type="button"
                aria-label={t.tickets.removeLabel(label)}
                className="grid size-6 place-items-center"
                onClick={() => ask('ticket.unlabel', { label })}
              >
                <X aria-hidden className="size-3" />
              </button>
            ) : null}
          </Badge>
        ))}
      </PageHead>
      {may ? (
        <fieldset aria-label={t.customer.act} className="mb-5 flex flex-wrap gap-2">
          {offered.map((act) => (
            <Button key={act} variant="outline" size="sm" onClick={() => ask(act)}>
              {t.acts[act]}
            </Button>
          ))}
        </fieldset>
      ) : null}
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1.7fr)_minmax(0,1fr)]">
        <div className="grid min-w-0 gap-4">
          {isUnproven ? <Note tone="warning">{t.tickets.unprovenText}</Note> : null}
          <ol className="grid gap-4">
            {of.messages.map((message) => (
              <Message key={message.id} ticketId={of.id} message={message} />
            ))}
          </ol>
          {may ? (
            <TicketComposer
              key={sent}
              of={of}
              member={session.email}
              onSent={() => setSent(sent + 1)}
            />
          ) : null}
        </div>
        <Details of={of} may={may} onAsk={ask} />
      </div>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

function Message({ ticketId, message }: { ticketId: string; message: DeskMessage }) {
  const t = useDeskTexts()
  const { from, author, at, text, byMail, proven, files, leftOut } = message
  return (
    <li
      className={cx(
        'card min-w-0 p-4 sm:p-5',
        from === 'staff' && 'bg-primary-soft sm:ml-12',
        from === 'note' && 'bg-warning-soft sm:ml-12',
        from === 'customer' && 'sm:mr-12',
      )}
    >
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <span className="font-semibold break-all">{author}</span>
        <span className="num text-xs text-ink-2">
          {timeOf(at)}
          {byMail ? ` · ${t.tickets.byMail}` : ''}
        </span>
        {from === 'note' ? <Badge tone="warning">{t.tickets.note}</Badge> : null}
        {proven ? null : <Badge tone="danger">{t.tickets.unproven}</Badge>}
      </p>
      <p dir="auto" className="mt-2 text-sm break-words whitespace-pre-line">
        {text}
      </p>
      {files.length > 0 ? (
        <ul className="mt-3 flex flex-wrap gap-2">
          {files.map((file) => (
            <li key={file.id} className="max-w-full">
              {file.kept ? (
                <a
                  href={addressOf(ticketId, file)}
                  download={file.name}
                  className={buttonClass('outline', 'sm')}
                >
                  <Download aria-hidden className="size-4" />
                  <span className="max-w-60 truncate">{file.name}</span>
                </a>
              ) : (
                <span className="text-xs text-ink-3">{`${file.name} (${t.tickets.gone})`}</span>
              )}
            </li>
          ))}
        </ul>
      ) : null}
      {leftOut.length > 0 ? (
        <p className="mt-2 text-xs break-all text-ink-2">{t.tickets.leftOut(leftOut.join(', '))}</p>
      ) : null}
    </li>
  )
}

function Details({ of, may, onAsk }: { of: TicketAtDesk; may: boolean; onAsk: Ask }) {
  const t = useDeskTexts()
  const { customer, sender, object, rating } = of
  return (
    <div className="grid gap-5">
      <Card title={t.tickets.details}>
        <dl className="grid gap-3 text-sm">
          <Fact term={t.tickets.customer}>
            {customer ? (
              <DeskLink
                to={`/customers/${customer.id}`}
                className="break-all text-primary-ink hover:underline"
              >
                {`${customer.name} · ${customer.email}`}
              </DeskLink>
            ) : (
              <span className="break-all">
                {`${t.tickets.noCustomer}: ${sender?.name ?? ''} ${sender?.email ?? ''}`}
              </span>
            )}
          </Fact>
          {object ? (
            <Fact term={t.tickets.about}>
              <span className="break-all">
                {`${t.tickets.objects[object.kind]} ${object.name}`}
              </span>
            </Fact>
          ) : null}
          <Fact term={t.tickets.openedAt}>
            <span className="num">{timeOf(of.openedAt)}</span>
          </Fact>
          <Fact term={t.tickets.assignee}>
            {may ? <Assignee of={of} /> : (of.assignee?.name ?? t.tickets.nobody)}
          </Fact>
          {rating === null ? null : (
            <Fact term={t.tickets.rated}>
              <Badge tone={rating === 'good' ? 'success' : 'danger'}>
                {t.tickets.rating[rating]}
              </Badge>
            </Fact>
          )}
        </dl>
      </Card>
      {of.others.length > 0 ? (
        <Card title={t.tickets.others} padded={false}>
          <ul>
            {of.others.map(({ id, number, subject, state }) => (
              <li
                key={id}
                className="flex flex-wrap items-center gap-2 border-t border-border px-5 py-2.5"
              >
                <DeskLink
                  to={`/tickets/${id}`}
                  className="min-w-0 flex-1 basis-40 text-sm break-words hover:underline"
                >
                  {`#${number} ${subject}`}
                </DeskLink>
                <Badge>{t.tickets.states[state]}</Badge>
                {may ? (
                  <Button
                    variant="outline"
                    size="sm"
                    aria-label={t.tickets.mergeInto(number)}
                    onClick={() => onAsk('ticket.merge', { into: id })}
                  >
                    {t.acts['ticket.merge']}
                  </Button>
                ) : null}
              </li>
            ))}
          </ul>
        </Card>
      ) : null}
    </div>
  )
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-ink-3">{term}</dt>
      <dd className="mt-0.5">{children}</dd>
    </div>
  )
}

/** Assigning needs no confirmation: it is harmless, and the trail records it. */
function Assignee({ of }: { of: TicketAtDesk }) {
  const t = useDeskTexts()
  const client = useQueryClient()
  const { data } = useQuery(staffQuery)
  const members =
    data?.members.filter(({ role, disabledAt }) => disabledAt === null && mayDo(role, 'tickets')) ??
    []
  const assign = async (member: string) => {
    try {
      const body = { ticket: of.id, ...(member && { member }) }
      await call(endpointOfAct('ticket.assign'), { body } as never)
      await client.invalidateQueries({ queryKey: ['tickets'] })
    } catch (error) {
      if (!(error instanceof DeskError)) throw error
      toast.error(t.failed, error.message)
    }
  }
  return (
    <Select
      aria-label={t.tickets.assignee}
      value={of.assignee?.id ?? ''}
      onChange={({ target }) => void assign(target.value)}
    >
      <option value="">{t.tickets.nobody}</option>
      {of.assignee && !members.some(({ id }) => id === of.assignee?.id) ? (
        <option value={of.assignee.id}>{of.assignee.name}</option>
      ) : null}
      {members.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  )
}
