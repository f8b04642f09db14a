/** The queries of this feature. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { listTransactions, type Transaction } from '../../contract/wallet.ts'
import { getRunway } from '../../contract/billing.ts'
import { call, callPage } from '../api.ts'
import { endOfDay, startOfDay } from './day-bounds.ts'

/** How long the wallet lasts, and the credit line. */
export const runwayQuery = queryOptions({
  queryKey: ['runway'],
  queryFn: ({ signal }) => call(getRunway, {}, { signal }),
})

type Direction = 'in' | 'out'

export const chartDays = 30
const chartPages = 5

export interface RecentTransactions {
  list: Transaction[]
  /** The oldest moment that the list covers, when it does not cover the whole span of the chart. */
  coversFrom: number | null
}

/**
 * Newest first, back to the chart's first day, up to a number of pages for customers with very many
 * entries.
 */
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

/** The filter as the page's address stores it: days are in the reader's zone. */
export interface ListFilter {
  direction?: Direction | undefined
  search?: string | undefined
  /** yyyy-MM-dd. */
  from?: string | undefined
  to?: string | undefined
}

/** Picks the filter from all search parameters. */
export const filterOf = ({ direction, search, from, to }: ListFilter): ListFilter => ({
  direction,
  search,
  from,
  to,
})

/** The filter as the server takes it. */
export const filterQuery = ({ direction, search, from, to }: ListFilter) => ({
  ...(direction === undefined ? {} : { direction }),
  ...(search === undefined ? {} : { search }),
  ...(from === undefined ? {} : { from: startOfDay(from) }),
  ...(to === undefined ? {} : { to: endOfDay(to) }),
})
/**
 * Loaded entries are never refetched, because they never change. New ones are found separately
 * (newestTransactionQuery).
 */
export const transactionListQuery = (filter: ListFilter) =>
  infiniteQueryOptions({
    // Entries never change, and kept pages are the same objects: comparing a hundred thousand of
    // them with each new page would cost frames.
    structuralSharing: false,
    // The key has the filter as the server takes it, because another time zone moves the beginning
    // of days.
    queryKey: ['transaction-list', filterQuery(filter)],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        listTransactions,
        {
          query: {
            limit: 100,
            ...filterQuery(filter),
            ...(pageParam === null ? {} : { cursor: pageParam }),
          },
        },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    staleTime: Infinity,
  })

/** The newest entry under the filter: shows whether a long list has grown. */
export const newestTransactionQuery = (filter: ListFilter) =>
  queryOptions({
    queryKey: ['transactions', 'newest', filterQuery(filter)],
    queryFn: async ({ signal }): Promise<string | null> =>
      (
        await callPage(
          listTransactions,
          { query: { limit: 1, ...filterQuery(filter) } },
          { signal },
        )
      ).result[0]?.id ?? null,
  })
