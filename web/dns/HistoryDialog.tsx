import {
  infiniteQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import type { Domain } from '../../contract/dns.ts'
import {
  listChanges,
  undoChange,
  type Change,
  type RecordState,
} from '../../contract/dns-changes.ts'
import { ApiError, call, callPage, messageOf } from '../api.ts'
import { formatTime } from '../format.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { LoadMore } from '../ui/LoadMore.tsx'
import { LoadError, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { recordLine } from './wording.ts'

const shown = 4

const changesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['dns', 'changes', id],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        listChanges,
        {
          params: { id },
          query: { limit: 20, ...(pageParam === null ? {} : { cursor: pageParam }) },
        },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  })

/** Who changed what, newest first; each change can be undone. */
export default function HistoryDialog({
  domain,
  onClose,
}: {
  domain: Domain
  onClose: () => void
}) {
  const t = useTexts('dns', 'dnsParts')
  const list = useInfiniteQuery(changesQuery(domain.id))
  const { data, isPending, isError, error, refetch } = list
  const changes = data?.pages.flatMap((page) => page.result.data) ?? []
  return (
    <Dialog
      open
      onClose={onClose}
      title={t.history.title}
      closeLabel={t.common.close}
      footer={
        <Button variant="outline" onClick={onClose}>
          {t.common.close}
        </Button>
      }
    >
      {isPending ? <SkeletonRows rows={4} /> : null}
      {isError && !data ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : null}
      {data && changes.length === 0 ? (
        <p className="py-6 text-center text-sm text-ink-2">{t.history.empty}</p>
      ) : null}
      <ol className="grid gap-3">
        {changes.map((change) => (
          <Entry key={change.id} domain={domain} change={change} />
        ))}
      </ol>
      <LoadMore
        list={list}
        label={t.common.loadMore}
        failedText={messageOf(error)}
        retryLabel={t.common.retry}
        size="sm"
        className="mt-3"
      />
    </Dialog>
  )
}

function Entry({ domain, change }: { domain: Domain; change: Change }) {
  const t = useTexts('dns', 'dnsParts')
  const queryClient = useQueryClient()
  const undo = useMutation({
    mutationFn: () => call(undoChange, { params: { id: domain.id, changeId: change.id } }),
    onSuccess: () => toast.success(t.toast.success, t.records.undone),
    onError: (failure) =>
      toast.error(
        t.toast.error,
        failure instanceof ApiError ? failure.message : t.records.undoFailed,
      ),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['dns'] }),
  })
  const what = t.history.actions[change.action]
  return (
    <li className="rounded-lg p-3 shadow-[inset_0_0_0_1px_var(--border)]">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <div className="min-w-0">
          <p className="text-sm font-medium">{what}</p>
          <p className="num text-xs text-ink-3">
            {t.history.by(change.who, formatTime(change.at))}
          </p>
        </div>
        {change.undoneAt === null ? (
          <Button
            variant="outline"
            size="sm"
            shown={may('domains:write')}
            aria-label={t.history.undoOf(`${what}, ${formatTime(change.at)}`)}
            busy={undo.isPending}
            onClick={() => undo.mutate()}
          >
            {t.records.undo}
          </Button>
        ) : (
          <Badge>{t.history.undone}</Badge>
        )}
      </div>
      <Lines mark="−" states={change.before} count={change.beforeCount} />
      <Lines mark="+" states={change.after} count={change.afterCount} />
    </li>
  )
}

function Lines({
  mark,
  states,
  count,
}: {
  mark: '−' | '+'
  states: readonly RecordState[]
  /** The number of all states; `states` has the first of them. */
  count: number
}) {
  const t = useTexts('dns', 'dnsParts')
  if (states.length === 0) return null
  return (
    <div className={mark === '+' ? 'mt-2 text-success' : 'mt-2 text-danger'}>
      <ul className="grid gap-0.5 font-mono text-xs">
        {states.slice(0, shown).map((state) => (
          <li key={`${recordLine(state)} ${state.ttl}`} className="break-all">
            {mark} {recordLine(state)} ({state.ttl})
          </li>
        ))}
      </ul>
      {count > shown ? <p className="mt-0.5 text-xs">{t.records.andMore(count - shown)}</p> : null}
    </div>
  )
}
