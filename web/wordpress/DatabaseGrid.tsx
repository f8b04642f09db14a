import type { ReactNode } from 'react'
import type { Cell } from '../../contract/wordpress-database.ts'
import { useTexts } from '../i18n/index.ts'
import { cx } from '../ui/cx.ts'
import { shownBytes } from './use-row-changes.ts'
import { headCell, headRow, row as rowClass } from '../ui/table.ts'

interface GridProps {
  readonly label: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
  /** The content of a column's head; if absent, its name. */
  readonly head?: (column: string) => ReactNode
  /** Rendered before the values of a row. */
  readonly action?: (row: readonly Cell[]) => ReactNode
}

/** Rows as the database returned them, in an area that scrolls. */
export function DatabaseGrid({ label, columns, rows, head, action }: GridProps) {
  const t = useTexts('tools')
  return (
    /* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex,
       jsx-a11y/prefer-tag-over-role */
    <div role="group" aria-label={label} tabIndex={0} className="max-h-[70dvh] overflow-auto">
      <table className="w-full text-xs">
        <thead>
          <tr className={headRow}>
            {action ? (
              <th scope="col" className={headCell}>
                <span className="sr-only">{t.database.edit}</span>
              </th>
            ) : null}
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
            <tr key={index} className={cx(rowClass, 'align-top')}>
              {action ? <td className="px-3 py-1">{action(row)}</td> : null}
              {row.map((cell, column) => (
                <td
                  // oxlint-disable-next-line react/no-array-index-key
                  key={column}
                  className="max-w-80 min-w-16 px-3 py-2 font-mono break-words first:pl-5"
                >
                  <Value cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Value({ cell }: { cell: Cell }) {
  const t = useTexts('tools')
  if (cell === null) return <span className="text-ink-3 italic">{t.database.null}</span>
  if (cell.kind === 'masked') return <span className="text-ink-3">••• {t.database.masked}</span>
  return (
    <>
      {cell.kind === 'hex' ? `0x${cell.value}` : cell.value}
      {shownBytes(cell) < cell.bytes ? (
        <span className="text-ink-3"> … {t.database.bytes(cell.bytes)}</span>
      ) : null}
    </>
  )
}
