import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  readRow,
  type Cell,
  type Rows,
  type TableColumn,
  type Written,
} from '../../contract/wordpress-database.ts'
import { call, messageOf } from '../api.ts'
import { useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field, Input, inputClass } from '../ui/Field.tsx'
import { LoadError, Note, Skeleton } from '../ui/State.tsx'
import { TypedDialog } from '../shell/TypedDialog.tsx'
import { PhpTree } from './PhpTree.tsx'
import { phpValueOf } from './php-value.ts'
import { shownBytes, type RowChange } from './use-row-changes.ts'

interface RowDialogProps {
  readonly id: string
  readonly table: string
  readonly columns: readonly TableColumn[]
  /** Null: a new row. */
  readonly rowKey: Readonly<Record<string, string>> | null
  readonly reveals: boolean
  /** Returns why the change failed; undefined: it succeeded. */
  readonly onChange: (change: RowChange) => Promise<string | undefined>
  readonly onClose: () => void
}

const writtenOf = (cell: Cell): Written =>
  cell && cell.kind !== 'masked' ? { kind: cell.kind, value: cell.value } : null
const same = (one: Written, other: Written): boolean =>
  one === null || other === null
    ? one === other
    : one.kind === other.kind && one.value === other.value

/** One row: shows its full values, changes or deletes it, or adds a new one. */
export function RowDialog({ id, table, rowKey, reveals, ...rest }: RowDialogProps) {
  const t = useTexts('tools')
  const { data, error, refetch } = useQuery({
    queryKey: ['database', id, 'row', table, rowKey, reveals],
    queryFn: () => call(readRow, { params: { id }, body: { table, key: { ...rowKey }, reveals } }),
    enabled: rowKey !== null,
    gcTime: 0,
    retry: false,
  })
  if (rowKey === null || data)
    return <RowForm table={table} rowKey={rowKey} {...(data && { row: data })} {...rest} />
  return (
    <Dialog
      open
      onClose={rest.onClose}
      title={t.database.editTitle(table)}
      closeLabel={t.common.close}
      footer={null}
    >
      {error ? (
        <LoadError
          text={messageOf(error)}
          retryLabel={t.common.retry}
          onRetry={() => void refetch()}
        />
      ) : (
        <Skeleton className="h-64 rounded-lg" />
      )}
    </Dialog>
  )
}

type FormProps = Omit<RowDialogProps, 'id' | 'reveals'> & { readonly row?: Rows }

function RowForm({ table, columns, rowKey, row, onChange, onClose }: FormProps) {
  const t = useTexts('tools')
  const cellOf = (name: string): Cell => row?.rows[0]?.[row.columns.indexOf(name)] ?? null
  const [values, setValues] = useState<Readonly<Record<string, Written>>>({})
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [removing, setRemoving] = useState(false)
  const changed = Object.entries(values).filter(
    ([name, value]) => !row || !same(value, writtenOf(cellOf(name))),
  )
  const go = async (change: 'update' | 'insert' | 'delete') => {
    setBusy(true)
    const expected = Object.fromEntries(changed.map(([name]) => [name, writtenOf(cellOf(name))]))
    const why = await onChange({
      change,
      key: { ...rowKey },
      values: Object.fromEntries(changed),
      // A value that is not shown was not read, so it is not compared.
      expected: Object.fromEntries(
        Object.entries(change === 'update' ? expected : {}).filter(
          ([name]) => cellOf(name)?.kind !== 'masked',
        ),
      ),
    })
    setBusy(false)
    if (why === undefined) onClose()
    else setFault(why)
  }
  return (
    <TypedDialog
      busy={busy}
      isTyped={changed.length > 0}
      onClose={onClose}
      title={rowKey ? t.database.editTitle(table) : t.database.insertTitle(table)}
      closeLabel={t.common.close}
      footer={() => (
        <>
          {rowKey ? (
            <Button
              variant={removing ? 'danger' : 'outline'}
              disabled={busy}
              onClick={() => (removing ? void go('delete') : setRemoving(true))}
              className="mr-auto"
            >
              {removing ? t.database.removeAgain : t.database.remove}
            </Button>
          ) : null}
          <Button
            busy={busy}
            disabled={changed.length === 0}
            onClick={() => void go(rowKey ? 'update' : 'insert')}
          >
            {t.database.save}
          </Button>
        </>
      )}
    >
      <div className="grid gap-4">
        {fault === undefined ? null : (
          // In a long table the button is far below, so the error is scrolled into view.
          <div role="alert" ref={(told) => told?.scrollIntoView({ block: 'nearest' })}>
            <Note tone="danger">{fault}</Note>
          </div>
        )}
        {columns.map((column) => (
          <ColumnField
            key={column.name}
            column={column}
            cell={cellOf(column.name)}
            isNew={rowKey === null}
            value={values[column.name]}
            onChange={(value) => setValues((all) => ({ ...all, [column.name]: value }))}
          />
        ))}
      </div>
    </TypedDialog>
  )
}

function ColumnField({
  column: { name, type, mayBeNull, isAutomatic },
  cell,
  isNew,
  value,
  onChange,
}: {
  column: TableColumn
  cell: Cell
  isNew: boolean
  value: Written | undefined
  onChange: (value: Written) => void
}) {
  const t = useTexts('tools')
  const stored = writtenOf(cell)
  const shown = value === undefined ? stored : value
  const kind = shown?.kind ?? stored?.kind ?? 'text'
  const tree = shown?.kind === 'text' ? phpValueOf(shown.value) : undefined
  const isMasked = cell?.kind === 'masked'
  const isCut = cell !== null && !isMasked && shownBytes(cell) < cell.bytes
  const hints = [
    type,
    ...(isNew && isAutomatic ? [t.database.automatic] : []),
    ...(kind === 'hex' ? [t.database.hex] : []),
    ...(isCut ? [t.database.tooLong] : []),
    ...(isMasked ? [t.database.masked] : []),
  ]
  const isLong = (shown?.value.length ?? 0) > 60 || /text|blob|json/i.test(type)
  return (
    <div className="grid gap-2">
      <Field label={name} hint={hints.join(' · ')}>
        {(control) =>
          isLong ? (
            <textarea
              {...control}
              value={shown?.value ?? ''}
              readOnly={isCut}
              rows={4}
              spellCheck={false}
              autoCapitalize="none"
              onChange={({ target }) => onChange({ kind, value: target.value })}
              className={`${inputClass} h-auto min-h-20 py-2 font-mono text-xs`}
            />
          ) : (
            <Input
              {...control}
              value={shown?.value ?? ''}
              readOnly={isCut}
              spellCheck={false}
              autoCapitalize="none"
              onChange={({ target }) => onChange({ kind, value: target.value })}
              className="font-mono"
            />
          )
        }
      </Field>
      {mayBeNull && !isMasked ? (
        <label className="flex items-center gap-2 text-xs text-ink-2">
          <input
            type="checkbox"
            checked={shown === null}
            onChange={({ target }) => onChange(target.checked ? null : { kind, value: '' })}
          />
          {t.database.isNull(name)}
        </label>
      ) : null}
      {tree ? (
        <details className="text-xs">
          <summary className="cursor-pointer text-ink-2">{t.database.tree}</summary>
          <PhpTree value={tree} />
        </details>
      ) : null}
    </div>
  )
}
