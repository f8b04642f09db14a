/** The queries of the desk's pages about money. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import {
  dispute,
  coupons,
  creditDebts,
  type debtAges,
  disputes,
  holdings,
  payout,
  payouts,
  reconciliation,
  vouchers,
} from '../../../contract/operator-money.ts'
import { overdueInvoices } from '../../../contract/operator-overview.ts'
import { notice, notices } from '../../../contract/operator-notices.ts'
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
    // After an answer was sent, the dispute must not come from the cache.
    refetchOnMount: 'always',
  })
export const disputeQuery = (id: string) =>
  queryOptions({
    queryKey: ['dispute', id],
    queryFn: ({ signal }) => call(dispute, { params: { id } }, signal),
    // Polls while an answer is being sent, or while the gateway has it but the desk does not know
    // that yet.
    refetchInterval: ({ state: { data } }) =>
      data?.answer === 'requested' || (data?.answer === 'done' && data.state === 'needs_evidence')
        ? 3_000
        : false,
  })
export const payoutsQuery = infiniteQueryOptions({
  queryKey: ['payouts'],
  queryFn: ({ pageParam, signal }) =>
    callPage(payouts, { query: { limit: 30, ...(pageParam && { cursor: pageParam }) } }, signal),
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
})
export const payoutQuery = (id: string) =>
  queryOptions({
    queryKey: ['payout', id],
    queryFn: ({ signal }) => call(payout, { params: { id } }, signal),
  })
export const holdingsQuery = queryOptions({
  queryKey: ['holdings'],
  queryFn: ({ signal }) => call(holdings, {}, signal),
})
export const reconciliationQuery = queryOptions({
  queryKey: ['reconciliation'],
  queryFn: ({ signal }) => call(reconciliation, {}, signal),
  // A requested comparison is made by a job.
  refetchInterval: 10_000,
})
export const vouchersQuery = infiniteQueryOptions({
  queryKey: ['vouchers'],
  queryFn: ({ pageParam, signal }) =>
    callPage(vouchers, { query: { limit: 30, ...(pageParam && { cursor: pageParam }) } }, signal),
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
})
export const noticesQuery = (show: 'trouble' | 'all') =>
  infiniteQueryOptions({
    queryKey: ['webhooks', 'list', show],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        notices,
        { query: { show, limit: 30, ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    // A replayed webhook is handled by a job.
    refetchInterval: 10_000,
  })
export const noticeQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: ({ signal }) => call(notice, { params: { id } }, signal),
    refetchInterval: 5_000,
  })
export const couponsQuery = infiniteQueryOptions({
  queryKey: ['coupons'],
  queryFn: ({ pageParam, signal }) =>
    callPage(coupons, { query: { limit: 30, ...(pageParam && { cursor: pageParam }) } }, signal),
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
})
export const overdueQuery = infiniteQueryOptions({
  queryKey: ['overdue'],
  queryFn: ({ pageParam, signal }) =>
    callPage(
      overdueInvoices,
      { query: { limit: 30, ...(pageParam && { cursor: pageParam }) } },
      signal,
    ),
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
})
export type DebtAge = 'all' | (typeof debtAges)[number]
export const creditDebtsQuery = (age: DebtAge) =>
  infiniteQueryOptions({
    queryKey: ['credit-debts', age],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        creditDebts,
        {
          query: {
            limit: 30,
            ...(age !== 'all' && { age }),
            ...(pageParam && { cursor: pageParam }),
          },
        },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
