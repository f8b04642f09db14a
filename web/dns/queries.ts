/** The queries of this feature. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import {
  changedRecords,
  getDomain,
  getRecord,
  listDomains,
  listRecords,
  type Record,
} from '../../contract/dns.ts'
import type { RecordType } from '../../contract/dns-types.ts'
import { call, callPage } from '../api.ts'
import { applyChanges, type RecordCopy } from './record-list.ts'

/** The customer's domains, or those that a search finds. */
export const domainListQuery = (search?: string) =>
  infiniteQueryOptions({
    queryKey: ['dns', 'domains', { search }],
    queryFn: ({ pageParam, signal }) =>
      callPage(listDomains, { query: { limit: 50, search, cursor: pageParam } }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
  })

export const domainQuery = (id: string) =>
  queryOptions({
    queryKey: ['dns', 'domain', id],
    queryFn: ({ signal }) => call(getDomain, { params: { id } }, { signal }),
  })

/**
 * All of a domain's records. A domain has thousands at most, so sorting and filtering run in the
 * browser at once. The pages are read once; later only changes are fetched, whoever made them.
 */
export const recordsQuery = (id: string) =>
  queryOptions({
    queryKey: ['dns', 'records', id],
    queryFn: async ({ signal, client, queryKey }): Promise<RecordCopy> => {
      const catchUp = async (copy: RecordCopy): Promise<RecordCopy | undefined> =>
        applyChanges(
          copy,
          await call(changedRecords, { params: { id }, query: { since: copy.serial } }, { signal }),
        )
      const known = client.getQueryData<RecordCopy>(queryKey)
      const current = known && (await catchUp(known))
      if (current) return current
      const records: Record[] = []
      let serial: number | undefined
      let cursor: string | null = null
      do {
        const page: { result: { data: Record[]; serial: number }; next: string | null } =
          await callPage(
            listRecords,
            { params: { id }, query: { limit: 100, ...(cursor === null ? {} : { cursor }) } },
            { signal },
          )
        records.push(...page.result.data)
        serial ??= page.result.serial
        cursor = page.next
      } while (cursor !== null)
      const read = { records, serial }
      // Fetches changes made while many pages were being read.
      return (records.length > 100 && (await catchUp(read))) || read
    },
    select: ({ records }) => records,
  })

/** The records of one name, as typed, and one type. */
export const recordSetQuery = (id: string, name: string, type: RecordType) =>
  queryOptions({
    queryKey: ['dns', 'set', id, type, name],
    queryFn: async ({ signal }) =>
      (
        await callPage(
          listRecords,
          { params: { id }, query: { limit: 100, type, name } },
          { signal },
        )
      ).result.data,
  })

export const recordQuery = (id: string, recordId: string) =>
  queryOptions({
    // The open form depends on it, so a refetch in the background must not replace what is typed.
    // The key is not under ['dns'], which events refetch.
    queryKey: ['dns-record', id, recordId],
    queryFn: ({ signal }) => call(getRecord, { params: { id, recordId } }, { signal }),
    refetchOnWindowFocus: false,
    staleTime: Infinity,
    gcTime: 0,
  })
