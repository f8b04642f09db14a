/** The queries of this feature. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import {
  getServer,
  listHostingRegions,
  listPlans,
  listRegions,
  listServers,
} from '../../contract/wordpress.ts'
import { call, callPage } from '../api.ts'

/** The newest servers, for the dashboard and the command palette. */
export const serversQuery = queryOptions({
  queryKey: ['servers', 'latest'],
  queryFn: ({ signal }) => callPage(listServers, { query: { limit: 20 } }, { signal }),
})

/** The customer's servers, or those that a search finds. */
export const serverListQuery = (search?: string) =>
  infiniteQueryOptions({
    queryKey: ['servers', 'list', { search }],
    queryFn: ({ pageParam, signal }) =>
      callPage(listServers, { query: { limit: 50, search, cursor: pageParam } }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
  })

export const serverQuery = (id: string) =>
  queryOptions({
    queryKey: ['servers', 'one', id],
    queryFn: ({ signal }) => call(getServer, { params: { id } }, { signal }),
  })

export type Kind = 'wordpress' | 'hosting'

export const regionsQuery = (kind: Kind) =>
  queryOptions({
    queryKey: ['regions', kind],
    queryFn: ({ signal }) =>
      call(kind === 'hosting' ? listHostingRegions : listRegions, { query: {} }, { signal }),
    staleTime: 300_000,
  })

export const plansQuery = queryOptions({
  queryKey: ['plans'],
  queryFn: ({ signal }) => call(listPlans, { query: {} }, { signal }),
  staleTime: 60_000,
})
/** Plans that can be ordered: those that a machine can run. */
export const offeredPlansQuery = queryOptions({
  ...plansQuery,
  select: (plans) => plans.filter(({ offered }) => offered),
})
