import type { describeTable, TableColumn } from '../../contract/wordpress-database.ts'
import type { Output } from '../../contract/endpoint.ts'
import { useTexts } from '../i18n/index.ts'

type Keys = Output<(typeof describeTable)['result']>['keys']

/** The columns of a table, and its keys. */
export function ColumnList({ columns, keys }: { columns: readonly TableColumn[]; keys: Keys }) {
  const t = useTexts('tools')
  const kindOf = ({ name, isUnique }: Keys[number]): string => {
    if (name === 'PRIMARY') return t.database.primary
    return isUnique ? t.database.unique : t.database.index
  }
  return (
    <details className="text-sm">
      <summary className="min-h-6 cursor-pointer font-medium">{t.database.columns}</summary>
      <ul className="mt-2 grid gap-1 font-mono text-xs">
        {columns.map(({ name, type, mayBeNull, default: standard }) => (
          <li key={name} className="flex flex-wrap gap-x-3">
            <span className="font-semibold wrap-anywhere">{name}</span>
            <span className="text-ink-2">{type}</span>
            {mayBeNull ? <span className="text-ink-3">NULL</span> : null}
            {standard === null ? null : (
              <span className="wrap-anywhere text-ink-3">
                {t.database.standard}: {standard === '' ? "''" : standard}
              </span>
            )}
          </li>
        ))}
      </ul>
      <ul className="mt-3 grid gap-1 text-xs">
        {keys.map((key) => (
          <li key={key.name} className="flex flex-wrap gap-x-3">
            <span className="text-ink-2">{kindOf(key)}</span>
            <span className="font-mono wrap-anywhere">
              {key.name} ({key.columns.join(', ')})
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
