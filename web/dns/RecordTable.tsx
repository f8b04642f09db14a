import { useRouter } from '@tanstack/react-router'
import { ArrowDown, ArrowUp, ChevronsUpDown, Ellipsis, Pencil, Trash2 } from 'lucide-react'
import { memo, useCallback } from 'react'
import type { Domain, Record } from '../../contract/dns.ts'
import { useTexts } from '../i18n/index.ts'
import { may } from '../may.ts'
import { Badge } from '../ui/Badge.tsx'
import { cx } from '../ui/cx.ts'
import { Menu } from '../ui/Menu.tsx'
import { useNarrow } from '../ui/narrow.ts'
import { headCell, headRow, row as rowClass } from '../ui/table.ts'
import { VirtualRows } from '../ui/VirtualRows.tsx'
import type { SortKey, Sorting } from './record-list.ts'
import { ttlText, typeTones } from './wording.ts'

/** All rows have one height, so that thousands are placed without being rendered. */
const rowRem = { wide: 3.3125, narrow: 4.8125 }
const cell = 'px-3 py-0 first:pl-5 last:pr-5'
const checkbox = 'size-4.5'

interface TableProps {
  domain: Domain
  rows: readonly Record[]
  sorting: Sorting
  onSort: (sorting: Sorting) => void
  selected: ReadonlySet<string>
  onToggle: (record: Record, on: boolean) => void
  onToggleAll: (on: boolean) => void
  onDelete: (record: Record) => void
}

export function RecordTable({
  domain,
  rows,
  sorting,
  onSort,
  selected,
  onToggle,
  onToggleAll,
  onDelete,
}: TableProps) {
  const t = useTexts('dns')
  const isNarrow = useNarrow()
  const all = rows.every((record) => selected.has(record.id))
  const some = rows.some((record) => selected.has(record.id))
  const draw = useCallback(
    (record: Record, number: number) => (
      <Row
        key={record.id}
        domain={domain}
        record={record}
        number={number}
        marked={selected.has(record.id)}
        onToggle={onToggle}
        onDelete={onDelete}
      />
    ),
    [domain, selected, onToggle, onDelete],
  )
  const head = (by: SortKey, label: string, className?: string) => (
    <SortHead by={by} label={label} className={className} sorting={sorting} onSort={onSort} />
  )
  return (
    <table className="w-full table-fixed text-sm" aria-rowcount={rows.length + 1}>
      <caption className="sr-only">{domain.name}</caption>
      <colgroup>
        <col className="w-12" />
        <col className="w-1/4 max-sm:hidden" />
        <col className="w-24 max-sm:hidden" />
        <col />
        <col className="w-24 max-lg:hidden" />
        {domain.capabilities.proxied ? <col className="w-28 max-lg:hidden" /> : null}
        <col className="w-16" />
      </colgroup>
      <thead className="max-sm:sr-only">
        <tr className={cx(headRow, 'border-t-0')} aria-rowindex={1}>
          <th scope="col" className={headCell}>
            {may('domains:write') ? (
              <input
                type="checkbox"
                aria-label={t.records.selectAll}
                className={checkbox}
                checked={all}
                ref={(box) => {
                  // No attribute says it.
                  if (box) box.indeterminate = some && !all
                }}
                onChange={(event) => onToggleAll(event.target.checked)}
              />
            ) : null}
          </th>
          {head('name', t.records.name)}
          {head('type', t.records.type)}
          <th scope="col" className={headCell}>
            {t.records.values}
          </th>
          {head('ttl', t.records.ttl, 'max-lg:hidden')}
          {domain.capabilities.proxied ? (
            <th scope="col" className={cx(headCell, 'max-lg:hidden')}>
              {t.records.proxy}
            </th>
          ) : null}
          <th scope="col" className={headCell}>
            <span className="sr-only">{t.records.actions}</span>
          </th>
        </tr>
      </thead>
      <VirtualRows rows={rows} rowRem={isNarrow ? rowRem.narrow : rowRem.wide} row={draw} />
    </table>
  )
}

const sortIcons = { none: ChevronsUpDown, ascending: ArrowUp, descending: ArrowDown }

function SortHead({
  by,
  label,
  className,
  sorting,
  onSort,
}: {
  by: SortKey
  label: string
  className: string | undefined
  sorting: Sorting
  onSort: (sorting: Sorting) => void
}) {
  const current = sorting.by === by
  const order = sorting.descending ? 'descending' : 'ascending'
  const shown = current ? order : 'none'
  const Icon = sortIcons[shown]
  return (
    <th scope="col" className={cx(headCell, className)} aria-sort={shown}>
      <button
        type="button"
        className={
          '-mx-1.5 inline-flex items-center gap-1 rounded-md px-1.5 py-1 hover:bg-subtle ' +
          'hover:text-ink'
        }
        onClick={() => onSort({ by, descending: current && !sorting.descending })}
      >
        {label}
        <Icon aria-hidden className="size-3.5" />
      </button>
    </th>
  )
}

interface RowProps {
  domain: Domain
  record: Record
  number: number
  marked: boolean
  onToggle: (record: Record, on: boolean) => void
  onDelete: (record: Record) => void
}

const Row = memo(function Row({ domain, record, number, marked, onToggle, onDelete }: RowProps) {
  const t = useTexts('dns')
  const router = useRouter()
  const mayWrite = may('domains:write')
  const edit = {
    to: '/dns/domain/$id/record/$recordId',
    params: { id: domain.id, recordId: record.id },
  } as const
  const full = record.name === '@' ? domain.name : `${record.name}.${domain.name}`
  const value = (record.priority === null ? '' : `${record.priority} `) + record.data.join(', ')
  const badge = (
    <Badge tone={typeTones[record.type]} className="min-w-14 justify-center font-mono">
      {record.type}
    </Badge>
  )
  return (
    <tr className={cx(rowClass, 'h-(--row)')} aria-rowindex={number + 1} aria-selected={marked}>
      <td className="py-0 pl-2 sm:pl-3">
        {mayWrite ? (
          <label className="grid size-11 cursor-pointer place-items-center sm:size-9">
            <input
              type="checkbox"
              aria-label={t.records.select(`${record.type} ${full}`)}
              className={checkbox}
              checked={marked}
              onChange={(event) => onToggle(record, event.target.checked)}
            />
          </label>
        ) : null}
      </td>
      <th scope="row" className={cx(cell, 'text-left font-normal max-sm:hidden')} title={full}>
        <Name record={record} domain={domain} />
      </th>
      <td className={cx(cell, 'max-sm:hidden')}>{badge}</td>
      <td className={cx(cell, 'min-w-0')} title={value}>
        <span className="mb-1 flex items-center gap-2 sm:hidden">
          {badge}
          <Name record={record} domain={domain} />
        </span>
        <span className="block truncate font-mono text-xs">{value}</span>
      </td>
      <td className={cx(cell, 'num whitespace-nowrap text-ink-2 max-lg:hidden')}>
        {ttlText(record.ttl, t.records)}
      </td>
      {domain.capabilities.proxied ? (
        <td className={cx(cell, 'whitespace-nowrap text-ink-2 max-lg:hidden')}>
          {record.proxied ? t.records.proxied : t.records.direct}
        </td>
      ) : null}
      <td className={cx(cell, 'text-right')}>
        {mayWrite ? (
          <Menu
            label={t.records.actionsOf(`${record.type} ${full}`)}
            className={
              'inline-grid size-9 place-items-center rounded-md text-ink-2 hover:bg-subtle ' +
              'hover:text-ink'
            }
            trigger={<Ellipsis aria-hidden className="size-4" />}
            items={[
              {
                label: t.records.edit,
                icon: Pencil,
                onSelect: () => void router.navigate(edit),
              },
              {
                label: t.records.delete,
                icon: Trash2,
                danger: true,
                onSelect: () => onDelete(record),
              },
            ]}
          />
        ) : null}
      </td>
    </tr>
  )
})

function Name({ record, domain }: { record: Record; domain: Domain }) {
  return (
    <span className="block min-w-0 truncate">
      <span className="font-medium">{record.name}</span>
      {record.name === '@' ? null : (
        <span className="text-ink-3 max-sm:hidden">.{domain.name}</span>
      )}
    </span>
  )
}
