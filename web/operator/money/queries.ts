/** What the desk's pages about money read. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { dispute, disputes } from '../../../contract/operator-money.ts'
import { call, callPage } from '../api.ts'

export const disputesQuery = (show: 'open' | 'all') =>
  infiniteQueryOptions({
    queryKey: ['disputes', show],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        disputes,
        { query: { show, limit: 30, ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
export const disputeQuery = (id: string) =>
  queryOptions({
    queryKey: ['dispute', id],
    queryFn: ({ signal }) => call(dispute, { params: { id } }, signal),
  })
