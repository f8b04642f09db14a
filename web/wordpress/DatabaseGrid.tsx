import { Eye } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Cell } from '../../contract/wordpress-database.ts'
import { useTexts } from '../i18n/index.ts'
import { IconButton } from '../ui/Button.tsx'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { headCell, headRow, row as rowClass } from '../ui/table.ts'
import { shownBytes } from './use-row-changes.ts'

interface GridProps {
  readonly label: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
  /** The content of a column's head; if absent, its name. */
  readonly head?: (column: string) => ReactNode
  /** Before the values of a row; where none is given, the row is shown in full. */
  readonly action?: (row: readonly Cell[]) => ReactNode
}

/**
 * Rows as the database gave them, scrolled inside themselves. A row is one line, so that many can
 * be compared; opened, it is there in full.
 */
export function DatabaseGrid({ label, columns, rows, head, action }: GridProps) {
  const t = useTexts('tools')
  const [read, setRead] = useState<readonly Cell[]>()
  return (
    /* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex,
       jsx-a11y/prefer-tag-over-role */
    <div role="group" aria-label={label} tabIndex={0} className="max-h-[70dvh] overflow-auto">
      <table className="w-full text-xs">
        <thead>
          <tr className={headRow}>
            <th scope="col" className={headCell}>
              <span className="sr-only">{action ? t.database.edit : t.database.read}</span>
            </th>
            {columns.map((name) => (
              <th key={name} scope="col" className={headCell}>
                {head ? head(name) : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // oxlint-disable-next-line react/no-array-index-key
            <tr key={index} className={rowClass}>
              <td className="px-3 py-1">
                {action ? (
                  action(row)
                ) : (
                  <IconButton label={t.database.read} size="size-7" onClick={() => setRead(row)}>
                    <Eye aria-hidden className="size-3.5" />
                  </IconButton>
                )}
              </td>
              {row.map((cell, column) => (
                <td
                  // oxlint-disable-next-line react/no-array-index-key
                  key={column}
                  className="max-w-64 min-w-16 truncate px-3 py-2 font-mono"
                  title={cell && cell.kind !== 'masked' ? written(cell) : undefined}
                >
                  <Value cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {read ? <RowInFull columns={columns} row={read} onClose={() => setRead(undefined)} /> : null}
    </div>
  )
}

type Readable = NonNullable<Cell>
const written = ({ kind, value }: Readable): string => (kind === 'hex' ? `0x${value}` : value)

/** Of an answer that cannot be changed, or of a table without a key. */
function RowInFull({
  columns,
  row,
  onClose,
}: {
  columns: readonly string[]
  row: readonly Cell[]
  onClose: () => void
}) {
  const t = useTexts('tools')
  return (
    <Dialog
      open
      onClose={onClose}
      title={t.database.readTitle}
      closeLabel={t.common.close}
      footer={
        <Button variant="outline" onClick={onClose}>
          {t.common.close}
        </Button>
      }
    >
      <dl className="grid gap-4 text-xs">
        {columns.map((name, column) => (
          // Two columns of an answer may have one name.
          // oxlint-disable-next-line react/no-array-index-key
          <div key={column}>
            <dt className="font-medium text-ink-2">{name}</dt>
            <dd className="mt-0.5 font-mono break-words whitespace-pre-wrap">
              <Value cell={row[column] ?? null} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

function Value({ cell }: { cell: Cell }) {
  const t = useTexts('tools')
  if (cell === null) return <span className="text-ink-3 italic">{t.database.null}</span>
  if (cell.kind === 'masked') return <span className="text-ink-3">••• {t.database.masked}</span>
  return (
    <>
      {written(cell)}
      {shownBytes(cell) < cell.bytes ? (
        <span className="text-ink-3"> … {t.database.bytes(cell.bytes)}</span>
      ) : null}
    </>
  )
}
