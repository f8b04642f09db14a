/** The queries of the desk's catalogue page. */
import { queryOptions } from '@tanstack/react-query'
import type * as z from 'zod/mini'
import {
  catalog,
  previewCatalog,
  previewProposedCatalog,
} from '../../../contract/operator-catalog.ts'
import { call } from '../api.ts'

export type AtDesk = z.output<typeof catalog.result>
/** The version to be published, without the reason. */
export type Wanted = z.output<typeof previewCatalog.body>

export const catalogQuery = queryOptions({
  queryKey: ['catalog'],
  queryFn: ({ signal }) => call(catalog, {}, signal),
})
export const previewQuery = (wanted: Wanted) =>
  queryOptions({
    queryKey: ['catalog', 'preview', wanted],
    queryFn: ({ signal }) => call(previewCatalog, { body: wanted }, signal),
    // A refusal is final.
    retry: false,
  })
export const proposedQuery = (id: string) =>
  queryOptions({
    queryKey: ['catalog', 'proposal', id],
    queryFn: ({ signal }) => call(previewProposedCatalog, { params: { id } }, signal),
    retry: false,
  })
