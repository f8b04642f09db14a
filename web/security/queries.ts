import { queryOptions } from '@tanstack/react-query'
import { security } from '../../contract/second-factor.ts'
import { call } from '../api.ts'

export const securityQuery = queryOptions({
  queryKey: ['account', 'security'],
  queryFn: ({ signal }) => call(security, {}, { signal }),
})
