/** What the tab about a server's email reads. An event reads all of it again. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { getMail, listMail, listMailRecords } from '../../contract/wordpress-mail.ts'
import { call, callPage } from '../api.ts'

const everyMs = 10_000

export const mailQuery = (id: string) =>
  queryOptions({
    queryKey: ['mail', id],
    queryFn: ({ signal }) => call(getMail, { params: { id } }, { signal }),
    refetchInterval: everyMs,
  })

/** Servers of other people are asked: again only when somebody wants to know. */
export const mailRecordsQuery = (id: string) =>
  queryOptions({
    queryKey: ['mail-records', id],
    queryFn: ({ signal }) => call(listMailRecords, { params: { id } }, { signal }),
    refetchOnWindowFocus: false,
    retry: false,
  })

export const mailLogQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['mail', id, 'log'],
    queryFn: ({ pageParam, signal }) =>
      callPage(listMail, { params: { id }, query: { cursor: pageParam, limit: 20 } }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    // The first page alone, for each page costs a call.
    refetchInterval: ({ state }) => (state.data?.pages.length ?? 0) <= 1 && everyMs,
  })
