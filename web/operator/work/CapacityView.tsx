import { useQuery } from '@tanstack/react-query'
import type * as z from 'zod/mini'
import type { StaffSession } from '../../../contract/operator.ts'
import type { capacity } from '../../../contract/operator-work.ts'
import type { OperatorTexts } from '../../i18n/en-operator.ts'
import { Badge, type Tone } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { PageHead } from '../../ui/PageHead.tsx'
import { LoadError, SkeletonRows } from '../../ui/State.tsx'
import { timeOf, useDeskTexts } from '../language.ts'
import { capacityQuery } from '../queries.ts'
import { LostNode } from './LostNode.tsx'
import { pooled, type Pooled } from './pooled.ts'

type Node = z.output<typeof capacity.result>['nodes'][number]

const tones: Record<Node['state'], Tone> = { active: 'success', draining: 'info', lost: 'danger' }

/** Free capacity of nodes, and when data centres are sold out. */
export function CapacityView({ session }: { session: StaffSession }) {
  const t = useDeskTexts()
  const words = t.work.capacity
  const { data, error, refetch } = useQuery(capacityQuery)
  return (
    <>
      <PageHead title={words.title} sub={words.sub} />
      {error && !data ? (
        <Card>
          <LoadError text={error.message} retryLabel={t.retry} onRetry={() => void refetch()} />
        </Card>
      ) : null}
      {(data ?? error) ? null : <SkeletonRows />}
      {data ? (
        <div className="grid gap-5">
          <Card title={words.centres} padded={false}>
            <ul>
              {pooled(data).map((one) => (
                <CentreRow key={one.name} of={one} />
              ))}
            </ul>
            <p className="border-t border-border px-5 py-3 text-xs text-ink-3">{words.pace}</p>
          </Card>
          <Card title={words.nodes} padded={false}>
            <ul>
              {data.nodes.map((one) => (
                <NodeRow key={one.id} of={one} />
              ))}
            </ul>
          </Card>
          {data.nodes
            .filter(({ state, kept, servers }) => kept > 0 || (state === 'lost' && servers > 0))
            .map(({ id }) => (
              <LostNode key={id} node={id} session={session} />
            ))}
        </div>
      ) : null}
    </>
  )
}

const rowClass =
  'flex flex-wrap items-center gap-x-6 gap-y-2 border-t border-border px-5 py-3 text-sm'

function Figure({ name, value }: { name: string; value: string | number }) {
  return (
    <span className="w-28">
      <span className="block text-xs text-ink-3">{name}</span>
      <span className="num block font-medium">{value}</span>
    </span>
  )
}

function CentreRow({ of: one }: { of: Pooled }) {
  const words = useDeskTexts().work.capacity
  return (
    <li className={rowClass}>
      <span className="min-w-0 flex-1 basis-60">
        <span className="block font-medium">{one.name}</span>
        {one.isTogether ? <span className="block text-xs text-ink-3">{words.together}</span> : null}
        {one.sharedWith.length === 0 ? null : (
          <span className="block text-xs text-ink-3">
            {words.shared(one.sharedWith.join(', '))}
          </span>
        )}
      </span>
      <Figure name={words.free} value={one.free} />
      <Figure name={words.ordered} value={one.ordered} />
      <span className="w-40">
        <span className="block text-xs text-ink-3">{words.soldOut}</span>
        <SoldOut of={one} />
      </span>
    </li>
  )
}

function SoldOut({ of: one }: { of: Pooled }) {
  const words = useDeskTexts().work.capacity
  if (!one.isServed) return <Badge tone="neutral">{words.noNode}</Badge>
  if (one.free === 0) return <Badge tone="danger">{words.now}</Badge>
  return <span className="num block font-medium">{one.soldOutOn ?? words.notSoon}</span>
}

function heardText(
  { seenSecondsAgo: ago }: Node,
  words: OperatorTexts['work']['capacity'],
): string {
  if (ago === null) return words.neverHeard
  return words.heard(timeOf(new Date(Date.now() - ago * 1_000).toISOString()))
}

function NodeRow({ of: one }: { of: Node }) {
  const words = useDeskTexts().work.capacity
  return (
    <li className={rowClass}>
      <span className="min-w-0 flex-1 basis-60">
        <span className="block font-medium">{one.id}</span>
        <span className="block text-xs text-ink-3">
          {[
            one.regions === null ? words.everywhere : one.regions.join(', '),
            one.state === 'lost' ? heardText(one, words) : null,
            one.kept > 0 ? words.kept(one.kept) : null,
          ]
            .filter((part) => part !== null)
            .join(' · ')}
        </span>
      </span>
      <Figure name={words.servers} value={one.servers} />
      <Figure name={words.room} value={one.room} />
      <Figure name={words.reserved} value={one.reserved} />
      <Figure name={words.free} value={one.free} />
      <span className="w-28 sm:text-right">
        <Badge tone={tones[one.state]} dot>
          {words.states[one.state]}
        </Badge>
      </span>
    </li>
  )
}
