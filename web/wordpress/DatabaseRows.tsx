import { useQuery } from '@tanstack/react-query'
import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp, Download, Plus, SquarePen } from 'lucide-react'
import { useState } from 'react'
import {
  exportTable,
  rowsOnPage,
  type Cell,
  type TableColumn,
} from '../../contract/wordpress-database.ts'
import { download } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button, IconButton } from '../ui/Button.tsx'
import { Switch } from '../ui/Switch.tsx'
import { Empty, LoadError, Note, SkeletonRows } from '../ui/State.tsx'
import { toast } from '../ui/toast.ts'
import { ColumnList } from './ColumnList.tsx'
import { DatabaseGrid } from './DatabaseGrid.tsx'
import { RowDialog } from './RowDialog.tsx'
import { RowFilter } from './RowFilter.tsx'
import { columnsQuery, rowsQuery, type RowsView } from './database-queries.ts'
import { sentenceOf, useRowChanges } from './use-row-changes.ts'

/** The rows of one table, a page at a time. */
export function DatabaseRows({ id, table }: { id: string; table: string }) {
  const t = useTexts('tools')
  const [view, setView] = useState<RowsView>({ offset: 0 })
  const described = useQuery(columnsQuery(id, table))
  const { data, error, refetch } = useQuery(rowsQuery(id, table, view))
  const [row, setRow] = useState<Readonly<Record<string, string>> | null>()
  const [busy, setBusy] = useState(false)
  const columns = described.data?.columns ?? []
  const keyColumns = columns.filter(({ isKey }) => isKey).map(({ name }) => name)
  const changes = useRowChanges(id, table, keyColumns)
  const fault = described.error ?? error
  if (fault && !(data && described.data))
    return (
      <LoadError
        text={sentenceOf(fault)}
        retryLabel={t.common.retry}
        onRetry={() => {
          void described.refetch()
          void refetch()
        }}
      />
    )
  if (!data || !described.data) return <SkeletonRows rows={8} />

  const save = async () => {
    setBusy(true)
    try {
      const reveals = view.reveals
      await download(exportTable, { params: { id }, query: { table, ...(reveals && { reveals }) } })
      toast.success(t.toast.success, t.database.exported)
    } catch (failure) {
      toast.error(t.toast.error, sentenceOf(failure))
    } finally {
      setBusy(false)
    }
  }
  const undo = async () => {
    const why = await changes.undo()
    if (why !== undefined) toast.error(t.toast.error, why)
  }
  const done = { update: t.database.saved, insert: t.database.inserted, delete: t.database.removed }
  const keyOf = (cells: readonly Cell[]) =>
    Object.fromEntries(
      keyColumns.map((name) => [name, cells[data.columns.indexOf(name)]?.value ?? '']),
    )
  return (
    <div className="grid min-w-0 gap-4">
      <RowFilter
        columns={columns}
        onFilter={({ column, how, value }) =>
          setView(({ sort, descends, reveals }) => ({
            offset: 0,
            ...(sort !== undefined && { sort }),
            ...(descends && { descends }),
            ...(reveals && { reveals }),
            ...(column !== undefined && { column, how, value }),
          }))
        }
      />
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Switch
          label={t.database.reveal}
          checked={view.reveals === '1'}
          onChange={(isOn) =>
            setView(({ reveals: _former, ...kept }) => (isOn ? { ...kept, reveals: '1' } : kept))
          }
        />
        <div className="flex flex-wrap gap-2">
          <Button variant="outline" onClick={() => setRow(null)}>
            <Plus aria-hidden className="size-4" />
            {t.database.insert}
          </Button>
          <Button variant="outline" busy={busy} onClick={() => void save()}>
            <Download aria-hidden className="size-4" />
            {t.database.export}
          </Button>
        </div>
      </div>
      {changes.last ? (
        <Note tone="info" className="flex flex-wrap items-center justify-between gap-3">
          {done[changes.last.done]}
          {changes.last.undo ? (
            <Button variant="outline" onClick={() => void undo()}>
              {t.database.undo}
            </Button>
          ) : null}
        </Note>
      ) : null}
      {changes.isUndone ? <Note tone="info">{t.database.undone}</Note> : null}
      {keyColumns.length === 0 ? <Note tone="info">{t.database.noKey}</Note> : null}
      {data.rows.length === 0 ? (
        <Empty text={t.database.empty} />
      ) : (
        <DatabaseGrid
          label={table}
          columns={data.columns}
          rows={data.rows}
          head={(name) => <Sorter name={name} view={view} onSort={setView} />}
          {...(keyColumns.length > 0 && {
            action: (cells: readonly Cell[]) => (
              <IconButton
                label={t.database.edit}
                size="size-7"
                onClick={() => setRow(keyOf(cells))}
              >
                <SquarePen aria-hidden className="size-3.5" />
              </IconButton>
            ),
          })}
        />
      )}
      {data.isCut ? <Note tone="warning">{t.database.cut}</Note> : null}
      <Pager view={view} shown={data.rows.length} total={data.total} onView={setView} />
      <ColumnList columns={columns} keys={described.data.keys} />
      {row === undefined ? null : (
        <RowDialog
          id={id}
          table={table}
          columns={columns}
          rowKey={row}
          reveals={view.reveals === '1'}
          onChange={changes.change}
          onClose={() => setRow(undefined)}
        />
      )}
    </div>
  )
}

function Sorter({
  name,
  view,
  onSort,
}: {
  name: TableColumn['name']
  view: RowsView
  onSort: (view: RowsView) => void
}) {
  const t = useTexts('tools')
  const isSorted = view.sort === name
  const Arrow = view.descends === '1' ? ArrowDown : ArrowUp
  const press = () => {
    const { descends, ...kept } = view
    onSort({
      ...kept,
      offset: 0,
      sort: name,
      ...(isSorted && descends === undefined && { descends: '1' }),
    })
  }
  return (
    <button
      type="button"
      title={t.database.sortBy(name)}
      onClick={press}
      className="inline-flex min-h-6 items-center gap-1 hover:text-ink"
    >
      {name}
      {isSorted ? <Arrow aria-hidden className="size-3" /> : null}
    </button>
  )
}

function Pager({
  view,
  shown,
  total,
  onView,
}: {
  view: RowsView
  shown: number
  total: number
  onView: (view: RowsView) => void
}) {
  const t = useTexts('tools')
  const { offset } = view
  if (total === 0) return null
  const go = (to: number) => onView({ ...view, offset: Math.max(0, to) })
  return (
    <div className="flex items-center justify-between gap-3">
      <p className="num text-sm text-ink-2">
        {t.database.range(Math.min(offset + 1, total), offset + shown, total)}
      </p>
      <div className="flex gap-2">
        <Button variant="outline" disabled={offset === 0} onClick={() => go(offset - rowsOnPage)}>
          <ArrowLeft aria-hidden className="size-4" />
          <span className="sr-only">{t.database.previous}</span>
        </Button>
        <Button
          variant="outline"
          disabled={offset + shown >= total}
          onClick={() => go(offset + rowsOnPage)}
        >
          <ArrowRight aria-hidden className="size-4" />
          <span className="sr-only">{t.database.next}</span>
        </Button>
      </div>
    </div>
  )
}
