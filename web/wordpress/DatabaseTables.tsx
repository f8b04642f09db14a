import { useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { messageOf } from '../api.ts'
import { decimals } from '../format.ts'
import { useLanguage, useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { cell, headCell, headRow, row } from '../ui/table.ts'
import { DatabaseRows } from './DatabaseRows.tsx'
import { tablesQuery } from './database-queries.ts'

/** The list of tables, or one table. */
export function DatabaseTables({ id }: { id: string }) {
  const t = useTexts('tools')
  const [table, setTable] = useState<string>()
  /** The table that was left. */
  const [left, setLeft] = useState<string>()
  const head = useRef<HTMLHeadingElement>(null)
  // The pressed button disappeared with its list, so the heading takes the focus.
  useEffect(() => {
    if (table !== undefined) head.current?.focus()
  }, [table])
  if (table === undefined) return <TableList id={id} left={left} onOpen={setTable} />
  return (
    <div className="grid min-w-0 gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <Button
          variant="outline"
          onClick={() => {
            setLeft(table)
            setTable(undefined)
          }}
        >
          <ArrowLeft aria-hidden className="size-4" />
          {t.database.allTables}
        </Button>
        <h4
          ref={head}
          tabIndex={-1}
          className="min-w-0 font-mono text-sm font-semibold wrap-anywhere"
        >
          {table}
        </h4>
      </div>
      <DatabaseRows key={table} id={id} table={table} />
    </div>
  )
}

function TableList({
  id,
  left,
  onOpen,
}: {
  id: string
  /** The table whose button gets the focus again. */
  left: string | undefined
  onOpen: (table: string) => void
}) {
  const t = useTexts('tools')
  const language = useLanguage()
  const { data, error, refetch } = useQuery(tablesQuery(id))
  const back = useRef<HTMLButtonElement>(null)
  useEffect(() => back.current?.focus(), [])
  if (error && !data)
    return (
      <LoadError
        text={messageOf(error)}
        retryLabel={t.common.retry}
        onRetry={() => void refetch()}
      />
    )
  if (!data) return <SkeletonRows rows={8} />
  if (data.length === 0) return <Empty text={t.database.noTables} />
  return (
    <table className="w-full text-sm">
      <thead>
        <tr className={headRow}>
          <th scope="col" className={headCell}>
            {t.database.table}
          </th>
          <th scope="col" className={`${headCell} text-right`}>
            {t.database.rows}
          </th>
          <th scope="col" className={`${headCell} text-right`}>
            {t.database.size}
          </th>
        </tr>
      </thead>
      <tbody>
        {data.map(({ name, rows, bytes }) => (
          <tr key={name} className={row}>
            <td className={cell}>
              <button
                ref={name === left ? back : undefined}
                type="button"
                aria-label={t.database.openTable(name)}
                onClick={() => onOpen(name)}
                className={
                  'min-h-6 text-left font-mono wrap-anywhere text-primary-ink hover:underline'
                }
              >
                {name}
              </button>
            </td>
            <td className={`${cell} num text-right`}>{rows ?? '–'}</td>
            <td className={`${cell} num text-right whitespace-nowrap`}>
              {bytes === null ? '–' : `${decimals(bytes / 1_024, language)} KB`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
