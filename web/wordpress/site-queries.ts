/** What the parts of one server's page read. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { getSubscription } from '../../contract/billing.ts'
import { listBackups } from '../../contract/wordpress-backups.ts'
import { checkDomain } from '../../contract/wordpress-domains.ts'
import { getUsage } from '../../contract/wordpress-server.ts'
import { call, callPage } from '../api.ts'

/** What it is paid by: until when, and what a change costs for the rest of that time. */
export const subscriptionQuery = (id: string) =>
  queryOptions({
    queryKey: ['subscriptions', id],
    queryFn: ({ signal }) => call(getSubscription, { params: { id } }, { signal }),
  })

const usageEveryMs = 30_000
export const usageQuery = (id: string) =>
  queryOptions({
    queryKey: ['usage', id],
    queryFn: ({ signal }) => call(getUsage, { params: { id } }, { signal }),
    refetchInterval: usageEveryMs,
  })

/** What the DNS says of a name; asked again only when somebody wants to know. */
export const domainQuery = (id: string, name: string) =>
  queryOptions({
    queryKey: ['domain', id, name],
    queryFn: ({ signal }) => call(checkDomain, { params: { id }, query: { name } }, { signal }),
    refetchOnWindowFocus: false,
    retry: false,
  })

/**
 * While one is being made or restored the list is asked for every other second; nothing is pushed
 * about it.
 */
const copyEveryMs = 2_000
export const backupsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['backups', id],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        listBackups,
        { params: { id }, query: { cursor: pageParam, limit: 20 } },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ result }) =>
        result.some((backup) => backup.state === 'making' || backup.restoring),
      ) === true && copyEveryMs,
  })
