/** What the dashboard reads for itself. */
import { queryOptions } from '@tanstack/react-query'
import { getRunway, unpaidInvoices } from '../../contract/billing.ts'
import { call } from '../api.ts'

export const runwayQuery = queryOptions({
  queryKey: ['runway'],
  queryFn: ({ signal }) => call(getRunway, {}, { signal }),
})

export const unpaidQuery = queryOptions({
  queryKey: ['invoices', 'unpaid'],
  queryFn: ({ signal }) => call(unpaidInvoices, {}, { signal }),
})
