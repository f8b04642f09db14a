import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { listHandOvers } from '../../contract/hand-over.ts'
import { listAccounts, listActs, listTeam } from '../../contract/team.ts'
import { call, callPage } from '../api.ts'

export const teamQuery = queryOptions({
  queryKey: ['account', 'team'],
  queryFn: ({ signal }) => call(listTeam, {}, { signal }),
})
export const accountsQuery = queryOptions({
  queryKey: ['account', 'team', 'accounts'],
  queryFn: ({ signal }) => call(listAccounts, {}, { signal }),
})
export const handOversQuery = queryOptions({
  queryKey: ['account', 'team', 'hand-overs'],
  queryFn: ({ signal }) => call(listHandOvers, {}, { signal }),
})
export const actsQuery = infiniteQueryOptions({
  queryKey: ['account', 'team', 'acts'],
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) =>
    callPage(listActs, { query: { limit: 20, cursor: pageParam } }, { signal }),
  getNextPageParam: (page) => page.next ?? undefined,
})
