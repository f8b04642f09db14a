import { queryOptions } from '@tanstack/react-query'
import { getRunway, type CreditLine } from '../../contract/billing.ts'
import { call } from '../api.ts'

/** As the wallet's pages read it, without what else they read. */
export const lineQuery = queryOptions({
  queryKey: ['runway'],
  queryFn: ({ signal }) => call(getRunway, {}, { signal }),
})

/**
 * How much of what a wallet is short of the credit line lends for a renewal, minor units: all of it
 * or nothing, as the server lends (decision 127).
 */
export const lentFor = (short: number, line: CreditLine | undefined): number =>
  short > 0 && line !== undefined && line.available >= short ? short : 0
