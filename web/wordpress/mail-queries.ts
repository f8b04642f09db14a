/** The queries of the email tab. An event refetches all of them. */
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

/** These are DNS queries to other people's servers, so they are repeated only on request. */
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
    // Only while one page is loaded, because each page costs a call.
    refetchInterval: ({ state }) => (state.data?.pages.length ?? 0) <= 1 && everyMs,
  })
