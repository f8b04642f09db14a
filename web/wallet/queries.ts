/** Everything this feature reads. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { listTransactions, type Transaction } from '../../contract/wallet.ts'
import { getRunway } from '../../contract/billing.ts'
import { call, callPage } from '../api.ts'
import { endOfDay, startOfDay } from './day-bounds.ts'

/** How long the wallet lasts, and the credit line beside it. */
export const runwayQuery = queryOptions({
  queryKey: ['runway'],
  queryFn: ({ signal }) => call(getRunway, {}, { signal }),
})

type Direction = 'in' | 'out'

export const chartDays = 30
const chartPages = 5

export interface RecentTransactions {
  list: Transaction[]
  /**
   * The oldest moment the list reaches back to, when it does not cover the whole span of the chart.
   */
  coversFrom: number | null
}

/**
 * Newest first, back to the chart's first day: that many pages at most, for a customer with very
 * many.
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

/** What the address of the screen says: days are the reader's own. */
export interface ListFilter {
  direction?: Direction | undefined
  search?: string | undefined
  /** yyyy-MM-dd. */
  from?: string | undefined
  to?: string | undefined
}

/** The filter out of all that the address says. */
export const filterOf = ({ direction, search, from, to }: ListFilter): ListFilter => ({
  direction,
  search,
  from,
  to,
})

/** The same filter as the server takes it. */
export const filterQuery = ({ direction, search, from, to }: ListFilter) => ({
  ...(direction === undefined ? {} : { direction }),
  ...(search === undefined ? {} : { search }),
  ...(from === undefined ? {} : { from: startOfDay(from) }),
  ...(to === undefined ? {} : { to: endOfDay(to) }),
})
/**
 * What is loaded stays as it is: entries never change, and what is new is asked for by itself
 * (newestTransactionQuery).
 */
export const transactionListQuery = (filter: ListFilter) =>
  infiniteQueryOptions({
    // Entries never change, and pages that stay are the same objects: comparing a hundred thousand
    // of them with each new page costs frames.
    structuralSharing: false,
    // As the server takes it: days begin at other moments once another time zone is chosen.
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

/** The newest entry that the filter leaves: tells whether a long list that is shown has grown. */
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
