import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeRow, type Cell, type Written } from '../../contract/wordpress-database.ts'
import { ApiError, call, messageOf } from '../api.ts'
import { databaseQuery } from './database-queries.ts'

export interface RowChange {
  readonly change: 'update' | 'insert' | 'delete'
  readonly key: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, Written>>
  readonly expected: Readonly<Record<string, Written>>
}

/** The first message about a field, or else the refusal's own. */
export const sentenceOf = (error: unknown): string =>
  (error instanceof ApiError ? Object.values(error.fields)[0] : undefined) ?? messageOf(error)

const writtenOf = (cell: Cell): Written =>
  cell && cell.kind !== 'masked' ? { kind: cell.kind, value: cell.value } : null
/** Bytes of the shown part of a value. */
export const shownBytes = ({ kind, value }: NonNullable<Cell>): number =>
  kind === 'hex' ? value.length / 2 : new TextEncoder().encode(value).length
const isWhole = (cell: Cell): boolean => cell === null || cell.bytes === shownBytes(cell)

/** The change that undoes a change; undefined where none does. */
function inverseOf(
  done: RowChange,
  answer: { former: Record<string, Cell> | null; inserted: number },
  keyColumns: readonly string[],
): RowChange | undefined {
  const { former, inserted } = answer
  if (done.change === 'insert') {
    const [column, ...others] = keyColumns
    const typed = Object.fromEntries(
      keyColumns.flatMap((name) => {
        const value = done.values[name]
        return value ? [[name, value.value]] : []
      }),
    )
    if (Object.keys(typed).length === keyColumns.length && keyColumns.length > 0)
      return { change: 'delete', key: typed, values: {}, expected: {} }
    if (column === undefined || others.length > 0 || inserted === 0) return undefined
    return { change: 'delete', key: { [column]: String(inserted) }, values: {}, expected: {} }
  }
  if (!former || !Object.values(former).every(isWhole)) return undefined
  const values = Object.fromEntries(
    Object.entries(former).map(([name, cell]) => [name, writtenOf(cell)]),
  )
  if (done.change === 'delete') return { change: 'insert', key: {}, values, expected: {} }
  // If the key itself was changed, the row is found by its new key.
  const key = Object.fromEntries(
    Object.entries(done.key).map(([name, value]) => [name, done.values[name]?.value ?? value]),
  )
  return { change: 'update', key, values, expected: done.values }
}

/** Changes rows of a table, and remembers how to undo the last change. */
export function useRowChanges(id: string, table: string, keyColumns: readonly string[]) {
  const queryClient = useQueryClient()
  const [last, setLast] = useState<{ done: RowChange['change']; undo: RowChange | undefined }>()
  const [isUndone, setIsUndone] = useState(false)
  const send = async (change: RowChange) => {
    const answer = await call(changeRow, { params: { id }, body: { table, ...change } })
    void queryClient.invalidateQueries({ queryKey: ['database', id, 'rows', table] })
    return answer
  }
  const refused = (error: unknown): string => {
    // The half hour of access is over.
    if (error instanceof ApiError && error.code === 'link_expired')
      void queryClient.invalidateQueries(databaseQuery(id))
    return sentenceOf(error)
  }
  return {
    last,
    isUndone,
    async change(change: RowChange): Promise<string | undefined> {
      try {
        const answer = await send(change)
        setLast({ done: change.change, undo: inverseOf(change, answer, keyColumns) })
        setIsUndone(false)
        return undefined
      } catch (error) {
        return refused(error)
      }
    },
    async undo(): Promise<string | undefined> {
      if (!last?.undo) return undefined
      try {
        await send(last.undo)
        setLast(undefined)
        setIsUndone(true)
        return undefined
      } catch (error) {
        return refused(error)
      }
    },
  }
}
