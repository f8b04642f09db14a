import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ChevronLeft, LifeBuoy, Plus } from 'lucide-react'
import type { Ticket } from '../../contract/tickets.ts'
import { messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import type { LoadInput } from '../load-input.ts'
import { may } from '../may.ts'
import { Button } from '../ui/Button.tsx'
import { PagedCard } from '../ui/PagedCard.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Empty } from '../ui/State.tsx'
import { NewTicket } from './NewTicket.tsx'
import { ticketListQuery, ticketQuery, useSupportTexts } from './support.ts'
import { TicketBadge } from './TicketBadge.tsx'
import { TicketView } from './TicketView.tsx'

/**
 * The search parameters are read here and not in the route, so that no other page loads that code.
 */
interface Search {
  ticket?: string
  /** The subject of a new ticket: `server.<id>`; `new`: no subject. */
  about?: string
  /** The subject line of a new ticket. */
  subject?: string
}
const to = (search: Search) => ({ to: '/support' as const, search: search as never })

export const load = ({ queryClient, search }: LoadInput) => {
  const { ticket } = search as Search
  return ticket === undefined
    ? queryClient.prefetchInfiniteQuery(ticketListQuery)
    : queryClient.prefetchQuery(ticketQuery(ticket))
}

/** Tickets: the list, one ticket, or a new one. */
export default function SupportPage() {
  const t = useSupportTexts()
  const navigate = useNavigate()
  const { ticket, about, subject } = useSearch({ strict: false }) as Search
  const back = (
    <Link
      {...to({})}
      className="mb-2 inline-flex items-center gap-1 rounded-sm text-sm text-ink-2 hover:text-ink"
    >
      <ChevronLeft aria-hidden className="size-4" />
      {t.back}
    </Link>
  )
  return (
    <>
      <title>{`${t.title} · ${brand}`}</title>
      {ticket === undefined ? null : <TicketView key={ticket} id={ticket} back={back} />}
      {ticket === undefined && about !== undefined ? (
        <>
          {back}
          <PageHead title={t.ask} sub={t.sub} />
          <NewTicket
            about={about}
            subject={subject}
            onNotAbout={() => void navigate({ ...to({ about: 'new' }), replace: true })}
            onCancel={() => void navigate(to({}))}
            onOpened={(id) => void navigate({ ...to({ ticket: id }), replace: true })}
          />
        </>
      ) : null}
      {ticket === undefined && about === undefined ? <List /> : null}
    </>
  )
}

function List() {
  const t = useSupportTexts()
  const words = useTexts()
  const navigate = useNavigate()
  const query = useInfiniteQuery(ticketListQuery)
  const list = query.data?.pages.flatMap(({ result }) => result) ?? []
  const ask = () => void navigate(to({ about: 'new' }))
  return (
    <>
      <PageHead title={t.title} sub={t.sub}>
        <Button shown={may('tickets:write')} onClick={ask}>
          <Plus aria-hidden className="size-4" />
          {t.ask}
        </Button>
      </PageHead>
      <PagedCard
        label={t.list}
        list={query}
        count={list.length}
        rows={4}
        errorText={messageOf(query.error)}
        retryLabel={words.common.retry}
        moreLabel={words.common.loadMore}
        empty={
          <Empty text={t.empty} icon={LifeBuoy}>
            <Button variant="outline" shown={may('tickets:write')} onClick={ask}>
              {t.first}
            </Button>
          </Empty>
        }
      >
        <ul className="divide-y divide-border">
          {list.map((ticket) => (
            <Row key={ticket.id} ticket={ticket} />
          ))}
        </ul>
      </PagedCard>
    </>
  )
}

function Row({ ticket: { id, number, subject, state, object, since } }: { ticket: Ticket }) {
  const t = useSupportTexts()
  return (
    <li>
      <Link
        {...to({ ticket: id })}
        className="flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-3 hover:bg-subtle"
      >
        <span className="min-w-0 flex-1 basis-60">
          <span className="block text-sm font-medium break-words">{`#${number} ${subject}`}</span>
          <span className="num block text-xs wrap-anywhere text-ink-3">
            {formatTime(since).slice(0, 16)}
            {object ? ` · ${t.objects[object.kind]} ${object.name}` : ''}
          </span>
        </span>
        <TicketBadge state={state} />
      </Link>
    </li>
  )
}
