import { queryOptions } from '@tanstack/react-query'
import { listMethods } from '../../contract/cards.ts'
import { call } from '../api.ts'

export const cardsQuery = queryOptions({
  queryKey: ['cards'],
  queryFn: ({ signal }) => call(listMethods, { query: { limit: 100 } }, { signal }),
})
