/** Everything this feature reads. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { listTransactions, type Transaction } from '../../contract/wallet.ts'
import { callPage } from '../api.ts'

export type Direction = 'in' | 'out'

export const chartDays = 30
const chartPages = 5

export interface RecentTransactions {
  list: Transaction[]
  /** The oldest moment the list reaches back to, when it does not cover the whole span of the chart. */
  coversFrom: number | null
}

/** Newest first, back to the chart's first day: that many pages at most, for a customer with very many. */
export const recentTransactionsQuery = queryOptions({
  queryKey: ['transactions', 'recent'],
  queryFn: async ({ signal }): Promise<RecentTransactions> => {
    const since = Date.now() / 1000 - chartDays * 86_400
    const list: Transaction[] = []
    let cursor: string | null = null
    for (let page = 0; page < chartPages; page++) {
      const answer: Awaited<ReturnType<typeof callPage<typeof listTransactions>>> = await callPage(
        listTransactions,
        { query: { limit: 100, ...(cursor === null ? {} : { cursor }) } },
        { signal },
      )
      list.push(...answer.result)
      cursor = answer.next
      const oldest = list.at(-1)
      if (cursor === null || (oldest && oldest.created < since)) return { list, coversFrom: null }
    }
    return { list, coversFrom: list.at(-1)?.created ?? null }
  },
})

export const transactionListQuery = (direction: Direction | undefined) =>
  infiniteQueryOptions({
    queryKey: ['transactions', 'list', direction ?? 'all'],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        listTransactions,
        { query: { limit: 100, ...(direction === undefined ? {} : { direction }), ...(pageParam === null ? {} : { cursor: pageParam }) } },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  })
