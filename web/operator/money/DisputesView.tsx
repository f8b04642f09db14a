import { useInfiniteQuery } from '@tanstack/react-query'
import { Scale } from 'lucide-react'
import { useState } from 'react'
import { formatMoney } from '../../../contract/money.ts'
import type { Dispute } from '../../../contract/operator-money.ts'
import type { OperatorMoneyTexts } from '../../i18n/en-operator-money.ts'
import { Badge, type Tone } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { LoadMore } from '../../ui/LoadMore.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Empty, LoadError, SkeletonRows } from '../../ui/State.tsx'
import { timeOf, useDeskLanguage, useDeskTexts } from '../language.ts'
import { DeskLink } from '../path.tsx'
import { disputesQuery } from './queries.ts'

const tones: Record<Dispute['state'], Tone> = {
  needs_evidence: 'warning',
  under_review: 'info',
  won: 'success',
  lost: 'danger',
  closed: 'neutral',
}
/** The state of a dispute, and whether it is only an inquiry. */
export function DisputeState({ of }: { of: Pick<Dispute, 'state' | 'isInquiry'> }) {
  const { disputes } = useDeskTexts().money
  return (
    <span className="flex flex-wrap gap-1">
      {of.isInquiry ? <Badge>{disputes.inquiry}</Badge> : null}
      <Badge tone={tones[of.state]} dot>
        {disputes.states[of.state]}
      </Badge>
    </span>
  )
}
export const reasonOf = ({ reasons }: OperatorMoneyTexts['disputes'], reason: string): string =>
  reasons[reason] ?? reason

/** Payments that customers dispute at their banks, newest first. */
export function DisputesView() {
  const t = useDeskTexts()
  const language = useDeskLanguage()
  const [show, setShow] = useState<'open' | 'all'>('open')
  const list = useInfiniteQuery(disputesQuery(show))
  const { data, error, refetch } = list
  const { disputes: words } = t.money
  const rows = data?.pages.flatMap(({ result }) => result)
  return (
    <>
      <PageHead title={words.title} sub={words.sub}>
        <Segmented
          label={words.show}
          value={show}
          onChange={setShow}
          options={[
            { value: 'open', label: words.open },
            { value: 'all', label: words.all },
          ]}
        />
      </PageHead>
      <Card padded={false}>
        {error && !data ? (
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        ) : null}
        {(data ?? error) ? null : <SkeletonRows className="p-5" />}
        {rows?.length === 0 ? (
          <Empty text={show === 'open' ? words.empty : words.none} icon={Scale} />
        ) : null}
        <ul>
          {rows?.map((one) => (
            <li
              key={one.id}
              className={
                'flex flex-wrap items-center gap-x-4 gap-y-2 border-t border-border px-5 py-3 ' +
                'first:border-0'
              }
            >
              <span className="min-w-0 flex-1 basis-60">
                <DeskLink
                  to={`/disputes/${one.id}`}
                  className="block text-sm font-medium break-words hover:underline"
                >
                  {one.customer?.name ?? one.payment}
                </DeskLink>
                <span className="num block text-xs text-ink-3">
                  {`${one.gateway} · ${one.payment} · ${reasonOf(words, one.reason)} · ` +
                    words.opened(timeOf(one.openedAt))}
                </span>
                {one.state === 'needs_evidence' && one.evidenceDueAt !== null ? (
                  <span className="num block text-xs text-ink-2">
                    {words.due(timeOf(one.evidenceDueAt))}
                  </span>
                ) : null}
              </span>
              <span className="num text-sm font-medium whitespace-nowrap">
                {formatMoney(one.amount, one.currency, language)}
              </span>
              <DisputeState of={one} />
            </li>
          ))}
        </ul>
        <LoadMore
          list={list}
          label={t.more}
          failedText={error?.message ?? ''}
          retryLabel={t.retry}
          className="border-t border-border p-4"
        />
      </Card>
    </>
  )
}
