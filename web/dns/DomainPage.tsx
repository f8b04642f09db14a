import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import {
  Download,
  EllipsisVertical,
  FileUp,
  History,
  PanelsTopLeft,
  Plus,
  Search,
  ShieldCheck,
  Trash2,
} from 'lucide-react'
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react'
import type { Domain, Record } from '../../contract/dns.ts'
import { recordTypes, type RecordType } from '../../contract/dns-types.ts'
import { ApiError, call, download, messageOf } from '../api.ts'
import { brand } from '../brand.ts'
import { useTexts } from '../i18n/index.ts'
import { loadWanted } from '../pages/load-screen.ts'
import type { LoadInput } from '../load-input.ts'
import { may } from '../may.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { cx } from '../ui/cx.ts'
import { Input } from '../ui/Field.tsx'
import { Later } from '../ui/Later.tsx'
import { Menu } from '../ui/Menu.tsx'
import { Empty, LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { DomainHead } from './DomainHead.tsx'
import { NoDomain } from './NoDomain.tsx'
import { loadPart } from './load-part.ts'
import { domainQuery, recordsQuery } from './queries.ts'
import { chosen, countTypes, sorted, type Sorting } from './record-list.ts'
import { RecordTable } from './RecordTable.tsx'

const ActivateDialog = lazy(() => loadPart(() => import('./ActivateDialog.tsx')))
const DeleteDialog = lazy(() => loadPart(() => import('./DeleteDialog.tsx')))
const DeleteRecordsDialog = lazy(() => loadWanted(() => import('./DeleteRecordsDialog.tsx')))
const HistoryDialog = lazy(() => loadPart(() => import('./HistoryDialog.tsx')))
const ImportDialog = lazy(() => loadPart(() => import('./ImportDialog.tsx')))
const PointDialog = lazy(() => loadPart(() => import('./PointDialog.tsx')))

const loadChanges = () => loadWanted(() => import('../../contract/dns-changes.ts'))

const route = getRouteApi('/app/dns/domain/$id')
/** The search must rest this long before the address is updated, ms. */
const restMs = 300

export const load = ({ queryClient, params }: LoadInput) => {
  const id = params['id'] ?? ''
  return Promise.all([
    queryClient.prefetchQuery(domainQuery(id)),
    queryClient.prefetchQuery(recordsQuery(id)),
  ])
}

export default function DomainPage() {
  const { id } = route.useParams()
  const domain = useQuery(domainQuery(id))
  if (domain.isPending) return <SkeletonRows rows={8} className="card p-5" />
  if (!domain.data) return <NoDomain error={domain.error} onRetry={() => void domain.refetch()} />
  return <Records key={id} domain={domain.data} />
}

/** The list's state as the address holds it. */
interface Shown {
  record?: RecordType | undefined
  search?: string | undefined
}

type OpenDialog =
  | { what: 'activate' | 'delete' | 'history' | 'import' | 'point' }
  | { what: 'records'; records: readonly Record[] }

function Records({ domain }: { domain: Domain }) {
  const t = useTexts('dns')
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { record: type, search: inAddress } = route.useSearch()
  const [search, setSearch] = useState(inAddress ?? '')
  const { data, isPending, isError, error, refetch } = useQuery(recordsQuery(domain.id))
  const [sorting, setSorting] = useState<Sorting>({ by: 'name', descending: false })
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [openDialog, setOpenDialog] = useState<OpenDialog>()
  /** The deletion made a moment ago, which can be undone. */
  const [gone, setGone] = useState<{ changeIds: readonly string[]; count: number }>()
  const typed = useDeferredValue(search)
  const records = useMemo(() => data ?? [], [data])
  const rows = useMemo(
    () => sorted(chosen(records, domain.ascii, type, typed), sorting),
    [records, domain.ascii, type, typed, sorting],
  )
  const counts = useMemo(() => countTypes(records), [records])
  const marked = useMemo(() => rows.filter((record) => selected.has(record.id)), [rows, selected])
  const close = () => setOpenDialog(undefined)
  const mayWrite = may('domains:write')

  const show = useCallback(
    (change: Shown) =>
      void navigate({
        to: '/dns/domain/$id',
        params: { id: domain.id },
        search: (now: Shown) => ({ ...now, ...change }),
        replace: true,
        resetScroll: false,
      }),
    [navigate, domain.id],
  )
  // The list follows each letter; the address is updated once typing rests.
  useEffect(() => {
    const wanted = search.trim()
    if (wanted === (inAddress ?? '')) return
    const timer = setTimeout(() => show({ search: wanted || undefined }), restMs)
    return () => clearTimeout(timer)
  }, [search, inAddress, show])
  const toggle = useCallback(
    (record: Record, on: boolean) =>
      setSelected((now) => {
        const next = new Set(now)
        if (on) next.add(record.id)
        else next.delete(record.id)
        return next
      }),
    [],
  )
  const toggleAll = (on: boolean) => setSelected(new Set(on ? rows.map(({ id }) => id) : []))
  const remove = useCallback(
    (record: Record) => setOpenDialog({ what: 'records', records: [record] }),
    [],
  )
  const save = useMutation({
    mutationFn: async () =>
      download((await loadChanges()).exportZone, { params: { id: domain.id } }),
    onError: (failure) => toast.error(t.toast.error, messageOf(failure)),
  })
  const undo = useMutation({
    mutationFn: async (changeIds: readonly string[]) => {
      const { undoChange } = await loadChanges()
      for (const changeId of changeIds.toReversed())
        await call(undoChange, { params: { id: domain.id, changeId } })
    },
    onSuccess: () => {
      setGone(undefined)
      toast.success(t.toast.success, t.records.undone)
    },
    onError: (failure) =>
      toast.error(
        t.toast.error,
        failure instanceof ApiError ? failure.message : t.records.undoFailed,
      ),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['dns'] }),
  })

  return (
    <>
      <title>{`${domain.name} · ${brand}`}</title>
      <DomainHead domain={domain} onActivate={() => setOpenDialog({ what: 'activate' })}>
        <Menu
          label={t.records.more}
          className={buttonClass('outline')}
          trigger={<EllipsisVertical aria-hidden className="size-4" />}
          items={[
            {
              label: t.dns.activate,
              icon: ShieldCheck,
              shown: !domain.active && mayWrite,
              onSelect: () => setOpenDialog({ what: 'activate' }),
            },
            {
              label: t.records.point,
              icon: PanelsTopLeft,
              shown: may('zones'),
              onSelect: () => setOpenDialog({ what: 'point' }),
            },
            {
              label: t.records.import,
              icon: FileUp,
              shown: mayWrite,
              onSelect: () => setOpenDialog({ what: 'import' }),
            },
            { label: t.records.export, icon: Download, onSelect: () => save.mutate() },
            {
              label: t.records.history,
              icon: History,
              onSelect: () => setOpenDialog({ what: 'history' }),
            },
            {
              label: t.dns.delete,
              icon: Trash2,
              danger: true,
              shown: may('orders'),
              onSelect: () => setOpenDialog({ what: 'delete' }),
            },
          ]}
        />
        {mayWrite ? (
          <Link
            to="/dns/domain/$id/add-record"
            params={{ id: domain.id }}
            className={buttonClass()}
          >
            <Plus aria-hidden className="size-4" />
            {t.records.add}
          </Link>
        ) : null}
      </DomainHead>
      {gone ? (
        <Note tone="info" className="mb-4 flex flex-wrap items-center justify-between gap-3">
          <output>{t.records.deleted(gone.count)}</output>
          <Button
            variant="outline"
            size="sm"
            busy={undo.isPending}
            onClick={() => undo.mutate(gone.changeIds)}
          >
            {t.records.undo}
          </Button>
        </Note>
      ) : null}
      <Later>
        {() => (
          <section className="card overflow-hidden" aria-label={domain.name}>
            {isPending ? <SkeletonRows rows={8} className="p-5" /> : null}
            {isError && !data ? (
              <LoadError
                text={messageOf(error)}
                retryLabel={t.common.retry}
                onRetry={() => void refetch()}
              />
            ) : null}
            {data && records.length === 0 ? <Empty text={t.records.empty} /> : null}
            {records.length > 0 ? (
              <>
                <search
                  className={'flex flex-wrap items-center gap-3 border-b border-border p-3 sm:px-5'}
                >
                  <div className="relative min-w-0 flex-1 basis-56">
                    <Search
                      aria-hidden
                      className="pointer-events-none absolute top-3 left-3 size-4 text-ink-3"
                    />
                    <Input
                      type="search"
                      aria-label={t.records.search}
                      placeholder={t.records.search}
                      maxLength={253}
                      value={search}
                      onChange={(event) => setSearch(event.target.value)}
                      className="pl-9"
                    />
                  </div>
                  <TypeChips
                    all={records.length}
                    counts={counts}
                    value={type}
                    onChange={(value) => show({ record: value })}
                  />
                </search>
                {marked.length > 0 ? (
                  <div
                    className={
                      'flex flex-wrap items-center justify-between gap-3 border-b ' +
                      'border-border bg-subtle/60 px-5 py-2 text-sm'
                    }
                  >
                    {t.records.selected(marked.length)}
                    <span className="flex flex-wrap gap-2">
                      {marked.length < rows.length ? (
                        <Button
                          variant="outline"
                          size="sm"
                          className="sm:hidden"
                          onClick={() => toggleAll(true)}
                        >
                          {t.records.selectAll}
                        </Button>
                      ) : null}
                      <Button
                        variant="danger"
                        size="sm"
                        onClick={() => setOpenDialog({ what: 'records', records: marked })}
                      >
                        <Trash2 aria-hidden className="size-4" />
                        {t.records.delete}
                      </Button>
                    </span>
                  </div>
                ) : null}
                {rows.length > 0 ? (
                  <RecordTable
                    domain={domain}
                    rows={rows}
                    sorting={sorting}
                    onSort={setSorting}
                    selected={selected}
                    onToggle={toggle}
                    onToggleAll={toggleAll}
                    onDelete={remove}
                  />
                ) : (
                  <Empty text={t.records.none}>
                    <Button
                      variant="outline"
                      size="sm"
                      onClick={() => {
                        setSearch('')
                        show({ record: undefined, search: undefined })
                      }}
                    >
                      {t.records.clear}
                    </Button>
                  </Empty>
                )}
                <output className="block border-t border-border px-5 py-3 text-xs text-ink-3">
                  {t.records.count(rows.length, records.length)}
                </output>
              </>
            ) : null}
          </section>
        )}
      </Later>
      <Suspense fallback={null}>
        {openDialog?.what === 'activate' ? (
          <ActivateDialog domain={domain} onClose={close} onActivated={close} />
        ) : null}
        {openDialog?.what === 'delete' ? (
          <DeleteDialog
            domain={domain}
            onClose={close}
            onDeleted={() => void navigate({ to: '/dns' })}
          />
        ) : null}
        {openDialog?.what === 'history' ? <HistoryDialog domain={domain} onClose={close} /> : null}
        {openDialog?.what === 'import' ? <ImportDialog domain={domain} onClose={close} /> : null}
        {openDialog?.what === 'point' ? <PointDialog domain={domain} onClose={close} /> : null}
        {openDialog?.what === 'records' ? (
          <DeleteRecordsDialog
            domain={domain}
            records={openDialog.records}
            onClose={close}
            onDeleted={(changeIds) => {
              setGone({ changeIds, count: openDialog.records.length })
              setSelected(new Set())
            }}
          />
        ) : null}
      </Suspense>
    </>
  )
}

/** Choice of one type or all: radios styled as chips, in one row that scrolls on phones. */
function TypeChips({
  all,
  counts,
  value,
  onChange,
}: {
  all: number
  counts: ReadonlyMap<RecordType, number>
  value: RecordType | undefined
  onChange: (type: RecordType | undefined) => void
}) {
  const t = useTexts('dns')
  const options = [
    { type: undefined, label: t.records.all, count: all },
    ...recordTypes.flatMap((type) => {
      const count = counts.get(type) ?? 0
      return count > 0 || type === value ? [{ type, label: type, count }] : []
    }),
  ]
  return (
    <div
      role="radiogroup"
      aria-label={t.records.types}
      className="row-with-more -mx-3 flex max-w-full gap-1 overflow-x-auto px-3 sm:mx-0 sm:px-0"
    >
      {options.map(({ type, label, count }) => (
        <label
          key={label}
          className={cx(
            'relative flex h-9 shrink-0 cursor-pointer items-center gap-1.5 rounded-full px-3 ' +
              'text-sm text-ink-2 hover:bg-subtle',
            'has-checked:bg-ink has-checked:text-surface has-focus-visible:outline-2 ' +
              'has-focus-visible:outline-primary-ink',
          )}
        >
          <input
            type="radio"
            className="sr-only"
            name="type"
            checked={value === type}
            onChange={() => onChange(type)}
          />
          {label}
          <span className="num text-xs">{count}</span>
        </label>
      ))}
    </div>
  )
}
