/** Kept pages of a server: visitors who are not signed in get them without PHP. */
import * as z from 'zod/mini'
import { endpoint, idParam } from './endpoint.ts'

const Answers = {
  /** Visits that were answered with a kept page or file. */
  hits: z.int(),
  /** Visits for which the site made the page. */
  misses: z.int(),
  /** Visits of people who are signed in, have a cart or send a form: their pages are never kept. */
  bypassed: z.int(),
}

export const PageCacheState = z.object({
  enabled: z.boolean(),
  /** Null while the machine that runs the server cannot be asked, or keeps no pages. */
  figures: z.nullable(
    z.object({
      /** Since when the figures count: the machine's start. */
      since: z.string(),
      ...Answers,
      day: z.object(Answers),
      /** Pages and files that are kept now, and the bytes of memory that they take. */
      entries: z.int(),
      bytes: z.int(),
    }),
  ),
})
export type PageCacheState = z.output<typeof PageCacheState>

export const getPageCache = endpoint({
  method: 'GET',
  path: '/api/wp/:id/cache',
  access: 'customer',
  member: 'servers:read',
  seen: true,
  scope: 'servers:read',
  summary: 'Whether pages of a server are kept, and how many visits they have answered',
  params: idParam,
  result: PageCacheState,
})
export const changePageCache = endpoint({
  method: 'PUT',
  path: '/api/wp/:id/cache',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Keep pages of a server for visitors who are not signed in, or keep none',
  params: idParam,
  body: z.strictObject({ enabled: z.boolean() }),
  result: PageCacheState,
})
export const purgePageCache = endpoint({
  method: 'POST',
  path: '/api/wp/:id/cache/purge',
  access: 'customer',
  member: 'servers:write',
  scope: 'servers:write',
  summary: 'Drop all kept pages and files of a server; they are made anew when they are asked for',
  params: idParam,
  result: z.object({ dropped: z.int() }),
})
