/** Everything this feature reads. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { hostedInvoice, listInvoices } from '../../contract/billing.ts'
import { call, callPage } from '../api.ts'

/** The newest: what the dashboard shows, and enough to know what is unpaid. */
export const recentInvoicesQuery = queryOptions({
  queryKey: ['invoices', 'recent'],
  queryFn: async ({ signal }) =>
    (await callPage(listInvoices, { query: { limit: 50 } }, { signal })).result,
})

export const invoiceListQuery = infiniteQueryOptions({
  queryKey: ['invoices', 'list'],
  queryFn: ({ pageParam, signal }) =>
    callPage(
      listInvoices,
      { query: { limit: 50, ...(pageParam === null ? {} : { cursor: pageParam }) } },
      { signal },
    ),
  initialPageParam: null as string | null,
  getNextPageParam: (last) => last.next,
})

export const hostedInvoiceQuery = (token: string) =>
  queryOptions({
    queryKey: ['invoices', 'hosted', token],
    queryFn: ({ signal }) => call(hostedInvoice, { params: { token } }, { signal }),
  })
