/** The queries of this feature. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { hostedInvoice, listInvoices } from '../../contract/billing.ts'
import { call, callPage } from '../api.ts'

/** The newest invoices: what the dashboard shows, and enough to find unpaid ones. */
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
