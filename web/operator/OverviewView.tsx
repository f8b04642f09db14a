import { useQuery } from '@tanstack/react-query'
import { Check, ChevronRight, CircleAlert } from 'lucide-react'
import type { Overview } from '../../contract/operator-overview.ts'
import { Card } from '../ui/Card.tsx'
import { cx } from '../ui/cx.ts'
import { PageHead } from '../ui/PageHead.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { useDeskTexts } from './language.ts'
import { DeskLink } from './path.tsx'
import { overviewQuery } from './queries.ts'
import { SearchBox } from './SearchBox.tsx'

/** The page on which each fault is handled; '': only the command line. */
const faultPlaces: Readonly<Record<keyof Overview['faults'], string>> = {
  ledger: '',
  nodes: '/capacity',
  serversDown: '/work',
  stuck: '/work',
  jobs: '/work',
  certificates: '/upkeep',
  backups: '/upkeep',
  letters: '/letters',
}
const waitingPlaces: Readonly<Record<keyof Overview['waiting'], string>> = {
  proposals: '/approvals',
  tickets: '/tickets',
  dataRequests: '/data-requests',
  suspense: '/suspense',
  differences: '/reconciliation',
  disputes: '/disputes',
  overdueInvoices: '/overdue',
}

/** The first page: is everything well, and what waits for somebody? */
export function OverviewView() {
  const t = useDeskTexts()
  const words = t.overview
  const { data, error, refetch } = useQuery(overviewQuery)
  const wrong = data ? Object.values(data.faults).filter((count) => count > 0).length : 0
  return (
    <>
      <PageHead title={words.title} />
      <SearchBox at="">
        {error && !data ? (
          <Card>
            <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
          </Card>
        ) : null}
        {(data ?? error) ? null : <SkeletonRows />}
        {data ? (
          <div className="grid items-start gap-5 md:grid-cols-2">
            <Card
              title={words.faults}
              padded={false}
              action={
                <output
                  className={cx(
                    'flex items-center gap-1.5 text-sm font-medium',
                    wrong === 0 ? 'text-success' : 'text-danger',
                  )}
                >
                  {wrong === 0 ? (
                    <Check aria-hidden className="size-4 shrink-0" />
                  ) : (
                    <CircleAlert aria-hidden className="size-4 shrink-0" />
                  )}
                  {wrong === 0 ? words.well : words.wrong(wrong)}
                </output>
              }
            >
              <Lines counts={data.faults} names={words.fault} places={faultPlaces} tone="danger" />
            </Card>
            <Card title={words.waiting} padded={false}>
              <Lines
                counts={data.waiting}
                names={words.waits}
                places={waitingPlaces}
                tone="warning"
              />
            </Card>
          </div>
        ) : null}
      </SearchBox>
    </>
  )
}

function Lines<K extends string>({
  counts,
  names,
  places,
  tone,
}: {
  counts: Readonly<Record<K, number>>
  names: Readonly<Record<K, string>>
  places: Readonly<Record<K, string>>
  tone: 'danger' | 'warning'
}) {
  const words = useDeskTexts().overview
  const loud = tone === 'danger' ? 'bg-danger-soft text-danger' : 'bg-warning-soft text-warning'
  return (
    <ul>
      {/* What is wrong or waits stands first, and what does not is quiet. */}
      {(Object.keys(places) as K[])
        .toSorted((one, other) => Number(counts[other] > 0) - Number(counts[one] > 0))
        .map((key) => {
          const count = counts[key]
          const isQuiet = count === 0
          const line = (
            <>
              <span
                className={cx(
                  'min-w-0 flex-1',
                  isQuiet ? 'text-xs text-ink-3' : 'text-sm font-medium',
                )}
              >
                {names[key]}
                {places[key] === '' && count > 0 ? (
                  <span className="block text-xs font-normal text-ink-3">{words.inShell}</span>
                ) : null}
              </span>
              <span
                className={cx(
                  'num min-w-8 rounded-full px-2.5 py-0.5 text-center',
                  isQuiet ? 'text-xs text-ink-3' : `text-sm font-medium ${loud}`,
                )}
              >
                {count}
              </span>
            </>
          )
          return (
            <li key={key} className="border-t border-border">
              {places[key] === '' ? (
                <span className={cx(lineClass, isQuiet ? quietClass : loudClass)}>
                  {line}
                  <span className="w-4" />
                </span>
              ) : (
                <DeskLink
                  to={places[key]}
                  className={cx(lineClass, isQuiet ? quietClass : loudClass, 'hover:bg-subtle/60')}
                >
                  {line}
                  <ChevronRight aria-hidden className="size-4 shrink-0 text-ink-3" />
                </DeskLink>
              )}
            </li>
          )
        })}
    </ul>
  )
}
const lineClass = 'flex items-center gap-3 px-5'
const loudClass = 'min-h-12 py-2'
const quietClass = 'min-h-10 py-1'
