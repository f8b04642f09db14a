import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { LifeBuoy, MessageSquareText } from 'lucide-react'
import { useState } from 'react'
import { mayDo } from '../../contract/staff-roles.ts'
import { priorities, type Priority, type TicketOfDesk } from '../../contract/tickets-desk.ts'
import { ticketStates, type Ticket } from '../../contract/tickets.ts'
import { Badge } from '../ui/Badge.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { Field, Select } from '../ui/Field.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Segmented } from '../ui/Segmented.tsx'
import { timeOf, useDeskTexts } from './language.ts'
import { PagedList } from './PagedList.tsx'
import { DeskLink } from './path.tsx'
import { staffQuery, ticketsQuery } from './queries.ts'

export const priorityTones = {
  low: 'neutral',
  normal: 'neutral',
  high: 'warning',
  urgent: 'danger',
} as const

/** The customers' tickets, in the order in which they should be answered. */
export function TicketsView() {
  const t = useDeskTexts()
  const [state, setState] = useState<Ticket['state']>('open')
  const [assignee, setAssignee] = useState('')
  const [priority, setPriority] = useState<Priority | ''>('')
  const { data: staff } = useQuery(staffQuery)
  // Whoever was invited again has a row that is disabled and one that is not.
  const answering =
    staff?.members.filter(
      ({ role, disabledAt }) => disabledAt === null && mayDo(role, 'tickets'),
    ) ?? []
  const list = useInfiniteQuery(
    ticketsQuery({
      state,
      ...(assignee && { assignee }),
      ...(priority && { priority }),
    }),
  )
  return (
    <>
      <PageHead title={t.tickets.title} sub={t.tickets.sub}>
        <DeskLink to="/tickets/canned" className={buttonClass('outline')}>
          <MessageSquareText aria-hidden className="size-4" />
          {t.tickets.manage}
        </DeskLink>
      </PageHead>
      <div className="mb-4 flex flex-wrap items-end gap-4">
        <Segmented
          label={t.tickets.queue}
          value={state}
          options={ticketStates.map((value) => ({ value, label: t.tickets.states[value] }))}
          onChange={setState}
        />
        <div className="w-44">
          <Field label={t.tickets.assignee}>
            {(control) => (
              <Select
                {...control}
                value={assignee}
                onChange={({ target }) => setAssignee(target.value)}
              >
                <option value="">{t.tickets.everybody}</option>
                <option value="mine">{t.tickets.mine}</option>
                <option value="nobody">{t.tickets.nobody}</option>
                {answering.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <div className="w-40">
          <Field label={t.tickets.priority}>
            {(control) => (
              <Select
                {...control}
                value={priority}
                onChange={({ target }) => setPriority(target.value as Priority | '')}
              >
                <option value="">{t.tickets.any}</option>
                {priorities.map((value) => (
                  <option key={value} value={value}>
                    {t.tickets.priorities[value]}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
      </div>
      <PagedList list={list} empty={t.tickets.empty} icon={LifeBuoy}>
        {(ticket) => <Row key={ticket.id} ticket={ticket} />}
      </PagedList>
    </>
  )
}

function Row({ ticket }: { ticket: TicketOfDesk }) {
  const t = useDeskTexts()
  const { id, number, subject, customer, sender, priority, labels, assignee, since } = ticket
  return (
    <li className="border-t border-border first:border-0">
      <DeskLink
        to={`/tickets/${id}`}
        className={'flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-3 hover:bg-subtle/60'}
      >
        <span className="min-w-0 flex-1 basis-72">
          <span className="block text-sm font-medium break-words">{`#${number} ${subject}`}</span>
          <span className="block text-xs break-all text-ink-3">
            {customer ? `${customer.name} · ${customer.email}` : sender?.email}
          </span>
        </span>
        <span className="flex flex-wrap items-center gap-2">
          {customer ? null : <Badge tone="warning">{t.tickets.noCustomer}</Badge>}
          {labels.map((label) => (
            <Badge key={label} tone="info">
              {label}
            </Badge>
          ))}
          {priority === 'normal' ? null : (
            <Badge tone={priorityTones[priority]}>{t.tickets.priorities[priority]}</Badge>
          )}
          <span className="text-xs text-ink-2">{assignee?.name ?? t.tickets.nobody}</span>
          <span className="num text-xs text-ink-3">
            {t.tickets.since(timeOf(since).slice(0, 16))}
          </span>
        </span>
      </DeskLink>
    </li>
  )
}
