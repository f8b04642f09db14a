/** The dashboard's own queries. */
import { queryOptions } from '@tanstack/react-query'
import { unpaidInvoices } from '../../contract/billing.ts'
import { call } from '../api.ts'

export const unpaidQuery = queryOptions({
  queryKey: ['invoices', 'unpaid'],
  queryFn: ({ signal }) => call(unpaidInvoices, {}, { signal }),
})
