import { infiniteQueryOptions, queryOptions, useQueryClient } from '@tanstack/react-query'
import { account, sessions, signIns, type Account } from '../../contract/account.ts'
import { call, callPage } from '../api.ts'
import { meQuery } from '../queries.ts'

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => call(account, {}, { signal }),
})
export const sessionsQuery = queryOptions({
  queryKey: ['account', 'sessions'],
  queryFn: ({ signal }) => call(sessions, {}, { signal }),
})
export const signInsQuery = infiniteQueryOptions({
  queryKey: ['account', 'sign-ins'],
  initialPageParam: undefined as string | undefined,
  queryFn: ({ pageParam, signal }) =>
    callPage(signIns, { query: { limit: 10, cursor: pageParam } }, { signal }),
  getNextPageParam: (page) => page.next ?? undefined,
})

/**
 * Updates every screen after the account was changed. The change is already saved, so a failing
 * read does not matter.
 */
export function useChanged(): (changed: Account) => void {
  const queryClient = useQueryClient()
  return (changed) => {
    queryClient.setQueryData(accountQuery.queryKey, changed)
    void queryClient.invalidateQueries(meQuery)
  }
}
