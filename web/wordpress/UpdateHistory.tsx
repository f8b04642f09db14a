import { useInfiniteQuery } from '@tanstack/react-query'
import type { PageDifference, Update } from '../../contract/wordpress-updates.ts'
import type { Server } from '../../contract/wordpress.ts'
import { messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { Badge, type Tone } from '../ui/Badge.tsx'
import { LoadMore } from '../ui/LoadMore.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { updateHistoryQuery } from './site-queries.ts'

const tones: Record<Update['state'], Tone> = {
  waiting: 'info',
  saving: 'info',
  updating: 'info',
  checking: 'info',
  rolling_back: 'info',
  done: 'success',
  rolled_back: 'danger',
  failed: 'danger',
  skipped: 'neutral',
}
const mostShown = 3

/** Earlier updates, newest first, with their outcomes. */
export function UpdateHistory({ server }: { server: Server }) {
  const t = useTexts('parts')
  const list = useInfiniteQuery(updateHistoryQuery(server.id))
  const { data, isPending, error, refetch } = list
  const all = data?.pages.flatMap(({ result }) => result)
  return (
    <div className="grid gap-3 border-t border-border pt-5">
      <h4 className="text-sm font-semibold">{t.updates.history}</h4>
      {isPending ? <SkeletonRows rows={2} /> : null}
      {error && !all ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {all?.length === 0 ? <Empty text={t.updates.noHistory} /> : null}
      {all && all.length > 0 ? (
        <ul
          aria-label={t.updates.history}
          className="divide-y divide-border rounded-lg shadow-[inset_0_0_0_1px_var(--border)]"
        >
          {all.map((update) => (
            <Item key={update.id} update={update} />
          ))}
        </ul>
      ) : null}
      <LoadMore
        list={list}
        label={t.updates.more}
        failedText={messageOf(error)}
        retryLabel={t.common.retry}
      />
    </div>
  )
}

function Item({ update }: { update: Update }) {
  const t = useTexts('parts')
  const { packages, state, reason, differences } = update
  const more = differences.length - mostShown
  return (
    <li className="px-4 py-3 text-sm">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1.5">
        <ul className="grid min-w-0 gap-0.5">
          {packages.map(({ kind, slug, name, from, to }) => (
            <li key={`${kind}/${slug}`} className="flex flex-wrap gap-x-2">
              <span className="font-medium">{name}</span>
              <span className="num text-ink-2">
                {from} → {to}
              </span>
            </li>
          ))}
        </ul>
        <Badge tone={tones[state]} dot live={update.endedAt === null}>
          {t.updates.ends[state]}
        </Badge>
      </div>
      <p className="num mt-1 text-xs text-ink-3">
        {formatTime(update.endedAt ?? update.createdAt)} · {t.updates.causes[update.cause]}
        {state === 'done' && update.pages > 0 ? ` · ${t.updates.compared(update.pages)}` : ''}
      </p>
      {reason === null || state === 'done' ? null : (
        <p className="mt-2 max-w-prose text-xs text-ink-2">{t.updates.reasons[reason]}</p>
      )}
      {differences.length > 0 ? (
        <ul className="mt-1.5 grid list-disc gap-0.5 pl-4 text-xs break-words text-ink-2">
          {differences.slice(0, mostShown).map((one) => (
            <li key={one.path + one.what}>
              <Difference of={one} />
            </li>
          ))}
          {more > 0 ? <li>{t.updates.moreDifferences(more)}</li> : null}
        </ul>
      ) : null}
    </li>
  )
}

function Difference({ of: { what, path, before, after } }: { of: PageDifference }) {
  const t = useTexts('parts')
  const texts = t.updates.differences
  switch (what) {
    case 'status':
    case 'title':
      return texts[what](path, before, after)
    case 'text':
    case 'unreachable':
    case 'package':
      return texts[what](path)
    case 'sign_in':
    case 'database':
      return texts[what]
  }
}
