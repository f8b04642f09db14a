import { useQuery } from '@tanstack/react-query'
import { ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import type { ActName } from '../../contract/operator-acts.ts'
import { byClosing, type DeskRequest } from '../../contract/operator-privacy.ts'
import type { StaffSession } from '../../contract/operator.ts'
import { mayDo } from '../../contract/staff-roles.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { PageHead } from '../ui/PageHead.tsx'
import { Segmented } from '../ui/Segmented.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { vietnamDay } from '../vietnam-day.ts'
import { ActDialog, type WantedAct } from './ActDialog.tsx'
import { timeOf, useDeskTexts } from './language.ts'
import { rowClass } from './PagedList.tsx'
import { DeskLink } from './path.tsx'
import { dataRequestsQuery } from './queries.ts'

const shows = ['open', 'decided'] as const

/** Requests about personal data, each with the day by which it is answered. */
export function DataRequestsView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.privacy
  const [show, setShow] = useState<(typeof shows)[number]>('open')
  const { data, error, refetch } = useQuery(dataRequestsQuery(show))
  const [wanted, setWanted] = useState<WantedAct>()
  const may = mayDo(session.role, 'customers')
  const decide = (act: ActName, of: DeskRequest): void =>
    setWanted({ act, about: whoOf(of), fixed: { request: of.id } })
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        <Segmented
          label={words.show}
          value={show}
          onChange={setShow}
          options={shows.map((value) => ({ value, label: words.shows[value] }))}
        />
        {may ? (
          <Button onClick={() => setWanted({ act: 'privacy.receive', fixed: {} })}>
            {t.acts['privacy.receive']}
          </Button>
        ) : null}
      </PageHead>
      <Card padded={false}>
        {error && !data ? (
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        ) : null}
        {(data ?? error) ? null : <SkeletonRows className="p-5" />}
        {data?.length === 0 ? <Empty text={words.empty[show]} icon={ShieldCheck} /> : null}
        <ul>
          {data?.map((one) => (
            <li key={one.id} className={rowClass}>
              <About of={one} />
              <State of={one} />
              {may && one.state === 'open' ? (
                <span className="flex flex-wrap gap-2">
                  <Button size="sm" variant="outline" onClick={() => decide('privacy.refuse', one)}>
                    {t.acts['privacy.refuse']}
                  </Button>
                  <Button size="sm" onClick={() => decide('privacy.done', one)}>
                    {t.acts['privacy.done']}
                  </Button>
                </span>
              ) : null}
            </li>
          ))}
        </ul>
      </Card>
      {wanted ? <ActDialog wanted={wanted} onClose={() => setWanted(undefined)} /> : null}
    </>
  )
}

const whoOf = ({ customer, askedBy }: DeskRequest): string => customer?.name ?? askedBy ?? ''

function State({ of: { state, overdue } }: { of: DeskRequest }) {
  const words = useDeskTexts().privacy
  if (state === 'open') return overdue ? <Badge tone="danger">{words.overdue}</Badge> : null
  return (
    <span className="flex flex-wrap gap-2">
      {overdue ? <Badge tone="warning">{words.late}</Badge> : null}
      <Badge>{words.states[state]}</Badge>
    </span>
  )
}

function About({ of: one }: { of: DeskRequest }) {
  const words = useDeskTexts().privacy
  const { customer, decidedAt } = one
  const facts = [
    // Due days are days in Vietnam, wherever the member is.
    words.due(vietnamDay(one.dueAt)),
    words.came(vietnamDay(one.receivedAt)),
    ...(one.enteredBy === null ? [] : [words.enteredBy(one.enteredBy)]),
    ...(decidedAt === null
      ? []
      : [
          words.decided(
            timeOf(decidedAt),
            one.decidedBy === byClosing ? words.closing : (one.decidedBy ?? ''),
          ),
        ]),
  ]
  return (
    <div className="min-w-0 flex-1 basis-72">
      <p className="text-sm font-medium [overflow-wrap:anywhere]">
        {`${words.kinds[one.kind]} · `}
        {customer ? (
          <DeskLink to={`/customers/${customer.id}`} className="hover:underline">
            {customer.name}
          </DeskLink>
        ) : (
          one.askedBy
        )}
      </p>
      <p className="text-sm [overflow-wrap:anywhere] whitespace-pre-line text-ink-2">{one.text}</p>
      {one.answer ? (
        <p className="text-sm [overflow-wrap:anywhere] whitespace-pre-line">{`→ ${one.answer}`}</p>
      ) : null}
      <p className="num text-xs text-ink-3">{facts.join(' · ')}</p>
    </div>
  )
}
