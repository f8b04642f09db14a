/** The queries of a server page's parts. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { getSubscription } from '../../contract/billing.ts'
import { getPageCache } from '../../contract/page-cache.ts'
import { getSiteVisitors } from '../../contract/wordpress-visitors.ts'
import { listBackups } from '../../contract/wordpress-backups.ts'
import { checkDomain, getRewrite } from '../../contract/wordpress-domains.ts'
import { getUpdates, listUpdates } from '../../contract/wordpress-updates.ts'
import { getImport } from '../../contract/wordpress-import.ts'
import { getUsage } from '../../contract/wordpress-server.ts'
import { listFiles } from '../../contract/wordpress-files.ts'
import { getPhpSettings } from '../../contract/wordpress-php.ts'
import { getSftp } from '../../contract/wordpress-sftp.ts'
import { getUsageHistory, type UsageRange } from '../../contract/wordpress-usage.ts'
import { call, callPage } from '../api.ts'

/** The subscription: its period, and what a change costs for the rest of it. */
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

/** The DNS check of a name; repeated only on request. */
export const domainQuery = (id: string, name: string) =>
  queryOptions({
    queryKey: ['domain', id, name],
    queryFn: ({ signal }) => call(checkDomain, { params: { id }, query: { name } }, { signal }),
    refetchOnWindowFocus: false,
    retry: false,
  })

/**
 * The newest rewriting of stored addresses; polled while it runs, because no event announces it.
 */
const rewriteEveryMs = 1_500
export const rewriteQuery = (id: string) =>
  queryOptions({
    queryKey: ['rewrite', id],
    queryFn: ({ signal }) => call(getRewrite, { params: { id } }, { signal }),
    refetchInterval: ({ state: { data } }) => data?.state === 'running' && rewriteEveryMs,
  })

/**
 * While a backup is made or restored, the list is polled every two seconds; no event announces it.
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

const cacheEveryMs = 10_000
export const pageCacheQuery = (id: string) =>
  queryOptions({
    queryKey: ['page-cache', id],
    queryFn: ({ signal }) => call(getPageCache, { params: { id } }, { signal }),
    refetchInterval: cacheEveryMs,
  })

export const visitorsQuery = (id: string) =>
  queryOptions({
    queryKey: ['visitors', id],
    queryFn: ({ signal }) => call(getSiteVisitors, { params: { id } }, { signal }),
  })

/** A span of five minutes is complete only when it is over. */
const historyEveryMs = 60_000
export const historyQuery = (id: string, range: UsageRange) =>
  queryOptions({
    queryKey: ['usage-history', id, range],
    queryFn: ({ signal }) =>
      call(getUsageHistory, { params: { id }, query: { range } }, { signal }),
    refetchInterval: historyEveryMs,
  })

/** Refetched on every visit, because the site's own programs write files too. */
export const filesQuery = (id: string, path: string) =>
  queryOptions({
    queryKey: ['files', id, path],
    queryFn: ({ signal }) => call(listFiles, { params: { id }, query: { path } }, { signal }),
  })

/** Polled while containers are being replaced, because no event announces it. */
const phpEveryMs = 2_000
export const phpQuery = (id: string) =>
  queryOptions({
    queryKey: ['php', id],
    queryFn: ({ signal }) => call(getPhpSettings, { params: { id } }, { signal }),
    refetchInterval: ({ state: { data } }) => data?.applying === true && phpEveryMs,
  })

export const sftpQuery = (id: string) =>
  queryOptions({
    queryKey: ['sftp', id],
    queryFn: ({ signal }) => call(getSftp, { params: { id } }, { signal }),
  })

/** Polled while an update runs, because no event announces its steps. */
const updateEveryMs = 1_500
export const updatesQuery = (id: string) =>
  queryOptions({
    queryKey: ['updates', id],
    queryFn: ({ signal }) => call(getUpdates, { params: { id } }, { signal }),
    refetchInterval: ({ state: { data } }) => data?.running != null && updateEveryMs,
  })

export const updateHistoryQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['updates', id, 'history'],
    queryFn: ({ pageParam, signal }) =>
      callPage(
        listUpdates,
        { params: { id }, query: { cursor: pageParam, limit: 10 } },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  })

/** The import of a site; polled while work on it runs. */
const importEveryMs = 2_000
export const importQuery = (id: string) =>
  queryOptions({
    queryKey: ['import', id],
    queryFn: ({ signal }) => call(getImport, { params: { id } }, { signal }),
    refetchInterval: ({ state: { data } }) =>
      (data?.state === 'building' || data?.state === 'switching') && importEveryMs,
  })
