/** What the dialogs of the transaction log read, apart from the list: the overview reads that too, and not this. */
import { queryOptions } from '@tanstack/react-query'
import { getTransaction, statementKey } from '../../contract/wallet-proof.ts'
import { call } from '../api.ts'

/** The moments that a month (yyyy-MM) of the reader's begins and ends. */
export function monthQuery(month: string): { from: string; to: string } {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return { from: new Date(year, number - 1, 1).toISOString(), to: new Date(year, number, 1).toISOString() }
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
