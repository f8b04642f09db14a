import { useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { messageOf } from '../api.ts'
import { decimals } from '../format.ts'
import { useLanguage, useTexts } from '../i18n/index.ts'
import { Button } from '../ui/Button.tsx'
import { Empty, LoadError, SkeletonRows } from '../ui/State.tsx'
import { cell, headCell, headRow, row } from '../ui/table.ts'
import { DatabaseRows } from './DatabaseRows.tsx'
import { tablesQuery } from './database-queries.ts'

/** All tables, or one of them. */
export function DatabaseTables({ id }: { id: string }) {
  const t = useTexts('tools')
  const [table, setTable] = useState<string>()
  if (table === undefined) return <TableList id={id} onOpen={setTable} />
  return (
    <div className="grid min-w-0 gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <Button variant="outline" onClick={() => setTable(undefined)}>
          <ArrowLeft aria-hidden className="size-4" />
          {t.database.allTables}
        </Button>
        <h4 className="min-w-0 font-mono text-sm font-semibold break-all">{table}</h4>
      </div>
      <DatabaseRows key={table} id={id} table={table} />
    </div>
  )
}

function TableList({ id, onOpen }: { id: string; onOpen: (table: string) => void }) {
  const t = useTexts('tools')
  const language = useLanguage()
  const { data, error, refetch } = useQuery(tablesQuery(id))
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
                type="button"
                aria-label={t.database.openTable(name)}
                onClick={() => onOpen(name)}
                className="min-h-6 text-left font-mono break-all text-primary-ink hover:underline"
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
