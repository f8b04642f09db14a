/**
 * Queries of the transaction log's dialogs. Separate from the list's, which the dashboard loads
 * too.
 */
import { queryOptions } from '@tanstack/react-query'
import { getTransaction, statementKey } from '../../contract/wallet-proof.ts'
import { call } from '../api.ts'
import { monthsLater, startOfDay } from './day-bounds.ts'

/** The moments at which a month (yyyy-MM) begins and ends in the reader's zone. */
export function monthQuery(month: string): { from: string; to: string } {
  return { from: startOfDay(`${month}-01`), to: startOfDay(`${monthsLater(month, 1)}-01`) }
}

export const entryQuery = (id: string) =>
  queryOptions({
    queryKey: ['transactions', 'entry', id],
    queryFn: ({ signal }) => call(getTransaction, { params: { id } }, { signal }),
  })

export const statementKeyQuery = queryOptions({
  queryKey: ['statement-key'],
  queryFn: ({ signal }) => call(statementKey, {}, { signal }),
  staleTime: Infinity,
})
