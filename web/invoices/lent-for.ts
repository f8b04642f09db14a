import { queryOptions } from '@tanstack/react-query'
import { getRunway, type CreditLine } from '../../contract/billing.ts'
import { call } from '../api.ts'

/** The same query as on the wallet's pages, without their other queries. */
export const lineQuery = queryOptions({
  queryKey: ['runway'],
  queryFn: ({ signal }) => call(getRunway, {}, { signal }),
})

/**
 * How much of the wallet's shortfall for a renewal the credit line lends, minor units: all of it or
 * nothing, as on the server (decision 127).
 */
export const lentFor = (short: number, line: CreditLine | undefined): number =>
  short > 0 && line !== undefined && line.available >= short ? short : 0
