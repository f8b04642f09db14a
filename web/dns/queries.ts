/** Everything this feature reads. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { getDomain, getRecord, listChanges, listDomains, listRecords, type Record } from '../../contract/dns.ts'
import { call, callPage } from '../api.ts'

export const domainListQuery = infiniteQueryOptions({
  queryKey: ['dns', 'domains'],
  queryFn: ({ pageParam, signal }) =>
    callPage(listDomains, { query: { limit: 50, ...(pageParam === null ? {} : { cursor: pageParam }) } }, { signal }),
  initialPageParam: null as string | null,
  getNextPageParam: (last) => last.next,
})

export const domainQuery = (id: string) =>
  queryOptions({ queryKey: ['dns', 'domain', id], queryFn: ({ signal }) => call(getDomain, { params: { id } }, { signal }) })

/** All of a domain's records: a domain has thousands at most, and sorting and choosing among them wait for nobody. */
export const recordsQuery = (id: string) =>
  queryOptions({
    queryKey: ['dns', 'records', id],
    queryFn: async ({ signal }) => {
      const all: Record[] = []
      let cursor: string | null = null
      do {
        const page: { result: { data: Record[] }; next: string | null } = await callPage(
          listRecords,
          { params: { id }, query: { limit: 100, ...(cursor === null ? {} : { cursor }) } },
          { signal },
        )
        all.push(...page.result.data)
        cursor = page.next
      } while (cursor !== null)
      return all
    },
  })

export const recordQuery = (id: string, recordId: string) =>
  queryOptions({
    queryKey: ['dns', 'record', id, recordId],
    queryFn: ({ signal }) => call(getRecord, { params: { id, recordId } }, { signal }),
    // A form stands on it: what is typed is not taken away by a reload behind one's back.
    refetchOnWindowFocus: false,
    staleTime: Infinity,
    gcTime: 0,
  })

export const changesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['dns', 'changes', id],
    queryFn: ({ pageParam, signal }) =>
      callPage(listChanges, { params: { id }, query: { limit: 20, ...(pageParam === null ? {} : { cursor: pageParam }) } }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  })
