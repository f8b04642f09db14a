/** The desk's queries. */
import type * as z from 'zod/mini'
import { QueryClient, infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import {
  customer,
  previewProposal,
  proposals,
  search,
  suspense,
  trail,
  work,
} from '../../contract/operator-desk.ts'
import {
  customerInvoices,
  customerPayments,
  customerServers,
  type ServerAtDesk,
} from '../../contract/operator-customer-lists.ts'
import { customers, type DeskCustomerState } from '../../contract/operator-customers.ts'
import { invoiceAtDesk } from '../../contract/operator-invoices.ts'
import { overview } from '../../contract/operator-overview.ts'
import { customerImports } from '../../contract/operator-imports.ts'
import { nodeLoss } from '../../contract/operator-nodes.ts'
import {
  capacity,
  letters,
  servers,
  upkeep,
  type DeskLetterState,
  type DeskServerState,
} from '../../contract/operator-work.ts'
import { listOperatorDeliveries, listOperatorWebhooks } from '../../contract/operator-webhooks.ts'
import { staff, staffSession } from '../../contract/operator.ts'
import { dataRequests } from '../../contract/operator-privacy.ts'
import { noticesOfDesk } from '../../contract/status.ts'
import {
  cannedAnswers,
  ticketAtDesk,
  ticketsOfDesk,
  type Priority,
} from '../../contract/tickets-desk.ts'
import type { Ticket } from '../../contract/tickets.ts'
import { call, callPage, DeskError, holdCsrf } from './api.ts'

export const createDeskQueries = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (count, error) => count < 1 && error instanceof DeskError && error.status === 0,
        retryDelay: 500,
      },
      // Without a connection an act fails at once; it does not run later by itself.
      mutations: { networkMode: 'always' },
    },
  })

/** Null: nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => {
    try {
      const session = await call(staffSession, {}, signal)
      holdCsrf(session.csrfToken)
      return session
    } catch (error) {
      if (error instanceof DeskError && error.status === 401) return null
      throw error
    }
  },
  staleTime: Infinity,
})
export const searchQuery = (q: string) =>
  queryOptions({
    queryKey: ['search', q],
    queryFn: ({ signal }) => call(search, { query: { q } }, signal),
    enabled: q.length >= 2,
  })
export const customersQuery = (state: DeskCustomerState | undefined) =>
  infiniteQueryOptions({
    queryKey: ['customers', state],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        customers,
        { query: { limit: 50, ...(state && { state }), ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
/** The server is still changing to what an act asked for, so the page polls until that is done. */
const isOnItsWay = ({ status, held, overdue, movesTo }: ServerAtDesk): boolean =>
  movesTo !== null ||
  status === 'provisioning' ||
  (held ? status === 'running' : status === 'suspended' && !overdue)
export const customerQuery = (id: string) =>
  queryOptions({
    queryKey: ['customer', id],
    queryFn: ({ signal }) => call(customer, { params: { id } }, signal),
    refetchInterval: ({ state: { data } }) => (data?.servers.some(isOnItsWay) ? 3_000 : 30_000),
  })
// Keys of a customer's lists begin as that of the page: an act on the page reads them again.
export const customerPaymentsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['customer', id, 'payments'],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        customerPayments,
        { params: { id }, query: { limit: 50, ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: 30_000,
  })
export const paymentQuery = (id: string, code: string) =>
  queryOptions({
    queryKey: ['customer', id, 'payment', code],
    queryFn: ({ signal }) => call(customerPayments, { params: { id }, query: { code } }, signal),
    refetchInterval: 30_000,
  })
export const customerInvoicesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['customer', id, 'invoices'],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        customerInvoices,
        { params: { id }, query: { limit: 50, ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: 30_000,
  })
export const customerServersQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['customer', id, 'servers'],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        customerServers,
        { params: { id }, query: { limit: 50, ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ result }) => result.some(isOnItsWay)) ? 3_000 : 30_000,
  })
export const invoiceQuery = (id: string) =>
  queryOptions({
    queryKey: ['invoice', id],
    queryFn: ({ signal }) => call(invoiceAtDesk, { params: { id } }, signal),
    refetchInterval: 30_000,
  })
export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => call(overview, {}, signal),
  refetchInterval: 30_000,
})
export const proposalsQuery = queryOptions({
  queryKey: ['proposals'],
  queryFn: ({ signal }) => call(proposals, {}, signal),
  refetchInterval: 30_000,
})
export const previewProposalQuery = (id: string) =>
  queryOptions({
    queryKey: ['proposal-preview', id],
    queryFn: ({ signal }) => call(previewProposal, { params: { id } }, signal),
    // Always read again.
    staleTime: 0,
    gcTime: 0,
  })
export const dataRequestsQuery = (show: 'open' | 'decided') =>
  queryOptions({
    queryKey: ['data-requests', show],
    queryFn: ({ signal }) => call(dataRequests, { query: { show } }, signal),
    refetchInterval: 30_000,
  })
export const importsQuery = queryOptions({
  queryKey: ['customer-imports'],
  queryFn: ({ signal }) => call(customerImports, {}, signal),
  refetchInterval: ({ state: { data } }) =>
    data?.some(({ doneAt }) => doneAt === null) ? 2_000 : 15_000,
})
export const suspenseQuery = queryOptions({
  queryKey: ['suspense'],
  queryFn: ({ signal }) => call(suspense, {}, signal),
})
export const workQuery = queryOptions({
  queryKey: ['work'],
  queryFn: ({ signal }) => call(work, {}, signal),
  refetchInterval: 15_000,
})
export const serversQuery = (state: DeskServerState) =>
  infiniteQueryOptions({
    queryKey: ['servers', state],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        servers,
        { query: { state, limit: 30, ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: 5_000,
  })
export const lettersQuery = (state: DeskLetterState) =>
  infiniteQueryOptions({
    queryKey: ['letters', state],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        letters,
        { query: { state, limit: 30, ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: 5_000,
  })
export const upkeepQuery = queryOptions({
  queryKey: ['upkeep'],
  queryFn: ({ signal }) => call(upkeep, {}, signal),
  refetchInterval: 30_000,
})
export const capacityQuery = queryOptions({
  queryKey: ['capacity'],
  queryFn: ({ signal }) => call(capacity, {}, signal),
  refetchInterval: 15_000,
})
export const outgoingQuery = queryOptions({
  queryKey: ['outgoing', 'list'],
  queryFn: ({ signal }) => call(listOperatorWebhooks, {}, signal),
  refetchInterval: 15_000,
})
export const outgoingDeliveriesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['outgoing', 'one', id],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        listOperatorDeliveries,
        { params: { id }, query: { limit: 20, ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: 5_000,
  })
export const nodeLossQuery = (id: string) =>
  queryOptions({
    queryKey: ['node-loss', id],
    queryFn: ({ signal }) => call(nodeLoss, { params: { id } }, signal),
    refetchInterval: 5_000,
  })
export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }) => call(noticesOfDesk, {}, signal),
})
export const staffQuery = queryOptions({
  queryKey: ['staff'],
  queryFn: ({ signal }) => call(staff, {}, signal),
})
export type TrailFilter = Omit<z.input<typeof trail.query>, 'limit' | 'cursor'>
export const trailQuery = (filter: TrailFilter) =>
  infiniteQueryOptions({
    queryKey: ['trail', filter],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        trail,
        { query: { ...filter, limit: 30, ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
export const ticketsQuery = (query: {
  state: Ticket['state']
  assignee?: string
  priority?: Priority
}) =>
  infiniteQueryOptions({
    queryKey: ['tickets', 'list', query],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        ticketsOfDesk,
        { query: { ...query, limit: 50, ...(pageParam && { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: 15_000,
  })
export const ticketQuery = (id: string) =>
  queryOptions({
    queryKey: ['tickets', 'one', id],
    queryFn: ({ signal }) => call(ticketAtDesk, { params: { id } }, signal),
    refetchInterval: 15_000,
  })
export const cannedQuery = queryOptions({
  queryKey: ['tickets', 'canned'],
  queryFn: ({ signal }) => call(cannedAnswers, {}, signal),
})
