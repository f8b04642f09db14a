/**
 * What the dialogs of the transaction log read, apart from the list: the overview reads that too,
 * and not this.
 */
import { queryOptions } from '@tanstack/react-query'
import { getTransaction, statementKey } from '../../contract/wallet-proof.ts'
import { call } from '../api.ts'
import { monthsLater, startOfDay } from './day-bounds.ts'

/** The moments that a month (yyyy-MM) of the reader's begins and ends. */
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
