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
 * Takes a changed account into use on every screen. That it is saved does not depend on what is
 * read after it.
 */
export function useChanged(): (changed: Account) => void {
  const queryClient = useQueryClient()
  return (changed) => {
    queryClient.setQueryData(accountQuery.queryKey, changed)
    void queryClient.invalidateQueries(meQuery)
  }
}
