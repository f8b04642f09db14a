/** The queries of a server's database browser. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import {
  databaseState,
  describeTable,
  listRows,
  listTables,
} from '../../contract/wordpress-database.ts'
import { call } from '../api.ts'

export const databaseQuery = (id: string) =>
  queryOptions({
    queryKey: ['database', id],
    queryFn: ({ signal }) => call(databaseState, { params: { id } }, { signal }),
  })
export const tablesQuery = (id: string) =>
  queryOptions({
    queryKey: ['database', id, 'tables'],
    queryFn: ({ signal }) => call(listTables, { params: { id } }, { signal }),
    retry: false,
  })
export const columnsQuery = (id: string, table: string) =>
  queryOptions({
    queryKey: ['database', id, 'columns', table],
    queryFn: ({ signal }) => call(describeTable, { params: { id }, query: { table } }, { signal }),
    retry: false,
  })

/** The part of a table that is shown. */
export interface RowsView {
  readonly offset: number
  readonly sort?: string
  readonly descends?: '1'
  readonly column?: string
  readonly how?: 'is' | 'contains'
  readonly value?: string
  readonly reveals?: '1'
}
export const rowsQuery = (id: string, table: string, view: RowsView) =>
  queryOptions({
    queryKey: ['database', id, 'rows', table, view],
    queryFn: ({ signal }) =>
      call(listRows, { params: { id }, query: { table, ...view } }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
  })
