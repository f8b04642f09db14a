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

/** The unpaid ones, newest first. */
export const openInvoicesQuery = queryOptions({
  queryKey: ['invoices', 'open'],
  queryFn: async ({ signal }) =>
    (await callPage(listInvoices, { query: { limit: 50, status: 'open' } }, { signal })).result,
})

/** The invoices; `open`: only the unpaid ones. */
export const invoiceListQuery = (status?: 'open') =>
  infiniteQueryOptions({
    queryKey: ['invoices', 'list', status],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        listInvoices,
        { query: { limit: 50, status, ...(pageParam === null ? {} : { cursor: pageParam }) } },
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
